"""Rules by property: random compositions against a naive model, and what every schedule keeps."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.schedule import (
    MAX_DELAY,
    Schedule,
    decorrelated,
    exponential,
    fibonacci,
    fixed,
    linear,
    sequence,
)

# A composition as plain data, such as ("cap", ("fixed", 3.0), 2.0), which both sides build from.
Spec = tuple[Any, ...]
# What a model yields: a delay, and whether it is exact.
Model = Iterator[tuple[float, bool]]

LEAVES: dict[str, Callable[..., Schedule]] = {
    "fixed": fixed,
    "linear": lambda start, step: linear(start, step=step),
    "exponential": lambda start, factor: exponential(start, factor=factor),
    "fibonacci": fibonacci,
    "decorrelated": lambda base, cap: decorrelated(base, cap=cap),
    "sequence": sequence,
}
NAMES: dict[str, Any] = {
    **LEAVES,
    "decorrelated": decorrelated,
    "exponential": exponential,
    "linear": linear,
}


def build(spec: Spec) -> Schedule:
    """Compose the schedule that a spec describes."""
    kind, *rest = spec
    if kind in LEAVES:
        return LEAVES[kind](*rest)
    if kind in ("+", "&", "|"):
        left, right = build(rest[0]), build(rest[1])
        return left + right if kind == "+" else left & right if kind == "&" else left | right
    return getattr(build(rest[0]), kind)(*rest[1:])


class Run:
    """A wait that a model runs in: the time, and the source of chance."""

    def __init__(self, seed: int) -> None:
        self.now = self.started = 0.0
        self.rng = random.Random(seed)


def model(spec: Spec, run: Run, cap: float = math.inf, rate: bool = False) -> Model:
    """Model a spec the long way round: caps and from_start are handed down while it runs."""
    kind, *rest = spec
    if kind == "after":
        return model(rest[0], run, cap, rate)
    if kind == "cap":
        return model(rest[0], run, min(cap, rest[1]), rate)
    if kind == "from_start":
        return model(rest[0], run, cap, True)
    if kind == "+":
        return in_turn(rest[0], rest[1], run, cap, rate)
    if kind == "&":
        return longer([model(part, run, cap, rate) for part in rest])
    if kind == "|":
        return shorter([model(part, run, cap, rate) for part in rest])
    if kind == "times":
        return islice(model(rest[0], run, cap, rate), rest[1])
    return single(kind, rest, run, cap, rate)


def single(kind: str, rest: list[Any], run: Run, cap: float, rate: bool) -> Model:
    """Model what from_start is not handed down through, and the leaves."""
    if kind == "fixed" and rate:
        return grid(min(rest[0], cap), cap, run)
    if kind not in ("jitter", "within"):
        return since_start(leaf(kind, rest, run, cap), run) if rate else leaf(kind, rest, run, cap)
    partly = counts(rest[0])
    inner = model(rest[0], run, cap, rate and partly)
    whole = shaken(inner, rest[1], run) if kind == "jitter" else clipped(inner, rest[1])
    return since_start(whole, run) if rate and not partly else whole


def counts(spec: Spec) -> bool:
    """Tell if from_start is at work in some part."""
    return spec[0] == "from_start" or any(counts(x) for x in spec if isinstance(x, tuple))


def leaf(kind: str, rest: list[Any], run: Run, cap: float) -> Model:
    """Model delays that are made, not changed."""
    previous = rest[0]
    while kind == "decorrelated":
        high = min(rest[1], cap, 3 * previous)
        previous = high - (high - min(rest[0], high)) * run.rng.random()
        yield previous, False
    for delay in series(kind, rest):
        yield min(delay, cap, MAX_DELAY), False


def series(kind: str, rest: list[Any]) -> Iterator[float]:
    """Give the plain numbers, as the definitions write them."""
    if kind == "sequence":
        yield from rest
        return
    first, second = rest[0], rest[0]
    for attempt in range(1_000):
        if kind == "fixed":
            yield rest[0]
        elif kind == "linear":
            yield rest[0] + attempt * rest[1]
        elif kind == "exponential":
            yield rest[0] * rest[1] ** attempt
        else:
            yield first
            first, second = second, first + second


def grid(interval: float, cap: float, run: Run) -> Model:
    """Count the due times one by one from the first start."""
    due = run.started
    while interval > 0.0:
        due += interval
        while due < run.now - interval * 1e-9:
            due += interval
        yield min(max(0.0, due - run.now), cap), False
    while True:
        yield 0.0, False


def since_start(inner: Model, run: Run) -> Model:
    """Take the time since the start off each delay."""
    for delay, exact in inner:
        yield (delay if exact else max(0.0, delay - (run.now - run.started))), exact


def shaken(inner: Model, amount: str | float, run: Run) -> Model:
    """Shorten each delay by its share of chance."""
    fraction = {"full": 1.0, "equal": 0.5}.get(amount, amount)  # type: ignore[arg-type]
    for delay, exact in inner:
        yield (delay if exact else delay * (1 - fraction * run.rng.random())), exact


def clipped(inner: Model, total: float) -> Model:
    """Spend a total."""
    spent = 0.0
    while spent < total:
        found = next(inner, None)
        if found is None:
            return
        delay = min(found[0], total - spent)
        spent = total if delay == total - spent else spent + delay
        yield delay, found[1]


def in_turn(left: Spec, right: Spec, run: Run, cap: float, rate: bool) -> Model:
    """Run one after the other, with the joint between."""
    yield from model(left, run, cap, rate)
    if build(right).initial_delay:
        yield build(right).initial_delay, True
    yield from model(right, run, cap, rate)


def longer(parts: list[Model]) -> Model:
    """Take the longest until one ends."""
    while True:
        found = []
        for part in parts:
            one = next(part, None)
            if one is None:
                return
            found.append(one)
        yield max(found)


def shorter(parts: list[Model]) -> Model:
    """Take the shortest of those that are left."""
    while found := [one for part in parts if (one := next(part, None)) is not None]:
        yield min(found)


# Quarters up to 8 are exact in binary, and often equal, which is where rules meet.
quarters = st.integers(0, 32).map(lambda n: n / 4)
some = st.integers(1, 32).map(lambda n: n / 4)
amounts = st.sampled_from(["full", "equal", 0.25, 0.1, 1.0])
leaves = st.one_of(
    st.tuples(st.just("fixed"), quarters),
    st.tuples(st.just("linear"), quarters, quarters),
    st.tuples(st.just("exponential"), some, st.sampled_from([1.0, 1.25, 1.5, 2.0])),
    st.tuples(st.just("fibonacci"), quarters),
    st.builds(lambda a, b: ("decorrelated", min(a, b), max(a, b)), some, some),
    st.lists(quarters, min_size=1, max_size=4).map(lambda delays: ("sequence", *delays)),
)


def composed(inner: st.SearchStrategy[Spec]) -> st.SearchStrategy[Spec]:
    """Compose specs from smaller ones."""
    return st.one_of(
        st.tuples(st.sampled_from(["+", "&", "|"]), inner, inner),
        st.tuples(st.just("cap"), inner, quarters),
        st.tuples(st.just("after"), inner, quarters),
        st.tuples(st.just("jitter"), inner, amounts),
        st.tuples(st.just("times"), inner, st.integers(1, 6)),
        st.tuples(st.just("within"), inner, quarters),
        st.tuples(st.just("from_start"), inner),
    )


specs: st.SearchStrategy[Spec] = st.recursive(leaves, composed, max_leaves=6)
schedules = specs.map(build)
seeds = st.integers(0, 1_000)
CHECKS = 30


def waited(schedule: Schedule, seed: int, checks: list[float]) -> list[float]:
    """Return the delays of a wait whose checks take these times."""
    rng = random.Random(seed)
    state, now, delays = schedule.begin(), 0.0, []
    for check in checks:
        started, now = now, now + check
        found = schedule.step(state, now, started, rng)
        if found is None:
            break
        state = found[1]
        delays.append(found[0])
        now += found[0]
    return delays


@given(specs, seeds, st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 5.5]), max_size=CHECKS))
def test_schedule_agrees_with_naive_model(spec: Spec, seed: int, checks: list[float]) -> None:
    """Any composition gives the delays of a naive model, whatever the checks' durations."""
    run = Run(seed)
    naive, expected = model(spec, run), []
    for check in checks:
        run.started, run.now = run.now, run.now + check
        found = next(naive, None)
        if found is None:
            break
        expected.append(found[0])
        run.now += found[0]
    assert waited(build(spec), seed, checks) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(schedules, seeds, st.floats(0, 20), st.lists(quarters, max_size=CHECKS))
