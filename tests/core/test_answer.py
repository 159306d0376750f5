"""What a fetch returned, key by key, and errors of which each caller gets its own."""

from __future__ import annotations

import copy
import pickle
import sys
from collections import defaultdict
from collections.abc import Mapping

import pytest

from pollwait._core.answer import own, private, read, refuse_awaitable
from pollwait._errors import (
    BatcherClosed,
    BatcherFull,
    BatchError,
    FetchError,
    MissingKey,
    PollTimeout,
)


def test_answer_gives_each_key_its_value():
    """Values come by key, whatever they are; keys that were not asked for are ignored."""
    assert read({"a": None, "b": 0, "c": 3}, ["b", "a"]) == {"b": 0, "a": None}


def test_answer_without_a_key_is_a_missing_key():
    """B4: a key that is absent is a MissingKey of its own, which names it and is a LookupError."""
    outcomes = read({"a": 1}, ["a", "b", "c"])
    assert outcomes["a"] == 1
    assert [outcomes[key].key for key in "bc"] == ["b", "c"]
    assert isinstance(outcomes["b"], LookupError)
    assert str(outcomes["b"]) == "the answer lacks the key 'b'"


def test_answer_may_hold_errors():
    """An exception as a value is handed on as it is, to be that key's error."""
    error = ValueError("bad")
    assert read({"a": error, "b": 1}, ["a", "b"])["a"] is error


@pytest.mark.parametrize("answer", [None, [1, 2], "ab", 5, iter(())])
def test_answer_that_is_no_mapping_is_a_type_error_for_all(answer):
    """B4: nothing but a mapping tells which value belongs to which key."""
    outcomes = read(answer, ["a", "b"])
    assert all(isinstance(outcome, TypeError) for outcome in outcomes.values())
    assert str(outcomes["a"]).startswith("fetch must return a mapping of keys to values: got ")


def test_answer_of_a_mapping_with_defaults_has_no_keys_of_its_own_making():
    """A defaultdict lacks what nobody has put in, and nothing is put in by looking."""
    answer = defaultdict(int, a=1)
    assert isinstance(read(answer, ["b"])["b"], MissingKey)
    assert dict(answer) == {"a": 1}


def test_answer_that_fails_for_a_key_fails_that_key():
    """A mapping that raises for one key still answers the others."""

    class Fragile(Mapping):
        def __getitem__(self, key):
            if key == "bad":
                raise RuntimeError("cannot tell")
            return key.upper()

        def __iter__(self):
            return iter(())

        def __len__(self):
            return 0

    outcomes = read(Fragile(), ["a", "bad"])
    assert outcomes["a"] == "A"
    assert str(outcomes["bad"]) == "cannot tell"


def test_awaitable_is_refused_without_a_warning():
    """A coroutine that nobody will await is closed, and the error names what would await it."""

    async def fetch():
        return {}

    with pytest.raises(TypeError, match=r"fetch returned an awaitable .*use pollwait\.aio\.B$"):
        refuse_awaitable(fetch(), "fetch", "pollwait.aio.B")
    refuse_awaitable({}, "fetch", "pollwait.aio.B")


class WithFields(Exception):
    """An error whose constructor does not take what ``args`` holds."""

    def __init__(self, code, *, region):
        super().__init__(f"code {code}")
        self.code = code
        self.region = region


class Slotted(Exception):
    __slots__ = ("code", "unset")

    def __init__(self, code):
        super().__init__("slotted")
        self.code = code


class OneSlot(Exception):
    __slots__ = "code"


class Gone(OSError):
    def __init__(self, name):
        super().__init__(2, "gone", name)


