"""Latency models: what they learn, forget, keep and refuse."""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
import threading
from datetime import timedelta
from math import inf, isclose, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.distribution import Distribution
from pollwait._core.estimate import PRIOR
from pollwait._core.latency import LatencyModel, distribution_of, observed

# How long some volumes took to become available: shares of all, and seconds.
VOLUMES = Distribution(
    (0.938, 1.235, 1.41, 1.674, 2.021, 4.108, 4.912), (0.0, 0.1, 0.5, 0.9, 0.95, 0.985, 1.0)
)

seconds = st.floats(0.0, 1e6)
samples = st.one_of(
    seconds,
    st.tuples(seconds, seconds).map(lambda pair: tuple(sorted(pair))),
    st.tuples(seconds, st.none()),
)


def drawn(count: int, seed: int = 1) -> list[float]:
    """Return random times of the volumes."""
    rng = random.Random(seed)
    return [VOLUMES.quantile(rng.random()) for _ in range(count)]


def farthest(one: Distribution, other: Distribution) -> float:
    """Return the largest difference between two distributions' shares."""
    return max(abs(one.ready(at / 100) - other.ready(at / 100)) for at in range(1000))


def test_model_that_saw_nothing_expects_anything():
    """Without observations there is a vague prior, from 0.1 s to ten minutes and beyond."""
    model = LatencyModel()
    assert model.weight == 0.0
    assert model.longest == 0.0
    assert model.distribution() == PRIOR
    for low, high in ((0.1, 1.0), (1.0, 10.0), (10.0, 100.0)):
        assert 0.2 < PRIOR.ready(high) - PRIOR.ready(low) < 0.3
    assert 0.0 < 1.0 - PRIOR.ready(600.0) < 0.1


def test_model_learns_from_five_samples():
    """A handful of observations outweighs the prior by far."""
    latency = LatencyModel([1.25, 1.5, 1.5, 1.75, 2.0]).distribution()
    assert latency.ready(2.5) - latency.ready(1.0) > 0.75
    assert 1.25 < latency.quantile(0.5) < 1.75


@pytest.mark.parametrize(("count", "error"), [(100, 0.12), (2000, 0.03)])
def test_model_comes_near_the_truth(count, error):
    """The more samples, the nearer the distribution is to the one that they come from."""
    assert farthest(LatencyModel(drawn(count)).distribution(), VOLUMES) < error


def test_model_spreads_exact_times_over_their_surroundings():
    """No time is a step, not even one that was seen often, and half of it lies on either side."""
    latency = LatencyModel([1.0] * 50 + [4.0] * 50).distribution()
    assert 0.2 < latency.ready(1.0) < 0.3
    assert latency.ready(0.9) == 0.0
    assert latency.ready(1.0625) == latency.ready(3.5)
    assert 0.48 < latency.ready(3.5) < 0.5


def test_model_leaves_room_for_what_was_never_seen():
    """One observation more than there are lies beyond the longest."""
    latency = LatencyModel([1.0 + at / 500 for at in range(500)]).distribution()
    assert isclose(1.0 - latency.shares[-1], 1 / 501)
    assert 1.998 < latency.times[-1] < 2.0
    assert latency.tail >= 1.99 / 16


def test_model_shares_out_intervals_as_other_samples_have_it():
    """An interval counts for what exact times make likely within it."""
    latency = LatencyModel([*[1.0, 1.01, 1.02] * 20, *[3.0, 3.01, 3.02] * 20, *[(0.5, 2.5)] * 60])
    assert isclose(latency.distribution().ready(2.0), 120 / 181, rel_tol=1e-2)
    assert latency.distribution().ready(0.9) < 0.01


def test_model_finds_what_is_behind_intervals():
    """From intervals alone, as of pollers that look at random times, comes the distribution."""
    rng = random.Random(3)
    seen = []
    for time in drawn(2000):
        look = rng.uniform(0.0, 0.5)
        while look + 0.5 < time:
            look += 0.5
        seen.append((look, look + 0.5) if look < time else (0.0, look))
    assert farthest(LatencyModel(seen).distribution(), VOLUMES) < 0.06


