"""Calls that bring a wait of a group nothing to judge: it goes on as if they had not been."""

from __future__ import annotations

import random

import pytest

from pollwait import Called, Checked, Finished, PollTimeout, fixed
from pollwait._core.group import LINGER
from pollwait._core.try_again import Unasked
from pollwait._sync.group import PollGroup
from pollwait.testing import FakeClock


def group_of(clock, fetch, **options):
    """Return a group on a clock, with a gap of half a second."""
    return PollGroup(fetch, max_size=10, min_gap=0.5, clock=clock, **options)


@pytest.mark.parametrize("by", ["fetch", "predicate"])
def test_call_without_an_answer_is_no_check(by):
    """Neither a fetch nor a predicate that says so advances the schedule, or is told of."""
    clock = FakeClock()
    events, calls = [], []

    def fetch(keys):
        calls.append(clock.monotonic())
        unasked = len(calls) in (1, 2, 4)
        return dict.fromkeys(keys, Unasked() if unasked and by == "fetch" else len(calls))

    def done(number):
        if by == "predicate" and number in (1, 2, 4):
            raise Unasked
        return number == 5

    group = group_of(clock, fetch, schedule=fixed(4).times(1), on_event=events.append)
    assert group.wait("a", until=done, timeout=60) == 5
    assert calls == [LINGER + at for at in (0.0, 0.5, 1.0, 5.0, 5.5)]
    assert [each.attempt for each in events if isinstance(each, Checked)] == [1, 2]
    assert [each.attempts for each in events if isinstance(each, Finished)] == [2]
    assert sum(isinstance(each, Called) for each in events) == 5


def test_wait_that_is_never_answered_ends_at_its_deadline():
    """It has made no check then; the final call, which brings nothing either, is the last one."""
    clock = FakeClock()
    group = group_of(clock, lambda keys: dict.fromkeys(keys, Unasked()))
    with pytest.raises(PollTimeout) as caught:
        group.wait("a", timeout=2)
    assert caught.value.attempts == 0
    assert clock.monotonic() <= 2 + LINGER
    with pytest.raises(PollTimeout):
        group.wait("a", timeout=0)


def test_wait_that_rides_stays_due_when_it_was():
    """A ride that brings nothing leaves a wait as it was, for its own time and its deadline."""
    clock = FakeClock()
    asked = []

    def fetch(keys):
        asked.append((clock.monotonic(), keys))
        return {each: Unasked() if each == "slow" and len(keys) > 1 else False for each in keys}

    group = group_of(clock, fetch, schedule=fixed(100), rng=random.Random(1))

    def slow():
        group.wait("slow", timeout=7)

    def quick():
        clock.sleep(1)
        group.wait("quick", timeout=3)

    def ended(wait):
        with pytest.raises(PollTimeout):
            wait()
        return clock.monotonic()

    assert clock.run(lambda: ended(slow), lambda: ended(quick)) == [7.0, 4.0]
    assert [keys for _, keys in asked] == [["slow"], ["quick", "slow"], ["quick", "slow"], ["slow"]]
