"""botocore's retries inside a wait: which mode and how many attempts go with pollwait.

Run ``python bench/retry_modes.py [--waits 500] [--json] [--write]``; it takes a quarter of an
hour.

An embedded EC2 answers over HTTP and admits so many DescribeVolumes calls: a bucket, full at first,
refilled so many times a second. Volumes are created one after the other over five seconds, and a
thread waits for each. The modes are those of botocore's ``Config(retries=...)``, with their
``total_max_attempts``. All threads of a run use one client, as its retry quota and the rate limit
of the mode "adaptive" are the client's.

The first tables are of a bucket that such waits empty, where each is for itself. They are

- botocore's own waiters, told to look every second: a throttle that is left over when botocore has
  made its attempts ends the wait;
- ``poll`` with ``retry_on=is_transient``, each for itself;
- waits on one ``VolumeAvailableWaiter``, which share calls.

The next is of a bucket that is too small even for the shared calls, as where others use up the
limit: the waiter would call twice a second, and there are tokens for one call in two seconds. Its
volumes are ready later, at times spread over half a minute. The last column has the calls a second
in the second half of the run: what the group came to.

The last is of one wait whose every call is throttled: how long it takes with a timeout of 5 s.

Calls are what the server counted, with botocore's further attempts; late is from ready to noticed.
``--write`` puts the tables into ``docs/explanation/retries-inside-the-client.md``.
"""

from __future__ import annotations

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import _page
from _common import as_json, heading, table
from botocore.config import Config
from botocore.exceptions import WaiterError

from pollwait import PollTimeout, aws, exponential, poll
from pollwait.testing.ec2 import EBS_READY, Bucket, EmbeddedEC2, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Wait: TypeAlias = Callable[[str], object]  # for one volume

PAGE = _page.DOCS / "explanation/retries-inside-the-client.md"
SEED = 7
BEGIN_OVER = 5.0  # seconds
TIMEOUT = 60.0
SHORT_TIMEOUT = 5.0
ATTEMPTS = (
    ("standard", 1),
    ("standard", 2),
    ("standard", 3),
    ("standard", 10),
    ("legacy", 2),
    ("legacy", 5),
    ("adaptive", 2),
    ("adaptive", 10),
)
SCHEDULE = exponential(0.5, factor=1.5).cap(15).after(1.25)

EMPTIED = Bucket(100, refill=25)
TOO_SMALL = Bucket(2, refill=0.5)
NOTHING = Bucket(0, refill=0)
PLENTY = Bucket(100_000, refill=100_000)


def by_botocore(client: Any) -> Wait:
    """Return a wait of botocore's own."""
    config = {"Delay": 1, "MaxAttempts": int(TIMEOUT)}
    return lambda volume: client.get_waiter("volume_available").wait(
        VolumeIds=[volume], WaiterConfig=config
    )


def by_poll(client: Any) -> Wait:
    """Return a wait that polls by itself."""
    return lambda volume: poll(
        partial(client.describe_volumes, VolumeIds=[volume]),
        until=aws.path_all("Volumes[].State", "available"),
        retry_on=aws.is_transient,
        schedule=SCHEDULE,
        timeout=TIMEOUT,
    )


def by_one_waiter(client: Any) -> Wait:
    """Return a wait on a waiter that all share."""
    waiter = aws.VolumeAvailableWaiter(client)
    return partial(waiter.wait, timeout=TIMEOUT)


WAYS: dict[str, Callable[[Any], Wait]] = {
    "botocore's waiter": by_botocore,
    "poll": by_poll,
    "one VolumeAvailableWaiter": by_one_waiter,
}


def soon(rng: random.Random) -> float:
    """Draw the seconds until a volume is ready."""
    return EBS_READY.draw(rng)


def later(rng: random.Random) -> float:
    """Draw the seconds until a volume is ready that takes its time."""
    return rng.uniform(1.0, 30.0)


@dataclass(frozen=True)
class Result:
    """What came of the waits of one run.

    Attributes:
        rate: calls a second in the second half of the run.
    """

    seconds: float
    calls: int
    throttled: int
    mean_late: float
    failed: int
    rate: float


