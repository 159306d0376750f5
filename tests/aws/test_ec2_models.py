"""The parts of the embedded EC2 that decide: latency models, limits and buckets."""

from __future__ import annotations

import os
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pollwait.testing.ec2 import EBS_READY, Bucket, Limits, Normal, Quantiles
from pollwait.testing.ec2._bucket import Throttle
from pollwait.testing.ec2._environment import without_aws_settings
from pollwait.testing.ec2._latency import drawer
from pollwait.testing.ec2._request import Request


def request(operation: str, region: str = "us-east-1", **parameters: str) -> Request:
    """Return a request as boto3 would send it."""
    body = "&".join(f"{name}={value}" for name, value in parameters.items())
    scope = {"Authorization": f"AWS4-HMAC-SHA256 Credential=key/20260101/{region}/ec2/aws4_request"}
    return Request("POST", "/", "", scope, f"Action={operation}&{body}".encode())


class TestLatency:
    """How long things take."""

    def test_quantiles_are_linear_between_their_points(self) -> None:
        """Each given percent gives its seconds, one in between what lies in between."""
        model = Quantiles(percent=(0, 50, 100), seconds=(1.0, 2.0, 6.0))
        assert [model.at(percent) for percent in (0, 25, 50, 75, 100)] == [1.0, 1.5, 2.0, 4.0, 6.0]
        with pytest.raises(ValueError, match="percent must be from 0 to 100: got percent=101"):
            model.at(101)

    def test_quantiles_draw_within_their_range(self) -> None:
        """Draws follow the quantiles: half of them lie below the median."""
        rng = Random(1)
        draws = [EBS_READY.draw(rng) for _ in range(2000)]
        assert min(draws) >= 1.148
        assert max(draws) <= 5.122
        assert sum(draw < EBS_READY.at(50) for draw in draws) == pytest.approx(1000, abs=100)

    @pytest.mark.parametrize(
        ("percent", "seconds", "text"),
        [
            ((0, 100), (1.0,), "same length: got 2 and 1"),
            ((0, 50), (1.0, 2.0), "must run from 0 to 100"),
            ((10, 100), (1.0, 2.0), "must run from 0 to 100"),
            ((), (), "must run from 0 to 100"),
            ((0, 50, 50, 100), (1.0, 2.0, 3.0, 4.0), "percent must ascend"),
            ((0, 100), (2.0, 1.0), "seconds must be >= 0 and ascend"),
            ((0, 100), (-1.0, 1.0), "seconds must be >= 0 and ascend"),
        ],
    )
    def test_quantiles_are_checked(self, percent: Any, seconds: Any, text: str) -> None:
        """Points that make no quantile function are refused."""
        with pytest.raises(ValueError, match=text):
            Quantiles(percent=percent, seconds=seconds)

    def test_normal_never_falls_below_its_minimum(self) -> None:
        """Draws spread around the mean and are cut off at the minimum."""
        rng = Random(1)
        draws = [Normal(0.0, sd=1.0, minimum=0.5).draw(rng) for _ in range(100)]
        assert min(draws) == 0.5
        assert max(draws) > 1.0

    def test_normal_is_checked(self) -> None:
        """T1: its seconds are checked when given, and timedeltas will do."""
        half: Any = timedelta(seconds=0.5)
        assert Normal(half, sd=half, minimum=half) == Normal(0.5, sd=0.5, minimum=0.5)
        for wrong in ({"mean": float("nan")}, {"sd": -1}, {"minimum": float("inf")}):
            (name,) = wrong
            with pytest.raises(ValueError, match=f"{name} must be finite and >= 0 seconds"):
                Normal(**{"mean": 1.0, "sd": 0.5, **wrong})

    def test_drawer_takes_every_form_of_model(self) -> None:
        """Seconds, functions and objects that draw are models, all else is refused."""
        rng = Random(1)
        assert drawer(0.25, "ready")(rng) == 0.25
        assert drawer(lambda _: 0.5, "ready")(rng) == 0.5
        assert drawer(timedelta(seconds=0.5), "ready")(rng) == 0.5
        assert drawer(Normal(0.75, sd=0), "ready")(rng) == 0.75
        with pytest.raises(TypeError, match=r"ready must be seconds, a function .*: got ready='1'"):
            drawer("1", "ready")  # type: ignore[arg-type]


