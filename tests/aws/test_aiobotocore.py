"""The waiters for asyncio with real clients of aiobotocore, which ask an EC2 over HTTP."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import asynccontextmanager

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError

from pollwait import aws as aws_on_threads
from pollwait import exponential, fixed
from pollwait._core.group import LINGER
from pollwait.aws import aio as aws
from pollwait.testing import run
from pollwait.testing.ec2 import EmbeddedEC2

aiobotocore = pytest.importorskip("aiobotocore.session")

DEAD = "vol-0123456789abcdef0"
QUICK = {"ready": 3.0, "create_call": 0.0, "describe_call": 0.0}
CONFIG = {"retries": {"mode": "standard", "total_max_attempts": 1}, "proxies": {}}


class LoopTime:
    """The time of the loop, for a server whose calls take none."""

    def __init__(self):
        self.monotonic = asyncio.get_running_loop().time

    def sleep(self, seconds):
        """Take no time."""


class Gate(LoopTime):
    """The time of the loop, for a server whose calls last until they are let through.

    Attributes:
        reached: done when a call has come.
    """

    def __init__(self):
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._open = threading.Event()
        self.reached = self._loop.create_future()

    def sleep(self, seconds):
        """Block the server's thread until the gate is open."""
        if seconds and not self._open.is_set():
            self._loop.call_soon_threadsafe(self.reached.set_result, None)
            assert self._open.wait(30)

    def open(self):
        """Let all calls through."""
        self._open.set()


@asynccontextmanager
async def client_of(endpoint_url):
    """Give a client of aiobotocore; the loop's time stands still while one of its calls runs."""
    loop = asyncio.get_running_loop()
    async with aiobotocore.get_session().create_client(
        "ec2",
        endpoint_url=endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(**CONFIG),
    ) as client:
        call = client._make_api_call

        async def held(operation, params):
            with loop.inhibit(operation):
                return await call(operation, params)

        client._make_api_call = held
        yield client


@asynccontextmanager
async def served(clock=None, **settings):
    """Give a server on the loop's time, and a client of it."""
    with EmbeddedEC2(clock=clock or LoopTime(), **{**QUICK, **settings}) as ec2:
        async with client_of(ec2.endpoint_url) as client:
            yield ec2, client


async def created(client, number=1):
    """Create volumes, and return their ids."""
    made = [
        await client.create_volume(AvailabilityZone="us-east-1a", Size=1) for _ in range(number)
    ]
    return [each["VolumeId"] for each in made]


def now():
    """Return the time of the loop."""
    return asyncio.get_running_loop().time()


