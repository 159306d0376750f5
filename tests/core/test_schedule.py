"""Schedules: what the constructors and methods mean, by table, and what they refuse."""

from __future__ import annotations

import copy
import pickle
import random
import statistics
import sys
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from itertools import islice, pairwise
from math import inf, isfinite, nan
from typing import Any

import pytest

from pollwait._core.schedule import (
    DEFAULT,
    MAX_DELAY,
    Planned,
    Schedule,
    decorrelated,
    exponential,
    fibonacci,
    fixed,
    linear,
    sequence,
)


class Draws:
    """A source of chance that gives the listed numbers."""

    def __init__(self, *numbers: float) -> None:
        self.left = list(numbers)

    def random(self) -> float:
        return self.left.pop(0)


def first(schedule: Schedule, n: int = 5, seed: int = 1) -> list[float]:
    """Return the first delays."""
    return list(islice(schedule.delays(random.Random(seed)), n))


def waited(schedule: Schedule, *checks: float) -> list[float]:
    """Return the delays after checks that take these times."""
    state, now, delays = schedule.begin(), 0.0, []
    for check in checks:
        found = schedule.step(state, now + check, now, random.Random(1))
        assert found is not None
        delays.append(found[0])
        state, now = found[1], now + check + found[0]
    return delays


DELAYS = [
    (fixed(3), [3, 3, 3, 3, 3]),
    (fixed(0), [0, 0, 0, 0, 0]),
    (fixed(timedelta(minutes=1)), [60, 60, 60, 60, 60]),
    (linear(1, step=0.5), [1, 1.5, 2, 2.5, 3]),
    (linear(1, step=0), [1, 1, 1, 1, 1]),
    (exponential(0.5, factor=1.5), [0.5, 0.75, 1.125, 1.6875, 2.53125]),
    (exponential(1), [1, 2, 4, 8, 16]),
    (exponential(1, factor=1), [1, 1, 1, 1, 1]),
    (fibonacci(1), [1, 1, 2, 3, 5]),
    (fibonacci(0), [0, 0, 0, 0, 0]),
    (sequence(1, 0.25, 0.25), [1, 0.25, 0.25]),
    (exponential(1).cap(3), [1, 2, 3, 3, 3]),
    (exponential(4).cap(3), [3, 3, 3, 3, 3]),
    (exponential(4).cap(0), [0, 0, 0, 0, 0]),
    (linear(1, step=1).cap(2.5), [1, 2, 2.5, 2.5, 2.5]),
    (fibonacci(1).cap(4), [1, 1, 2, 3, 4]),
    (fixed(3).cap(2), [2, 2, 2, 2, 2]),
    (sequence(1, 5, 2).cap(2), [1, 2, 2]),
    (exponential(1).cap(5).cap(3).cap(4), [1, 2, 3, 3, 3]),
    (exponential(1).times(3), [1, 2, 4]),
    (exponential(1).times(3).times(2), [1, 2]),
    (exponential(1).times(2).times(3), [1, 2]),
    (exponential(1).within(10), [1, 2, 4, 3]),
    (exponential(1).within(7), [1, 2, 4]),
    (exponential(1).within(7).within(2), [1, 1]),
    (sequence(1, 2).within(60), [1, 2]),
    (fixed(1).within(0), []),
    (fixed(0).within(60), [0, 0, 0, 0, 0]),
    (fixed(1).times(2) + fixed(5), [1, 1, 5, 5, 5]),
    (fixed(1).times(2).then(fixed(5)), [1, 1, 5, 5, 5]),
    (fixed(1) + fixed(5), [1, 1, 1, 1, 1]),
    (fixed(1).within(0) + fixed(5), [5, 5, 5, 5, 5]),
    (fixed(1).times(1) + fixed(2).within(0) + fixed(3).within(0) + fixed(4), [1, 4, 4, 4, 4]),
    (fixed(1).times(1) + fixed(2).times(1) + fixed(3).times(1), [1, 2, 3]),
    (fixed(1).times(2) + fixed(5).after(9), [1, 1, 9, 5, 5]),
    ((fixed(1).times(2) + fixed(5).after(9)).cap(2), [1, 1, 9, 2, 2]),
    ((fixed(1).times(2) + fixed(5).after(9)).times(3), [1, 1, 9]),
    ((fixed(1).times(2) + fixed(5).after(9)).within(10), [1, 1, 8]),
    (exponential(1) & fixed(3), [3, 3, 4, 8, 16]),
    (exponential(1) | fixed(3), [1, 2, 3, 3, 3]),
    (exponential(1).times(3) & fixed(3), [3, 3, 4]),
    (exponential(1).times(3) | fixed(3), [1, 2, 3, 3, 3]),
    (fixed(2).times(2) | fixed(1).times(3), [1, 1, 1]),
    (fixed(2).times(2) & fixed(1).times(3), [2, 2]),
    (fixed(3).from_start(), [3, 3, 3, 3, 3]),
]


