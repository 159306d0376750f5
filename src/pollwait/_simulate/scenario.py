"""What is simulated, whatever the strategy: who asks when, and when what they wait for is ready."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from .._core.duration import at_least_one, real
from .._core.duration import seconds as in_seconds
from .draws import Bucket, Poisson, arrival_times, draw_arrivals, drawer

if TYPE_CHECKING:
    from .._core.duration import Duration
    from .draws import Arrivals, Draw, Drawn, Latency


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to wait for: when it is asked for, when its wait begins, when it is ready."""

    arrives: float
    begins: float
    ready: float


@dataclass(frozen=True, slots=True)
class Service:
    """How the service behaves that is asked: what one call takes, carries and may fail by."""

    call_duration: Draw
    sees_at: float
    max_size: int
    bucket: Bucket | None


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that the runs of several strategies have in common."""

    latency: Draw
    start_duration: Draw
    arrivals: tuple[float, ...] | Duration | Poisson
    waits: int
    service: Service
    timeout: float
    runs: int
    seed: int

    def chance(self, run: int, purpose: str) -> Random:
        """Return the generator of one purpose in one run: what one draws moves no other."""
        return Random(f"pollwait {self.seed} {run} {purpose}")

    def jobs(self, run: int) -> list[Job]:
        """Draw the waits of a run in the order of their arrival; the same for every strategy."""
        rng = self.chance(run, "waits")
        if isinstance(self.arrivals, tuple):
            arrivals = list(self.arrivals)
        else:
            arrivals = draw_arrivals(self.arrivals, self.waits, rng)
        return [Job(at, at + self.start_duration(rng), at + self.latency(rng)) for at in arrivals]


def scenario(
    latency: Latency,
    *,
    waits: int | None = None,
    arrivals: Arrivals = 0.0,
    start_duration: Drawn = 0.0,
    call_duration: Drawn = 0.0,
    sees_at: float = 0.5,
    max_size: int = 500,
    bucket: Bucket | None = None,
    timeout: Duration = 3600.0,
    runs: int = 1,
    seed: int = 0,
) -> Scenario:
    """Return what is to be simulated, checked; the arguments are those of ``simulate``.

    Raises:
        TypeError, ValueError: an argument is not as ``simulate`` says.
    """
    times = arrival_times(arrivals)
    return Scenario(
        drawer(latency, "latency"),
        drawer(start_duration, "start_duration"),
        times or arrivals,  # type: ignore[arg-type]
        _waits(waits, times),
        Service(
            drawer(call_duration, "call_duration"),
            _share(sees_at, "sees_at"),
            at_least_one(max_size, "max_size"),
            _bucket(bucket),
        ),
        in_seconds(timeout, "timeout"),
        at_least_one(runs, "runs"),
        _seed(seed),
    )


def _waits(waits: int | None, times: tuple[float, ...] | None) -> int:
    """Return how many waits there are: as many as arrivals were listed, or those asked for."""
    if times is None:
        return 100 if waits is None else at_least_one(waits, "waits")
    if waits is not None and at_least_one(waits, "waits") != len(times):
        raise ValueError(
            f"waits must be as many as the times of arrivals: got waits={waits!r} and"
            f" {len(times)} times"
        )
    return len(times)


def _share(value: float, what: str) -> float:
    share = real(value, what, "a number from 0 to 1")
    if not 0 <= share <= 1:
        raise ValueError(f"{what} must be from 0 to 1: got {what}={value!r}")
    return share


def _bucket(value: Bucket | None) -> Bucket | None:
    if value is not None and not isinstance(value, Bucket):
        raise TypeError(f"bucket must be a Bucket or None: got bucket={value!r}")
    return value


def _seed(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"seed must be an int: got seed={value!r}")
    return value
