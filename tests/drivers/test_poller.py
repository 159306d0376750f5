"""Settings that are used again and again, and functions that wait."""

from __future__ import annotations

import copy
import pickle
from inspect import signature

import pytest

from pollwait import Poller, PollTimeout, exponential, fixed, poll
from pollwait.testing import FakeClock

from .checks import AsyncCallable, coroutine_function, returning


def test_poller_keeps_its_settings():
    """A Poller waits with the settings it was made with, as often as it is asked."""
    clock = FakeClock()
    poller = Poller(schedule=fixed(2), timeout=60, clock=clock)
    assert poller.poll(returning(0, 0, "up")) == "up"
    assert poller.poll(returning(0, "up")) == "up"
    assert clock.sleeps == [2.0, 2.0, 2.0]


def test_poller_options_of_a_call_go_first():
    """What a call says goes before what the Poller says, for that call alone."""
    clock = FakeClock()
    poller = Poller(schedule=fixed(2), clock=clock)
    with pytest.raises(PollTimeout, match="'db'"):
        poller.poll(lambda: 0, timeout=1, name="db")
    with pytest.raises(TypeError, match="timeout is required"):
        poller.poll(lambda: 0)
    with pytest.raises(TypeError, match="unknown|unexpected"):
        poller.poll(lambda: 0, timeout=1, tries=3)
    assert clock.sleeps == [1.0]


def test_poller_checks_its_settings_when_made():
    """A Poller that exists is legal."""
    with pytest.raises(ValueError, match="timeout must be finite"):
        Poller(timeout=-1)


def test_poller_is_a_value():
    """A Poller is immutable, compares by its settings, pickles, and shows what was said."""
    poller = Poller(schedule=exponential(0.5, factor=1.5).cap(30), timeout=60, retry_on=OSError)
    assert poller == copy.copy(poller)
    assert poller != Poller(timeout=60)
    assert poller == pickle.loads(pickle.dumps(poller))
    assert hash(poller) == hash(copy.copy(poller))
    assert "retry_on=(OSError | KeyError,)" in repr(Poller(retry_on=(OSError, KeyError)))
    assert repr(Poller(schedule=fixed(3), timeout=60)) == "Poller(schedule=fixed(3), timeout=60.0)"
    with pytest.raises(AttributeError, match="Poller is immutable"):
        poller.timeout = 5


def test_poller_without_timeout_survives_pickle():
    """What was not given is still not given in another process."""
    poller = Poller(schedule=fixed(3))
    assert pickle.loads(pickle.dumps(poller)) == copy.deepcopy(poller) == poller


def test_poller_may_be_derived_from():
    """A subclass that adds no field is a Poller like any other."""

    class Patient(Poller):
        __slots__ = ()

    assert Patient(timeout=0).poll(lambda: "up") == "up"
    assert Patient(timeout=60) != Poller(timeout=60)


def test_name_must_be_a_str():
    """A name that is no text is refused when given."""
    with pytest.raises(TypeError, match="name must be a str: got name=5"):
        Poller(name=5)


def test_timeout_that_was_not_given_shows_as_required():
    """What a Poller lacks does not look like None, which would mean for ever."""
    assert repr(Poller(timeout=None)) == "Poller(timeout=None)"
    assert "<required>" in str(signature(poll))


@pytest.mark.parametrize("decorate", ["plain", "bare", "with options"])
def test_wrap_makes_a_function_that_waits(decorate):
    """A wrapped function keeps its name, takes its arguments, and returns the good value."""
    clock = FakeClock()
    poller = Poller(schedule=fixed(1), timeout=60, clock=clock)
    calls = []

    def state(volume, *, region):
        """Say the state of a volume."""
        calls.append((volume, region))
        return "available" if len(calls) == 3 else ""

    wrap = {
        "plain": poller.wrap,
        "bare": lambda function: poller.wrap(function),
        "with options": poller.wrap(until="available".__eq__),
    }[decorate]
    waiting = wrap(state)
    assert waiting("vol-1", region="eu") == "available"
    assert calls == [("vol-1", "eu")] * 3
    assert (waiting.__name__, waiting.__doc__) == ("state", "Say the state of a volume.")


def test_wrap_names_the_function_in_errors():
    """The error of a wrapped function is named after it, and each call is a wait of its own."""

    class Database:
        up = False

        @Poller(schedule=fixed(1), clock=FakeClock(), timeout=2).wrap
        def ready(self):
            return self.up

    with pytest.raises(PollTimeout, match=r"Database\.ready' not ready after 3 checks"):
        Database().ready()
    database = Database()
    database.up = True
    assert database.ready()


@pytest.mark.parametrize("function", [coroutine_function, AsyncCallable()])
def test_wrap_refuses_async_functions(function):
    """An async function is refused when it is decorated, not when it is first called."""
    with pytest.raises(TypeError, match=r"is async.*pollwait\.aio\.poll"):
        Poller(timeout=1).wrap(function)