class TestWaiters:
    """Waits for volumes and instances."""

    def test_volume_is_awaited(self):
        """W7: the waiter for volumes looks on its schedule, and returns the volume."""

        async def main():
            async with served() as (ec2, client):
                (volume_id,) = await created(client)
                volume = await aws.VolumeAvailableWaiter(client).wait(volume_id, timeout=60)
                assert (volume["VolumeId"], volume["State"]) == (volume_id, "available")
                assert ec2.calls["DescribeVolumes"] == 4
                return now()

        assert 0 <= run(main()) - (1.25 + 0.5 + 0.75 + 1.125) <= LINGER

    def test_waiter_by_name_returns_the_response(self):
        """W7: so does a waiter of botocore's name, with the whole response."""

        async def main():
            async with served() as (_, client):
                (volume_id,) = await created(client)
                available = aws.waiter(client, "volume_available")
                response = await available.wait(VolumeIds=[volume_id])
                assert response["Volumes"][0]["State"] == "available"
                assert response["ResponseMetadata"]["HTTPStatusCode"] == 200

        run(main())

    def test_instances_are_awaited(self):
        """W7: instances lie deeper in a response, and each wait is shown its own."""

        async def main():
            async with served() as (_, client):
                (image,) = (await client.describe_images(Owners=["amazon"]))["Images"][:1]
                launched = await client.run_instances(
                    ImageId=image["ImageId"], MinCount=2, MaxCount=2
                )
                ids = [each["InstanceId"] for each in launched["Instances"]]
                running = aws.waiter(client, "instance_running")
                results = await running.wait_many(ids, timeout=60)
                for each in ids:
                    (shown,) = results[each]["Reservations"][0]["Instances"]
                    assert (shown["InstanceId"], shown["State"]["Name"]) == (each, "running")

        run(main())

    def test_dead_id_among_many_fails_alone(self):
        """W5: twenty volumes are ready in the round in which a dead id is found among them."""

        async def main():
            async with served(ready=0.0) as (ec2, client):
                ids = await created(client, 20)
                known = aws.VolumeAvailableWaiter(client, missing_grace=0)
                results = await known.wait_many([*ids, DEAD], timeout=60)
                dead = results.pop(DEAD)
                assert isinstance(dead, aws.WaiterFailed)
                assert isinstance(dead.__cause__, ClientError)
                assert {each["State"] for each in results.values()} == {"available"}
                assert ec2.calls["DescribeVolumes"] == 2

        run(main())

    def test_tasks_share_calls(self):
        """W5: twenty tasks cost as many calls as one."""

        async def main():
            async with served() as (ec2, client):
                ids = await created(client, 20)
                known = aws.VolumeAvailableWaiter(client)
                volumes = await asyncio.gather(*(known.wait(each, timeout=60) for each in ids))
                assert [each["VolumeId"] for each in volumes] == ids
                assert ec2.calls["DescribeVolumes"] == 4

        run(main())

    def test_wait_ends_at_its_deadline(self):
        """T4: a volume that stays as it is is told at the deadline, with its state."""

        async def main():
            async with served(ready=1000.0) as (_, client):
                (volume_id,) = await created(client)
                known = aws.VolumeAvailableWaiter(client, schedule=fixed(1))
                with pytest.raises(aws.WaiterTimeout, match="last state 'creating'"):
                    await known.wait(volume_id, timeout=5)
                return now()

        assert run(main()) == 5

    def test_volume_that_fails_is_told_at_once(self):
        """W2: a volume that ends in ``error`` fails its wait."""

        async def main():
            async with served() as (ec2, client):
                ec2.fail_next()
                (volume_id,) = await created(client)
                with pytest.raises(aws.WaiterFailed, match="state 'error'"):
                    await aws.VolumeAvailableWaiter(client).wait(volume_id, timeout=60)

        run(main())

    def test_error_of_the_service_is_judged(self):
        """W1: an error may be what is waited for, and one that is not is the cause of the end."""

        async def main():
            async with served() as (_, client):
                gone = await aws.waiter(client, "volume_deleted").wait(VolumeIds=[DEAD])
                assert gone["Error"]["Code"] == "InvalidVolume.NotFound"
                exists = aws.waiter(client, "volume_available", schedule=exponential(1))
                with pytest.raises(aws.WaiterFailed, match=r"missing_grace 15 s") as caught:
                    await exists.wait(VolumeIds=[DEAD], timeout=300)
                assert isinstance(caught.value.__cause__, ClientError)
                assert caught.value.response["Error"]["Code"] == "InvalidVolume.NotFound"
                assert 15 < now() < 60

        run(main())

    def test_all_waiters_of_a_client_are_known(self):
        """W1: every name that the client has is one of a waiter."""

        async def main():
            async with client_of("http://127.0.0.1:9") as client:
                made = [aws.waiter(client, name) for name in client.waiter_names]
                assert len(made) > 30

        run(main())

    def test_pages_are_read(self):
        """W7: the pages of aiobotocore come by ``async for``."""

        async def main():
            async with served() as (ec2, client):
                ids = await created(client, 7)
                response = await aws.pages(client, "describe_volumes", MaxResults=5)
                assert {each["VolumeId"] for each in response["Volumes"]} == set(ids)
                assert "NextToken" not in response
                assert ec2.calls["DescribeVolumes"] == 2

        run(main())


