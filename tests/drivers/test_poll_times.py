"""When checks are made: the deadline, the limits and the schedule of one wait (T1-T7)."""

from __future__ import annotations

import random
import threading
from datetime import timedelta
from itertools import chain, count, cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait import (
    PollCancelled,
    PollExhausted,
    PollTimeout,
    Schedule,
    exponential,
    fixed,
    linear,
    poll,
    sequence,
)
from pollwait.testing import FakeClock


class Script:
    """A check that takes scripted times and becomes ready at a given time."""

    def __init__(self, clock, durations=(0.0,), ready_at=float("inf")):
        self.clock = clock
        self.durations = cycle(durations)
        self.ready_at = ready_at
        self.starts = []

    def __call__(self):
        self.starts.append(self.clock.monotonic())
        ready = self.clock.monotonic() >= self.ready_at
        self.clock.advance(next(self.durations))
        return ready


def outcome(check, **options):
    """Run a wait and return how it ended."""
    try:
        poll(check, clock=check.clock, **options)
    except (PollTimeout, PollExhausted, PollCancelled) as error:
        return type(error).__name__
    return "ready"


def check_times(schedule, timeout, **script):
    """Run a wait that begins at 0; return its end and the times at which its checks started."""
    clock = FakeClock()
    check = Script(clock, **script)
    end = outcome(check, schedule=schedule, timeout=timeout)
    return end, check.starts, clock.monotonic()


@pytest.mark.parametrize(
    ("schedule", "timeout", "durations", "starts", "ended"),
    [
        pytest.param(fixed(1), 0.3, (0.0,), [0.0, 0.3], 0.3, id="clipped, then one final check"),
        pytest.param(fixed(1), 0, (0.0,), [0.0], 0.0, id="timeout 0 is one check"),
        pytest.param(fixed(0), 0, (0.0,), [0.0], 0.0, id="timeout 0 and no delay"),
        pytest.param(fixed(1).after(5), 2, (0.0,), [2.0], 2.0, id="initial delay is clipped too"),
        pytest.param(fixed(1).after(2), 2, (0.0,), [2.0], 2.0, id="initial delay meets deadline"),
        pytest.param(fixed(1), 2, (0.0,), [0.0, 1.0, 2.0], 2.0, id="delay equal to what is left"),
        pytest.param(fixed(0.1), 1, (0.0,), None, 1.0, id="equal but for rounding"),
        pytest.param(fixed(1), 2, (0.75,), [0.0, 1.75], 2.5, id="runs over by less than a check"),
        pytest.param(fixed(1), 2, (2.0,), [0.0], 2.0, id="check ends at the deadline"),
        pytest.param(fixed(1), 2, (9.0,), [0.0], 9.0, id="check ends past the deadline"),
        pytest.param(fixed(0.5).after(1.25), 2, (0.0,), [1.25, 1.75, 2.0], 2.0, id="from 1.25 on"),
    ],
)
def test_deadline_gets_one_final_check(schedule, timeout, durations, starts, ended):
    """T4: a sleep is clipped to the deadline and followed by exactly one check."""
    end, started, now = check_times(schedule, timeout, durations=durations)
    assert (end, now) == ("PollTimeout", ended)
    assert started == starts or (starts is None and len(started) == 11 and started[-1] == 1.0)


@pytest.mark.parametrize("start", [0.0, 1e6, 1.7e9])
def test_rounding_of_the_clock_makes_no_further_check(start):
    """T4: ten delays of 0.1 s fill a second also on a clock that counts from long ago."""
    check = Script(FakeClock(start=start))
    assert outcome(check, schedule=fixed(0.1), timeout=1) == "PollTimeout"
    assert len(check.starts) == 11
    check = Script(FakeClock(start=start))
    assert outcome(check, schedule=fixed(0.1).within(1), timeout=9) == "PollExhausted"
    assert len(check.starts) == 11


def test_final_check_may_still_succeed():
    """T5: ready from 0.5, interval 1, timeout 0.9: noticed by the final check."""
    assert check_times(fixed(1), 0.9, ready_at=0.5) == ("ready", [0.0, 0.9], 0.9)


def test_check_that_ends_late_may_still_succeed():
    """T5: a good value wins, though the check that brought it ran past the deadline."""
    assert check_times(fixed(1), 0.5, ready_at=0, durations=(3.0,)) == ("ready", [0.0], 3.0)


def test_first_check_comes_after_initial_delay():
    """T3: the initial delay goes before the first check, and there is none by default."""
    assert check_times(fixed(2).after(1.25), 3, ready_at=1.25) == ("ready", [1.25], 1.25)
    assert check_times(fixed(2), 3, ready_at=0) == ("ready", [0.0], 0.0)


class Oversleeper(FakeClock):
    """A clock on a machine that is suspended during every sleep."""

    def sleep(self, seconds):
        super().sleep(seconds)
        self.advance(100)


