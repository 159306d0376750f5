"""Waits while time-machine has moved the date: they need nothing."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timezone

import pytest
import time_machine

from pollwait import PollTimeout, aio, fixed, poll
from pollwait.testing import FakeClock

LONG_AGO = datetime(1999, 1, 1, tzinfo=timezone.utc)

# time-machine left the monotonic clock alone up to 2.12 and does again from 3.0. In between it
# stands still with tick=False, and a wait says so, as in a plain freeze of freezegun.


def today():
    """Return the year that the code under test sees."""
    return datetime.now(timezone.utc).year


@pytest.mark.parametrize("tick", [True, False])
def test_time_machine_leaves_the_monotonic_clock_alone(tick):
    """Only the date travels: the clock of a wait goes on by itself, and no other."""
    with time_machine.travel(LONG_AGO, tick=tick):
        assert today() == 1999
        before = time.monotonic()
        while time.monotonic() == before:
            pass
        assert before < time.monotonic() < before + 60


@pytest.mark.real_time
@pytest.mark.parametrize("tick", [True, False])
def test_waits_end_on_time_under_time_machine(tick):
    """T2: real sleeps and a real deadline, whatever the date is and however a check moves it."""
    with time_machine.travel(LONG_AGO, tick=tick) as traveller:
        years = []

        def check():
            years.append(today())
            traveller.move_to(LONG_AGO.replace(year=2999 - len(years)))
            return False

        with pytest.raises(PollTimeout) as caught:
            poll(check, schedule=fixed(0.001), timeout=0.004)
    assert 0.004 <= caught.value.elapsed < 60
    assert years[:2] == [1999, 2998]


@pytest.mark.real_time
@pytest.mark.parametrize("tick", [True, False])
def test_waits_on_an_event_loop_end_on_time_under_time_machine(tick):
    """T2: the event loop's time is the monotonic clock's, so asyncio needs nothing either."""
    with time_machine.travel(LONG_AGO, tick=tick), pytest.raises(PollTimeout) as caught:
        asyncio.run(aio.poll(lambda: False, schedule=fixed(0.001), timeout=0.004))
    assert 0.003 < caught.value.elapsed < 60


def test_a_fake_clock_and_time_machine_do_not_meet():
    """A fake clock moves no date: a test that wants both moves the date by itself."""
    clock = FakeClock()
    with time_machine.travel(LONG_AGO, tick=False) as traveller:
        clock.call_at(90, lambda: traveller.shift(90))
        poll(
            lambda: datetime.now(timezone.utc).minute, schedule=fixed(60), timeout=3600, clock=clock
        )
        assert clock.sleeps == [60.0, 60.0]
        assert datetime.now(timezone.utc).second == 30
