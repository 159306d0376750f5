"""What sharing saves against a real endpoint: calls of 100 waits, each by itself and in a group.

Run ``python bench/shared_calls.py [--volumes 100] [--ready 3] [--interval 0.5] [--json]``.

An embedded EC2 answers over HTTP; its calls take the time that those of the real one do. The
volumes are created at once and are ready after the same time. Then threads wait for one volume
each: first with a loop of their own, as botocore's waiters have it, with a call every interval;
then on one ``PollGroup`` with the same schedule and the interval as its gap. The table has the
DescribeVolumes calls that the server counted and the seconds from ready to noticed.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

from _common import as_json, heading, table

from pollwait import PollGroup, fixed
from pollwait.testing.ec2 import EmbeddedEC2

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT = 60.0


@dataclass(frozen=True)
class Result:
    """The figures of one way to wait."""

    calls: int
    mean_overshoot: float
    p99_overshoot: float


def by_themselves(ec2: Any, interval: float) -> Callable[[str], None]:
    """Return a wait that polls for its own volume, as botocore's waiters do."""
    client = ec2.client("ec2")

    def wait(volume: str) -> None:
        while True:
            answer = client.describe_volumes(VolumeIds=[volume])
            if answer["Volumes"][0]["State"] == "available":
                return
            time.sleep(interval)

    return wait


def in_a_group(ec2: Any, interval: float) -> Callable[[str], None]:
    """Return a wait that shares each call with all others."""
    client = ec2.client("ec2")

    def states(volumes: list[str]) -> dict[str, str]:
        answer = client.describe_volumes(VolumeIds=volumes)
        return {volume["VolumeId"]: volume["State"] for volume in answer["Volumes"]}

    group: PollGroup[str, str] = PollGroup(
        states, max_size=500, min_gap=interval, schedule=fixed(interval)
    )

    def wait(volume: str) -> None:
        group.wait(volume, until="available".__eq__, timeout=TIMEOUT)

    return wait


def measure(
    make: Callable[[Any, float], Callable[[str], None]], volumes: int, ready: float, interval: float
) -> Result:
    """Create volumes on a server of their own, wait for all of them, and count."""
    pool = ThreadPoolExecutor(volumes)
    with pool, EmbeddedEC2(seed=1, ready=ready, create_call=0.0) as ec2:
        client = ec2.client("ec2")
        wait = make(ec2, interval)

        def noticed(_: int) -> float:
            volume = client.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
            wait(volume)
            return time.monotonic() - ec2.ready_at(volume)

        overshoots = list(pool.map(noticed, range(volumes)))
        percentiles = quantiles(overshoots, n=100, method="inclusive")
        return Result(ec2.calls["DescribeVolumes"], fmean(overshoots), percentiles[98])


def main() -> None:
    """Measure both ways and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--volumes", type=int, default=100, help="how many waits")
    parser.add_argument("--ready", type=float, default=3.0, help="seconds until a volume is ready")
    parser.add_argument("--interval", type=float, default=0.5, help="seconds between looks")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    options = parser.parse_args()
    found = {
        name: measure(make, options.volumes, options.ready, options.interval)
        for name, make in (("a loop each", by_themselves), ("one PollGroup", in_a_group))
    }
    if options.json:
        print(as_json({"results": found}))
        return
    print(heading())
    print()
    rows = (
        (name, str(each.calls), f"{each.mean_overshoot:.2f}", f"{each.p99_overshoot:.2f}")
        for name, each in found.items()
    )
    print(table((f"{options.volumes} waits over HTTP", "calls", "mean s late", "p99 s late"), rows))


if __name__ == "__main__":
    main()