@pytest.mark.parametrize(("schedule", "delays"), DELAYS, ids=str)
def test_schedule_gives_delays(schedule: Schedule, delays: list[float]) -> None:
    """Each constructor and method gives the delays that its definition says."""
    assert first(schedule) == delays


@pytest.mark.parametrize(
    ("schedule", "initial"),
    [
        (fixed(3), 0),
        (fixed(3).after(1.25), 1.25),
        (fixed(3).after(1.25).after(0.5), 0.5),
        (fixed(3).after(timedelta(milliseconds=500)), 0.5),
        (fixed(3).after(9).cap(2).jitter("full").times(1).within(1).from_start(), 9),
        (fixed(1).after(2) + fixed(3).after(4), 2),
        (fixed(1).after(2) & fixed(3).after(4), 4),
        (fixed(1).after(2) | fixed(3).after(4), 2),
        (DEFAULT, 0),
    ],
    ids=str,
)
def test_initial_delay_is_set_by_after_alone(schedule: Schedule, initial: float) -> None:
    """Only after sets it; & takes the longer, | the shorter, and + the first one's."""
    assert schedule.initial_delay == initial


@pytest.mark.parametrize(
    ("amount", "shortest"), [("full", 0), ("equal", 4), (0.25, 6), (1, 0), (0.5, 4)]
)
def test_jitter_draws_from_its_range(amount: Any, shortest: float) -> None:
    """The draw runs over the whole range, from d down to the shortest, one draw for each delay."""
    jittered = fixed(8).jitter(amount)
    draws = Draws(0.0, 0.5, 1.0)
    assert list(islice(jittered.delays(draws), 3)) == [8, (8 + shortest) / 2, shortest]
    assert draws.left == []


def test_jitter_of_jitter_nests() -> None:
    """Each jitter takes its own draw, the inner one first."""
    assert next(fixed(8).jitter("full").jitter("equal").delays(Draws(0.5, 1.0))) == 2


def test_jitter_leaves_delay_at_joint_exact() -> None:
    """The initial delay of a following schedule takes no draw, however deep it lies."""
    joined = sequence(8) + sequence(8).after(6)
    for schedule in (joined, joined.times(9), joined.within(99), joined | fixed(9).times(1)):
        draws = Draws(0.5, 0.5)
        assert list(schedule.jitter("full").from_start().delays(draws)) == [4, 6, 4]
    clipped = joined.within(10).jitter("full")
    assert list(clipped.delays(Draws(0.5))) == [4, 2]


def test_jitter_by_name_equals_jitter_by_fraction() -> None:
    """The named amounts are the fractions 1 and 1/2."""
    assert fixed(1).jitter("full") == fixed(1).jitter(1) != fixed(1).jitter("equal")
    assert fixed(1).jitter("equal") == fixed(1).jitter(0.5)


