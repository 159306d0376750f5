"""A latency model: it takes in how long things took, and says how long the next may take."""

from __future__ import annotations

from _thread import RLock

from .distribution import Distribution, empirical
from .duration import INFINITY, real
from .estimate import estimate
from .samples import checked_digits, coarsest, fewer, rounded, span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from .samples import Digits, Sample, Span

    Latency: TypeAlias = "LatencyModel | Distribution | Iterable[Sample]"

# How many different observations are kept. Beyond it they are rounded until half as many are left:
# exact times or intervals, whichever are more.
_MOST_KINDS = 2048

# By how much weights that fill the memory may exceed it when they are added up anew.
_ROUNDED = 1.0 + 1e-9

# No observation that was written down weighs more, so that no sum of them overflows.
_MOST_WEIGHT = 1e100

# After how much news, as a share of what it knows, a model makes up its mind anew.
_NEWS = 0.05


class LatencyModel:
    """What was seen of how long something takes, in bounded memory, and what to expect of it.

    A model that has seen nothing expects anything from a tenth of a second to ten minutes. What it
    sees takes the place of that: most of it after five observations, all of it after a hundred.

    It knows how long things take, and nothing else: not which were slow, nor when. Where two kinds
    of things differ, use two models. For a known distribution use ``Distribution``.

    Args:
        samples: what was seen, as for ``add``.
        memory: how many observations it goes by. Once it has so many, each further one takes a
            share of the weight of all before it, so that what is old fades: half of it is gone
            after 0.7 times as many. None for never. The default follows a service within a
            thousand waits or so, and is still exact to a percent or two.

    Raises:
        TypeError: ``samples``, a sample or ``memory`` is of another type.
        ValueError: a sample is out of range, or ``memory`` is below 2.

    Timing:
        Adding costs about a microsecond. ``distribution`` costs up to some 50 ms when there is
        news, and nothing otherwise. Any number of threads may read and add at the same time.

    Example:
        >>> model = LatencyModel([1.25, 1.5, (1.25, 1.75), (5.0, None)])
        >>> model.weight
        4.0
    """

    __slots__ = ("_digits", "_fresh", "_latest", "_lock", "_memory", "_news", "_seen", "_total")
    __hash__ = None  # type: ignore[assignment]  # it changes

    def __init__(self, samples: Iterable[Sample] = (), *, memory: float | None = 2000) -> None:
        self._memory = _memory(memory)
        # Reentrant, since a garbage collection in the midst of it may end other waits that teach.
        self._lock = RLock()
        self._seen: dict[Span, float] = {}
        self._total = 0.0
        self._fresh = 1.0  # the weight of a new observation, in which all others are measured
        self._digits: tuple[int | None, int | None] = (None, None)  # of exact times, and intervals
        self._latest: Distribution | None = None
        self._news = 0.0
        for sample in _listed(samples):
            self.add(sample)

    @property
    def memory(self) -> float | None:
        """How many observations it goes by at most; None for all."""
        return None if self._memory == INFINITY else self._memory

    @property
    def weight(self) -> float:
        """How many observations it goes by, those that have faded counted in part."""
        with self._lock:
            return self._total / self._fresh

    @property
    def longest(self) -> float:
        """The longest time that it remembers, until ready or waited in vain; 0 if there is none."""
        ends = [low if high == INFINITY else high for low, high in self._seen.copy()]
        return max(ends, default=0.0)

    def add(self, sample: Sample) -> None:
        """Take in one observation.

        Args:
            sample: seconds from the start of a wait until ready; or ``(not_ready_at, ready_at)``,
                between which it became ready; or ``(not_ready_at, None)`` for what was never seen
                ready, such as a wait that timed out.

        Raises:
            TypeError: it is none of these.
            ValueError: a time is NaN, infinite or negative, or the pair is in the wrong order.
        """
        seen = span(sample)
        with self._lock:
            self._make_room(1.0)
            self._put(seen, self._fresh)
            self._news += 1.0
            self._tidy()

    def merge(self, *others: LatencyModel) -> None:
        """Take in all that other models have seen; they stay as they are.

        The order makes no difference. What is more than the memory holds fades evenly.
        """
        for other in others:
            if not isinstance(other, LatencyModel):
                raise TypeError(f"others must be LatencyModels: got {other!r}")
        known = [other._known() for other in others]  # one lock at a time, so none waits for ever
        with self._lock:
            known.append(self._known())
            exact, spans = zip(*[digits for _, digits in known], strict=True)
            self._digits = coarsest(exact), coarsest(spans)
            self._seen, self._total, self._fresh = {}, 0.0, 1.0
            for kind, weight in sorted(kind for weights, _ in known for kind in weights.items()):
                self._put(kind, weight)
            self._make_room(0.0)
            self._latest = None
            self._news = INFINITY  # what another thread is just making of the old is out of date
            self._tidy()

    def distribution(self) -> Distribution:
        """Return what to expect of the next wait.

        The same object is returned until what was learned since makes a few percent of all.
        """
        latest = self._latest
        if latest is not None and self._news <= _NEWS * self.weight:
            return latest
        with self._lock:
            weights, _ = self._known()
            self._news = 0.0
        latest = self._latest = estimate(weights)
        return latest

    def copy(self) -> LatencyModel:
        """Return a model of its own that knows the same."""
        twin = LatencyModel(memory=self.memory)
        with self._lock:
            twin._seen, twin._total, twin._fresh = dict(self._seen), self._total, self._fresh
            twin._digits = self._digits
        return twin

    __copy__ = copy

    def to_json(self) -> str:
        """Return all that it knows as JSON text, for ``from_json``."""
        import json

        weights, digits = self._known()
        kept = [
            [low, None if high == INFINITY else high, weight]
            for (low, high), weight in sorted(weights.items())
        ]
        return json.dumps({"memory": self.memory, "digits": digits, "seen": kept})

    @classmethod
    def from_json(cls, text: str) -> LatencyModel:
        """Return the model that ``to_json`` wrote down.

        Raises:
            ValueError: the text is something else.
        """
        import json

        try:
            read = json.loads(text)
            model = cls(memory=read["memory"])
            exact, spans = read["digits"]
            model._digits = checked_digits(exact), checked_digits(spans)
            for low, high, weight in read["seen"]:
                model._put(span((low, high)), _weight(weight))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(f"text is no latency model: {error}") from error
        if model._total > model._memory * _ROUNDED:  # else it is as it was when written down
            model._make_room(0.0)
        model._tidy()
        return model

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatencyModel):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __repr__(self) -> str:
        return f"<LatencyModel of {self.weight:.6g} observations, memory={self.memory}>"

    def __reduce__(self) -> tuple[object, ...]:
        return LatencyModel.from_json, (self.to_json(),)

    def _known(self) -> tuple[dict[Span, float], Digits]:
        """Return the weight of each kind of observation, 1 for a new one, and their digits."""
        with self._lock:
            weights = {kind: weight / self._fresh for kind, weight in self._seen.copy().items()}
            return weights, self._digits

    def _make_room(self, arriving: float) -> None:
        """Let what is there fade so far that it fits into memory beside so much more."""
        most = self._memory - arriving
        if self._total > most * self._fresh:
            self._fresh = self._total / most

    def _put(self, seen: Span, weight: float) -> None:
        seen = rounded(seen, *self._digits)
        self._seen[seen] = self._seen.get(seen, 0.0) + weight
        self._total += weight

    def _tidy(self) -> None:
        """Keep what is stored within bounds, and its numbers too."""
        if self._fresh > 1e100:
            self._restore(1.0 / self._fresh)
        if len(self._seen) <= _MOST_KINDS:
            return
        while len(self._seen) > _MOST_KINDS // 2 and self._digits != (0, 0):
            exact = sum(low == high for low, high in self._seen)
            self._digits = fewer(self._digits, 0 if 2 * exact > len(self._seen) else 1)
            self._restore(1.0)

    def _restore(self, scale: float) -> None:
        seen: dict[Span, float] = {}
        for known, weight in self._seen.copy().items():
            kind = rounded(known, *self._digits)
            seen[kind] = seen.get(kind, 0.0) + weight * scale
        self._seen, self._total, self._fresh = seen, sum(seen.values()), self._fresh * scale


