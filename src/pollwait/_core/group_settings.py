"""What a caller may say of a poll group, checked once."""

from __future__ import annotations

from .callables import refuse_generator_function
from .duration import at_least_one, seconds
from .schedule import DEFAULT
from .settings import Settings
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias

    from .duration import Duration
    from .isolation import Isolate
    from .rules import Rng
    from .schedule import Schedule
    from .settings import Predicate, RetryOn

    Riding: TypeAlias = Literal["free", "counts"]

# Seconds; `bench/group.py` has the figures that this and the next choice rest on.
MIN_GAP = 0.5

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
        "waits",
    )
    fetch: Callable[[list[Any]], Any]
    max_size: int
    min_gap: float
    riding: Riding
    is_throttle: tuple[Predicate, ...]
    isolate: Isolate | None
    missing_grace: float
    waits: Settings

    def __init__(
        self,
        fetch: Callable[[list[Any]], Any],
        *,
        max_size: int,
        min_gap: Duration = MIN_GAP,
        riding: Riding = RIDING,
        schedule: Schedule = DEFAULT,
        retry_on: RetryOn | Iterable[RetryOn] = (),
        is_throttle: RetryOn | Iterable[RetryOn] | None = None,
        isolate: Isolate | None = None,
        missing_grace: Duration = 0.0,
        clock: Any = None,
        rng: Rng | None = None,
        on_event: Callable[[Any], object] | None = None,
    ) -> None:
        refuse_generator_function(fetch, "fetch")
        if riding not in ("free", "counts"):
            raise ValueError(f"riding must be 'free' or 'counts': got riding={riding!r}")
        if isolate is not None and not callable(isolate):
            raise TypeError(f"isolate must be callable or None: got isolate={isolate!r}")
        self._fill(
            fetch,
            at_least_one(max_size, "max_size"),
            seconds(min_gap, "min_gap"),
            riding,
            _throttles(is_throttle),
            isolate,
            seconds(missing_grace, "missing_grace"),
            Settings(schedule=schedule, retry_on=retry_on, clock=clock, rng=rng, on_event=on_event),
        )


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
