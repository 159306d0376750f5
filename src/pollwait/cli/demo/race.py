"""The demo's experiment: the same volumes, awaited in several ways at the same time.

Every volume is created once, by its own thread, and from the moment that CreateVolume returns each
way waits for it in a thread of its own. So all ways see the same volumes become ready at the same
times, and a busy machine hits all of them alike.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from queue import SimpleQueue
from random import Random
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from ..._core.evaluate import evaluate
from ..._core.fit import fit
from ..._sync.group import PollGroup
from ..._sync.poller import poll
from ...aws import VolumeAvailableWaiter
from ...aws._ebs import SCHEDULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..._core.schedule import Schedule
    from ...testing.ec2 import EmbeddedEC2

# The ways, by the names under which they are shown, and what each of them is.
BOTOCORE = "botocore's waiter"
NAIVE = "naive 1 s loop"
FITTED = "pollwait, fitted"
SHARED = "pollwait, shared"
INFORMED = "pollwait, by model"

MEANINGS = {
    BOTOCORE: "each wait looks at once and then every 15 s",
    NAIVE: "each wait looks at once and then every second",
    FITTED: "each wait on its own, with poll() on a schedule from fit()",
    SHARED: "all waits share the calls of one VolumeAvailableWaiter, which follows a schedule",
    INFORMED: "all waits share the calls of one PollGroup, which goes by a latency model",
}

# The last two know how long so many volumes took before: drawn like those of the demo, and never
# the same ones.
EARLIER = 500

TIMEOUT = 120.0  # seconds; the slowest volume of the default model is ready after 5.1 s

# Seconds between two requests for a volume: the rate of the workload that the default latency model
# was fitted to, 100 requests spread evenly over 20.48 s.
SPACING = 20.48 / 100


@dataclass(frozen=True)
class Noticed:
    """One way has noticed that one volume is ready; all times in seconds of ``time.monotonic``."""

    way: str
    requested: float
    ready: float
    noticed: float

    @property
    def latency(self) -> float:
        """Seconds from the request for the volume to its notice."""
        return self.noticed - self.requested

    @property
    def overshoot(self) -> float:
        """Seconds from ready to noticed."""
        return self.noticed - self.ready


@dataclass
class Way:
    """One way to wait for a volume, with a client of its own, whose calls are counted."""

    name: str
    wait: Callable[[str], object]
    calls: int = 0
    noticed: list[Noticed] = field(default_factory=list[Noticed])
    _lock: Lock = field(default_factory=Lock)

    def count(self, client: Any) -> None:
        """Count every DescribeVolumes request that a client sends."""
        client.meta.events.register("before-send.ec2.DescribeVolumes", self._sent)

    def _sent(self, **_: object) -> None:
        with self._lock:
            self.calls += 1


def ways(ec2: EmbeddedEC2, seed: int) -> list[Way]:
    """Return the demo's ways.

    Args:
        ec2: a server that runs.
        seed: of the earlier volumes that some of the ways know of.
    """
    known = earlier_waits(seed)
    makers: dict[str, Callable[[Any], Callable[[str], object]]] = {
        BOTOCORE: _with_botocore,
        NAIVE: _naively,
        FITTED: lambda client: _alone(client, fitted_schedule(known)),
        SHARED: _with_waiter,
        INFORMED: lambda client: _informed(client, known),
    }
    made: list[Way] = []
    for name, make in makers.items():
        client = ec2.client("ec2")
        way = Way(name, make(client))
        way.count(client)
        made.append(way)
    return made


def earlier_waits(seed: int) -> list[float]:
    """Draw the seconds that earlier volumes took, from the return of CreateVolume until ready."""
    from ...testing.ec2 import CREATE_CALL, EBS_READY

    rng = Random(f"earlier {seed}")
    drawn = (EBS_READY.draw(rng) - CREATE_CALL.draw(rng) for _ in range(EARLIER))
    return [max(0.0, seconds) for seconds in drawn]


def fitted_schedule(known: Sequence[float]) -> Schedule:
    """Fit a schedule that makes no more checks than that of the waiter is expected to."""
    from ...testing.ec2 import DESCRIBE_CALL

    look = {"check_duration": DESCRIBE_CALL, "sees_at": 0.5}
    most = evaluate(SCHEDULE, known, **look).checks
    return fit(known, max_checks=most, **look).schedule


def run(ec2: EmbeddedEC2, contestants: list[Way], volumes: int, seed: int) -> Iterator[Noticed]:
    """Create volumes and yield each notice as it comes; what a thread raises is raised here.

    Args:
        ec2: a server that runs.
        contestants: the ways to wait.
        volumes: how many to create.
        seed: of the times at which they are requested.
    """
    news: SimpleQueue[Noticed | BaseException] = SimpleQueue()
    client = ec2.client("ec2")
    began = time.monotonic()

    def create(after: float) -> None:
        time.sleep(max(0.0, began + after - time.monotonic()))
        requested = time.monotonic()
        volume = client.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
        for way in contestants:
            _start(news, wait, way, volume, requested)

    def wait(way: Way, volume: str, requested: float) -> None:
        way.wait(volume)
        noticed = Noticed(way.name, requested, ec2.ready_at(volume), time.monotonic())
        way.noticed.append(noticed)
        news.put(noticed)

    for after in arrivals(volumes, seed):
        _start(news, create, after)
    for _ in range(volumes * len(contestants)):
        event = news.get()
        if isinstance(event, BaseException):
            raise event
        yield event


def arrivals(volumes: int, seed: int) -> list[float]:
    """Draw when volumes are requested: seconds from the beginning, in order."""
    rng = Random(seed)
    return sorted(rng.uniform(0, SPACING * volumes) for _ in range(volumes))


def _start(
    news: SimpleQueue[Noticed | BaseException], function: Callable[..., None], *args: object
) -> None:
    """Run a function in a thread that does not outlive the program and reports what it raises."""

    def reporting() -> None:
        try:
            function(*args)
        except BaseException as error:
            news.put(error)

    Thread(target=reporting, daemon=True).start()


def _with_botocore(client: Any) -> Callable[[str], object]:
    waiter = client.get_waiter("volume_available")
    return lambda volume: waiter.wait(VolumeIds=[volume])


def _naively(client: Any) -> Callable[[str], object]:
    """Wait as one writes it without thinking."""

    def wait(volume: str) -> None:
        while _states(client, [volume])[volume] != "available":
            time.sleep(1)

    return wait


def _alone(client: Any, schedule: Schedule) -> Callable[[str], object]:
    return lambda volume: poll(
        lambda: _states(client, [volume])[volume],
        until="available".__eq__,
        schedule=schedule,
        timeout=TIMEOUT,
    )


def _with_waiter(client: Any) -> Callable[[str], object]:
    waiter = VolumeAvailableWaiter(client)
    return lambda volume: waiter.wait(volume, timeout=TIMEOUT)


def _informed(client: Any, known: Sequence[float]) -> Callable[[str], object]:
    group: PollGroup[str, str] = PollGroup(
        lambda volumes: _states(client, volumes), max_size=500, latency=known
    )
    return lambda volume: group.wait(volume, until="available".__eq__, timeout=TIMEOUT)


def _states(client: Any, volumes: list[str]) -> dict[str, str]:
    """Ask for the states of some volumes."""
    answer = client.describe_volumes(VolumeIds=volumes)
    return {volume["VolumeId"]: volume["State"] for volume in answer["Volumes"]}
