"""Evaluation: what a schedule costs, by hand, by formula and against a plain simulation."""

from __future__ import annotations

import pickle
import random
from datetime import timedelta
from math import exp, inf, isclose, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.distribution import Distribution
from pollwait._core.evaluate import Evaluation, evaluate
from pollwait._core.latency import LatencyModel
from pollwait._core.schedule import (
    DEFAULT,
    Schedule,
    decorrelated,
    exponential,
    fixed,
    linear,
    sequence,
)

EVEN = Distribution((0.0, 1.0), (0.0, 1.0))
DECAY = Distribution((0.0,), (0.0,), 1.0)
VOLUMES = Distribution(
    (0.938, 1.235, 1.41, 1.674, 2.021, 4.108, 4.912), (0.0, 0.1, 0.5, 0.9, 0.95, 0.985, 1.0)
)


def simulated(
    schedule: Schedule, times: list[float], duration: float, sees_at: float, seed: int = 1
) -> Evaluation:
    """Return what comes of waits that become ready at some times."""
    rng = random.Random(seed)
    late, checks, noticed = 0.0, 0, 0
    for time in times:
        state, start, checks = schedule.begin(), schedule.initial_delay, checks + 1
        while start + sees_at * duration < time:
            step = schedule.step(state, start + duration, start, rng)
            if step is None:
                break
            start, state, checks = start + duration + step[0], step[1], checks + 1
        else:
            late, noticed = late + start + duration - time, noticed + 1
    return Evaluation(late / noticed, checks / len(times), noticed / len(times))


@pytest.mark.parametrize(
    ("schedule", "samples", "options", "found"),
    [
        (fixed(0.5).after(1), [1.25, 1.75], {}, (0.25, 2.5, 1.0)),
        (fixed(0.5), [0.0], {}, (0.0, 1.0, 1.0)),
        (fixed(0.5), [0.5], {}, (0.0, 2.0, 1.0)),
        (sequence(1, 2, 4), [2.5], {}, (0.5, 3.0, 1.0)),
        (fixed(1), [1.5], {"check_duration": 0.25}, (1.25, 3.0, 1.0)),
        (fixed(1), [1.5], {"check_duration": 0.5, "sees_at": 1}, (0.5, 2.0, 1.0)),
        (fixed(1), [1.5], {"check_duration": timedelta(seconds=0.5), "sees_at": 0.5}, (0.5, 2, 1)),
        (fixed(1).from_start(), [1.5], {"check_duration": 0.25}, (0.75, 3.0, 1.0)),
        (fixed(1).times(2), [0.5, 1.5, 2.5, 3.5], {}, (0.5, 2.75, 0.5)),
        (fixed(1).times(1), [2.0], {}, (inf, 2.0, 0.0)),
        (fixed(0.5).from_start().within(2), [1, 5], {}, (0.0, 4.0, 0.5)),
    ],
)
def test_evaluate_counts_each_sample(schedule, samples, options, found):
    """Exact times are taken at their word: the figures are means over them."""
    assert evaluate(schedule, samples, **options) == Evaluation(*found)


@pytest.mark.parametrize("interval", [0.125, 0.3, 1.0, 3.0])
def test_evaluate_agrees_with_the_formula_for_decay(interval):
    """Looks at one interval at what decays cost what the geometric series says."""
    found = evaluate(fixed(interval).after(interval), DECAY)
    checks = 1.0 / (1.0 - exp(-interval))
    assert isclose(found.checks, checks, rel_tol=1e-9)
    assert isclose(found.overshoot, interval * checks - 1.0, rel_tol=1e-9)
    assert found.noticed == 1.0


def test_evaluate_agrees_with_the_formula_for_even_chances():
    """Looks at one interval at what is ready at any time alike are late by half of it."""
    found = evaluate(fixed(0.125).after(0.125), EVEN)
    assert isclose(found.overshoot, 0.0625)
    assert isclose(found.checks, 4.5)


@pytest.mark.parametrize(
    "schedule",
    [
        exponential(0.5, factor=1.5).after(1.25),
        DEFAULT,
        fixed(0.4).jitter("full"),
        exponential(0.1).jitter("equal").cap(1),
        decorrelated(0.1, cap=5),
        linear(0.1, step=0.1).jitter(0.3).from_start(),
        fixed(0.3).jitter("full").times(6),
        (fixed(0.2).jitter(0.5) | exponential(0.1).jitter("full")).after(0.5),
        fixed(0.4).jitter("equal").within(3) + fixed(2),
    ],
    ids=str,
)
@pytest.mark.parametrize("latency", [VOLUMES, DECAY, Distribution((1.0,), (0.75,), 20.0)])
def test_evaluate_agrees_with_a_simulation(schedule, latency):
    """For any schedule the figures are the means of very many waits."""
    times = [latency.quantile((at + 0.5) / 4000) for at in range(4000)]
    real = simulated(schedule, times, 0.125, 0.5)
    found = evaluate(schedule, latency, check_duration=0.125, sees_at=0.5)
    assert isclose(found.overshoot, real.overshoot, rel_tol=0.05)
    assert isclose(found.checks, real.checks, rel_tol=0.03)
    assert isclose(found.noticed, real.noticed, rel_tol=0.02)


