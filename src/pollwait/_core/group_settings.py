"""What a caller may say of a poll group, checked once."""

from __future__ import annotations

from .callables import refuse_generator_function
from .duration import at_least_one, seconds
from .no_foresight import CALL_COST, NoForesight
from .schedule import DEFAULT
from .settings import Settings
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias

    from .distribution import Distribution
    from .duration import Duration
    from .isolation import Isolate
    from .latency import Latency, LatencyModel
    from .rules import Rng
    from .schedule import Schedule
    from .settings import Predicate, RetryOn

    Riding: TypeAlias = Literal["free", "counts"]

# Seconds; `bench/group.py` has the figures that this and the next choice rest on.
MIN_GAP = 0.5

# Seconds, where a latency model decides: it keeps calls apart by itself, and the gap only bounds
# how often a very busy group calls.
MIN_GAP_FORESEEN = 0.25

RIDING: Riding = "free"


class GroupSettings(Value):
    """All that is said of a group.

    The fields are the keyword arguments of ``PollGroup``, which documents them; here durations are
    seconds and ``is_throttle`` is a tuple of predicates. ``waits`` is what its waits have in
    common.
    """

    __slots__ = (
        "fetch",
        "max_size",
        "min_gap",
        "riding",
        "is_throttle",
        "isolate",
        "missing_grace",
        "latency",
        "call_cost",
        "learn",
        "waits",
    )
    fetch: Callable[[list[Any]], Any]
    max_size: int
    min_gap: float
    riding: Riding
    is_throttle: tuple[Predicate, ...]
    isolate: Isolate | None
    missing_grace: float
    latency: Distribution | LatencyModel | None
    call_cost: float
    learn: bool
    waits: Settings

    def __init__(
        self,
        fetch: Callable[[list[Any]], Any],
        *,
        max_size: int,
        min_gap: Duration | None = None,
        riding: Riding = RIDING,
        schedule: Schedule = DEFAULT,
        retry_on: RetryOn | Iterable[RetryOn] = (),
        is_throttle: RetryOn | Iterable[RetryOn] | None = None,
        isolate: Isolate | None = None,
        missing_grace: Duration = 0.0,
        latency: Latency | None = None,
        call_cost: Duration = CALL_COST,
        learn: bool = False,
        clock: Any = None,
        rng: Rng | None = None,
        on_event: Callable[[Any], object] | None = None,
    ) -> None:
        refuse_generator_function(fetch, "fetch")
        if riding not in ("free", "counts"):
            raise ValueError(f"riding must be 'free' or 'counts': got riding={riding!r}")
        if isolate is not None and not callable(isolate):
            raise TypeError(f"isolate must be callable or None: got isolate={isolate!r}")
        known = _known(latency, learn)
        if known is not None:
            _refuse_schedule(schedule, riding)
        self._fill(
            fetch,
            at_least_one(max_size, "max_size"),
            _min_gap(min_gap, known is not None),
            riding,
            _throttles(is_throttle),
            isolate,
            seconds(missing_grace, "missing_grace"),
            known,
            _call_cost(call_cost),
            learn,
            Settings(schedule=schedule, retry_on=retry_on, clock=clock, rng=rng, on_event=on_event),
        )

    def foresight(self) -> NoForesight:
        """Return what a group is to go by besides the schedule."""
        if self.latency is None:
            return NoForesight()
        from .foresight import Foresight

        return Foresight(self.latency, self.call_cost, self.max_size, self.learn)


def _known(latency: Latency | None, learn: bool) -> Distribution | LatencyModel | None:
    """Return what is known of latencies; a model of the group's own where none was given."""
    if not isinstance(learn, bool):
        raise TypeError(f"learn must be a bool: got learn={learn!r}")
    if latency is None and not learn:
        return None
    from .distribution import Distribution
    from .latency import LatencyModel

    if isinstance(latency, Distribution):
        if learn:
            raise TypeError(
                "learn needs a LatencyModel, samples or no latency at all: a Distribution is fixed"
            )
        return latency
    if isinstance(latency, LatencyModel):
        return latency
    if latency is None:
        return LatencyModel()
    if isinstance(latency, (str, bytes, dict)) or not hasattr(latency, "__iter__"):
        raise TypeError(
            "latency must be a LatencyModel, a Distribution, samples or None:"
            f" got latency={latency!r}"
        )
    model = LatencyModel(latency)
    if not model.weight and not learn:
        raise ValueError("latency holds no samples: use learn=True to start from nothing")
    return model


def _refuse_schedule(schedule: Schedule, riding: Riding) -> None:
    """Refuse what a group would not follow, because a latency model decides."""
    if schedule != DEFAULT:
        raise ValueError(
            "give a schedule or a latency model, not both: with a model the group decides when to"
            f" call; got schedule={schedule!r}"
        )
    if riding != RIDING:
        raise ValueError(
            f"riding is about schedules, and with a latency model there is none: got {riding=!r}"
        )


def _min_gap(min_gap: Duration | None, foreseen: bool) -> float:
    if min_gap is None:
        return MIN_GAP_FORESEEN if foreseen else MIN_GAP
    return seconds(min_gap, "min_gap")


def _call_cost(call_cost: Duration) -> float:
    try:
        cost = seconds(call_cost, "call_cost")
    except ValueError:
        cost = 0.0
    if not cost:
        raise ValueError(
            f"call_cost must be finite and > 0 seconds: got call_cost={call_cost!r};"
            " to call as often as min_gap allows give a small one"
        )
    return cost


def _throttles(named: RetryOn | Iterable[RetryOn] | None) -> tuple[Predicate, ...]:
    if named is None:
        return ()
    try:
        return Settings(retry_on=named).retry_on
    except TypeError:
        raise TypeError(
            "is_throttle must name exception types or predicates, or be None:"
            f" got is_throttle={named!r}"
        ) from None


def distinct(keys: Iterable[Any]) -> list[Any]:
    """Return keys in their order, each once.

    Raises:
        TypeError: a key is not hashable, or a string was given in place of a collection.
    """
    if isinstance(keys, (str, bytes)):
        raise TypeError(f"keys must be a collection of keys, not a single one: got keys={keys!r}")
    return list(dict.fromkeys(keys))