def test_overslept_deadline_is_followed_by_the_final_check():
    """T4: a sleep that overshoots the deadline does not cost the wait its last look."""
    check = Script(Oversleeper(), ready_at=50)
    assert outcome(check, schedule=fixed(1), timeout=10) == "ready"
    check = Script(Oversleeper())
    assert outcome(check, schedule=fixed(1), timeout=10) == "PollTimeout"
    assert check.starts == [0.0, 101.0]


SECONDS = st.integers(0, 40).map(lambda eighths: eighths / 8)


@given(
    delays=st.lists(SECONDS, min_size=1, max_size=6),
    endless=st.booleans(),
    initial=SECONDS,
    timeout=SECONDS | st.none(),
    durations=st.lists(SECONDS, min_size=1, max_size=4),
    ready_at=SECONDS.map(lambda seconds: 4 * seconds),
    max_attempts=st.integers(1, 8) | st.none(),
)
def test_check_times_agree_with_oracle(
    delays, endless, initial, timeout, durations, ready_at, max_attempts
):
    """T3-T6: an oracle that knows only the definition finds the same checks and the same end."""
    schedule = sequence(*delays)
    if endless:
        schedule = schedule + fixed(1)
    clock = FakeClock()
    check = Script(clock, durations=durations, ready_at=ready_at)
    options = {"timeout": timeout, "max_attempts": max_attempts}
    end = outcome(check, schedule=schedule.after(initial), **options)

    gaps = chain([initial], delays, cycle([1.0]) if endless else ())
    deadline = float("inf") if timeout is None else timeout
    starts, now, expected = [], 0.0, None
    for attempt, (gap, duration) in enumerate(zip(gaps, cycle(durations)), start=1):
        start = min(now + gap, deadline)
        starts.append(start)
        now = start + duration
        if start >= ready_at:
            expected = "ready"
        elif now >= deadline:
            expected = "PollTimeout"
        elif attempt == max_attempts:
            expected = "PollExhausted"
        if expected:
            break
    assert (end, check.starts, clock.monotonic()) == (expected or "PollExhausted", starts, now)


def test_attempts_count_checks_from_one():
    """T6: max_attempts=3 makes three checks and no sleep after the last."""
    check = Script(FakeClock())
    assert outcome(check, schedule=fixed(1), max_attempts=3) == "PollExhausted"
    assert check.starts == [0.0, 1.0, 2.0]
    assert check.clock.monotonic() == 2.0


@pytest.mark.parametrize(("timeout", "end"), [(2, "PollTimeout"), (3, "PollExhausted")])
def test_timeout_goes_before_exhaustion(timeout, end):
    """T6: where time and attempts end together it is a timeout if the deadline has come."""
    check = Script(FakeClock())
    assert outcome(check, schedule=fixed(1), max_attempts=3, timeout=timeout) == end


def test_schedule_that_ends_exhausts_the_wait():
    """A schedule of n delays allows n + 1 checks and then ends the wait, long before a deadline."""
    check = Script(FakeClock())
    assert outcome(check, schedule=fixed(1).times(2), timeout=60) == "PollExhausted"
    assert check.starts == [0.0, 1.0, 2.0]


def test_fixed_rate_skips_what_it_missed():
    """from_start stays on its grid: a check of 4 s skips one tick of 3 s and replays none."""
    times = check_times(fixed(3).from_start(), 13, durations=(4.0, 1.0))
    assert times == ("PollTimeout", [0.0, 6.0, 9.0], 13.0)


def test_fixed_rate_keeps_its_grid_when_a_sleep_oversleeps():
    """A grid is anchored at the first check, so what a sleep is late by does not add up."""

    class Late(FakeClock):
        def sleep(self, seconds):
            super().sleep(seconds)
            self.advance(0.25)

    check = Script(Late())
    outcome(check, schedule=fixed(3).from_start(), max_attempts=4)
    assert check.starts == [0.0, 3.25, 6.25, 9.25]


def test_delays_from_the_start_of_a_check_count_its_duration():
    """A growing delay counts from the start of the check; if it has passed, the next is at once."""
    times = check_times(exponential(1, factor=2).from_start(), 9, durations=(1.5, 0.25))
    assert times[1] == [0.0, 1.5, 3.5, 7.5, 9.0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, -0.001, timedelta(seconds=-1)])
def test_timeout_out_of_range_is_an_error(value):
    """T1: NaN, infinite and negative timeouts are refused by name and value, before any check."""
    check = Script(FakeClock())
    with pytest.raises(ValueError, match=r"timeout must be finite and >= 0 seconds: got timeout="):
        poll(check, timeout=value)
    assert check.starts == []


@pytest.mark.parametrize("value", [True, False, "5", b"5", [5], object(), 5j])
def test_timeout_that_is_no_number_is_an_error(value):
    """T1: a bool or anything else that is no number is refused by name and value."""
    with pytest.raises(TypeError, match=r"timeout must be seconds .* got timeout="):
        poll(lambda: True, timeout=value)


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3"])
def test_max_attempts_must_be_a_count(value):
    """T1: a limit of no attempts, or one that is no int, is refused when given."""
    with pytest.raises((TypeError, ValueError), match="max_attempts must be .* got max_attempts="):
        poll(lambda: True, max_attempts=value)


