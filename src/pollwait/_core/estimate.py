"""From what was seen to the distribution that makes it most likely.

Time is cut into cells, at the middles between neighbouring exact times and at the ends of the
intervals, and within a cell all times count as equally likely. So exact times are no steps, just
behind which a fitted schedule would look: each stands for its surroundings.

An exact time counts for its cell. An interval counts for all cells that it covers, shared out as
the estimate itself has it; that estimate is found by turns of sharing out and summing up, which
climb to the maximum of the likelihood. The turns end as soon as the estimate hardly moves. It is
smooth by then, while the maximum itself lies at a few narrow spikes that mean nothing.

One more observation than there are counts for the tail: what was never seen is about as likely as
any one thing that was.

Source: Bruce Turnbull, "The Empirical Distribution Function with Arbitrarily Grouped, Censored and
Truncated Data", J. Royal Statistical Society B 38(3), 1976.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from math import sqrt

from .distribution import Distribution
from .duration import INFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .samples import Span

# How many cells of about equal weight, and of about equal length: enough that cells are far
# narrower than what chance does to the samples, and few enough that their users stay quick.
_EQUAL_WEIGHT = 256
_EQUAL_LENGTH = 32

# How far an exact time stands for its surroundings if it was seen more than once or has no
# neighbours: this share of itself, or as many seconds if that is more. The share falls with the
# root of how often it was seen, as the error of a mean does, but times may be rounded all the same.
_BLUR = 1 / 16
_BLUR_OF_MANY = 1 / 64
_LEAST_BLUR = 1 / 1024

# Up to this weight an exact time was seen once.
_ONCE = 1.5

# When the turns end: so many at most, or as soon as less than this share of the weight moves.
_TURNS = 60
_STILL = 1e-3

# The mean of the tail is at least this share of the longest time that was seen: a service that has
# a slow case has slower ones.
_LEAST_TAIL = 1 / 16

# What is known of a wait before anything was seen: about as likely to take 0.1 s as 1 s, 10 s or
# 2 minutes, and now and then far longer.
_PRIOR_TIMES = tuple([0.1 * 2.0 ** (octave / 2) for octave in range(26)])
PRIOR = Distribution(
    (0.0, *_PRIOR_TIMES), (0.0, *[0.02 + 0.93 * octave / 25 for octave in range(26)]), 600.0
)

# Below this share the prior is left out.
_NO_PRIOR = 1e-4


def estimate(seen: Mapping[Span, float]) -> Distribution:
    """Return the distribution that makes what was seen most likely, on the smooth side.

    Args:
        seen: the weight of each observation: 1 is one that has just been made.
    """
    weight = sum(seen.values())
    prior = _prior_share(weight)
    if prior == 1.0:
        return PRIOR
    exact = sorted([(low, weight) for (low, high), weight in seen.items() if low == high])
    spans = [(low, high, weight) for (low, high), weight in seen.items() if low < high]
    edges = _edges(exact, spans)
    masses = _masses(edges, exact, spans)
    total = sum(masses)
    shares = [min(share / total, 1.0) for share in accumulate(masses[:-1], initial=0.0)]
    seen_alone = Distribution(edges, shares, _tail(exact, spans, edges, weight))
    return seen_alone if prior < _NO_PRIOR else _mixed(seen_alone, prior)


def _prior_share(weight: float) -> float:
    """Return how much the prior counts: all if nothing was seen, and little after five samples."""
    return 1.0 / (1.0 + weight) ** 2


def _mixed(seen: Distribution, prior: float) -> Distribution:
    """Return a distribution with a share of the prior in it."""
    first, last = seen.times[0], seen.times[-1]
    times = sorted({*seen.times, *[time for time in PRIOR.times if not first < time < last]})
    shares = [
        (1.0 - prior) * seen.ready(time) + prior * PRIOR.ready(time) if time else 0.0
        for time in times
    ]
    tails = [
        ((1.0 - prior) * (1.0 - seen.ready(times[-1])), seen.tail),
        (prior * (1.0 - PRIOR.ready(times[-1])), PRIOR.tail),
    ]
    left = sum(part for part, _ in tails)
    growing = accumulate(shares, max)  # whatever rounding has done
    return Distribution(times, growing, sum(part * tail for part, tail in tails) / left)


def _edges(
    exact: Sequence[tuple[float, float]], spans: Iterable[tuple[float, float, float]]
) -> list[float]:
    """Return where time is cut into cells, at least two times."""
    cuts = _surroundings(exact)
    for low, high, weight in spans:
        cuts.append((low, 0.5 * weight))
        if high < INFINITY:
            cuts.append((high, 0.5 * weight))
    cuts.sort()
    edges = _thinned(cuts)
    if len(edges) == 1:  # nothing but one time until which something was not ready
        edges.append(edges[0] + max(edges[0] * _BLUR, _LEAST_BLUR))
    return edges


def _surroundings(exact: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the ends of what each exact time stands for, with half of its weight each."""
    cuts: list[tuple[float, float]] = []
    times = [time for time, _ in exact]
    for at, (time, weight) in enumerate(exact):
        share = max(_BLUR / sqrt(max(weight, 1.0)), _BLUR_OF_MANY)
        blur = max(time * share, _LEAST_BLUR)
        gaps = [
            0.5 * (after - before) for before, after in pairwise(times[max(at - 1, 0) : at + 2])
        ]
        before = gaps[0] if at > 0 else min([blur, *gaps])
        after = gaps[-1] if at + 1 < len(times) else min([blur, *gaps])
        if weight > _ONCE:
            before, after = min(before, blur), min(after, blur)
        cuts.append((max(time - before, 0.0), 0.5 * weight))
        cuts.append((time + after, 0.5 * weight))
    return cuts