class TestThrottle:
    """How many requests are admitted."""

    @pytest.mark.parametrize(
        ("asked", "bucket"),
        [
            (request("DescribeRouteTables"), Bucket(100, refill=20)),
            (request("DescribeVolumes"), Bucket(50, refill=10)),
            (request("DescribeVolumes", **{"VolumeId.1": "vol-1"}), Bucket(50, refill=10)),
            (request("DescribeVolumes", MaxResults="5"), Bucket(100, refill=20)),
            (request("DescribeVolumes", **{"Filter.1.Name": "x"}), Bucket(100, refill=20)),
            (request("ModifyHosts"), Bucket(50, refill=5)),
            (request("CreateVolume"), Bucket(100, refill=5)),
            (request("RunInstances"), Bucket(5, refill=2)),
        ],
        ids=lambda value: value.operation if isinstance(value, Request) else None,
    )
    def test_limits_are_those_that_ec2_documents(self, asked: Request, bucket: Bucket) -> None:
        """Reads, unfiltered reads, changes and some operations have limits of their own."""
        assert Limits().bucket(asked) == bucket

    def test_bucket_refills_up_to_its_capacity(self) -> None:
        """Tokens come back at the refill rate, and never more than the capacity."""
        throttle = Throttle(Limits(describe=Bucket(2, refill=0.5)))
        asked = request("DescribeHosts")
        admitted = [throttle.admits(asked, now) for now in (0, 0, 0, 1, 2, 100, 100, 100)]
        assert admitted == [True, True, False, False, True, True, True, False]

    def test_operations_and_regions_have_buckets_of_their_own(self) -> None:
        """An empty bucket stops its own operation in its own region only."""
        throttle = Throttle(Limits(describe=Bucket(1, refill=0)))
        assert throttle.admits(request("DescribeHosts"), 0)
        assert not throttle.admits(request("DescribeHosts"), 0)
        assert throttle.admits(request("DescribeHosts", "eu-west-1"), 0)
        assert throttle.admits(request("DescribeImages"), 0)

    def test_no_limits_admit_everything(self) -> None:
        """Without limits no request is refused."""
        assert all(Throttle(None).admits(request("RunInstances"), 0) for _ in range(1000))

    def test_bucket_is_checked(self) -> None:
        """Negative capacities and rates are refused."""
        with pytest.raises(ValueError, match="capacity and refill must be >= 0: got capacity=-1"):
            Bucket(-1, refill=1)

    @pytest.mark.parametrize("wrong", ["1", None, True])
    def test_bucket_takes_numbers(self, wrong: Any) -> None:
        """What is no number is refused by name."""
        with pytest.raises(TypeError, match=f"capacity must be a number: got capacity={wrong!r}"):
            Bucket(wrong, refill=1)
        with pytest.raises(TypeError, match="refill must be a number"):
            Bucket(1, refill=wrong)

    @pytest.mark.parametrize(
        ("wrong", "text"),
        [
            ({"describe": 5}, "describe must be a Bucket: got describe=5"),
            ({"unfiltered": None}, "unfiltered must be a Bucket"),
            ({"change": (5, 1)}, "change must be a Bucket"),
            ({"operations": {"CreateTags": 5}}, r"operations\['CreateTags'\] must be a Bucket"),
            ({"operations": 5}, "operations must be a mapping of buckets: got operations=5"),
        ],
    )
    def test_limits_are_checked(self, wrong: Any, text: str) -> None:
        """Limits consist of buckets."""
        with pytest.raises(TypeError, match=text):
            Limits(**wrong)


class TestEnvironment:
    """What moto sees of the user's settings."""

    def test_aws_settings_are_hidden_and_come_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In the block no AWS setting leads anywhere; after it all is as it was."""
        monkeypatch.setenv("AWS_PROFILE", "mine")
        monkeypatch.setenv("AWS_CONFIG_FILE", "/my/config")
        before = dict(os.environ)
        with without_aws_settings():
            inside = {name: value for name, value in os.environ.items() if "AWS_" in name}
        assert set(inside.values()) == {os.devnull}
        assert dict(os.environ) == before


class TestRequest:
    """How requests are read."""

    def test_lists_come_in_the_order_of_their_numbers(self) -> None:
        """A list parameter is ordered by number, whatever the order on the wire."""
        names = {"VolumeId.10": "c", "VolumeId.2": "b", "VolumeId.1": "a", "VolumeId.x": "no"}
        assert request("DescribeVolumes", **names).listed("VolumeId") == ["a", "b", "c"]

    def test_unreadable_body_has_no_operation(self) -> None:
        """Bytes that are no text give a request without an operation, not an error."""
        unreadable = Request("POST", "/", "", {}, b"\xff\xfe")
        assert unreadable.operation == ""
        assert unreadable.region == "us-east-1"
