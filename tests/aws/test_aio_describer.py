"""Describing things for many tasks in few calls."""

from __future__ import annotations

import asyncio

import pytest
from botocore.exceptions import ClientError

from pollwait import BatcherClosed
from pollwait.aws import aio as aws
from pollwait.testing import FakeClock, run

from .fake_async_client import AsyncService
from .fakes import error, script


def volumes(operation, params):
    """Answer DescribeVolumes: an id that begins with ``vol-dead`` does not exist."""
    dead = [each for each in params["VolumeIds"] if each.startswith("vol-dead")]
    if dead:
        return error("InvalidVolume.NotFound", f"The volume '{dead[0]}' does not exist.")
    return {"Volumes": [{"VolumeId": each} for each in params["VolumeIds"]]}


def databases(operation, params):
    """Answer DescribeDBInstances with the one that is asked for."""
    return {"DBInstances": [{"DBInstanceIdentifier": params["DBInstanceIdentifier"]}]}


class TestItems:
    """Operations that take a list of ids."""

    def test_tasks_share_a_call_and_only_the_dead_id_fails(self):
        """W5: thirty tasks cost two calls though one id does not exist, and only its task fails."""
        ec2, batches = AsyncService("ec2", volumes), []
        ids = [*(f"vol-{n}" for n in range(29)), "vol-dead"]

        async def main():
            async with aws.describer(
                ec2.client, "describe_volumes", on_event=batches.append
            ) as described:
                return await asyncio.gather(*map(described.get, ids), return_exceptions=True)

        *found, missing = run(main())
        assert found == [{"VolumeId": each} for each in ids[:-1]]
        assert isinstance(missing, aws.NotDescribed)
        assert isinstance(missing.__cause__, ClientError)
        assert str(missing).startswith("DescribeVolumes does not show 'vol-dead': InvalidVolume.")
        assert [len(each) for each in ec2.asked("VolumeIds")] == [30, 29]
        assert [(batch.size, batch.isolations) for batch in batches] == [(30, 1)]

    def test_get_many_answers_each_id(self):
        """Items and errors come in the order of the ids, an id that is named twice once."""
        ec2 = AsyncService("ec2", volumes)

        async def main():
            async with aws.describer(ec2.client, "DescribeVolumes") as described:
                assert await described.get_many([]) == {}
                return await described.get_many(["vol-2", "vol-dead", "vol-1", "vol-2"])

        answers = run(main())
        assert list(answers) == ["vol-2", "vol-dead", "vol-1"]
        assert answers["vol-1"] == {"VolumeId": "vol-1"}
        assert isinstance(answers["vol-dead"], aws.NotDescribed)

    def test_pages_are_read_to_the_end(self):
        """An item on the second page is found."""
        first = {"Volumes": [{"VolumeId": "vol-1"}], "NextToken": "more"}
        ec2 = AsyncService("ec2", script(first, {"Volumes": [{"VolumeId": "vol-2"}]}))

        async def main():
            async with aws.describer(ec2.client, "describe_volumes") as described:
                return await described.get_many(["vol-1", "vol-2"])

        assert run(main()) == {each: {"VolumeId": each} for each in ("vol-1", "vol-2")}

    def test_error_of_the_whole_call_reaches_all_as_itself(self):
        """A refusal that is no matter of ids is not repeated for each of them."""
        ec2 = AsyncService("ec2", script(error("UnauthorizedOperation", "You may not.", 403)))

        async def main():
            async with aws.describer(ec2.client, "describe_volumes") as described:
                return await asyncio.gather(
                    described.get("vol-1"), described.get("vol-2"), return_exceptions=True
                )

        one, two = run(main())
        assert isinstance(one, ClientError)
        assert not isinstance(one, LookupError)
        assert one is not two
        assert one.__cause__ is two.__cause__
        assert len(ec2.calls) == 1

    def test_cancelled_task_disturbs_nobody(self):
        """B5: a task that is cancelled while its call is under way leaves at once."""
        ec2 = AsyncService("ec2", volumes, takes=2.0)

        async def main():
            async with aws.describer(ec2.client, "describe_volumes") as described:
                leaver = asyncio.create_task(described.get("vol-1"))
                stayer = asyncio.create_task(described.get("vol-2"))
                await asyncio.sleep(1)
                leaver.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await leaver
                assert asyncio.get_running_loop().time() == 1
                return await stayer

        assert run(main()) == {"VolumeId": "vol-2"}
        assert len(ec2.calls) == 1

    def test_task_that_cannot_wait_leaves(self):
        """A timeout that ends first is a TimeoutError; that of many is told for each."""
        ec2 = AsyncService("ec2", volumes, takes=2.0)

        async def main():
            async with aws.describer(ec2.client, "describe_volumes") as described:
                with pytest.raises(TimeoutError):
                    await described.get("vol-1", timeout=0.5)
                return await described.get_many(["vol-2"], timeout=0.5)

        assert isinstance(run(main())["vol-2"], TimeoutError)

    def test_max_size_lowers_the_limit(self):
        """W5: fewer ids in a call than the operation takes, if asked to."""
        ec2 = AsyncService("ec2", volumes)

        async def main():
            async with aws.describer(ec2.client, "describe_volumes", max_size=1) as described:
                await described.get_many(["vol-1", "vol-2"])

        run(main())
        assert sorted(ec2.asked("VolumeIds")) == [["vol-1"], ["vol-2"]]


