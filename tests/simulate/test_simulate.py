"""Simulations: the shipped drivers on virtual time, with answers that can be reckoned by hand."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from pollwait import ClockStalled, exponential, fixed
from pollwait._core.distribution import Distribution
from pollwait._core.evaluate import evaluate
from pollwait._core.latency import LatencyModel
from pollwait.simulate import Batched, Bucket, Grouped, Poisson, Single, compare, simulate

# A published tuning of a storage driver: quantiles of the seconds until a volume is ready.
VOLUMES = Distribution(
    (1.148, 1.445, 1.62, 1.884, 2.231, 4.318, 5.122), (0, 0.1, 0.5, 0.9, 0.95, 0.985, 1)
)


class Constant:
    """A model with a method that draws."""

    def draw(self, rng: Random) -> float:
        return 2.0


def test_a_single_wait_notices_at_the_end_of_the_check_that_sees_it_ready() -> None:
    """Checks start at 1.25 and 1.875, and see the state in their middle."""
    found = simulate(1.625, fixed(0.5).after(1.25), waits=1, call_duration=0.125)
    (run,) = found.runs
    assert run.calls == (1.25, 1.875)
    assert run.latencies == (2.0,)
    assert run.overshoots == (0.375,)
    assert (found.calls, found.checks_per_wait, found.timeouts) == (2, 2, 0)


@pytest.mark.parametrize(("sees_at", "noticed"), [(0.0, 2.0), (0.5, 1.375), (1.0, 1.375)])
def test_a_call_sees_the_state_at_its_part(sees_at: float, noticed: float) -> None:
    """What is ready while a call is under way is noticed if the call looks late enough."""
    found = simulate(1.3125, fixed(0.5).after(1.25), waits=1, call_duration=0.125, sees_at=sees_at)
    assert found.latencies == (noticed,)


def test_a_wait_begins_when_its_request_has_returned() -> None:
    """Latency counts from the arrival, the initial delay from the return of the request."""
    found = simulate(1.0, fixed(0.5).after(1), waits=1, start_duration=0.25)
    assert found.runs[0].calls == (1.25,)
    assert found.latencies == (1.25,)
    assert found.overshoots == (0.25,)


def test_what_is_ready_before_its_wait_begins_is_late_by_the_rest_of_the_request() -> None:
    """A request that takes longer than what it starts leaves an overshoot to every strategy."""
    found = simulate(0.25, fixed(1), waits=1, start_duration=1.0)
    assert found.overshoots == (0.75,)


def test_batched_waits_share_the_calls_of_a_window() -> None:
    """The window closes half a second after its first key, and one call answers all in it."""
    found = simulate(
        0.0, Batched(fixed(1), max_delay=0.5), arrivals=[0.0, 0.25, 0.375, 4.0], call_duration=0.25
    )
    assert found.runs[0].calls == (0.5, 4.5)
    assert found.latencies == (0.75, 0.5, 0.375, 0.75)
    assert found.checks_per_wait == 1


def test_a_batcher_is_given_all_its_options() -> None:
    """A quiet window closes early, and calls beyond those in flight wait."""
    quick = Batched(fixed(1), max_delay=0.5, idle_delay=0.125, max_in_flight=1)
    found = simulate(0.0, quick, arrivals=[0.0, 0.5], call_duration=1.0)
    assert found.runs[0].calls == (0.125, 1.125)


@pytest.mark.parametrize("strategy", [Batched(fixed(1)), Grouped(fixed(1), min_gap=0.25)], ids=str)
def test_calls_carry_no_more_keys_than_they_may(strategy: Batched | Grouped) -> None:
    """Five waits at two keys a call take three calls."""
    found = simulate(0.0, strategy, waits=5, max_size=2)
    assert (found.calls, found.checks_per_wait) == (3, 1)


def test_grouped_waits_share_calls_a_gap_apart() -> None:
    """Ten waits that arrive at once take one call a gap until they are ready."""
    found = simulate(1.25, Grouped(fixed(0.25), min_gap=0.5), waits=10, call_duration=0.25)
    (run,) = found.runs
    assert len(run.calls) == 4
    assert all(later - sooner >= 0.5 for sooner, later in pairwise(run.calls))
    assert found.checks_per_wait == 4


def test_a_group_is_given_all_its_options() -> None:
    """What counts as a check delays the next one of a wait that rode along."""
    free, counts = (
        simulate(3.75, Grouped(fixed(1), min_gap=0.25, riding=riding), arrivals=[0.0, 0.5])
        for riding in ("free", "counts")
    )
    assert free.calls > counts.calls


def test_a_throttled_check_is_made_again_after_the_next_delay() -> None:
    """Two tokens serve two of three single waits; the third finds the next token."""
    found = simulate(0.0, fixed(1), waits=3, bucket=Bucket(2, refill=1))
    assert found.latencies == (0.0, 0.0, 1.0)
    assert (found.calls, found.throttles, found.timeouts) == (4, 1, 0)


def test_a_throttled_batch_delays_all_its_waits() -> None:
    """A call without a token answers nobody."""
    strategy = Batched(fixed(1), max_delay=0.25)
    found = simulate(0.0, strategy, arrivals=[0.0, 0.0, 0.5, 0.5], bucket=Bucket(1, refill=1))
    assert found.latencies == (0.25, 0.25, 1.5, 1.5)
    assert found.throttles == 1


def test_a_throttled_group_slows_down() -> None:
    """No wait fails by a throttle, and calls come further apart than the gap."""
    bucket = Bucket(1, refill=0.25)
    found = simulate(8.0, Grouped(fixed(0.5), min_gap=0.5), waits=5, bucket=bucket)
    unlimited = simulate(8.0, Grouped(fixed(0.5), min_gap=0.5), waits=5)
    assert found.throttles > 0
    assert found.timeouts == 0
    assert found.calls < unlimited.calls


def test_a_bucket_fills_up_to_its_capacity() -> None:
    """After a long rest there are no more tokens than at first."""
    arrivals = [0.0, 0.0, 100.0, 100.0, 100.0]
    found = simulate(0.0, fixed(1), arrivals=arrivals, bucket=Bucket(2, refill=1))
    assert found.latencies == (0.0, 0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "strategy", [Single(fixed(1)), Batched(fixed(1)), Grouped(fixed(1))], ids=str
)
def test_a_wait_that_runs_out_of_time_counts_as_a_timeout(strategy: Any) -> None:
    """It is infinitely late, and the mean is that of the others."""
    draws = iter([1.0, 50.0])
    found = simulate(lambda _: next(draws), strategy, waits=2, timeout=10)
    assert found.timeouts == 1
    assert found.latencies[1] == math.inf
    assert found.percentile(100) == math.inf
    assert found.mean == found.latencies[0]
    assert found.overshoot == found.overshoots[0]


def test_a_schedule_that_ends_leaves_waits_unnoticed() -> None:
    """A wait that has made its checks in vain counts as a timeout too."""
    found = simulate(5.0, fixed(0.5).times(3), waits=2)
    assert (found.timeouts, found.calls) == (2, 8)
    assert (found.mean, found.overshoot) == (math.inf, math.inf)


def test_a_learning_group_leaves_the_model_that_it_was_given() -> None:
    """Each run starts from a copy, so that the same arguments give the same report."""
    model = LatencyModel([1.5, 1.75])
    text = model.to_json()
    strategy = Grouped(latency=model, call_cost=2, learn=True)
    first = simulate(1.625, strategy, waits=20, arrivals=4, runs=2)
    assert model.to_json() == text
    assert simulate(1.625, strategy, waits=20, arrivals=4, runs=2) == first
    model.add(60)
    assert simulate(1.625, strategy, waits=20, arrivals=4, runs=2) == first


def scenario_of_all_chances(seed: int) -> Any:
    """Simulate with everything that draws."""
    return compare(
        [1.0, 1.5, 1.75, 3.0],
        [
            exponential(0.5, factor=1.5).jitter("full"),
            Batched(fixed(1).jitter("equal"), max_delay=0.25),
            Grouped(fixed(1).jitter("full")),
        ],
        waits=20,
        arrivals=Poisson(5),
        start_duration=lambda rng: rng.uniform(0, 0.5),
        call_duration=lambda rng: rng.expovariate(8),
        bucket=Bucket(5, refill=3),
        runs=2,
        seed=seed,
    )


def test_the_same_seed_gives_the_same_report() -> None:
    """All chance comes from the seed (S3)."""
    assert scenario_of_all_chances(7) == scenario_of_all_chances(7)
    assert scenario_of_all_chances(7) != scenario_of_all_chances(8)


def test_every_strategy_gets_the_same_waits() -> None:
    """What one strategy draws moves nothing that another one sees, and runs differ."""
    single, batched, grouped = scenario_of_all_chances(7).values()
    ready = [run.ready for run in single.runs]
    assert [run.ready for run in batched.runs] == ready
    assert [run.ready for run in grouped.runs] == ready
    assert ready[0] != ready[1]


def test_a_schedule_alone_means_single_waits() -> None:
    """``simulate`` takes what ``poll`` takes."""
    assert simulate(1.5, fixed(1), waits=3) == simulate(1.5, Single(fixed(1)), waits=3)


def test_a_simulation_runs_inside_an_event_loop() -> None:
    """A notebook, whose cells run in a loop, gets the same report."""

    async def cell() -> Any:
        return simulate(VOLUMES, fixed(1), waits=5)

    assert asyncio.run(cell()) == simulate(VOLUMES, fixed(1), waits=5)


@pytest.mark.parametrize(
    "latency",
    [2, 2.0, timedelta(seconds=2), lambda rng: 2.0, Constant()],
    ids=["int", "float", "timedelta", "function", "object"],
)
def test_seconds_may_be_given_in_many_forms(latency: Any) -> None:
    """A number, a timedelta, a function of a generator and a model are all drawn from."""
    found = simulate(
        latency, fixed(8), waits=1, start_duration=latency, call_duration=latency, sees_at=0.25
    )
    assert found.runs[0].ready == (2.0,)
    assert found.runs[0].calls == (2.0,)
    assert found.latencies == (4.0,)


@pytest.mark.parametrize(
    "latency",
    [
        VOLUMES,
        LatencyModel(VOLUMES.quantile((each + 0.5) / 500) for each in range(500)),
        [VOLUMES.quantile((each + 0.5) / 500) for each in range(500)],
    ],
    ids=["distribution", "model", "samples"],
)
def test_latencies_are_drawn_from_what_was_measured(latency: Any) -> None:
    """The quantiles of many waits are those of the samples."""
    found = simulate(latency, fixed(1), waits=2000)
    for percent in (10, 50, 90):
        measured = VOLUMES.quantile(percent / 100)
        assert found.percentile(percent, "ready") == pytest.approx(measured, rel=0.03)


def test_arrivals_may_be_listed_in_any_order() -> None:
    """They are put in order, and say how many waits there are."""
    (run,) = simulate(0.0, Batched(fixed(1), max_delay=1.5), arrivals=[4.0, 1.0, 2.0]).runs
    assert run.calls == (2.5, 5.5)
    assert run.latencies == (1.5, 0.5, 1.5)
    assert run.seconds == 4.5
    assert simulate(0.0, fixed(1), arrivals=[4.0], waits=1).waits == 1


def test_arrivals_spread_over_seconds() -> None:
    """A number is the span over which requests arrive at random; 0 means at once."""
    (run,) = simulate(0.0, fixed(1), waits=200, arrivals=timedelta(seconds=10)).runs
    assert 0 <= run.calls[0] < 1
    assert 9 < run.calls[-1] <= 10
    assert run.seconds == run.calls[-1] - run.calls[0]
    assert simulate(0.0, fixed(1), waits=3).runs[0].calls == (0.0, 0.0, 0.0)


def test_poisson_arrivals_keep_their_rate() -> None:
    """So many requests arrive a second, on average."""
    calls = simulate(0.0, fixed(1), waits=1000, arrivals=Poisson(4)).runs[0].calls
    assert calls[-1] == pytest.approx(250, rel=0.1)
    assert len({b - a for a, b in pairwise(calls)}) > 900


def test_the_published_tuning_comes_out() -> None:
    """A computation of its own, over 1,000 runs, found a median of 2.06 s and 33.3 calls."""
    found = simulate(
        VOLUMES,
        Batched(exponential(0.5, factor=1.5).after(1.25), max_delay=0.5),
        arrivals=20.48,
        start_duration=lambda rng: max(0.0, rng.gauss(0.21, 0.03)),
        call_duration=0.141,
        runs=20,
    )
    assert found.percentile(50) == pytest.approx(2.06, rel=0.03)
    assert found.calls == pytest.approx(33.3, rel=0.06)


def test_checks_that_take_no_time_are_reported_and_do_not_hang() -> None:
    """Neither the schedule nor the calls let time pass."""
    with pytest.raises(ClockStalled):
        simulate(1.0, fixed(0), waits=1)


@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        ({"latency": math.nan}, ValueError, "latency must be finite and >= 0"),
        ({"latency": True}, TypeError, "latency must be seconds"),
        ({"latency": []}, ValueError, "latency must have at least one sample"),
        ({"latency": None}, TypeError, "latency must be seconds, samples"),
        ({"latency": "1.5"}, TypeError, "latency must be seconds, samples"),
        ({"latency": lambda rng: -1.0}, ValueError, "drawn_latency must be finite and >= 0"),
        ({"strategy": 3}, TypeError, "a strategy must be Single"),
        ({"waits": 0}, ValueError, "waits must be >= 1"),
        ({"waits": 2.0}, TypeError, "waits must be an int"),
        ({"waits": 2, "arrivals": [1.0]}, ValueError, "waits must be as many"),
        ({"arrivals": -1}, ValueError, "arrivals must be finite and >= 0"),
        ({"arrivals": []}, ValueError, "arrivals must list at least one time"),
        ({"arrivals": [1.0, -1.0]}, ValueError, "arrival must be finite and >= 0"),
        ({"arrivals": "at once"}, TypeError, "arrivals must be seconds, Poisson"),
        ({"start_duration": -0.25}, ValueError, "start_duration must be finite and >= 0"),
        ({"call_duration": math.inf}, ValueError, "call_duration must be finite and >= 0"),
        ({"sees_at": 1.5}, ValueError, "sees_at must be from 0 to 1"),
        ({"sees_at": "end"}, TypeError, "sees_at must be a number"),
        ({"max_size": 0}, ValueError, "max_size must be >= 1"),
        ({"bucket": 5}, TypeError, "bucket must be a Bucket or None"),
        ({"timeout": None}, TypeError, "timeout must be seconds"),
        ({"runs": 0}, ValueError, "runs must be >= 1"),
        ({"seed": "x"}, TypeError, "seed must be an int"),
        ({"seed": True}, TypeError, "seed must be an int"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_simulate_refuses_what_makes_no_sense(
    bad: dict[str, Any], error: type[Exception], text: str
) -> None:
    """Each argument is checked and named before anything runs."""
    good: dict[str, Any] = {"latency": 1.0, "strategy": fixed(1), "waits": None}
    with pytest.raises(error, match=text):
        simulate(**{**good, **bad})


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Single(1), TypeError, "schedule must be a Schedule"),  # type: ignore[arg-type]
        (lambda: Batched(fixed(1), max_delay=-1), ValueError, "max_delay must be"),
        (lambda: Batched(fixed(1), idle_delay=-1), ValueError, "idle_delay must be"),
        (lambda: Batched(fixed(1), max_in_flight=0), ValueError, "max_in_flight must be"),
        (lambda: Grouped(3), TypeError, "schedule must be a Schedule"),  # type: ignore[arg-type]
        (lambda: Grouped(min_gap=-1), ValueError, "min_gap must be"),
        (lambda: Grouped(riding="x"), ValueError, "riding must be"),  # type: ignore[arg-type]
        (lambda: Grouped(fixed(1), latency=VOLUMES), ValueError, "not both"),
        (lambda: Grouped(latency=VOLUMES, call_cost=0), ValueError, "call_cost must be finite"),
        (lambda: Grouped(latency=VOLUMES, learn=True), TypeError, "a Distribution is fixed"),
        (lambda: Poisson(0), ValueError, "rate must be > 0"),
        (lambda: Poisson(math.nan), ValueError, "rate must be"),
        (lambda: Poisson("5"), TypeError, "rate must be a number"),  # type: ignore[arg-type]
        (lambda: Bucket(0.5, refill=1), ValueError, "capacity must be >= 1"),
        (lambda: Bucket(1, refill=-1), ValueError, "refill must be >= 0"),
        (lambda: Bucket(1, refill=math.nan), ValueError, "refill must be >= 0"),
        (lambda: Bucket("1", refill=1), TypeError, "capacity must be a number"),  # type: ignore[arg-type]
        (lambda: compare(1.0, []), ValueError, "at least one"),
        (lambda: compare(1.0, [fixed(1), Single(fixed(1))]), ValueError, "give a mapping"),
    ],
)
def test_values_refuse_what_makes_no_sense(
    make: Callable[[], object], error: type[Exception], text: str
) -> None:
    """What exists is legal: a strategy or limit is checked when it is made."""
    with pytest.raises(error, match=text):
        make()


def test_strategies_are_values() -> None:
    """They are compared and hashed by what they say, show it, and cannot be changed."""
    assert Batched(fixed(1), max_delay=timedelta(seconds=1)) == Batched(fixed(1), max_delay=1.0)
    assert len({Grouped(fixed(1)), Grouped(fixed(1)), Grouped(fixed(1), min_gap=1)}) == 2
    assert str(Batched(fixed(1), max_delay=0.25)) == "fixed(1), batched over 0.25 s"
    assert str(Grouped(fixed(1), min_gap=0.25)) == "fixed(1), grouped, min_gap=0.25"
    assert str(Grouped(latency=VOLUMES, call_cost=3)) == "latency model, grouped, call_cost=3"
    assert str(Grouped()) == "default schedule, grouped"
    with pytest.raises(AttributeError):
        Single(fixed(1)).schedule = fixed(2)  # type: ignore[misc]


@pytest.mark.parametrize("schedule", [fixed(0.5), exponential(0.25, factor=2).after(1)], ids=str)
def test_single_waits_come_to_what_is_computed(schedule: Any) -> None:
    """``evaluate`` knows the figures of a single wait without simulating it."""
    times = [each / 8 for each in range(40)]
    draws = iter(times)
    found = simulate(lambda _: next(draws), schedule, waits=40, call_duration=0.125)
    expected = evaluate(schedule, times, check_duration=0.125, sees_at=0.5)
    assert found.overshoot == pytest.approx(expected.overshoot)
    assert found.checks_per_wait == pytest.approx(expected.checks)


def test_compare_refuses_a_single_schedule() -> None:
    """Strategies are several, and a lone one is refused by the argument's name."""
    strategies: Any = fixed(1)
    with pytest.raises(TypeError, match="strategies must be a mapping or a collection"):
        compare(VOLUMES, strategies)