@pytest.mark.parametrize("amount", ["full", "equal", 0.1])
def test_cap_holds_and_jitter_stays_random(amount: Any) -> None:
    """With cap 2 no jittered delay is above 2, and at the cap the delays still differ (P5, S1)."""
    for schedule in (exponential(1).jitter(amount).cap(2), exponential(1).cap(2).jitter(amount)):
        delays = first(schedule, 1_000)
        assert max(delays) <= 2
        assert len(set(delays[1:])) > 900


def test_decorrelated_draws_up_to_three_times_previous() -> None:
    """The range reaches from the base to three times the previous delay, at most to the cap."""
    schedule = decorrelated(1, cap=20)
    assert list(islice(schedule.delays(Draws(0, 0, 0, 1)), 4)) == [3, 9, 20, 1]
    assert list(islice(schedule.delays(Draws(0.5, 0.5)), 2)) == [2, 3.5]


def test_decorrelated_stays_random_at_cap() -> None:
    """Delays do not pile up at the cap, and their mean is well inside the range."""
    delays = first(decorrelated(1, cap=4), 2_000)
    assert delays.count(4) == 0
    assert min(delays) >= 1
    assert max(delays) < 4
    assert 2.2 < statistics.fmean(delays) < 2.6


def test_decorrelated_takes_lower_cap() -> None:
    """A later cap lowers the range, and below the base every delay is the cap."""
    assert decorrelated(1, cap=20).cap(5) == decorrelated(1, cap=5)
    assert decorrelated(1, cap=20).cap(30) == decorrelated(1, cap=20)
    assert first(decorrelated(1, cap=20).cap(0.5)) == [0.5] * 5


def test_from_start_keeps_fixed_on_grid() -> None:
    """Checks start on multiples of the interval; due times that have passed are skipped."""
    assert waited(fixed(3).from_start(), 1, 2.5, 7, 0) == [2, 0.5, 2, 3]


def test_from_start_checks_at_once_when_just_due() -> None:
    """A check that ends exactly when the next is due is followed by it at once."""
    assert waited(fixed(3).from_start(), 3, 6, 1) == [0, 0, 2]
    assert waited(fixed(0.1).from_start(), 3 * 0.1) == [0]  # which divides to a little over 3


def test_from_start_does_not_drift() -> None:
    """A sleep that overshoots or falls short shifts no later check, and repeats none."""
    schedule = fixed(3).from_start()
    delay, state = schedule.step(schedule.begin(), 10.0, 10.0, Draws()) or (0, None)
    assert delay == 3
    delay, early = schedule.step(state, 12.984375, 12.984375, Draws()) or (0, None)
    assert delay == 3.015625
    delay, late = schedule.step(state, 13.25, 13.25, Draws()) or (0, None)
    assert delay == 2.75
    assert early == late


def test_from_start_keeps_to_cap_after_early_check() -> None:
    """A capped grid never makes up for an early check with a delay above the cap (S1)."""
    assert max(first(fixed(3).cap(3).from_start().jitter("full"), 500)) <= 3


def test_from_start_counts_other_delays_from_start() -> None:
    """Delays off the grid are shortened by the check's duration, to none at the least."""
    assert waited(linear(2, step=1).from_start(), 0.5, 1, 9) == [1.5, 2, 0]
    assert waited(exponential(2).within(5).from_start(), 0.5, 1) == [1.5, 2]
    assert waited((fixed(2) & linear(1, step=2)).from_start(), 1, 1, 1) == [1, 2, 4]


def test_from_start_reaches_through_times_and_then() -> None:
    """Each part keeps a grid of its own, from the check before it, and joints stay exact."""
    assert waited(fixed(3).times(2).from_start(), 1, 2) == [2, 1]
    schedule = (fixed(3).times(1) + fixed(2).after(5)).from_start()
    assert waited(schedule, 1, 1, 0.5, 0.5) == [2, 5, 1.5, 1.5]