class TestResponses:
    """Operations that take no list of ids."""

    def test_equal_questions_are_one_call(self):
        """Ten tasks with one question cost a call, another question is another one."""
        rds = AsyncService("rds", databases)
        names = ["db-1"] * 10 + ["db-2"]

        async def main():
            async with aws.describer(rds.client, "describe_db_instances") as described:
                return await asyncio.gather(
                    *(described.get(DBInstanceIdentifier=name) for name in names)
                )

        answers = run(main())
        assert [each["DBInstances"][0]["DBInstanceIdentifier"] for each in answers] == names
        assert sorted(rds.asked("DBInstanceIdentifier")) == ["db-1", "db-2"]

    def test_task_that_cannot_wait_leaves(self):
        """A timeout that ends before the response is a TimeoutError, at its time."""
        rds = AsyncService("rds", databases, takes=2.0)

        async def main():
            async with aws.describer(rds.client, "describe_db_instances") as described:
                with pytest.raises(TimeoutError):
                    await described.get(DBInstanceIdentifier="db-1", timeout=0.5)
                return asyncio.get_running_loop().time()

        assert run(main()) == 0.5

    def test_ids_are_refused(self):
        """The error for ids names the parameters that there are."""
        rds = AsyncService("rds")

        async def main():
            async with aws.describer(rds.client, "describe_db_instances") as described:
                with pytest.raises(TypeError, match="asked by DBInstanceIdentifier, Filters: got"):
                    await described.get("db-1")
                with pytest.raises(TypeError, match=r"get_many\(\) is for ids"):
                    await described.get_many(["db-1"])

        run(main())
        assert rds.calls == []


class TestMisuse:
    """What a describer refuses, and how it ends."""

    @pytest.mark.parametrize(
        ("operation", "options", "kind", "text"),
        [
            ("describe_volume", {}, ValueError, "no operation 'describe_volume'"),
            ("run_instances", {}, ValueError, "may change something"),
            ("describe_volumes", {"by": "Names"}, ValueError, "by must be 'VolumeIds'"),
            ("describe_volumes", {"max_size": 501}, ValueError, "max_size must be <= 500"),
            ("describe_account_attributes", {"max_size": 5}, TypeError, "is a number of ids"),
            ("describe_volumes", {"MaxResults": 5}, TypeError, "cannot be given together"),
            ("describe_volumes", {"clock": FakeClock()}, TypeError, "clock must be for an event"),
        ],
    )
    def test_describer_checks_its_settings_when_made(self, operation, options, kind, text):
        """What exists is legal, as on threads."""
        with pytest.raises(kind, match=text):
            aws.describer(AsyncService("ec2").client, operation, **options)

    def test_client_without_a_model_is_refused(self):
        """What an operation takes is read from the client's model."""

        class Fake:
            async def describe_volumes(self): ...

        with pytest.raises(TypeError, match="or of aiobotocore for asyncio, whose"):
            aws.describer(Fake(), "describe_volumes")

    def test_closed_describer_takes_no_questions(self):
        """B10: after close nothing is asked; more calls of it do no harm."""
        ec2 = AsyncService("ec2")

        async def main():
            described = aws.describer(ec2.client, "describe_volumes")
            await described.close()
            await described.close()
            with pytest.raises(BatcherClosed):
                await described.get("vol-1")

        run(main())

    def test_failed_block_waits_for_nobody(self):
        """When the block ends with an error, those who still wait are let go at once."""
        ec2 = AsyncService("ec2", volumes)

        async def main():
            described = aws.describer(ec2.client, "describe_volumes", max_delay=60)
            asked = asyncio.create_task(described.get("vol-1"))
            with pytest.raises(KeyError):  # noqa: PT012 - the block is what is tested
                async with described:
                    await asyncio.sleep(1)
                    raise KeyError
            with pytest.raises(BatcherClosed):
                await asked
            assert asyncio.get_running_loop().time() == 1

        run(main())
        assert ec2.calls == []

    def test_describer_shows_what_it_asks(self):
        """Its repr names the operation and the ids."""
        ec2, rds = AsyncService("ec2"), AsyncService("rds")
        shown = [
            repr(aws.describer(ec2.client, "describe_volumes")),
            repr(aws.describer(rds.client, "describe_db_instances")),
        ]
        assert shown == [
            "<Describer: DescribeVolumes by VolumeIds>",
            "<Describer: DescribeDBInstances>",
        ]