@dataclass(frozen=True)
class Run:
    """The waits of one run.

    Args:
        waits: how many.
        bucket: the limit of DescribeVolumes.
        ready: draws how long after the begin of its wait a volume is ready.
    """

    waits: int
    bucket: Bucket
    ready: Callable[[random.Random], float]

    def measure(self, make: Callable[[Any], Wait], mode: str, attempts: int) -> Result:
        """Wait for volumes on a server of their own, and count."""
        with server(self.bucket) as ec2, ThreadPoolExecutor(self.waits) as pool:
            volumes = created(ec2, self.waits)
            wait = make(client_of(ec2, mode, attempts, self.waits))
            ec2.clear_log()
            began = time.monotonic()
            begins = self._scripted(ec2, volumes, began)

            def noticed(volume: str) -> float | None:
                time.sleep(max(0.0, begins[volume] - time.monotonic()))
                try:
                    wait(volume)
                except (WaiterError, PollTimeout):
                    return None
                return time.monotonic() - ec2.ready_at(volume)

            found = [each for each in pool.map(noticed, volumes) if each is not None]
            return self._summed_up(found, ec2, began)

    def _summed_up(self, late: list[float], ec2: EmbeddedEC2, began: float) -> Result:
        ended = time.monotonic()
        middle = (began + ended) / 2
        calls = [call for call in ec2.log if call.operation == "DescribeVolumes"]
        return Result(
            ended - began,
            len(calls),
            ec2.throttled["DescribeVolumes"],
            fmean(late) if late else float("nan"),
            self.waits - len(late),
            sum(call.started > middle for call in calls) / (ended - middle),
        )

    def _scripted(self, ec2: EmbeddedEC2, volumes: list[str], now: float) -> dict[str, float]:
        """Say when each volume is ready, and return when the wait for each begins."""
        rng = random.Random(SEED)
        begins: dict[str, float] = {}
        for number, volume in enumerate(volumes):
            begins[volume] = now + BEGIN_OVER * number / len(volumes)
            ready = begins[volume] + self.ready(rng)
            ec2.script(volume, ready_after=ready - ec2.created_at(volume))
        return begins


@dataclass(frozen=True)
class Refused:
    """How long a wait took whose every call was throttled, and the calls that it made."""

    seconds: float
    calls: int


def refused(mode: str, attempts: int) -> Refused:
    """Wait for a volume of a server that admits no call."""
    with server(NOTHING) as ec2:
        (volume,) = created(ec2, 1)
        waiter = aws.VolumeAvailableWaiter(client_of(ec2, mode, attempts, 1))
        began = time.monotonic()
        with suppress(PollTimeout):
            waiter.wait(volume, timeout=SHORT_TIMEOUT)
        return Refused(time.monotonic() - began, ec2.calls["DescribeVolumes"])


def server(bucket: Bucket) -> EmbeddedEC2:
    """Return a server with a limit on DescribeVolumes."""
    limits = Limits(unfiltered=bucket, operations={"CreateVolume": PLENTY})
    return EmbeddedEC2(seed=SEED, ready=0.0, create_call=0.0, limits=limits)


def client_of(ec2: EmbeddedEC2, mode: str, attempts: int, connections: int) -> Any:
    """Return a client of a server, with botocore's retries in some mode."""
    retries: Any = {"mode": mode, "total_max_attempts": attempts}
    return ec2.client("ec2", config=Config(retries=retries, max_pool_connections=connections))


def created(ec2: EmbeddedEC2, count: int) -> list[str]:
    """Create volumes."""
    client = ec2.client("ec2")
    return [
        client.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
        for _ in range(count)
    ]


RESULT = ("s", "calls", "throttled", "mean s late", "failed", "calls/s")
REFUSED = ("s", "calls")


def cells(result: Result | Refused) -> tuple[str, ...]:
    """Return the figures of a run as text."""
    if isinstance(result, Refused):
        return (f"{result.seconds:.1f}", f"{result.calls}")
    return (
        f"{result.seconds:.1f}",
        f"{result.calls:,}",
        f"{result.throttled:,}",
        f"{result.mean_late:.2f}",
        f"{result.failed:,}",
        f"{result.rate:.2f}",
    )


def found(waits: int) -> Iterator[tuple[str, dict[str, Result] | dict[str, Refused]]]:
    """Run everything, and yield the results by the names of the tables."""
    for way, make in WAYS.items():
        emptied = Run(waits, EMPTIED, soon)
        yield (
            f"{way}, {said(EMPTIED)}",
            {named(*each): emptied.measure(make, *each) for each in ATTEMPTS},
        )
    small = Run(waits, TOO_SMALL, later)
    yield (
        f"one VolumeAvailableWaiter, {said(TOO_SMALL)}",
        {named(*each): small.measure(by_one_waiter, *each) for each in ATTEMPTS},
    )
    with ThreadPoolExecutor(len(ATTEMPTS)) as pool:  # they do little but sleep
        all_refused = pool.map(lambda each: (named(*each), refused(*each)), ATTEMPTS)
        yield f"a wait of {SHORT_TIMEOUT:g} s, every call throttled", dict(all_refused)


def main() -> None:
    """Run all waits and show what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--waits", type=int, default=500, help="waits of each run")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    options = parser.parse_args()
    results = dict(found(options.waits))
    if options.json:
        print(as_json({"results": results}))
        return
    print(heading())
    parts: dict[str, str] = {}
    for name, runs in results.items():
        header = REFUSED if name.startswith("a wait") else RESULT
        rows = [(each, *cells(result)) for each, result in runs.items()]
        print(f"\n{name}\n{table(('mode, attempts', *header), rows)}")
        parts[name] = _page.markdown(("mode, attempts", *header), rows)
    if options.write:
        _page.write("bench/retry_modes.py", f"--waits {options.waits}", parts, PAGE)


def said(bucket: Bucket) -> str:
    """Return a bucket in words."""
    return f"{bucket.capacity:g} calls and {bucket.refill:g} a second"


def named(mode: str, attempts: int) -> str:
    """Return how a mode and its attempts are called in a table."""
    return f"{mode}, {attempts}"


if __name__ == "__main__":
    main()