@given(
    st.lists(st.floats(0.0, 20.0), min_size=1, max_size=10),
    st.sampled_from([fixed(0.75), exponential(0.25), sequence(1, 2, 3), linear(0, step=1)]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_evaluate_is_the_mean_over_samples(times, schedule, duration, sees_at):
    """Without chance the figures are exactly those of going through all samples."""
    found = evaluate(schedule, [*times, 0.0], check_duration=duration, sees_at=sees_at)
    real = simulated(schedule, [*times, 0.0], duration, sees_at)
    assert isclose(found.overshoot, real.overshoot, abs_tol=1e-9)
    assert isclose(found.checks, real.checks)
    assert isclose(found.noticed, real.noticed)


def test_evaluate_of_chance_is_the_same_each_time():
    """A schedule with chance in it has one value, which needs no seed."""
    schedule = fixed(0.4).jitter("full")
    assert evaluate(schedule, VOLUMES) == evaluate(schedule, VOLUMES)


@pytest.mark.parametrize(
    "schedule", [fixed(0.001), fixed(0.01).jitter(0.5), DEFAULT, decorrelated(0.5, cap=2)], ids=str
)
def test_evaluate_ends_where_waits_hardly_do(schedule):
    """A tail of many minutes is no reason to go through every check."""
    found = evaluate(schedule, Distribution((1.0,), (0.5,), 900.0))
    assert 0.0 < found.overshoot < 10.0
    assert found.checks > 50.0


def test_evaluate_takes_models_and_intervals_for_what_to_expect():
    """Samples with intervals among them stand for the distribution that fits them, as a model."""
    samples = [1.0, (1.0, 2.0), (3.0, None)]
    model = LatencyModel(samples, memory=None)
    found = evaluate(fixed(0.5), model.distribution())
    assert evaluate(fixed(0.5), samples) == found
    assert evaluate(fixed(0.5), model) == found
    assert evaluate(fixed(0.5), iter(samples)) == found


def test_evaluation_is_a_value():
    """It is compared and travels by its three figures."""
    found = evaluate(fixed(0.5).after(1), [1.25])
    assert repr(found) == "Evaluation(overshoot=0.25, checks=2.0, noticed=1.0)"
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (("fixed(1)", [1.0]), {}, TypeError, "schedule must be a Schedule: got schedule='fixed(1)"),
        ((fixed(1), []), {}, ValueError, "samples must not be empty"),
        ((fixed(1), [nan]), {}, ValueError, "got sample=nan"),
        ((fixed(1), [1.0]), {"check_duration": -1}, ValueError, "check_duration must be finite"),
        ((fixed(1), [1.0]), {"sees_at": 1.5}, ValueError, "sees_at must be from 0 to 1"),
        ((fixed(1), [1.0]), {"sees_at": "end"}, TypeError, "sees_at must be a number from 0 to 1"),
        ((fixed(0), [1.0]), {}, ValueError, "no time passes: the delays are 0 and checks take non"),
        ((fixed(0), DECAY), {}, ValueError, "no time passes: the delays are 0 and checks take non"),
        ((fixed(1), 1.0), {}, TypeError, "samples must be an iterable of times or pairs"),
        ((fixed(1), {}), {}, TypeError, "samples must be an iterable of times or pairs"),
    ],
)
def test_evaluate_refuses_nonsense(arguments: Any, options: Any, kind, message):
    """Arguments out of range, and schedules that stand still, are errors that say so."""
    with pytest.raises(kind) as raised:
        evaluate(*arguments, **options)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("schedule", "same"),
    [
        (fixed(0.25), fixed(0.25).jitter(1e-12)),
        (fixed(0.25).times(3000), fixed(0.25).jitter(1e-12).times(3000)),
        (fixed(1).times(3) + fixed(0.25).times(3000) + fixed(2), None),
        (sequence(0.5, 0.25) + (fixed(0.25).times(400) + fixed(0.5)).times(700), None),
    ],
    ids=str,
)
@pytest.mark.parametrize("tail", [0.0, 300.0])
def test_evaluate_sums_up_equal_delays(schedule, same, tail, monkeypatch):
    """Long runs of equal delays cost what they cost when each is looked at."""
    latency = Distribution((1.0, 1.0, 500.0, 700.0), (0.0, 0.25, 0.5, 0.75 if tail else 1.0), tail)
    found = evaluate(schedule, latency, check_duration=0.125)
    monkeypatch.setattr("pollwait._core.evaluate._MANY", inf)
    plain = evaluate(same or schedule, latency, check_duration=0.125)
    assert isclose(found.overshoot, plain.overshoot, rel_tol=1e-6)
    assert isclose(found.checks, plain.checks, rel_tol=1e-6)
    assert isclose(found.noticed, plain.noticed, rel_tol=1e-6)


@pytest.mark.parametrize("schedule", [fixed(1e-7), fixed(1e-7).times(10**12) + fixed(1)], ids=str)
def test_evaluate_leaps_over_billions_of_checks(schedule):
    """However many equal delays there are, they are not walked one by one."""
    found = evaluate(schedule, [600.0])
    assert isclose(found.checks, 6e9, rel_tol=1e-6)
    assert 0.0 <= found.overshoot < 1e-6


def test_evaluate_gives_up_where_there_is_no_end_of_checks(monkeypatch):
    """More different delays than can be looked at are an error, not hours of work."""
    monkeypatch.setattr("pollwait._core.evaluate._MOST_WALKED", 1000)
    with pytest.raises(ValueError, match="must not make more than 1,000 checks at delays that dif"):
        evaluate(fixed(0.001).jitter(0.5), [600.0])


def test_evaluate_of_much_chance_takes_one_walk(monkeypatch):
    """Very many draws in a single wait even out by themselves."""
    exact = evaluate(fixed(0.01).jitter(0.5), EVEN)
    monkeypatch.setattr("pollwait._core.evaluate._MOST_WALKED", 1000)
    found = evaluate(fixed(0.01).jitter(0.5), EVEN)
    assert found != exact
    assert isclose(found.checks, exact.checks, rel_tol=0.05)


def test_evaluate_of_a_fast_check_needs_no_delay():
    """Delays of 0 are fine if checks take time."""
    assert evaluate(fixed(0), [1.0], check_duration=0.25) == Evaluation(0.25, 5.0)