def test_from_start_counts_no_delay_twice() -> None:
    """Parts that count from the start already stay as they are, and the others join them."""
    once = fixed(3).from_start().jitter(0.25)
    assert once.from_start() == once
    partly = (fixed(3).from_start().times(2) + linear(1, step=1)).within(60)
    assert partly.from_start() == (fixed(3).times(2) + linear(1, step=1)).from_start().within(60)


def test_from_start_leaves_delay_at_joint_exact() -> None:
    """The initial delay of a following schedule counts from the end, however deep it lies."""
    joined = (sequence(8) + sequence(8).after(6)).within(99)
    assert waited(joined.from_start(), 1, 1, 1) == [7, 6, 7]


def test_from_start_adds_nothing_when_clock_stands_wrong() -> None:
    """A previous start that lies ahead of now does not make a delay longer (S1)."""
    schedule = linear(2, step=1).cap(2).from_start()
    found = schedule.step(schedule.begin(), 5.0, 6.0, Draws())
    assert found is not None
    assert found[0] == 2


def test_from_start_skips_do_not_count() -> None:
    """Only delays that happen count for times and within."""
    assert waited(fixed(1).times(3).from_start(), 5.5, 5.5, 5.5) == [0.5, 0.5, 0.5]
    assert waited(fixed(1).from_start().within(1), 5.5, 5.5) == [0.5, 0.5]


@pytest.mark.parametrize("interval", [0, 1e-300, 1e-10])
def test_from_start_without_interval_checks_at_once(interval: float) -> None:
    """Where no clock could keep the grid, every check follows at once."""
    assert waited(fixed(interval).from_start(), 0, 5, 1_000) == [0, 0, 0]


GROWING = [
    linear(1e8, step=1e8),
    exponential(1e-3, factor=1e300),
    exponential(0.5, factor=1.5),
    fibonacci(1),
]


@pytest.mark.parametrize("schedule", GROWING, ids=str)
def test_growth_is_held_at_max_delay(schedule: Schedule) -> None:
    """Without a cap, growth ends at MAX_DELAY; attempt 20,000 is as cheap as the first (P6, S2)."""
    rng, state, delay = random.Random(1), schedule.begin(), 0.0
    for _ in range(20_000):
        found = schedule.step(state, 0.0, 0.0, rng)
        assert found is not None
        delay, state = found
        assert isfinite(delay)
    assert delay == MAX_DELAY
    assert sys.getsizeof(state) <= sys.getsizeof((0, 0))


def test_linear_does_not_drift() -> None:
    """The 10,001st delay is start + 10,000 steps to the last bit."""
    assert first(linear(0.1, step=0.1), 10_001)[-1] == 0.1 + 10_000 * 0.1


def test_linear_is_held_at_an_impossible_attempt() -> None:
    """A state from far beyond any real wait still gives a finite delay (S2)."""
    schedule = linear(1, step=1e-9)
    assert schedule.step(2.0**53, 0.0, 0.0, Draws()) == (1 + 2.0**53 * 1e-9, 2.0**53)
    assert schedule.step(1e300, 0.0, 0.0, Draws()) == (MAX_DELAY, 1e300)


def test_delays_above_max_delay_count_as_max_delay() -> None:
    """What is given beyond MAX_DELAY is held there, as growth is."""
    assert fixed(timedelta.max) == fixed(1e300) == fixed(MAX_DELAY)
    assert fixed(1).after(1e300).initial_delay == MAX_DELAY
    assert first(sequence(1e300)) == [MAX_DELAY]
    assert fixed(1).within(1e20) != fixed(1).within(MAX_DELAY)


def test_delays_have_no_negative_zero() -> None:
    """A negative zero, as arithmetic may give, is an ordinary one."""
    assert repr([*first(sequence(-0.0)), fixed(1).after(-0.0).initial_delay]) == "[0.0, 0.0]"