def test_model_counts_what_was_never_seen_ready():
    """Waits that ended in vain put their share beyond where they ended."""
    latency = LatencyModel([1.0, 1.25, 1.5, 1.75] * 50 + [(10.0, None)] * 200).distribution()
    assert isclose(1.0 - latency.ready(10.0), 0.5, rel_tol=0.02)
    assert latency.quantile(0.9) > 20.0


def test_model_of_waits_in_vain_expects_long_ones():
    """Where nothing was ever seen ready, more time is expected than was waited."""
    latency = LatencyModel([(5.0, None)] * 200).distribution()
    assert latency.ready(5.0) < 0.01
    assert latency.mean > 500.0


def test_model_forgets_slowly():
    """What is old fades once the memory is full, and is hardly left after many times as much."""
    model = LatencyModel([1.0] * 100, memory=100)
    before = model.distribution().ready(1.5)
    for _ in range(69):
        model.add(3.0)
    assert isclose(model.weight, 100.0)
    assert before > 0.98
    assert isclose(model.distribution().ready(1.5), 0.5, rel_tol=0.02)
    for _ in range(1000):
        model.add(3.0)
    assert model.distribution().ready(1.5) < 1e-3


def test_model_without_limit_forgets_nothing():
    """With memory=None every observation counts alike for ever."""
    model = LatencyModel([1.0] * 3000 + [3.0] * 3000, memory=None)
    assert model.memory is None
    assert model.weight == 6000.0
    assert isclose(model.distribution().ready(2.0), 0.5, rel_tol=1e-3)


@pytest.mark.parametrize("memory", [2000, None])
def test_model_stays_small(memory):
    """However many observations there are, what is kept and written is bounded, and still true."""
    rng = random.Random(5)
    model = LatencyModel(memory=memory)
    for time in drawn(20_000):
        model.add((time * rng.random(), time * (1.0 + rng.random())))
        model.add(time)
    assert len(json.loads(model.to_json())["seen"]) <= 2048
    assert farthest(model.distribution(), VOLUMES) < 0.06


def test_model_stays_small_whatever_it_sees():
    """Times of all sizes, alone, in pairs and without end, are rounded, and stay in their order."""
    rng = random.Random(7)
    model = LatencyModel(memory=None)
    for _ in range(6000):
        low = 10.0 ** rng.uniform(-9, 12)
        model.add((low, None))
        model.add((low, low * (1.0 + rng.random())))
        model.add(low)
    kept = json.loads(model.to_json())["seen"]
    assert len(kept) <= 2048
    assert all(high is None or low <= high for low, high, _ in kept)
    assert isclose(model.weight, 18_000.0)
    assert model.distribution().mean > 0.0


def test_model_takes_very_short_intervals_for_times():
    """Among many samples, intervals too short to matter count where they lie."""
    times = drawn(3000)
    exact = LatencyModel(times, memory=None).distribution()
    short = LatencyModel([(time, time + 1e-5) for time in times], memory=None).distribution()
    assert farthest(exact, short) < 0.02


def test_model_keeps_apart_what_differs_by_little():
    """Rounding goes no further than it must: times near 600 s keep fractions of a second."""
    rng = random.Random(6)
    latency = LatencyModel([600.0 + rng.random() for _ in range(5000)], memory=None).distribution()
    assert isclose(latency.ready(600.5), 0.5, abs_tol=0.03)
    assert isclose(latency.ready(600.25), 0.25, abs_tol=0.03)


def test_model_keeps_its_mind_until_there_is_news():
    """The distribution is made anew only when a few percent more are known."""
    model = LatencyModel(drawn(1000))
    latency = model.distribution()
    for time in drawn(50, seed=2):
        model.add(time)
        assert model.distribution() is latency
    for time in drawn(10, seed=3):
        model.add(time)
    assert model.distribution() is not latency


def test_models_merge_in_any_order():
    """A merged model has seen all that either had, whichever comes first; the other stays."""
    one, other, third = (LatencyModel(drawn(900, seed)) for seed in (1, 2, 3))
    one.add((1.0, None))
    forwards, backwards = one.copy(), third.copy()
    forwards.merge(other, third)
    backwards.merge(one)
    backwards.merge(other)
    assert other == LatencyModel(drawn(900, 2))
    assert isclose(forwards.weight, 2000.0)
    assert farthest(forwards.distribution(), backwards.distribution()) < 0.02
    alike = LatencyModel([1.0, 2.0, (1.0, 3.0)])
    alike.merge(LatencyModel([2.0, 5.0]))
    assert alike == LatencyModel([5.0, 2.0, (1.0, 3.0), 2.0, 1.0])


