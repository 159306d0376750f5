"""How soon waiters of AWS notice what is ready: botocore's own, and ``pollwait.aws``.

Run ``python bench/aws_waiters.py [--json]``.

Both run as shipped, each on a boto3 client that is answered here, on virtual time: pollwait's is
given a ``FakeClock``, and the same clock stands in for the module ``time`` in ``botocore.waiter``.
A call takes the same time for both and sees the state of things in its middle. A wait begins when
the thing is made, which is ready so many seconds later.

The first table has seconds from ready to noticed, and calls. Since botocore looks on a coarse grid,
one such figure is a matter of luck: a thing that is ready just before a look is noticed at once. So
the second table has means, over things that are ready at times spread evenly from two thirds to
four thirds of the time that its row names, and by how much pollwait was later than botocore with
any of them.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib.metadata import version
from statistics import fmean
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
import botocore.waiter
from _common import as_json, heading, table

from pollwait import aws
from pollwait.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CALL = 0.125  # seconds that a call takes
READY = (1.5, 4.0, 30.0, 300.0)
SPREAD = 100  # ready times of a mean
GOLDEN = 0.6180339887498949
KEYS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}


@dataclass(frozen=True)
class Subject:
    """Something to wait for.

    Attributes:
        waiter: botocore's name for it.
        params: of the wait.
        answer: makes the response of a call; told whether the thing is ready.
    """

    service: str
    waiter: str
    params: dict[str, Any]
    answer: Callable[[bool], dict[str, Any]]


@dataclass(frozen=True)
class Noticed:
    """When a wait noticed, in seconds after the thing was ready, and the calls that it took."""

    late: float
    calls: float


def _instance(ready: bool) -> dict[str, Any]:
    state = {"Name": "running" if ready else "pending"}
    return {"Reservations": [{"Instances": [{"InstanceId": "i-1", "State": state}]}]}


def _volume(ready: bool) -> dict[str, Any]:
    return {"Volumes": [{"VolumeId": "vol-1", "State": "available" if ready else "creating"}]}


def _snapshot(ready: bool) -> dict[str, Any]:
    return {"Snapshots": [{"SnapshotId": "snap-1", "State": "completed" if ready else "pending"}]}


def _database(ready: bool) -> dict[str, Any]:
    status = "available" if ready else "creating"
    return {"DBInstances": [{"DBInstanceIdentifier": "db", "DBInstanceStatus": status}]}


def _stack(ready: bool) -> dict[str, Any]:
    status = "CREATE_COMPLETE" if ready else "CREATE_IN_PROGRESS"
    return {"Stacks": [{"StackName": "stack", "StackStatus": status}]}


def _service(ready: bool) -> dict[str, Any]:
    deployments = [{"status": "PRIMARY"}] if ready else [{"status": "PRIMARY"}, {"status": "OLD"}]
    running = {"desiredCount": 2, "runningCount": 2, "deployments": deployments}
    return {"services": [{"serviceName": "web", "status": "ACTIVE", **running}], "failures": []}


SUBJECTS = (
    Subject("ec2", "instance_running", {"InstanceIds": ["i-1"]}, _instance),
    Subject("ec2", "volume_available", {"VolumeIds": ["vol-1"]}, _volume),
    Subject("ec2", "snapshot_completed", {"SnapshotIds": ["snap-1"]}, _snapshot),
    Subject("rds", "db_instance_available", {"DBInstanceIdentifier": "db"}, _database),
    Subject("cloudformation", "stack_create_complete", {"StackName": "stack"}, _stack),
    Subject("ecs", "services_stable", {"services": ["web"]}, _service),
)


class Stage:
    """A client whose things are ready at a time, and the clock that tells it."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.client = boto3.client(subject.service, **KEYS)  # type: ignore[call-overload]
        self.client.meta.events.register("before-call", self._answer)
        self.clock = FakeClock()
        self._ready = 0.0
        self._calls = 0

    def notices(self, wait: Callable[[Stage], object], ready: float) -> Noticed:
        """Run a wait for something that is ready after so many seconds."""
        self.clock = FakeClock()
        self._ready, self._calls = ready, 0
        wait(self)
        return Noticed(self.clock.monotonic() - ready, self._calls)

    def _answer(self, **_: object) -> tuple[SimpleNamespace, dict[str, Any]]:
        self._calls += 1
        self.clock.sleep(CALL / 2)
        response = self.subject.answer(self.clock.monotonic() >= self._ready)
        self.clock.sleep(CALL / 2)
        status = {"ResponseMetadata": {"HTTPStatusCode": 200}}
        return SimpleNamespace(status_code=200), {**response, **status}