def test_delays_replay_from_seed() -> None:
    """The same seed gives the same delays (S3), and without one they differ."""
    schedule = decorrelated(1, cap=20).jitter("full")
    assert first(schedule, 50, seed=7) == first(schedule, 50, seed=7) != first(schedule, 50, seed=8)
    assert list(islice(schedule.delays(), 9)) != list(islice(schedule.delays(), 9))


ENDS = [
    (fixed(1), False),
    (DEFAULT, False),
    (sequence(1), True),
    (fixed(1).times(1), True),
    (fixed(1).within(60), True),
    (fixed(0).within(0), True),
    (fixed(0).within(60), False),
    (fixed(0).jitter("full").within(60), False),
    (fixed(3).cap(0).within(60), False),
    (fixed(0).times(3).within(60), True),
    (linear(0, step=0).within(60), False),
    (linear(0, step=1).within(60), True),
    (fibonacci(0).within(60), False),
    (fibonacci(1).within(60), True),
    (fibonacci(1).cap(0).within(60), False),
    (exponential(1).cap(0).within(60), False),
    (exponential(1).jitter("full").within(60), True),
    (decorrelated(1, cap=2).within(60), True),
    (decorrelated(1, cap=2).cap(0).within(60), False),
    (fixed(1).from_start().within(60), False),
    (linear(1, step=1).from_start().within(60), False),
    (sequence(1).from_start().within(60), True),
    (fixed(1).within(60).from_start(), True),
    (fixed(1).times(3) + fixed(1), False),
    (fixed(1).times(3) + fixed(1).times(3).after(2), True),
    (fixed(1) + fixed(1).times(3), False),
    ((fixed(1).times(3) + fixed(1)).within(60), True),
    ((sequence(1) + fixed(1).after(2)).within(60), True),
    ((fixed(1).times(3) + fixed(0)).within(60), False),
    (fixed(1).times(3) & fixed(1), True),
    (fixed(1) & fixed(1), False),
    (fixed(1).times(3) | fixed(1), False),
    (fixed(1).times(3) | fixed(1).times(4), True),
    ((fixed(1) & fixed(0)).within(60), True),
    ((fixed(1) | fixed(0)).within(60), False),
    ((fixed(1) | fixed(0).times(3)).within(60), True),
    (fixed(0).within(60).within(70), False),
    ((fixed(1).within(60) + fixed(0)).within(70), False),
]


@pytest.mark.parametrize(("schedule", "ends"), ENDS, ids=str)
def test_ends_tells_if_end_is_certain(schedule: Schedule, ends: bool) -> None:
    """True only if the delays end whatever happens; delays of 0 never add up to a total."""
    assert schedule.ends is ends


@pytest.mark.parametrize(
    ("schedule", "ceiling"),
    [
        (fixed(3), inf),
        (fixed(3).cap(10), 10),
        (fixed(3).cap(2).jitter("full").times(3).within(9).after(1).from_start(), 2),
        (decorrelated(1, cap=20), 20),
        (sequence(1, 2), inf),
        (fixed(1).times(2).cap(5) + fixed(3).cap(4).after(9), 5),
        (fixed(1).cap(5) + fixed(3), inf),
        (fixed(1).cap(5) & fixed(3).cap(4), 5),
        (fixed(1).cap(5) | fixed(3), 5),
    ],
    ids=str,
)
def test_ceiling_is_what_caps_allow(schedule: Schedule, ceiling: float) -> None:
    """The longest delay by the caps alone, infinite without them."""
    assert schedule.ceiling == ceiling


