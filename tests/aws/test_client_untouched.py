"""What pollwait does to the clients that it is given: nothing."""

from __future__ import annotations

import pytest
from botocore.config import Config

from pollwait import Called
from pollwait.aws import VolumeAvailableWaiter, waiter
from pollwait.testing import FakeClock

from .fakes import Service, error


@pytest.mark.parametrize("make", [VolumeAvailableWaiter, lambda client, **options: waiter(
    client, "volume_available", **options
)])  # fmt: skip
def test_client_keeps_its_settings_and_is_called_once_a_check(make):
    """W8: retries are the client's own; each round of a wait is one call of its method."""
    clock = FakeClock()

    def play(operation, params):
        if clock.monotonic() < 3:
            return error("ServiceUnavailable", status=503)
        return {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}

    ec2 = Service("ec2", play)
    before = ec2.client.meta.config
    retries = dict(before.retries)
    events = []
    made = make(ec2.client, clock=clock, on_event=events.append)
    results = made.wait_many(["vol-1"], timeout=60)
    assert not isinstance(results["vol-1"], Exception)
    assert ec2.client.meta.config is before
    assert before.retries == retries
    assert isinstance(before, Config)
    called = [event for event in events if isinstance(event, Called)]
    assert len(ec2.calls) == len(called) > 1
