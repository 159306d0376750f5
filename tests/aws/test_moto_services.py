"""Waiters on services that move through states: moto's, which go on a little with each look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import jmespath
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.moto_api import state_manager

from pollwait import Checked
from pollwait.aws import WaiterFailed, waiter
from pollwait.testing import FakeClock

from .fakes import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOKS = 3
"""How often something is described before it goes on to its next state."""


@dataclass(frozen=True)
class Course:
    """What something of a service goes through.

    Attributes:
        model: moto's name for it.
        begin: makes one with a client, and returns the parameters of a wait for it.
        state: where a response has its state.
        states: that the wait sees, one a check.
    """

    service: str
    waiter: str
    model: str
    begin: Callable[[Any], dict[str, Any]]
    state: str
    states: list[str]


def begin_instance(dms):
    """Create a replication instance."""
    dms.create_replication_instance(
        ReplicationInstanceIdentifier="copier", ReplicationInstanceClass="dms.t3.medium"
    )
    return {"Filters": [{"Name": "replication-instance-id", "Values": ["copier"]}]}


def begin_cluster(dsql):
    """Create a cluster."""
    return {"identifier": dsql.create_cluster(deletionProtectionEnabled=False)["identifier"]}


def begin_distribution(cloudfront):
    """Create a distribution."""
    ports = {"HTTPPort": 80, "HTTPSPort": 443, "OriginProtocolPolicy": "https-only"}
    origin = {"Id": "o", "DomainName": "example.com", "CustomOriginConfig": ports}
    made = cloudfront.create_distribution(
        DistributionConfig={
            "CallerReference": "1",
            "Origins": {"Quantity": 1, "Items": [origin]},
            "DefaultCacheBehavior": {"TargetOriginId": "o", "ViewerProtocolPolicy": "allow-all"},
            "Comment": "",
            "Enabled": True,
        }
    )
    return {"Id": made["Distribution"]["Id"]}


def begin_job(transcribe):
    """Start a transcription."""
    transcribe.start_transcription_job(
        TranscriptionJobName="minutes",
        LanguageCode="en-US",
        Media={"MediaFileUri": "s3://meetings/monday.mp3"},
    )
    return {"TranscriptionJobName": "minutes"}


COURSES = [
    Course(
        "dms",
        "replication_instance_available",
        "dms::replicationinstance",
        begin_instance,
        "ReplicationInstances[0].ReplicationInstanceStatus",
        ["creating", "creating", "available"],
    ),
    Course(
        "dsql",
        "cluster_active",
        "dsql::cluster",
        begin_cluster,
        "status",
        ["CREATING", "CREATING", "ACTIVE"],
    ),
    Course(
        "cloudfront",
        "distribution_deployed",
        "cloudfront::distribution",
        begin_distribution,
        "Distribution.Status",
        ["InProgress", "InProgress", "Deployed"],
    ),
    Course(
        "transcribe",
        "transcription_job_completed",
        "transcribe::transcriptionjob",
        begin_job,
        "TranscriptionJob.TranscriptionJobStatus",
        [None, None, *["QUEUED"] * LOOKS, *["IN_PROGRESS"] * LOOKS, "COMPLETED"],
    ),
]


class Watched:
    """A client of moto's, and the operations that it called."""

    def __init__(self, service):
        self.client = boto3.client(service, **KEYS)
        self.calls = []
        self.client.meta.events.register("before-call", self._note)

    def _note(self, model, **_):
        self.calls.append(model.name)


@pytest.fixture
def moto() -> Iterator[None]:
    """Let moto answer all that boto3 asks for."""
    with mock_aws():
        yield


@pytest.fixture
def slow_moto(moto: None) -> Iterator[Callable[[str], None]]:
    """Let moto answer, and make things of some models take several looks for each state."""
    slowed = []

    def slow(model):
        state_manager.set_transition(model, {"progression": "manual", "times": LOOKS})
        slowed.append(model)

    yield slow
    for model in slowed:
        state_manager.unset_transition(model)


@pytest.mark.parametrize("course", COURSES, ids=lambda course: course.waiter)
def test_wait_follows_states_to_the_last(course, slow_moto):
    """A wait sees each state that a thing goes through, and ends when a check shows the last."""
    slow_moto(course.model)
    watched, clock, events = Watched(course.service), FakeClock(), []
    params = course.begin(watched.client)
    watched.calls.clear()

    made = waiter(watched.client, course.waiter, clock=clock, on_event=events.append)
    response = made.wait(**params)

    checks = [event for event in events if isinstance(event, Checked)]
    assert [jmespath.search(course.state, check.value) for check in checks] == course.states
    assert jmespath.search(course.state, response) == course.states[-1]
    assert watched.calls == [made.definition.operation] * len(course.states)
    assert clock.monotonic() == checks[-1].elapsed == sum(clock.sleeps)
    assert len(clock.sleeps) == len(course.states) - 1


def test_wait_follows_deletion_until_it_is_gone(slow_moto):
    """A wait for a thing to be gone goes on while it is being deleted, and returns the error."""
    watched, clock, events = Watched("dsql"), FakeClock(), []
    params = begin_cluster(watched.client)
    slow_moto("dsql::cluster")
    watched.client.delete_cluster(**params)

    gone = waiter(watched.client, "cluster_not_exists", clock=clock, on_event=events.append)
    response = gone.wait(**params)

    assert response["Error"]["Code"] == "ResourceNotFoundException"
    *under_way, last = [event for event in events if isinstance(event, Checked)]
    assert [check.value["status"] for check in under_way] == ["DELETING", "DELETING"]
    assert isinstance(last.error, ClientError)


@pytest.mark.parametrize(
    ("service", "name", "params"),
    [
        ("dsql", "cluster_active", {"identifier": "x" * 26}),
        ("cloudfront", "distribution_deployed", {"Id": "x"}),
    ],
)
def test_wait_fails_after_grace_for_what_never_was(moto, service, name, params):
    """A thing that a service does not know is missing for the grace period, and then fails."""
    watched, clock = Watched(service), FakeClock()
    with pytest.raises(WaiterFailed, match="not found since 0 s") as failed:
        waiter(watched.client, name, clock=clock, missing_grace=2).wait(**params)
    assert isinstance(failed.value.__cause__, ClientError)
    assert clock.sleeps == [0.5, 0.75, 1.125]


def test_wait_fails_at_once_for_an_error_that_does_not_say_missing(moto):
    """An error that no acceptor expects, and that says no "not found", fails the first check."""
    watched = Watched("transcribe")
    completed = waiter(watched.client, "transcription_job_completed", clock=FakeClock())
    with pytest.raises(WaiterFailed, match="BadRequestException"):
        completed.wait(TranscriptionJobName="minutes")
    assert watched.calls == ["GetTranscriptionJob"]