def _thinned(cuts: Sequence[tuple[float, float]]) -> list[float]:
    """Return the distinct times, or some of them if they are many.

    Between two that are kept there is little weight, and not much time either.
    """
    distinct = {time: 0.0 for time, _ in cuts}
    for time, weight in cuts:
        distinct[time] += weight
    times = list(distinct)
    if len(times) <= _EQUAL_WEIGHT:
        return times
    step = sum(distinct.values()) / _EQUAL_WEIGHT
    stride = (times[-1] - times[0]) / _EQUAL_LENGTH
    edges, passed = [times[0]], 0.0
    for time in times[1:-1]:
        passed += distinct[time]
        if passed >= step or time - edges[-1] >= stride:
            edges.append(time)
            passed = 0.0
    return [*edges, times[-1]]


def _masses(
    edges: Sequence[float],
    exact: Iterable[tuple[float, float]],
    spans: Iterable[tuple[float, float, float]],
) -> list[float]:
    """Return how much weight falls into each cell, and beyond the last edge."""
    cells = len(edges) - 1
    fixed = [0.0] * cells + [1.0]
    for time, weight in exact:
        fixed[min(max(bisect_right(edges, time) - 1, 0), cells - 1)] += weight
    covered: dict[tuple[int, int], float] = {}
    for low, high, weight in spans:
        place = _place(edges, low, high)
        covered[place] = covered.get(place, 0.0) + weight
    if not covered:
        return fixed
    widths = [after - before for before, after in pairwise(edges)]
    start = [*widths, max(edges[-1] * _LEAST_TAIL, _LEAST_BLUR)]
    return _shared_out(fixed, list(covered.items()), start)


def _place(edges: Sequence[float], low: float, high: float) -> tuple[int, int]:
    """Return the first cell that an interval covers, and the one after its last."""
    cells = len(edges) - 1
    first = _nearest(edges, low)
    if high == INFINITY:
        return first, cells + 1
    end = _nearest(edges, high)
    if first < end:
        return first, end
    cell = min(max(bisect_right(edges, 0.5 * (low + high)) - 1, 0), cells - 1)
    return cell, cell + 1


def _nearest(edges: Sequence[float], time: float) -> int:
    at = bisect_left(edges, time)  # no time is beyond the last edge
    if at == 0:
        return 0
    return at if edges[at] - time <= time - edges[at - 1] else at - 1


def _shared_out(
    fixed: Sequence[float],
    covered: Sequence[tuple[tuple[int, int], float]],
    start: Sequence[float],
) -> list[float]:
    """Return the masses when each interval is shared out as the masses themselves are."""
    masses = list(start)
    still = _STILL * (sum(fixed) + sum(weight for _, weight in covered))
    for _ in range(_TURNS):
        sums = list(accumulate(masses, initial=0.0))
        steps = [0.0] * (len(masses) + 1)
        for (first, end), weight in covered:
            # The difference is 0 where the cells are so narrow that they are lost in rounding.
            rate = weight / (sums[end] - sums[first] or sum(masses[first:end]))
            steps[first] += rate
            steps[end] -= rate
        rates = accumulate(steps[:-1])
        following = [
            known + mass * rate for known, mass, rate in zip(fixed, masses, rates, strict=True)
        ]
        moved = sum(abs(new - old) for new, old in zip(following, masses, strict=True))
        masses = [max(mass, 1e-300) for mass in following]
        if moved < still:
            break
    return masses


def _tail(
    exact: Sequence[tuple[float, float]],
    spans: Iterable[tuple[float, float, float]],
    edges: Sequence[float],
    weight: float,
) -> float:
    """Return the mean time beyond the last edge.

    It is that of the exponential distribution which makes the last few times most likely, and all
    waiting in vain after the last before them.
    """
    ends = [*exact] + [(high, w) for _, high, w in spans if high < INFINITY]
    few, taken, total, before = sqrt(weight), 0.0, 0.0, edges[0] if exact else 0.0
    for time, w in sorted(ends, reverse=True):
        if taken >= few:
            before = time
            break
        taken += w
        total += w * time
    total -= taken * before
    total += sum(w * max(low - before, 0.0) for low, high, w in spans if high == INFINITY)
    return max(total / (taken or 1.0), edges[-1] * _LEAST_TAIL, _LEAST_BLUR)