def test_cap_bounds_every_delay(
    schedule: Schedule, seed: int, cap: float, checks: list[float]
) -> None:
    """No delay exceeds a cap (S1), save the exact initial delay of a part that follows another."""
    delays = waited(schedule.cap(cap), seed, checks)
    assert all(0.0 <= delay <= cap or type(delay) is not float for delay in delays)


@given(schedules, amounts, st.floats(0, 20), st.integers(1, 9), st.floats(0, 20))
def test_cap_commutes_with_what_follows_it(
    schedule: Schedule, amount: Any, cap: float, n: int, total: float
) -> None:
    """A cap gives an equal schedule wherever it stands among jitter, times, within and others."""
    capped = schedule.cap(cap)
    assert schedule.jitter(amount).cap(cap) == capped.jitter(amount)
    assert schedule.times(n).cap(cap) == capped.times(n)
    assert schedule.within(total).cap(cap) == capped.within(total)
    assert schedule.from_start().cap(cap) == capped.from_start()
    assert schedule.after(1).cap(cap) == capped.after(1)
    assert capped.cap(cap + 1) == capped == schedule.cap(cap + 1).cap(cap)


@given(schedules, seeds)
def test_jitter_only_shortens(schedule: Schedule, seed: int) -> None:
    """With the same draws to start from, the first jittered delay is at most the plain one (S1)."""
    plain = next(schedule.delays(random.Random(seed)), None)
    for amount, share in (("full", 0.0), ("equal", 0.5), (0.1, 0.9)):
        jittered = next(schedule.jitter(amount).delays(random.Random(seed)), None)
        if plain is None or jittered is None:
            assert plain is jittered
        else:
            assert plain * share * (1 - 1e-12) <= jittered <= plain


