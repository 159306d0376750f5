"""Types of the waiters for AWS on asyncio, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from typing import Any, TypedDict

    from mypy_boto3_ec2.type_defs import DescribeVolumesResultTypeDef
    from typing_extensions import Unpack, assert_type

    from pollwait.aws import Volume
    from pollwait.aws import aio as aws

    class Request(TypedDict, total=False):
        """Parameters, as stubs of clients have them."""

        VolumeIds: Sequence[str]
        MaxResults: int

    class Client:
        """A client of EC2, as the stubs of aiobotocore have it."""

        async def describe_volumes(self, **kwargs: Unpack[Request]) -> DescribeVolumesResultTypeDef:
            """Describe volumes."""
            ...

    class PlainClient:
        """A client whose answer is no awaitable."""

        def describe_volumes(self, *, VolumeIds: Sequence[str]) -> dict[str, Any]:  # noqa: N803
            """Describe volumes."""
            ...

    async def volumes(ec2: Client, stop: asyncio.Event) -> None:
        """A waiter for volumes gives volumes with typed members, awaited."""
        waiter = aws.VolumeAvailableWaiter(ec2, in_use="wait", missing_grace=3)
        volume = await waiter.wait("vol-1", timeout=60, cancel=stop)
        assert_type(volume, Volume)
        assert_type(volume["State"], str)
        many = await waiter.wait_many(["vol-1"], timeout=60)
        assert_type(many, dict[str, Volume | Exception])
        async for volume_id, result in waiter.as_completed(["vol-1"], timeout=60):
            assert_type(volume_id, str)
            assert_type(result, Volume | Exception)

    async def waiters(ec2: Client) -> None:
        """A waiter of any name gives responses, awaited, and can be left half way."""
        running = aws.waiter(ec2, "instance_running", until_stable=2)
        assert_type(running, aws.Waiter)
        assert_type(await running.wait(InstanceIds=["i-1"], timeout=60), dict[str, Any])
        results = await running.wait_many(["i-1"], WaiterConfig={"Delay": 5})
        assert_type(results, dict[str, dict[str, Any] | Exception])
        await running.as_completed(["i-1"]).aclose()
        assert_type(await aws.pages(ec2, "describe_volumes"), Any)

    async def describers(ec2: Client) -> None:
        """A describer is a block, and gives items."""
        async with aws.describer(ec2, "describe_instances") as instances:
            assert_type(instances, aws.Describer)
            assert_type(await instances.get("i-1", timeout=3), dict[str, Any])
            many = await instances.get_many(["i-1"])
            assert_type(many, dict[str, dict[str, Any] | Exception])

    def mistakes(ec2: Client, plain: PlainClient) -> None:
        """What cannot be awaited is no client."""
        aws.VolumeAvailableWaiter(plain)  # type: ignore[arg-type]  # pyright: ignore
        aws.VolumeAvailableWaiter(ec2, in_use="no")  # type: ignore[arg-type]  # pyright: ignore