def by_botocore(stage: Stage) -> None:
    """Wait with botocore's own waiter, which sleeps on the stage's clock."""
    waiter = stage.client.get_waiter(stage.subject.waiter)
    with patch.object(botocore.waiter, "time", stage.clock):
        waiter.wait(**stage.subject.params)


def by_pollwait(stage: Stage) -> None:
    """Wait with the waiter of the same name."""
    waiter = aws.waiter(stage.client, stage.subject.waiter, clock=stage.clock)
    waiter.wait(**stage.subject.params)


def by_volume_waiter(stage: Stage) -> None:
    """Wait with the waiter for volumes that were just created."""
    waiter = aws.VolumeAvailableWaiter(stage.client, clock=stage.clock)
    waiter.wait("vol-1", timeout=600)


@dataclass(frozen=True)
class Row:
    """What became of one kind of thing.

    Attributes:
        once: what botocore and pollwait noticed of a thing that was ready at the time.
        mean: the means over things that were ready around that time.
        latest: by how much pollwait was later than botocore, at most.
    """

    name: str
    ready: float
    once: tuple[Noticed, Noticed]
    mean: tuple[Noticed, Noticed]
    latest: float


def spread(ready: float) -> list[float]:
    """Return times around one, from two thirds of it to four thirds.

    They follow the golden ratio, for even steps would beat with the steps of the waiters.
    """
    return [ready * 2 / 3 * (1 + step * GOLDEN % 1) for step in range(SPREAD)]


def compare(name: str, stage: Stage, ours: Callable[[Stage], object], ready: float) -> Row:
    """Let botocore and pollwait wait for the same things."""
    around = spread(ready)
    theirs = [stage.notices(by_botocore, at) for at in around]
    own = [stage.notices(ours, at) for at in around]
    return Row(
        name,
        ready,
        (stage.notices(by_botocore, ready), stage.notices(ours, ready)),
        (_mean(theirs), _mean(own)),
        max(mine.late - other.late for mine, other in zip(own, theirs, strict=True)),
    )


def _mean(noticed: Sequence[Noticed]) -> Noticed:
    return Noticed(fmean(each.late for each in noticed), fmean(each.calls for each in noticed))


def rows() -> list[Row]:
    """Run all comparisons."""
    found: list[Row] = []
    for subject in SUBJECTS:
        stage = Stage(subject)
        found += [compare(subject.waiter, stage, by_pollwait, ready) for ready in READY]
        if subject.waiter == "volume_available":
            found += [
                compare("VolumeAvailableWaiter", stage, by_volume_waiter, ready) for ready in READY
            ]
    return found


def _cells(row: Row, pair: tuple[Noticed, Noticed]) -> tuple[str, ...]:
    figures = [(f"{each.late:.2f}", f"{each.calls:.3g}") for each in pair]
    return (row.name, f"{row.ready:g}", *figures[0], *figures[1])


def main() -> None:
    """Run the comparisons and print what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    found = rows()
    if options.json:
        print(as_json({"botocore": version("botocore"), "results": found}))
        return
    print(f"{heading()}, botocore {version('botocore')}")
    header = ("seconds", "ready at", "botocore: late", "calls", "pollwait: late", "calls")
    print("\nOne wait each")
    print(table(header, (_cells(row, row.once) for row in found)))
    print("\nMeans over times spread around these")
    means = ((*_cells(row, row.mean), f"{row.latest:+.2f}") for row in found)
    print(table((*header, "later at most"), means))


if __name__ == "__main__":
    main()