TEXTS = [
    (fixed(3), "fixed(3)"),
    (fixed(0.1), "fixed(0.1)"),
    (fixed(-0.0), "fixed(0)"),
    (fixed(1e-7), "fixed(1e-07)"),
    (linear(1, step=0.5), "linear(1, step=0.5)"),
    (exponential(1), "exponential(1, factor=2)"),
    (fibonacci(1).cap(20), "fibonacci(1).cap(20)"),
    (decorrelated(1, cap=20), "decorrelated(1, cap=20)"),
    (decorrelated(1, cap=20).cap(0.5), "decorrelated(1, cap=1).cap(0.5)"),
    (sequence(1, 0.25), "sequence(1, 0.25)"),
    (
        exponential(0.5, factor=1.5).jitter("full").cap(30).after(1.25),
        "exponential(0.5, factor=1.5).cap(30).jitter('full').after(1.25)",
    ),
    (DEFAULT, "exponential(0.1, factor=1.5).cap(10).jitter(0.1)"),
    (fixed(1).within(1e20), "fixed(1).within(1e+20)"),
    ((fixed(1).times(3) + fixed(5)).within(60), "(fixed(1).times(3) + fixed(5)).within(60)"),
    (fixed(1) & fixed(2) | fixed(3), "(fixed(1) & fixed(2)) | fixed(3)"),
    (fixed(1) & (fixed(2) & fixed(3)), "fixed(1) & fixed(2) & fixed(3)"),
    ((fixed(1) | fixed(2)).after(1), "(fixed(1) | fixed(2)).after(1)"),
    (
        fixed(1).times(1) + sequence(2).after(3) + fixed(4),
        "fixed(1).times(1) + sequence(2).after(3) + fixed(4)",
    ),
    (
        fixed(1).times(1) + (fixed(2) & fixed(3)).after(3),
        "fixed(1).times(1) + (fixed(2) & fixed(3)).after(3)",
    ),
    (fixed(3).times(5).cap(2).from_start(), "fixed(3).cap(2).from_start().times(5)"),
    (fixed(3).jitter("equal").from_start(), "fixed(3).jitter('equal').from_start()"),
]


@pytest.mark.parametrize(("schedule", "text"), TEXTS)
def test_schedule_shows_as_code(schedule: Schedule, text: str) -> None:
    """Both repr and str are the code that makes the schedule, numbers as a person writes them."""
    assert repr(schedule) == str(schedule) == text


def test_equal_schedules_are_interchangeable() -> None:
    """Schedules are equal, and hash alike, by what they are made of."""
    one, other = exponential(1).jitter("full").cap(3), exponential(1).cap(3).jitter("full")
    assert one == other
    assert {one: "found"}[other] == "found"
    assert one != one.after(1)
    assert one != exponential(1).cap(3)
    assert fixed(3) != "fixed(3)"


def test_schedule_is_immutable() -> None:
    """Nothing can be set, and methods leave their schedule as it was."""
    schedule = fixed(3)
    schedule.after(1).cap(2)
    with pytest.raises(AttributeError, match="Schedule is immutable: cannot set 'initial_delay'"):
        schedule.initial_delay = 1  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete 'step'"):
        del schedule.step
    with pytest.raises(AttributeError):
        schedule.other = 1  # type: ignore[attr-defined]
    assert schedule == fixed(3)


def test_schedule_carries_waits_apart() -> None:
    """Two iterations of one schedule do not disturb each other."""
    schedule = exponential(1).times(3)
    one, other = schedule.delays(), schedule.delays()
    assert [next(one), next(one), next(other), next(one), next(other)] == [1, 2, 1, 4, 2]


def test_preview_gives_earliest_and_latest_starts() -> None:
    """Each check is given with its bounds, the first after the initial delay."""
    schedule = exponential(1).cap(3).jitter("equal").after(1.25)
    assert schedule.preview(4) == [
        Planned(1, 1.25, 1.25),
        Planned(2, 1.75, 2.25),
        Planned(3, 2.75, 4.25),
        Planned(4, 4.25, 7.25),
    ]


def test_preview_ends_with_schedule() -> None:
    """Where the schedule ends early there are fewer checks than asked for."""
    assert sequence(1, 2).preview(9) == [Planned(1, 0, 0), Planned(2, 1, 1), Planned(3, 3, 3)]
    assert fixed(1).preview(1) == [Planned(1, 0, 0)]


