"""Fixed delays that count from the start of the check stay on their grid, whatever lies between."""

from __future__ import annotations

import itertools

import pytest

from pollwait import PollExhausted, TryAgain, fixed, poll, sequence
from pollwait.testing import FakeClock


class Drawn:
    """A source of chance with given draws; the last one is repeated."""

    def __init__(self, *draws: float) -> None:
        self.draws = [*draws]

    def random(self) -> float:
        return self.draws.pop(0) if len(self.draws) > 1 else self.draws[0]


def starts(schedule, *, checks, hint_at=None, rng=None):
    """Return when the checks of a wait start; one of them may ask to be repeated after 3 s."""
    clock, times = FakeClock(), []

    def check():
        times.append(clock.monotonic())
        if len(times) == hint_at:
            raise TryAgain(after=3)

    with pytest.raises(PollExhausted):
        poll(check, schedule=schedule, max_attempts=checks, clock=clock, rng=rng)
    return times


def test_grid_takes_up_again_after_a_hint():
    """A server's hint puts one check beside the grid, and no tick is left out for it."""
    assert starts(fixed(10).from_start(), checks=4, hint_at=1) == [0.0, 3.0, 10.0, 20.0]


@pytest.mark.parametrize(
    ("schedule", "times"),
    [
        (fixed(3).from_start() | sequence(1, 1, 1), [0.0, 1.0, 2.0, 3.0, 6.0, 9.0]),
        (fixed(3).from_start() | fixed(2), [0.0, 2.0, 3.0, 5.0, 6.0, 8.0]),
        (fixed(3).from_start() & fixed(1), [0.0, 3.0, 6.0, 9.0, 12.0, 15.0]),
    ],
)
def test_grid_acts_in_combinations(schedule, times):
    """The grid is where it is, also when the delays of another schedule were shorter."""
    assert starts(schedule, checks=6) == times


def test_jitter_over_a_grid_only_shortens():
    """S1: checks that came early do not make a later delay longer than the interval."""
    schedule = fixed(10).from_start().jitter("full")
    times = starts(schedule, checks=8, rng=Drawn(0.99, 0.99, 0.99, 0.99, 0.99, 0.0))
    assert max(b - a for a, b in itertools.pairwise(times)) <= 10.0


def test_grid_survives_a_clock_that_steps_back():
    """A clock that jumps back by 100 s, which none should, does not put the wait to sleep."""
    schedule = fixed(1).from_start()
    _, state = schedule.step(schedule.begin(), 200.0, 200.0, Drawn(0.5))
    delay, _ = schedule.step(state, 100.0, 100.0, Drawn(0.5))
    assert 0.0 <= delay <= 1.01
