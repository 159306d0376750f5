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

from ..aws import VolumeAvailableWaiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..testing.ec2 import EmbeddedEC2

# The ways, by the names under which they are shown.
BOTOCORE = "botocore's waiter"
POLLWAIT = "pollwait"
NAIVE = "naive 1 s loop"

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


def ways(ec2: EmbeddedEC2) -> list[Way]:
    """Return the demo's three ways: botocore's waiter, pollwait's waiter, a naive loop."""
    clients = [ec2.client("ec2") for _ in range(3)]
    botocore_client, own_client, naive_client = clients
    botocore_waiter = botocore_client.get_waiter("volume_available")
    own_waiter = VolumeAvailableWaiter(own_client)
    made = [
        Way(BOTOCORE, lambda volume: botocore_waiter.wait(VolumeIds=[volume])),
        Way(POLLWAIT, lambda volume: own_waiter.wait(volume, timeout=TIMEOUT)),
        Way(NAIVE, lambda volume: _naive(naive_client, volume)),
    ]
    for way, client in zip(made, clients, strict=True):
        way.count(client)
    return made


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


def _naive(client: Any, volume: str) -> None:
    """Wait as one writes it without thinking."""
    while True:
        answer = client.describe_volumes(VolumeIds=[volume])
        if answer["Volumes"][0]["State"] == "available":
            return
        time.sleep(1)