class TestCancelling:
    """Tasks that leave while a call is under way."""

    def test_cancelled_wait_disturbs_nobody(self):
        """T7: the task leaves while the call is under way, which goes on and serves the other."""

        async def main():
            gate = Gate()
            async with served(gate, ready=0.0, describe_call=0.5) as (ec2, client):
                one, two = await created(client, 2)
                known = aws.VolumeAvailableWaiter(client)
                leaver = asyncio.create_task(known.wait(one, timeout=60))
                stayer = asyncio.create_task(known.wait(two, timeout=60))
                await gate.reached
                leaver.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await leaver
                assert not stayer.done()
                gate.open()
                assert (await stayer)["VolumeId"] == two
                assert ec2.calls["DescribeVolumes"] == 1

        run(main())

    def test_cancelled_question_disturbs_nobody(self):
        """B5: so does one that asks a describer."""

        async def main():
            gate = Gate()
            async with served(gate, describe_call=0.5) as (ec2, client):
                one, two = await created(client, 2)
                async with aws.describer(client, "describe_volumes") as described:
                    leaver = asyncio.create_task(described.get(one))
                    stayer = asyncio.create_task(described.get(two))
                    await gate.reached
                    leaver.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await leaver
                    gate.open()
                    assert (await stayer)["VolumeId"] == two
                assert ec2.calls["DescribeVolumes"] == 1

        run(main())


class TestDescriber:
    """Questions of many tasks."""

    def test_tasks_share_a_call_and_only_the_dead_id_fails(self):
        """W5: twenty questions, one of them for a dead id, are two calls."""

        async def main():
            async with served() as (ec2, client):
                ids = [*await created(client, 19), DEAD]
                async with aws.describer(client, "describe_volumes") as described:
                    *found, missing = await asyncio.gather(
                        *map(described.get, ids), return_exceptions=True
                    )
                assert [each["VolumeId"] for each in found] == ids[:-1]
                assert isinstance(missing, aws.NotDescribed)
                assert isinstance(missing.__cause__, ClientError)
                assert ec2.calls["DescribeVolumes"] == 2

        run(main())


class TestClients:
    """Clients that are of no use."""

    @pytest.mark.parametrize(
        "face",
        [
            lambda client: aws_on_threads.waiter(client, "volume_available"),
            lambda client: aws_on_threads.VolumeAvailableWaiter(client),
            lambda client: aws_on_threads.describer(client, "describe_volumes"),
            lambda client: aws_on_threads.pages(client, "describe_volumes"),
        ],
        ids=["waiter", "volumes", "describer", "pages"],
    )
    def test_client_is_refused_on_threads(self, face):
        """W7: the error names the module that takes it."""

        async def main():
            async with client_of("http://127.0.0.1:9") as client:
                with pytest.raises(TypeError, match=r"pollwait\.aws\.aio takes"):
                    face(client)

        run(main())

    def test_service_out_of_reach_is_waited_for(self):
        """W4: a connection that is refused slows a wait, and is the cause when it has ended."""

        async def main():
            with socket.socket() as nobody:
                nobody.bind(("127.0.0.1", 0))
                url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
                async with client_of(url) as client:
                    known = aws.VolumeAvailableWaiter(client, schedule=fixed(1))
                    with pytest.raises(aws.WaiterTimeout) as caught:
                        await known.wait("vol-1", timeout=5)
            assert isinstance(caught.value.__cause__, EndpointConnectionError)
            return caught.value.attempts, now()

        assert run(main()) == (6, 5.0)

    def test_client_that_was_closed_is_told_at_once(self):
        """A client out of its block is a mistake, which no wait makes good."""

        async def main():
            async with client_of("http://127.0.0.1:9") as client:
                known = aws.waiter(client, "volume_available")
            with pytest.raises(Exception, match="unhandled exception") as caught:
                await known.wait(VolumeIds=["vol-1"], timeout=60)
            assert not isinstance(caught.value, aws.WaiterError)
            return now()

        assert run(main()) == LINGER