def test_preview_holds_latest_when_longest_run_has_ended() -> None:
    """Short delays use a total up later: further checks start at the last one's time at latest."""
    assert fixed(8).jitter("equal").within(8).preview(9) == [
        Planned(1, 0, 0),
        Planned(2, 4, 8),
        Planned(3, 8, 8),
    ]


def test_preview_stays_in_order_where_it_cannot_bound() -> None:
    """No check is given a latest start before its earliest, even where the runs fall apart."""
    schedule = fixed(1).jitter("full").within(2) & fixed(2)
    plan = schedule.preview(5)
    assert [planned.earliest for planned in plan] == [0, 2, 4, 6, 8]
    assert [planned.latest for planned in plan] == [0, 2, 4, 6, 8]


def test_planned_is_a_value() -> None:
    """A planned check shows its fields, compares by them and is pickled."""
    planned = Planned(2, 0.5, 1.0)
    assert repr(planned) == "Planned(attempt=2, earliest=0.5, latest=1.0)"
    assert pickle.loads(pickle.dumps(planned)) == planned


def many(count: int, operator: Callable[[Schedule, Schedule], Schedule]) -> Schedule:
    """Compose as many schedules in a loop."""
    schedule = fixed(1).times(1)
    for _ in range(count - 1):
        schedule = operator(schedule, fixed(1).times(1))
    return schedule


@pytest.mark.parametrize(
    ("operator", "delays"),
    [(Schedule.__add__, 2_000), (Schedule.__and__, 1), (Schedule.__or__, 1)],
)
def test_composing_in_a_loop_nests_nothing(operator: Any, delays: int) -> None:
    """Thousands of operands are shown, hashed, copied and run without recursion."""
    schedule = many(2_000, operator)
    assert hash(schedule) == hash(copy.deepcopy(schedule))
    assert str(schedule).count("fixed") == 2_000
    assert first(schedule, 3_000) == [1] * delays
    assert schedule.ends
    assert schedule.cap(2).from_start().ceiling == 2


def test_nesting_too_deep_is_refused() -> None:
    """Nesting that would exhaust the stack at some step is refused when composed."""
    schedule = fixed(1)
    for _ in range(99):
        schedule = schedule.jitter(0.5)
    assert len(first(schedule)) == 5
    assert copy.deepcopy(schedule) == schedule
    with pytest.raises(ValueError, match="nested deeper than 100 levels of .*: got 101"):
        schedule.jitter(0.5)


def test_default_backs_off_quickly() -> None:
    """The default checks at once, soon again, and late by about a third of the wait up to 10 s."""
    plan = DEFAULT.preview(40)
    assert (DEFAULT.initial_delay, plan[1].latest, DEFAULT.ceiling) == (0, 0.1, 10)
    for before, after in pairwise(plan[6:]):
        assert after.latest - before.latest < min(10.001, 0.36 * after.latest)
    assert plan[-1].latest - plan[-2].latest == pytest.approx(10)


