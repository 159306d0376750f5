"""The windows of a coalescer: one for each key, with its merged request."""

from __future__ import annotations

import pytest

from pollwait._core.line import FULL, JOINED, OPENED
from pollwait._core.merging import Merging

from .test_window import Caller, limits


def concatenate(pending, request):
    """Merge requests into a list, save for a bad one."""
    if request == "bad":
        raise ValueError("cannot be merged")
    return [*(pending or []), request]


def merging(**options):
    """Return a machine that concatenates."""
    return Merging(limits(**options), concatenate)


def requests(machine, now):
    """Return what the next call is made with, if one is due."""
    batch = machine.take(now)
    return None if batch is None else batch.request


def test_each_key_has_its_own_window():
    """Requests for a key are merged in their order, and sent max_delay after the first."""
    machine = merging(max_delay=0.5)
    assert machine.join("a", Caller(), 0.0, 1) == OPENED
    assert machine.join("b", Caller(), 0.25, 2) == OPENED
    assert machine.join("a", Caller(), 0.375, 3) == JOINED
    assert machine.due() == 0.5
    assert requests(machine, 0.25) is None
    assert requests(machine, 0.5) == ("a", [1, 3])
    assert machine.due() == 0.75
    assert requests(machine, 0.75) == ("b", [2])


def test_all_callers_of_a_key_are_answered():
    """The batch of a key has everybody who asked."""
    machine = merging()
    callers = [Caller("a") for _ in range(3)]
    for caller in callers:
        machine.join("a", caller, 0.0, 1)
    batch = machine.take(0.5)
    assert [caller for caller, _, _ in batch.settle({"a": 9})] == callers
    assert batch.reason == "delay"


def test_request_that_cannot_be_merged_is_left_out():
    """A merge that raises concerns its own caller, also when it is the first for its key."""
    machine = merging()
    with pytest.raises(ValueError, match="cannot be merged"):
        machine.join("a", Caller(), 0.0, "bad")
    assert machine.is_empty()
    machine.join("a", Caller(), 0.25, 1)
    with pytest.raises(ValueError, match="cannot be merged"):
        machine.join("a", Caller(), 0.25, "bad")
    assert requests(machine, 0.75) == ("a", [1])


def test_call_for_a_key_waits_for_the_one_before_it():
    """One call at a time for a key: what comes meanwhile is merged, and others go first."""
    machine = merging(max_delay=0.5)
    machine.join("a", Caller(), 0.0, 1)
    first = machine.take(0.5)
    machine.join("a", Caller(), 0.5, 2)
    machine.join("b", Caller(), 0.75, 3)
    assert machine.due() == 1.25
    machine.join("a", Caller(), 1.0, 4)
    assert requests(machine, 1.25) == ("b", [3])
    assert machine.due() is None
    machine.finished(first)
    assert machine.due() == 1.0
    assert requests(machine, 1.25) == ("a", [2, 4])


def test_calls_are_bounded_over_all_keys():
    """No more than max_in_flight calls are out."""
    machine = merging(max_in_flight=1)
    for key in "ab":
        machine.join(key, Caller(), 0.0, 1)
    first = machine.take(0.5)
    assert machine.due() is None
    assert machine.take(0.5) is None
    machine.finished(first)
    assert requests(machine, 0.5) == ("b", [1])


def test_flush_and_closing_make_windows_due():
    """A flush rushes the windows that there are, closing all that are and that come."""
    machine = merging()
    machine.join("a", Caller(), 0.0, 1)
    machine.flush()
    machine.join("b", Caller(), 0.0, 2)
    assert machine.take(0.0).reason == "flush"
    assert machine.take(0.0) is None
    machine.closing = True
    assert machine.take(0.0).reason == "close"


def test_key_whose_callers_have_all_left_is_dropped():
    """B5: it is not sent; while others wait, what was merged stays merged."""
    machine = merging()
    a, other_a, b = Caller(), Caller(), Caller()
    machine.join("a", a, 0.0, 1)
    machine.join("a", other_a, 0.0, 2)
    machine.join("b", b, 0.0, 3)
    machine.leave("a", a, 0.0)
    machine.leave("b", b, 0.0)
    machine.leave("b", b, 0.0)
    assert machine.pending == 1
    assert requests(machine, 0.5) == ("a", [1, 2])
    assert machine.take(9.0) is None


def test_keys_without_room_stand_in_line():
    """B8: they join when there is room, and are merged then; what cannot be is told its error."""
    machine = merging(max_pending=1)
    machine.join("a", Caller(), 0.0, 1)
    assert machine.join("b", Caller(), 0.0, 2) == FULL
    assert machine.join("a", Caller(), 0.0, 3) == JOINED
    bad, good = Caller("bad"), Caller("good")
    machine.stand_in_line("b", bad, "bad")
    machine.stand_in_line("b", good, 4)
    machine.stand_in_line("c", Caller(), 5)
    assert requests(machine, 0.5) == ("a", [1, 3])
    assert machine.admitted == [good]
    ((caller, key, error),) = machine.rejected
    assert (caller, key, str(error)) == (bad, "b", "cannot be merged")
    assert requests(machine, 1.0) == ("b", [4])


def test_giving_up_forgets_everybody():
    """B10: what was queued is not sent, and new requests start afresh."""
    machine = merging()
    machine.join("a", Caller(), 0.0, 1)
    machine.take(0.5)
    machine.join("a", Caller(), 0.5, 2)
    assert len(machine.give_up()) == 2
    machine.finished(machine.flying[0])
    assert machine.is_empty()
    machine.join("a", Caller(), 1.0, 3)
    assert requests(machine, 1.5) == ("a", [3])


def test_asynchronous_merge_is_a_type_error_without_a_warning():
    """A merge is not awaited, and the coroutine is closed."""

    async def merge(pending, request):
        return request

    machine = Merging(limits(), merge)
    with pytest.raises(TypeError, match=r"merge returned an awaitable \(coroutine\)"):
        machine.join("a", Caller(), 0.0, 1)


def test_merge_must_not_use_its_own_machine():
    """What it asks for would be lost, so it is an error; the machine goes on."""
    machine = Merging(limits(), lambda pending, request: machine.join("b", Caller(), 0.0, 2))
    with pytest.raises(RuntimeError, match="its own coalescer"):
        machine.join("a", Caller(), 0.0, 1)
    assert machine.is_empty()


def test_own_key_blocks_its_next_call():
    """B8: a call for a key that is out must end first, whatever slots there are."""
    machine = merging(max_in_flight=2)
    for key in "ab":
        machine.join(key, Caller(), 0.0, 1)
    first = machine.take(0.5)
    assert machine.blockers(["a"]) == [first]
    assert machine.blockers(["b"]) is None
    second = machine.take(0.5)
    assert machine.blockers(["c"]) == [first, second]