@given(schedules, seeds, st.lists(quarters, max_size=CHECKS))
def test_delays_are_finite_and_replay(schedule: Schedule, seed: int, checks: list[float]) -> None:
    """Every delay is finite and >= 0 (S2), and the same seed gives the same delays (S3)."""
    delays = waited(schedule, seed, checks)
    assert all(0.0 <= delay <= MAX_DELAY for delay in delays)
    assert waited(schedule, seed, checks) == delays


@given(schedules, seeds, st.floats(0, 50))
def test_within_spends_exactly_its_total(schedule: Schedule, seed: int, total: float) -> None:
    """The delays add up to the total, unless the schedule ended first."""
    limited = schedule.within(total)
    delays = list(islice(limited.delays(random.Random(seed)), 2_000))
    plain = list(islice(schedule.delays(random.Random(seed)), 2_000))
    assert delays[:-1] == plain[: max(0, len(delays) - 1)]
    assert sum(delays) == pytest.approx(min(total, sum(plain)))


@given(schedules, seeds, st.integers(1, 20))
def test_times_gives_first_delays(schedule: Schedule, seed: int, n: int) -> None:
    """The first n delays are those of the unlimited schedule."""
    plain = list(islice(schedule.delays(random.Random(seed)), n))
    assert list(schedule.times(n).delays(random.Random(seed))) == plain


