"""The search for keys that poison a call."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.isolation import Isolation


class Poisoned(Exception):
    """Raised by a call that carries a bad key; it may name some of them."""

    def __init__(self, *named):
        super().__init__(*named)
        self.named = named


def run(keys, bad, isolate, names=0):
    """Drive a round against a call that fails for bad keys and names as many of them as it may."""
    isolation = Isolation(isolate, keys)
    calls, answered, failed = [], [], {}
    while (sent := isolation.next()) is not None:
        calls.append(sent)
        hit = [key for key in sent if key in bad]
        if hit:
            new = isolation.failed(Poisoned(*hit[:names]))
            assert not new.keys() & failed.keys()
            failed |= new
        else:
            isolation.passed()
            answered += sent
    assert isolation.calls == len(calls)
    return calls, answered, failed, isolation


def named(error, keys):
    """Return what the error names: nothing, if it names nothing."""
    return error.named


def test_round_without_errors_is_one_call():
    """A call that passes answers all keys, in their order."""
    assert run([3, 1, 2], (), named)[0] == [[3, 1, 2]]


def test_round_of_no_keys_makes_no_call():
    """B11: there is nothing to call for."""
    assert Isolation(None, []).next() is None


def test_named_keys_fail_alone_and_the_rest_is_called_once_more():
    """B9: one further call where the error names all the bad keys."""
    calls, answered, failed, isolation = run("abcde", "bd", named, names=5)
    assert calls == [list("abcde"), list("ace")]
    assert answered == list("ace")
    assert sorted(failed) == ["b", "d"]
    assert isolation.poison == {"b", "d"}


def test_keys_named_one_at_a_time_take_a_call_each():
    """B9: an error that names the first of its bad keys only is asked again for the next."""
    calls, answered, failed, _ = run("abcde", "bd", named, names=1)
    assert calls == [list("abcde"), list("acde"), list("ace")]
    assert answered == list("ace")
    assert [str(error) for error in failed.values()] == ["b", "d"]


def test_unnamed_key_is_found_by_halving():
    """B9: a half that passes tells that the other one has it, without a call for that half."""
    calls, answered, failed, _ = run(range(8), {5}, named)
    assert calls == [list(range(8)), [0, 1, 2, 3], [4, 5], [4], [5], [6, 7]]
    assert sorted(answered) == [0, 1, 2, 3, 4, 6, 7]
    assert list(failed) == [5]


def test_lone_key_is_called_before_it_is_condemned():
    """A key fails by a call of its own, not by deduction: this error was a matter of size."""
    isolation = Isolation(lambda error, keys: (), [1, 2, 3, 4])
    calls = []
    while (sent := isolation.next()) is not None:
        calls.append(sent)
        if len(sent) > 2:
            assert isolation.failed(Poisoned()) == {}
        else:
            isolation.passed()
    assert calls == [[1, 2, 3, 4], [1, 2], [3], [4]]
    assert not isolation.poison


@given(
    st.integers(1, 200).flatmap(
        lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1), max_size=5))
    ),
    st.sampled_from([0, 1, 2, 500]),
)
def test_every_key_is_resolved_and_bad_keys_alone_fail(sizes, names):
    """B9: whatever is bad and whatever is named, the good keys are answered in the same round."""
    size, bad = sizes
    calls, answered, failed, isolation = run(range(size), bad, named, names)
    assert sorted(answered) == sorted(set(range(size)) - bad)
    assert failed.keys() == bad == isolation.poison
    assert all(calls)
    further = len(calls) - 1
    if names:
        assert further <= len(bad)
    else:
        assert further <= 2 * len(bad) * max(1, math.ceil(math.log2(size)))


def test_error_that_is_no_matter_of_keys_fails_its_call():
    """B9: None means that halving would not help, and no key is to blame."""
    calls, answered, failed, isolation = run("abc", "b", lambda error, keys: None)
    assert calls == [list("abc")]
    assert not answered
    assert sorted(failed) == list("abc")
    assert not isolation.poison


def test_without_isolate_no_error_is_a_matter_of_keys():
    """B9: halving is for those who ask for it."""
    assert sorted(run("abc", "b", None)[2]) == list("abc")


def test_errors_are_judged_anew():
    """B9: a throttled further call fails its own keys, and the search goes on with the others."""
    errors = iter([Poisoned(), OSError("throttled"), None])
    judged = []

    def isolate(error, keys):
        judged.append(keys)
        return error.named if isinstance(error, Poisoned) else None

    isolation = Isolation(isolate, "abcd")
    failed, answered = {}, []
    while (sent := isolation.next()) is not None:
        error = next(errors)
        if error is None:
            isolation.passed()
            answered += sent
        else:
            failed |= isolation.failed(error)
    assert judged == [list("abcd"), list("ab")]
    assert {key: type(error) for key, error in failed.items()} == {"a": OSError, "b": OSError}
    assert answered == list("cd")
    assert not isolation.poison


def test_keys_that_were_not_sent_count_for_nothing():
    """An error that names none of the keys that were sent is one of a key it does not name."""
    calls, answered, failed, _ = run("ab", "b", lambda error, keys: ["arn:b", "z"])
    assert calls == [["a", "b"], ["a"], ["b"]]
    assert answered == ["a"]
    assert list(failed) == ["b"]


def test_all_keys_named_leave_nothing_to_call():
    """Where all are bad, all fail at once."""
    calls, _, failed, isolation = run("abc", "abc", lambda error, keys: set(keys))
    assert len(calls) == 1
    assert sorted(failed) == list("abc")
    assert isolation.poison == set("abc")


@pytest.mark.parametrize("answer", ["vol-1", ["vol-1"], {"vol-1"}, iter(["vol-1", "other"])])
def test_isolate_may_return_any_collection_or_the_key_itself(answer):
    """A string that is a key is that key, and not a collection of letters."""
    calls, _, failed, _ = run(["vol-1", "vol-2"], ["vol-1"], lambda error, keys: answer)
    assert calls == [["vol-1", "vol-2"], ["vol-2"]]
    assert list(failed) == ["vol-1"]


def test_error_of_isolate_is_the_error_of_the_call():
    """A bug in isolate surfaces, with what it was asked about as its context."""

    def isolate(error, keys):
        raise ZeroDivisionError

    failed = run("ab", "b", isolate)[2]
    assert sorted(failed) == ["a", "b"]
    assert all(isinstance(error, ZeroDivisionError) for error in failed.values())
    assert isinstance(failed["a"].__context__, Poisoned)


def test_isolate_may_raise_the_error_itself():
    """An error that isolate raises again is that error, and no context of itself."""

    def isolate(error, keys):
        raise error

    error = run("ab", "b", isolate)[2]["a"]
    assert isinstance(error, Poisoned)
    assert error.__context__ is not error


@pytest.mark.parametrize(
    "answer", [True, 5, object(), [[]]], ids=["true", "number", "object", "list of lists"]
)
def test_answer_of_isolate_that_is_no_collection_of_keys_is_a_type_error(answer):
    """Whatever else isolate returns is refused, for all that the call carried."""
    failed = run("ab", "b", lambda error, keys: answer)[2]
    assert all(isinstance(error, TypeError) for error in failed.values())


def test_asynchronous_isolate_is_a_type_error_without_a_warning():
    """Isolate is not awaited, and the coroutine is closed."""

    async def isolate(error, keys):
        return ()

    failed = run("ab", "b", isolate)[2]
    assert all("isolate must return a collection" in str(error) for error in failed.values())


def test_what_isolate_does_to_the_keys_changes_nothing():
    """The list is a copy."""
    calls, _, failed, _ = run("ab", "b", lambda error, keys: keys.clear() or ())
    assert calls == [["a", "b"], ["a"], ["b"]]
    assert list(failed) == ["b"]


def test_keys_that_nobody_wants_any_more_are_left_out():
    """B5, B11: further calls carry only what somebody waits for, and none is empty."""
    wanted = set("abcdefgh")
    isolation = Isolation(lambda error, keys: (), "abcdefgh")
    assert isolation.next(wanted.__contains__) == list("abcdefgh")
    isolation.failed(Poisoned())
    wanted -= set("abcdg")
    assert isolation.next(wanted.__contains__) == list("efh")
    isolation.failed(Poisoned())
    assert isolation.next(wanted.__contains__) == ["e"]
    wanted.clear()
    isolation.passed()
    assert isolation.next(wanted.__contains__) is None