def distribution_of(latency: Latency) -> Distribution:
    """Return what to expect, going by a model, by samples, or by a distribution itself."""
    if isinstance(latency, Distribution):
        return latency
    if isinstance(latency, LatencyModel):
        return latency.distribution()
    return LatencyModel(latency, memory=None).distribution()


def observed(latency: Latency) -> Distribution:
    """Return what was seen itself, where ``distribution_of`` returns what to expect from it.

    Exact times are taken at their word: one is as likely as any other, and nothing else happens.
    For samples among which there are intervals, and for models, it is what to expect.

    Raises:
        ValueError: there are no samples.
    """
    if isinstance(latency, LatencyModel):
        return latency.copy().distribution()  # with the latest news
    if isinstance(latency, Distribution):
        return latency
    samples = list(_listed(latency))
    if not samples:
        raise ValueError("samples must not be empty")
    spans = [span(sample) for sample in samples]
    if all(low == high for low, high in spans):
        return empirical([low for low, _ in spans])
    return distribution_of(samples)


def _listed(samples: Iterable[Sample]) -> Iterable[Sample]:
    """Return samples, if they may be such: those of a mapping or a text would be made up."""
    if isinstance(samples, (str, bytes, dict)) or not hasattr(samples, "__iter__"):
        raise TypeError(f"samples must be an iterable of samples: got samples={samples!r}")
    return samples


def _memory(memory: float | None) -> float:
    if memory is None:
        return INFINITY
    most = real(memory, "memory", "a number or None")
    if 2.0 <= most < INFINITY:
        return most
    raise ValueError(f"memory must be finite and >= 2: got memory={memory!r}")


def _weight(weight: object) -> float:
    number = real(weight, "weight", "a number")
    if 0.0 <= number <= _MOST_WEIGHT:
        return number
    raise ValueError(f"weight must be from 0 to {_MOST_WEIGHT:g}: got weight={weight!r}")
