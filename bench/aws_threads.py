"""A thousand volumes, awaited from fifty threads, against an EC2 that throttles.

Run ``python bench/aws_threads.py [--threads 50] [--each 20] [--dead 2] [--json]``; it takes a
good minute.

An embedded EC2 answers over HTTP, with the limit that EC2 documents for DescribeVolumes with ids: a
bucket of 50 calls, refilled by 10 a second. Each thread waits for volumes of its own. They are
ready at times spread over the first eight seconds, and some ids are of volumes that do not exist.
Compared are

- all threads on one ``VolumeAvailableWaiter``, each with ``wait_many`` for its volumes;
- botocore's waiter, for all volumes of a thread in one wait;
- botocore's waiter, for one volume of a thread after the other.

The client is the same for all: botocore makes up to three attempts of a call, as it does by
default.

The table has the DescribeVolumes calls that the server counted, how many of them it throttled, the
seconds from ready to noticed, and how many volumes were found ready, or lost: ready, but their wait
failed. An id that does not exist is to fail alone. pollwait lets it do so once it was missing
for 15 s, hence the time that the first way takes.
"""

from __future__ import annotations

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

from _common import as_json, heading, table
from botocore.config import Config
from botocore.exceptions import WaiterError

from pollwait import aws
from pollwait.testing.ec2 import Bucket, EmbeddedEC2, Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Noticed: TypeAlias = Callable[[str], object]  # told of each volume that is found ready
    Wait: TypeAlias = Callable[[list[str]], object]  # for the volumes of one thread

SEED = 7
READY_WITHIN = 8.0  # seconds
TIMEOUT = 60.0
CONFIG = Config(retries={"mode": "standard", "total_max_attempts": 3})

# As EC2 documents them, but for the creation of the volumes, which is not the subject.
LIMITS = Limits(operations={"CreateVolume": Bucket(100_000, refill=100_000)})


@dataclass(frozen=True)
class Result:
    """What came of one way to wait."""

    calls: int
    throttled: int
    mean_late: float
    p99_late: float
    ready: int
    lost: int
    seconds: float


def by_one_waiter(client: Any, noticed: Noticed) -> Wait:
    """Return a wait that all threads have on one waiter of pollwait."""

    def tell(event: Any) -> None:
        if getattr(event, "reason", None) == "ready":
            noticed(event.name.partition(" ")[0])

    waiter = aws.VolumeAvailableWaiter(client, on_event=tell)
    return lambda volumes: waiter.wait_many(volumes, timeout=TIMEOUT)


def by_botocore_together(client: Any, noticed: Noticed) -> Wait:
    """Return one wait of botocore for all volumes of a thread."""

    def wait(volumes: list[str]) -> None:
        try:
            client.get_waiter("volume_available").wait(VolumeIds=volumes)
        except WaiterError:
            return
        for volume in volumes:
            noticed(volume)

    return wait


def by_botocore_in_turn(client: Any, noticed: Noticed) -> Wait:
    """Return waits of botocore for one volume of a thread after the other."""
    together = by_botocore_together(client, noticed)

    def wait(volumes: list[str]) -> None:
        for volume in volumes:
            together([volume])

    return wait


WAYS: dict[str, Callable[[Any, Noticed], Wait]] = {
    "one VolumeAvailableWaiter": by_one_waiter,
    "botocore, all of a thread": by_botocore_together,
    "botocore, one by one": by_botocore_in_turn,
}


def measure(make: Callable[[Any, Noticed], Wait], threads: int, each: int, dead: int) -> Result:
    """Create volumes on a server of their own, wait for all of them, and count."""
    noticed: dict[str, float] = {}
    with (
        EmbeddedEC2(seed=SEED, ready=0.0, create_call=0.0, limits=LIMITS) as ec2,
        ThreadPoolExecutor(threads) as pool,
    ):
        volumes = created(ec2, threads * each - dead)
        unknown = [f"vol-{number:017x}" for number in range(1, dead + 1)]
        lots = dealt([*volumes, *unknown], threads)
        ec2.clear_log()
        began = time.monotonic()
        scripted(ec2, volumes, began)
        wait = make(
            ec2.client("ec2", config=CONFIG),
            lambda volume: noticed.setdefault(volume, time.monotonic()),
        )
        list(pool.map(wait, lots))
        seconds = time.monotonic() - began
        late = [at - ec2.ready_at(volume) for volume, at in noticed.items()]
        return Result(
            ec2.calls["DescribeVolumes"],
            ec2.throttled["DescribeVolumes"],
            fmean(late),
            quantiles(late, n=100, method="inclusive")[98],
            len(noticed),
            len(volumes) - len(noticed),
            seconds,
        )


def created(ec2: EmbeddedEC2, count: int) -> list[str]:
    """Create volumes."""
    client = ec2.client("ec2")
    with ThreadPoolExecutor(8) as pool:
        zone = "us-east-1a"
        made = pool.map(lambda _: client.create_volume(AvailabilityZone=zone, Size=8), range(count))
        return [volume["VolumeId"] for volume in made]


def dealt(volumes: list[str], threads: int) -> list[list[str]]:
    """Deal volumes out to threads, in an order of chance."""
    shuffled = random.Random(SEED).sample(volumes, len(volumes))
    return [shuffled[first::threads] for first in range(threads)]


def scripted(ec2: EmbeddedEC2, volumes: list[str], now: float) -> None:
    """Have each volume be ready at a time of its own, from now on."""
    rng = random.Random(SEED)
    for volume in volumes:
        ready = now + rng.uniform(0.0, READY_WITHIN)
        ec2.script(volume, ready_after=ready - ec2.created_at(volume))


def main() -> None:
    """Measure all ways and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threads", type=int, default=50, help="how many threads wait")
    parser.add_argument("--each", type=int, default=20, help="volumes of each thread")
    parser.add_argument("--dead", type=int, default=2, help="ids among them that do not exist")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    options = parser.parse_args()
    found = {
        name: measure(make, options.threads, options.each, options.dead)
        for name, make in WAYS.items()
    }
    if options.json:
        print(as_json({"results": found}))
        return
    print(heading())
    print()
    title = f"{options.threads * options.each:,} volumes, {options.dead} dead ids"
    header = (title, "calls", "throttled", "mean s late", "p99 s late", "ready", "lost", "s")
    rows = (
        (
            name,
            f"{result.calls:,}",
            f"{result.throttled:,}",
            f"{result.mean_late:.2f}",
            f"{result.p99_late:.2f}",
            f"{result.ready:,}",
            f"{result.lost:,}",
            f"{result.seconds:.1f}",
        )
        for name, result in found.items()
    )
    print(table(header, rows))


if __name__ == "__main__":
    main()
