"""Calls that wait for calls, and whether any of them can ever end."""

from __future__ import annotations

import pytest

from pollwait._core.nesting import waits_for_itself
from pollwait._core.window import Window

from .test_window import Caller, limits


def line(max_in_flight=1, calls=0):
    """Return a machine with some calls out."""
    machine = Window(limits(max_size=1, max_in_flight=max_in_flight))
    for number in range(calls):
        machine.join(number, Caller(number), 0.0)
        machine.take(0.0)
    return machine


def ask(machine, key, within=None):
    """Let a caller join, perhaps from within a call."""
    caller = Caller(key)
    machine.join(key, caller, 0.0)
    if within is not None:
        within.waits.append((machine, caller))
    return caller


def test_call_that_waits_for_the_only_slot_waits_for_itself():
    """B8: nobody would ever make the call that it waits for."""
    machine = line(1, calls=1)
    assert waits_for_itself(machine, ask(machine, "x", machine.flying[0]))


def test_caller_outside_of_calls_waits_for_a_call_that_ends():
    """A call that waits for nothing ends, and makes room."""
    machine = line(1, calls=1)
    assert not waits_for_itself(machine, ask(machine, "x"))


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_last_of_the_calls_that_wait_is_the_one_that_closes_the_circle(slots):
    """B8: while one call is left that does not wait, all may go on."""
    machine = line(slots, calls=slots)
    verdicts = [
        waits_for_itself(machine, ask(machine, f"x{number}", call))
        for number, call in enumerate(machine.flying)
    ]
    assert verdicts == [False] * (slots - 1) + [True]


def test_free_slot_is_enough():
    """A call may wait for another one of the same batcher that can start."""
    machine = line(2, calls=1)
    assert not waits_for_itself(machine, ask(machine, "x", machine.flying[0]))


def test_circle_through_another_batcher_is_found():
    """A call waits for another batcher's call, which waits for the first batcher."""
    first, second = line(1, calls=1), line(1)
    inner = ask(second, "y", first.flying[0])
    assert not waits_for_itself(second, inner)
    second.take(0.0)
    assert second.flying[0].carries(inner)
    assert waits_for_itself(first, ask(first, "x", second.flying[0]))


def test_circle_of_queued_keys_is_found():
    """Each batcher's only call waits for a key that is queued behind the other's."""
    first, second = line(1, calls=1), line(1, calls=1)
    assert not waits_for_itself(second, ask(second, "y", first.flying[0]))
    assert waits_for_itself(first, ask(first, "x", second.flying[0]))


def test_wait_for_a_call_that_will_end_is_no_circle():
    """One of the slots is held by a call that waits for what another batcher is about to answer."""
    first, second = line(1, calls=1), line(1)
    ask(second, "y", first.flying[0])
    second.take(0.0)
    outside = ask(first, "x")
    assert not waits_for_itself(first, outside)


def test_call_with_two_waits_needs_both():
    """A call ends when all that it waits for has ended."""
    first, second = line(1, calls=1), line(2, calls=1)
    call = first.flying[0]
    ask(second, "y", call)
    assert waits_for_itself(first, ask(first, "x", call))


def test_answered_caller_is_no_wait():
    """A wait that is over, though not taken off yet, holds up nothing."""
    machine = line(1, calls=1)
    machine.flying[0].waits.append((machine, Caller("answered")))
    assert not waits_for_itself(machine, ask(machine, "x"))


def test_who_stands_in_line_waits_too():
    """B8: also a caller without room for its key waits for a slot."""
    machine = Window(limits(max_size=1, max_in_flight=1, max_pending=1))
    ask(machine, "a")
    machine.take(0.0)
    ask(machine, "b")
    caller = Caller("c")
    machine.stand_in_line("c", caller)
    machine.flying[0].waits.append((machine, caller))
    assert waits_for_itself(machine, caller)