S = fixed(1)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: fixed(-1), ValueError, "interval must be finite and >= 0 seconds: got interval=-1"),
    (lambda: fixed(nan), ValueError, "interval must be finite .*: got interval=nan"),
    (lambda: fixed(inf), ValueError, "interval must be finite .*: got interval=inf"),
    (lambda: fixed(10**400), ValueError, "interval must be finite"),
    (lambda: fixed(timedelta(-1)), ValueError, "interval must be finite"),
    (lambda: fixed(True), TypeError, "interval must be seconds .*: got interval=True"),
    (lambda: fixed("3"), TypeError, "interval must be seconds .*: got interval='3'"),
    (lambda: fixed(None), TypeError, "interval must be seconds"),
    (lambda: linear(-1, step=1), ValueError, "start must be finite"),
    (lambda: linear(1, step=-1), ValueError, "step must be finite"),
    (lambda: linear(1, step="1"), TypeError, "step must be seconds"),
    (lambda: linear(1, 2), TypeError, "positional"),
    (lambda: exponential(0), ValueError, "start must be > 0 seconds: got start=0"),
    (lambda: exponential(-1), ValueError, "start must be finite"),
    (
        lambda: exponential(1, factor=0.5),
        ValueError,
        "factor must be finite and >= 1: got fac.*=0.5",
    ),
    (lambda: exponential(1, factor=nan), ValueError, "factor must be finite"),
    (lambda: exponential(1, factor=inf), ValueError, "factor must be finite"),
    (lambda: exponential(1, factor=10**400), ValueError, "factor must be finite"),
    (lambda: exponential(1, factor=True), TypeError, "factor must be a number: got factor=True"),
    (lambda: exponential(1, factor="2"), TypeError, "factor must be a number: got factor='2'"),
    (lambda: exponential(1, 2), TypeError, "positional"),
    (lambda: fibonacci(nan), ValueError, "start must be finite"),
    (lambda: decorrelated(0, cap=1), ValueError, "base must be > 0 seconds: got base=0"),
    (lambda: decorrelated(2, cap=1), ValueError, "cap must be >= base: got cap=1, base=2"),
    (lambda: decorrelated(2, cap=nan), ValueError, "cap must be finite"),
    (lambda: decorrelated(2), TypeError, "cap"),
    (lambda: sequence(), ValueError, "sequence needs at least one delay: got none"),
    (lambda: sequence(1, -2), ValueError, "delay must be finite .*: got delay=-2"),
    (lambda: sequence([1, 2]), TypeError, r"delay must be seconds .*: got delay=\[1, 2\]"),
    (lambda: S.after(-1), ValueError, "delay must be finite .*: got delay=-1"),
    (lambda: S.cap(nan), ValueError, "longest must be finite .*: got longest=nan"),
    (lambda: S.cap(None), TypeError, "longest must be seconds"),
    (lambda: S.jitter(0), ValueError, "amount must be 'full', 'equal' or .*: got amount=0"),
    (lambda: S.jitter(1.5), ValueError, "amount must be .*: got amount=1.5"),
    (lambda: S.jitter(nan), ValueError, "amount must be .*: got amount=nan"),
    (lambda: S.jitter("half"), ValueError, "amount must be .*: got amount='half'"),
    (lambda: S.jitter(True), TypeError, "amount must be .*: got amount=True"),
    (lambda: S.jitter(None), TypeError, "amount must be .*: got amount=None"),
    (lambda: S.times(0), ValueError, "n must be >= 1: got n=0"),
    (lambda: S.times(2.0), TypeError, "n must be an int: got n=2.0"),
    (lambda: S.times(True), TypeError, "n must be an int: got n=True"),
    (lambda: S.within(-1), ValueError, "total must be finite .*: got total=-1"),
    (lambda: S.within(inf), ValueError, "total must be finite .*: got total=inf"),
    (lambda: S.then(3), TypeError, "other must be a Schedule: got other=3"),
    (lambda: S + 3, TypeError, "unsupported operand"),
    (lambda: S & 3, TypeError, "unsupported operand"),
    (lambda: S | 3, TypeError, "unsupported operand"),
    (lambda: S.preview(0), ValueError, "n must be >= 1: got n=0"),
    (lambda: S.preview(1.5), TypeError, "n must be an int"),
    (lambda: Schedule(3), TypeError, "a schedule is made by fixed, .*: got 3"),
]


@pytest.mark.parametrize(("make", "kind", "message"), ERRORS)
def test_bad_argument_is_refused(
    make: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    """A bad argument is refused when given, with its name and value."""
    with pytest.raises(kind, match=message):
        make()


def test_numbers_of_other_kinds_are_taken() -> None:
    """A fraction is a number, for durations and factors alike."""
    half = Fraction(1, 2)
    assert exponential(half, factor=3 * half).jitter(half) == exponential(0.5, factor=1.5).jitter(
        0.5
    )
