"""The ways of waiting that a simulation can compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from .._core.distribution import Distribution
from .._core.duration import at_least_one, seconds
from .._core.group_settings import GroupSettings
from .._core.latency import LatencyModel
from .._core.limits import Limits
from .._core.schedule import Schedule
from .._core.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core.duration import Duration
    from .._core.group_settings import Riding
    from .._core.samples import Sample


class Single(Value):
    """Each wait by itself, with ``poll``: one call per check.

    Args:
        schedule: when each wait checks.
    """

    __slots__ = ("schedule",)
    schedule: Schedule

    def __init__(self, schedule: Schedule) -> None:
        self._fill(_schedule(schedule))

    def __str__(self) -> str:
        return str(self.schedule)


class Batched(Value):
    """Each wait by itself, with ``poll``, while a ``Batcher`` merges checks of about the same time.

    Args:
        schedule: when each wait checks.
        max_delay: seconds for which the first key of a call waits for others; as in ``Batcher``.
        idle_delay: as in ``Batcher``.
        max_in_flight: as in ``Batcher``.
    """

    __slots__ = ("schedule", "max_delay", "idle_delay", "max_in_flight")
    schedule: Schedule
    max_delay: float
    idle_delay: float | None
    max_in_flight: int

    def __init__(
        self,
        schedule: Schedule,
        *,
        max_delay: Duration = 0.05,
        idle_delay: Duration | None = None,
        max_in_flight: int = 4,
    ) -> None:
        Limits(1, max_delay, idle_delay, max_in_flight, 1, "block")  # refuses what it would
        self._fill(
            _schedule(schedule),
            seconds(max_delay, "max_delay"),
            None if idle_delay is None else seconds(idle_delay, "idle_delay"),
            at_least_one(max_in_flight, "max_in_flight"),
        )

    def __str__(self) -> str:
        return f"{self.schedule}, batched over {self.max_delay:g} s"


class Grouped(Value):
    """All waits in one ``PollGroup``. What is None is left to the defaults of ``PollGroup``.

    Args:
        schedule: when each wait is due by itself; as in ``PollGroup``, all of these.
        min_gap: seconds between the starts of any two calls.
        riding: what a call means for a wait that it carries ahead of its time.
        latency: the seconds from the start of a wait until it is ready, for a group that decides by
            them. It may well differ from what is simulated: nobody knows the truth.
        call_cost: how many seconds of waiting one call is worth to such a group.
        learn: whether such a group learns. Each run starts from a copy of the model as it is given.
    """

    __slots__ = ("schedule", "min_gap", "riding", "latency", "call_cost", "learn")
    schedule: Schedule | None
    min_gap: float | None
    riding: Riding | None
    latency: LatencyModel | Distribution | None
    call_cost: float | None
    learn: bool

    def __init__(
        self,
        schedule: Schedule | None = None,
        *,
        min_gap: Duration | None = None,
        riding: Riding | None = None,
        latency: LatencyModel | Distribution | Iterable[Sample] | None = None,
        call_cost: Duration | None = None,
        learn: bool = False,
    ) -> None:
        self._fill(
            None if schedule is None else _schedule(schedule),
            None if min_gap is None else seconds(min_gap, "min_gap"),
            riding,
            _known(latency),
            None if call_cost is None else seconds(call_cost, "call_cost"),
            learn,
        )
        GroupSettings(dict.fromkeys, max_size=1, **self.options())  # refuses what it would

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of ``PollGroup`` that were given."""
        given = {
            name: value
            for name, value in zip(self.__match_args__, self._fields(), strict=True)
            if value is not None and value is not False
        }
        if self.learn and isinstance(self.latency, LatencyModel):
            given["latency"] = self.latency.copy()  # every run starts with what was given
        return given

    def __str__(self) -> str:
        by_model = self.latency is not None or self.learn
        by = str(self.schedule or ("latency model" if by_model else "default schedule"))
        said = {**self.options(), "schedule": None, "latency": None}
        options = [f"{name}={_plain(value)}" for name, value in said.items() if value is not None]
        return ", ".join([by, "grouped", *options])


Strategy: TypeAlias = Single | Batched | Grouped


def strategy_of(value: Strategy | Schedule) -> Strategy:
    """Return a strategy; a bare schedule is that of single waits."""
    if isinstance(value, Schedule):
        return Single(value)
    if isinstance(value, (Single, Batched, Grouped)):
        return value
    raise TypeError(f"a strategy must be Single, Batched, Grouped or a schedule: got {value!r}")


def _schedule(value: Schedule) -> Schedule:
    if not isinstance(value, Schedule):
        raise TypeError(f"schedule must be a Schedule: got schedule={value!r}")
    return value


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _known(
    latency: LatencyModel | Distribution | Iterable[Sample] | None,
) -> LatencyModel | Distribution | None:
    """Return a latency of the strategy's own: what the caller's model learns later is not in it."""
    if latency is None or isinstance(latency, Distribution):
        return latency
    return latency.copy() if isinstance(latency, LatencyModel) else LatencyModel(latency)