@given(schedules)
def test_schedule_that_ends_is_certain_to_end(schedule: Schedule) -> None:
    """Where ends is true the delays run out, even if checks take far longer than the delays."""
    rng, state, now = random.Random(1), schedule.begin(), 0.0
    for _ in range(20_000 if schedule.ends else 0):
        found = schedule.step(state, now + 1_000, now, rng)
        if found is None:
            return
        now, state = now + 1_000 + found[0], found[1]
    assert not schedule.ends


@given(schedules)
def test_schedule_survives_every_round_trip(schedule: Schedule) -> None:
    """Text, pickle and copies give back an equal schedule with the same hash and text."""
    text = repr(schedule)
    again = [
        eval(text, dict(NAMES)),
        Schedule.parse(str(schedule)),
        pickle.loads(pickle.dumps(schedule)),
        copy.copy(schedule),
        copy.deepcopy(schedule),
    ]
    assert again == [schedule] * 5
    assert {hash(one) for one in again} == {hash(schedule)}
    assert {str(one) for one in again} == {text}


@given(schedules, seeds, st.integers(0, 10))
def test_wait_resumes_from_pickled_state(schedule: Schedule, seed: int, steps: int) -> None:
    """A state is plain data: written down and read back, it gives the same delays."""
    rng = random.Random(seed)
    state: Any = schedule.begin()
    for attempt in range(steps):
        found = schedule.step(state, float(attempt), float(attempt), rng)
        if found is None:
            break
        state = found[1]
    revived = pickle.loads(pickle.dumps(state))
    one, other = random.Random(seed), random.Random(seed)
    assert is_plain(state)
    assert schedule.step(state, 99.0, 98.0, one) == schedule.step(revived, 99.0, 98.0, other)


def is_plain(state: Any) -> bool:
    """Tell plain data."""
    if type(state) is tuple:
        return all(is_plain(part) for part in state)
    return type(state) in (int, float, bool, type(None))


def steady(spec: Spec) -> bool:
    """Tell specs without & and |, for which a preview's bounds are certain."""
    return spec[0] not in ("&", "|") and all(steady(x) for x in spec if isinstance(x, tuple))


@given(specs.filter(steady), seeds)
def test_preview_bounds_every_run(spec: Spec, seed: int) -> None:
    """Checks that take no time start between the earliest and the latest of the preview."""
    schedule = build(spec)
    plan = schedule.preview(20)
    now, starts = schedule.initial_delay, [schedule.initial_delay]
    for delay in islice(schedule.delays(random.Random(seed)), 19):
        now += delay
        starts.append(now)
    assert [planned.attempt for planned in plan] == list(range(1, len(plan) + 1))
    assert len(starts) <= len(plan)
    for start, planned in zip(starts, plan, strict=False):
        assert planned.earliest - 1e-6 <= start <= planned.latest + 1e-6


@given(schedules, schedules, schedules)
def test_operators_are_associative(s: Schedule, t: Schedule, u: Schedule) -> None:
    """How operands of the same sign are grouped makes no difference."""
    assert (s + t) + u == s + (t + u) == s.then(t).then(u)
    assert (s & t) & u == s & (t & u)
    assert (s | t) | u == s | (t | u)


@given(schedules, seeds, st.lists(quarters, max_size=CHECKS))
def test_from_start_twice_is_once(schedule: Schedule, seed: int, checks: list[float]) -> None:
    """A delay that counts from the start already is not counted again."""
    once = schedule.from_start()
    assert once.from_start() == once
    assert once.counts_from_start


@given(specs)
def test_counts_from_start_tells_any_part(spec: Spec) -> None:
    """The true start of the previous check matters if and only if from_start is at work."""
    assert build(spec).counts_from_start == counts(spec)