def test_timeout_must_be_given():
    """T1: a wait that nothing ends is refused, and the error says how to ask for it."""
    with pytest.raises(TypeError, match=r"timeout is required.*timeout=None"):
        poll(lambda: True)
    assert poll(lambda: True, timeout=None)
    assert poll(lambda: True, max_attempts=1)
    assert poll(lambda: True, schedule=fixed(1).times(1))


def test_timedelta_is_taken_as_seconds():
    """T1: a timedelta is accepted wherever seconds are."""
    check = Script(FakeClock())
    poll_options = {"schedule": fixed(timedelta(seconds=1)), "timeout": timedelta(seconds=1.5)}
    assert outcome(check, **poll_options) == "PollTimeout"
    assert check.starts == [0.0, 1.0, 1.5]


def test_wall_clock_steps_change_nothing(monkeypatch):
    """T2: the wall clock steps back an hour during a wait, which ends on time all the same."""
    import time

    wall = chain([1e9], cycle([1e9 - 3600]))
    monkeypatch.setattr(time, "time", lambda: next(wall))
    assert check_times(fixed(1), 2)[1:] == ([0.0, 1.0, 2.0], 2.0)


def test_system_clock_is_looked_up_at_each_call(monkeypatch):
    """T2: the time is time.monotonic, read when it is needed, so patching it mid-wait works."""
    import time

    clock = FakeClock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    with pytest.raises(PollTimeout) as caught:
        poll(lambda: False, schedule=fixed(1), timeout=2.5)
    assert clock.sleeps == [1.0, 1.0, 0.5]
    assert caught.value.elapsed == 2.5


def test_cancel_ends_a_sleep_at_once():
    """T7: an event that is set during a sleep ends the wait then, with no further check."""
    check, stop = Script(FakeClock()), threading.Event()
    check.clock.call_at(2.5, stop.set)
    assert outcome(check, schedule=fixed(1), timeout=60, cancel=stop) == "PollCancelled"
    assert check.starts == [0.0, 1.0, 2.0]
    assert check.clock.monotonic() == 2.5


def test_cancel_that_is_set_beforehand_means_no_check():
    """T7: an event that is set already ends the wait before it begins."""
    check, stop = Script(FakeClock(), ready_at=0), threading.Event()
    stop.set()
    assert outcome(check, timeout=60, cancel=stop) == "PollCancelled"
    assert check.starts == []


def test_cancel_loses_to_a_good_value_in_hand():
    """T7: a value that is good is returned although the event was set during its check."""
    stop, clock = threading.Event(), FakeClock()

    def check():
        stop.set()
        return "done"

    assert poll(check, timeout=60, cancel=stop, clock=clock) == "done"


def test_cancel_without_delay_is_still_seen():
    """T7: a schedule without delays looks at the event between checks too."""
    stop, attempts = threading.Event(), count(1)

    def check():
        if next(attempts) == 3:
            stop.set()
        return False

    with pytest.raises(PollCancelled, match="cancelled after 3 checks"):
        poll(check, schedule=fixed(0), timeout=None, cancel=stop, clock=FakeClock())


def test_cancel_of_asyncio_is_refused():
    """An asyncio.Event, whose wait must be awaited, is refused instead of being taken as set."""
    import asyncio

    with pytest.raises(TypeError, match="cancel.wait 'Event.wait' is async"):
        poll(lambda: True, timeout=1, cancel=asyncio.Event())


def test_cap_bounds_random_delays():
    """S1: with a cap of 2 and random jitter, no sleep is above 2, and they differ."""
    clock = FakeClock()
    schedule = exponential(0.5).jitter("full").cap(2)
    with pytest.raises(PollExhausted):
        poll(lambda: False, schedule=schedule, max_attempts=200, clock=clock, rng=random.Random(5))
    assert max(clock.sleeps) <= 2
    assert len(set(clock.sleeps[10:])) > 100


def test_seed_replays_a_wait():
    """S3: two waits with equal seeds sleep alike."""

    def sleeps(seed):
        clock = FakeClock()
        with pytest.raises(PollTimeout):
            poll(lambda: False, timeout=60, clock=clock, rng=random.Random(seed))
        return clock.sleeps

    assert sleeps(1) == sleeps(1) != sleeps(2)


def test_attempt_1100_of_an_exponential_is_finite():
    """S2: growth far beyond the range of a float neither overflows nor sleeps for ages."""
    clock = FakeClock()
    with pytest.raises(PollExhausted):
        poll(lambda: False, schedule=exponential(1).cap(30), max_attempts=1100, clock=clock)
    assert clock.sleeps[-1] == 30.0


def test_schedule_must_be_a_schedule():
    """A plain number is no schedule; the error names argument and value."""
    with pytest.raises(TypeError, match="schedule must be a Schedule: got schedule=3"):
        poll(lambda: True, schedule=3, timeout=1)


def test_schedule_class_is_public():
    """Every schedule is a ``Schedule``, for annotations and isinstance."""
    assert isinstance(linear(1, step=1), Schedule)