ERRORS = [
    ValueError("a", 1),
    KeyError("a"),
    WithFields(5, region="eu"),
    Slotted(5),
    OneSlot("one"),
    OSError(2, "no", "file"),
    Gone("file"),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
    ImportError("no", name="x", path="y"),
    PollTimeout("late", name="x", attempts=3),
    MissingKey("a"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_private_error_is_a_copy(error):
    """B4: a caller's own error has the type, the text and the fields; the original is its cause."""
    try:
        raise error
    except Exception:
        twin = private(error)
    assert type(twin) is type(error)
    assert twin is not error
    assert twin.args == error.args
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)
    assert twin.__cause__ is error
    assert twin.__traceback__ is None
    for field in ("code", "region", "filename", "errno", "start", "path"):
        assert getattr(twin, field, None) == getattr(error, field, None)


def test_private_errors_share_nothing_that_callers_change():
    """A note that one caller adds is not seen by another."""
    error = ValueError("a")
    error.__notes__ = ["first"]
    ours, theirs = private(error), private(error)
    ours.__notes__.append("mine")
    assert theirs.__notes__ == error.__notes__ == ["first"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups are newer")
def test_private_error_of_a_group_is_a_group():
    """A group is copied with its errors."""
    group = ExceptionGroup("several", [ValueError(1)])  # noqa: F821 - not before 3.11
    assert private(group).exceptions == group.exceptions


class Refused(Exception):
    """Turns whatever derives from it into itself, as boto3's clients' modelled errors are."""

    def __reduce__(self):
        return Refused, self.args, vars(self)


class ModelledRefusal(Refused):
    pass


def test_private_error_keeps_a_type_that_copying_would_lose():
    """B4: the same type, also of a class that pickles as its base."""
    error = ModelledRefusal("gone")
    error.response = {"Error": {"Code": "Gone"}}
    twin = private(error)
    assert type(twin) is ModelledRefusal
    assert (twin.args, twin.response) == (("gone",), error.response)
    assert twin is not error


class Uncopyable(Exception):
    def __copy__(self):
        raise TypeError("there can be one only")


class Unpicklable(Exception):
    def __reduce__(self):
        raise TypeError("stays here")


class Single(Exception):
    def __copy__(self):
        return self


class Changeling(Exception):
    def __copy__(self):
        return ValueError("something else")


class BrokenRepr(Exception):
    def __copy__(self):
        raise TypeError

    def __repr__(self):
        raise TypeError


@pytest.mark.parametrize(
    "error",
    [
        Uncopyable("x"),
        Unpicklable("x"),
        Single("x"),
        Changeling("x"),
        BrokenRepr("x"),
        StopIteration("x"),
        KeyboardInterrupt(),
        SystemExit(3),
        GeneratorExit(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_private_error_is_a_fetch_error_where_no_copy_will_do(error):
    """B4, B6: what cannot be copied, or must not be raised anywhere, travels as a cause."""
    twin = private(error)
    assert type(twin) is FetchError
    assert twin.__cause__ is error
    assert str(twin).startswith("the call failed with ")


def test_private_error_that_was_made_for_the_caller_has_no_cause():
    """A MissingKey of ours is not caused by itself; one that a fetch raised is."""
    assert private(MissingKey("a")).__cause__ is None
    assert private(MissingKey("a")).key == "a"
    try:
        raise MissingKey("a")
    except MissingKey as error:
        assert private(error).__cause__ is error


def test_own_outcome_is_the_value_or_a_private_error():
    """Values are shared, errors are not."""
    value, error = [], ValueError("a")
    assert own(value) is value
    assert own(error) is not error


@pytest.mark.parametrize(
    "error",
    [FetchError("failed"), MissingKey("a"), BatcherFull("full"), BatcherClosed("closed")],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_batchers_pickle_and_copy(error):
    """Errors keep type, text and fields on their way to another process; all have one root."""
    assert isinstance(error, BatchError)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def test_missing_key_pickles_with_a_key_that_cannot():
    """A key that cannot be pickled travels as its repr."""
    twin = pickle.loads(pickle.dumps(MissingKey(lambda: 0)))
    assert "<lambda>" in twin.key