def test_models_merge_when_one_is_coarse():
    """Rounded observations and exact ones can be merged either way."""
    coarse, fine = LatencyModel(drawn(5000), memory=None), LatencyModel([1.0, 1.5])
    twin = fine.copy()
    twin.merge(coarse, coarse)
    coarse.merge(fine)
    assert coarse.weight == 5002.0
    assert isclose(twin.weight, 2000.0)


def test_model_of_enough_news_keeps_its_numbers_finite():
    """Weights do not overflow, however long a model lives."""
    model = LatencyModel(memory=2)
    for _ in range(2000):
        model.add(1.0)
        model.add(2.0)
    assert isclose(model.weight, 2.0)
    kept = json.loads(model.to_json())["seen"]
    assert [kind[:2] for kind in kept] == [[1.0, 1.0], [2.0, 2.0]]
    assert isclose(sum(kind[2] for kind in kept), 2.0)


def test_model_travels_as_json():
    """A model that is written down and read back knows the same, and can be read by others."""
    model = LatencyModel([1.25, (1.0, 2.0), (5.0, None), 1.25], memory=500)
    text = model.to_json()
    assert json.loads(text) == {
        "memory": 500.0,
        "digits": [None, None],
        "seen": [[1.0, 2.0, 1.0], [1.25, 1.25, 2.0], [5.0, None, 1.0]],
    }
    assert LatencyModel.from_json(text) == model
    assert pickle.loads(pickle.dumps(model)) == model
    coarse = LatencyModel(drawn(5000))
    assert LatencyModel.from_json(coarse.to_json()).distribution() == coarse.distribution()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"memory": 1, "digits": [null, null], "seen": []}',
        '{"memory": null, "digits": [99, 0], "seen": []}',
        '{"memory": null, "digits": null, "seen": []}',
        '{"memory": null, "digits": [null, null], "seen": [[1]]}',
        '{"memory": null, "digits": [null, null], "seen": [[2, 1, 1]]}',
        '{"memory": null, "digits": [null, null], "seen": [[1, 2, -1]]}',
        '{"memory": null, "digits": [null, null], "seen": [[1, 2, "x"]]}',
        '{"memory": null, "digits": [null, null], "seen": [[1, 1, 1e308], [2, 2, 1e308]]}',
        "[" * 100_000,
        None,
    ],
)
def test_model_refuses_other_json(text: Any):
    """Text that is no model is an error, and makes no half of one."""
    with pytest.raises(ValueError, match="text is no latency model: "):
        LatencyModel.from_json(text)


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)).map(sorted), max_size=60),
    st.sampled_from([2, 7.5, 30, None]),
)
def test_model_is_equal_after_any_travel(seen, memory):
    """Not even the last digit of a weight is lost on the way through JSON or a pickle."""
    model = LatencyModel(seen, memory=memory)
    assert LatencyModel.from_json(model.to_json()) == model
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize("given", [None, {}, {1.0: 2.0}, "12", b"12", 3])
def test_model_refuses_what_holds_no_samples(given: Any):
    """A mapping or a text is no collection of samples, though it can be gone through."""
    for take in (LatencyModel, distribution_of, observed):
        with pytest.raises(TypeError, match="samples must be an iterable of samples"):
            take(given)


def test_model_may_be_taught_by_many_threads():
    """Threads that teach, read and merge at once bring no error, and lose no observation."""
    model, errors = LatencyModel(memory=None), []
    interval = sys.getswitchinterval()

    def teach(seed):
        rng = random.Random(seed)
        try:
            for number in range(3000):
                ready = rng.lognormvariate(0, 1)
                model.add((ready * rng.random(), ready))
                if not number % 1000:
                    model.distribution()
                    model.to_json()
                    model.merge(LatencyModel([1.0]))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=teach, args=(seed,)) for seed in range(3)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert isclose(model.weight, 9009.0)


