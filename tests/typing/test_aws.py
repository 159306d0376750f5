"""Types of the waiters and predicates for AWS, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import botocore.exceptions
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import VolumeTypeDef
    from typing_extensions import assert_type

    from pollwait import PollTimeout, aws, poll

    def volumes(ec2: EC2Client) -> None:
        """A waiter takes a client of boto3 and returns a volume with typed members."""
        waiter = aws.VolumeAvailableWaiter(ec2, in_use="wait", missing_grace=3)
        volume = waiter.wait("vol-1", timeout=60)
        assert_type(volume, aws.Volume)
        assert_type(volume["State"], str)
        aws.VolumeAvailableWaiter(ec2, in_use="no")  # type: ignore[arg-type]  # pyright: ignore

    def many_volumes(ec2: EC2Client) -> None:
        """Many volumes come as volumes or errors."""
        waiter = aws.VolumeAvailableWaiter(ec2, min_gap=0.25)
        assert_type(waiter.wait_many(["vol-1"], timeout=60), dict[str, aws.Volume | Exception])
        for volume_id, result in waiter.as_completed(["vol-1"], timeout=60):
            assert_type(volume_id, str)
            assert_type(result, aws.Volume | Exception)

    def waiters(ec2: EC2Client) -> None:
        """A waiter of any name returns responses, and takes the parameters of its operation."""
        running = aws.waiter(ec2, "instance_running", until_stable=2)
        assert_type(running, aws.Waiter)
        assert_type(running.definition, aws.Definition)
        assert_type(running.wait(InstanceIds=["i-1"], timeout=60), dict[str, Any])
        results = running.wait_many(["i-1"], WaiterConfig={"Delay": 5})
        assert_type(results, dict[str, dict[str, Any] | Exception])
        assert_type(aws.pages(ec2, "describe_volumes"), Any)
        aws.waiter(ec2, 3)  # type: ignore[arg-type]  # pyright: ignore

    def predicates(ec2: EC2Client) -> None:
        """Predicates fit the options of poll and leave the type of its value alone."""
        response = poll(
            lambda: ec2.describe_volumes(VolumeIds=["vol-1"]),
            until=aws.path_all("Volumes[].State", "available"),
            fail=aws.path_any("Volumes[].State", "error"),
            retry_on=[aws.is_transient, aws.error_code("InvalidVolume.NotFound")],
            timeout=60,
        )
        assert_type(response["Volumes"], list[VolumeTypeDef])

    def errors(error: aws.WaiterTimeout) -> None:
        """An error is one of botocore and one of pollwait."""
        botocores: botocore.exceptions.WaiterError = error
        pollwaits: PollTimeout = error
        assert_type((botocores.kwargs, pollwaits.attempts)[1], int)
        assert_type(error.state, str | None)
        assert_type(error.response, Mapping[str, Any])