def test_model_copies_are_its_own():
    """A copy learns apart from its original, and equality goes by what is known."""
    model = LatencyModel([1.0, 2.0])
    twin, other = model.copy(), copy.copy(model)
    assert twin == model == other
    twin.add(3.0)
    assert twin != model
    assert model.weight == 2.0
    assert model != LatencyModel([1.0, 2.0], memory=50)
    assert model != "model"
    assert repr(model) == "<LatencyModel of 2 observations, memory=2000.0>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(model)


@pytest.mark.parametrize(
    ("sample", "kind", "message"),
    [
        (nan, ValueError, "sample must be finite and >= 0 seconds: got sample=nan"),
        (-1.0, ValueError, "sample must be finite and >= 0 seconds: got sample=-1.0"),
        (inf, ValueError, "got sample=inf"),
        (True, TypeError, "got sample=True"),
        ("1.5", TypeError, "got sample='1.5'"),
        (None, TypeError, "got sample=None"),
        ((1.0,), ValueError, "a pair (not_ready_at, ready_at): got sample=(1.0,)"),
        ((2.0, 1.0), ValueError, "ready_at must be >= not_ready_at: got sample=(2.0, 1.0)"),
        ((-1.0, 1.0), ValueError, "not_ready_at must be finite and >= 0 seconds"),
        ((1.0, inf), ValueError, "ready_at must be finite and >= 0 seconds"),
        ((None, 1.0), TypeError, "not_ready_at must be seconds"),
        ((1.0, True), TypeError, "ready_at must be seconds"),
    ],
)
def test_model_refuses_what_is_no_sample(sample: Any, kind, message):
    """What cannot have been seen is an error that names it, and changes nothing."""
    model = LatencyModel([1.0])
    with pytest.raises(kind) as raised:
        model.add(sample)
    assert message in str(raised.value)
    assert model == LatencyModel([1.0])


@pytest.mark.parametrize("memory", [1, 0, -5, nan, inf])
def test_model_refuses_too_little_memory(memory):
    """A model needs to remember two observations at least."""
    with pytest.raises(ValueError, match="memory must be finite and >= 2: got memory="):
        LatencyModel(memory=memory)


def test_model_merges_models_only():
    """Samples are added, not merged."""
    with pytest.raises(TypeError, match="others must be LatencyModels"):
        LatencyModel().merge([1.0])  # type: ignore[arg-type]


def test_model_takes_timedeltas():
    """Times may be given as timedeltas, alone and in pairs."""
    model = LatencyModel([timedelta(seconds=1), (timedelta(seconds=1), timedelta(seconds=2))])
    assert model == LatencyModel([1.0, (1.0, 2.0)])
    assert model.longest == 2.0


@given(st.lists(samples, max_size=40), st.booleans())
def test_model_makes_a_distribution_of_anything(seen, forgets):
    """Whatever was seen, there is a distribution, and it is finite."""
    latency = LatencyModel(seen, memory=10 if forgets else None).distribution()
    assert latency.shares[-1] < 1.0
    assert 0.0 < latency.tail < inf
    assert 0.0 <= latency.quantile(0.5) < inf


def test_latency_is_a_distribution_a_model_or_samples():
    """What to expect comes from any of them; a distribution is what it says."""
    model = LatencyModel([1.0, 2.0], memory=None)
    assert distribution_of(VOLUMES) is VOLUMES
    assert distribution_of(model) == model.distribution()
    assert distribution_of([1.0, 2.0]) == model.distribution()


def test_observed_samples_are_taken_at_their_word():
    """What was seen is the exact times themselves, or else what to expect with all the news."""
    assert observed([2.0, 1.0]) == Distribution((1, 1, 2, 2), (0, 0.5, 0.5, 1))
    assert observed(VOLUMES) is VOLUMES
    assert observed([(1.0, 2.0)]) == LatencyModel([(1.0, 2.0)]).distribution()
    model = LatencyModel([1.0] * 100)
    before = model.distribution()
    model.add(5.0)
    assert model.distribution() is before
    assert observed(model) == LatencyModel([1.0] * 100 + [5.0]).distribution()
    with pytest.raises(ValueError, match="samples must not be empty"):
        observed([])
