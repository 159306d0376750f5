"""The embedded EC2, asked through boto3 on fake time."""

from __future__ import annotations

import base64
import http.client
import importlib.util
import os
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError
from moto.ec2.models import ec2_backends

import pollwait.testing.ec2 as ec2_package
from pollwait.testing.ec2 import Bucket, EmbeddedEC2, Limits

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

ZONE = "us-east-1a"
ABSENT = "vol-0123456789abcdef0"


class ManualTime:
    """A clock that moves when it is told to, and when someone sleeps on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 100.0

    def monotonic(self) -> float:
        """Return the time."""
        with self._lock:
            return self._now

    def sleep(self, seconds: float, /) -> None:
        """Move the time."""
        with self._lock:
            self._now += seconds


def instant(clock: ManualTime, **settings: Any) -> EmbeddedEC2:
    """Return a server whose calls take no time and whose volumes take one second."""
    quick = {"ready": 1.0, "create_call": 0, "describe_call": 0}
    return EmbeddedEC2(clock=clock, **{**quick, **settings})


def create(client: EC2Client, **parameters: Any) -> str:
    """Create a volume and return its id."""
    return client.create_volume(AvailabilityZone=ZONE, Size=8, **parameters)["VolumeId"]


def state(client: EC2Client, volume_id: str) -> str:
    """Describe one volume and return its state."""
    (volume,) = client.describe_volumes(VolumeIds=[volume_id])["Volumes"]
    return volume["State"]


def tagged(value: str) -> list[Any]:
    """Return the parameter that gives a volume the tag ``test``."""
    return [{"ResourceType": "volume", "Tags": [{"Key": "test", "Value": value}]}]


def port(server: EmbeddedEC2) -> int:
    """Return the port on which a server listens."""
    return int(server.endpoint_url.rpartition(":")[2])


def refusal(error: pytest.ExceptionInfo[ClientError]) -> tuple[str, str]:
    """Return the code and the message of an error."""
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


@pytest.fixture(scope="module")
def clock() -> ManualTime:
    """Return the time of all servers here."""
    return ManualTime()


@pytest.fixture(scope="module")
def ec2(clock: ManualTime) -> Iterator[EmbeddedEC2]:
    """Run a server for the tests that need no settings of their own."""
    with instant(clock) as server:
        yield server


@pytest.fixture(scope="module")
def slow(clock: ManualTime) -> Iterator[EmbeddedEC2]:
    """Run a server whose calls take time."""
    with instant(clock, create_call=0.25, describe_call=0.5) as server:
        yield server


@pytest.fixture(scope="module")
def client(ec2: EmbeddedEC2) -> EC2Client:
    """Return a client of that server."""
    return ec2.client("ec2")


class TestVolumes:
    """What becomes of a volume."""

    def test_volume_is_creating_until_its_time_has_come(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime
    ) -> None:
        """A volume is available from ready_at on, and creating before."""
        started = clock.monotonic()
        answer = client.create_volume(AvailabilityZone=ZONE, Size=8)
        volume_id = answer["VolumeId"]
        assert answer["State"] == "creating"
        assert ec2.created_at(volume_id) == started
        assert ec2.ready_at(volume_id) == started + 1.0
        clock.sleep(0.75)
        assert state(client, volume_id) == "creating"
        clock.sleep(0.25)
        assert state(client, volume_id) == "available"

    def test_volume_has_the_full_shape(self, client: EC2Client) -> None:
        """A described volume carries what EC2 tells of one, and its tags as they were given."""
        text = "<a & 'b'>"
        volume_id = create(client, VolumeType="gp3", TagSpecifications=tagged(text))
        (volume,) = client.describe_volumes(VolumeIds=[volume_id])["Volumes"]
        assert volume["Tags"] == [{"Key": "test", "Value": text}]
        assert volume["CreateTime"].tzinfo is not None
        known = {
            "AvailabilityZone": ZONE,
            "Attachments": [],
            "Encrypted": False,
            "Iops": 3000,
            "MultiAttachEnabled": False,
            "Size": 8,
            "SnapshotId": "",
            "State": "creating",
            "VolumeId": volume_id,
            "VolumeType": "gp3",
        }
        assert {name: volume[name] for name in known} == known  # type: ignore[literal-required]

    def test_volume_in_use_shows_its_attachment(self, client: EC2Client, clock: ManualTime) -> None:
        """Attaching makes an available volume in-use, detaching available again."""
        instance = client.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)
        instance_id = instance["Instances"][0]["InstanceId"]
        volume_id = create(client)
        clock.sleep(1.0)
        client.attach_volume(VolumeId=volume_id, InstanceId=instance_id, Device="/dev/sdh")
        (volume,) = client.describe_volumes(VolumeIds=[volume_id])["Volumes"]
        assert volume["State"] == "in-use"
        (attachment,) = volume["Attachments"]
        assert attachment["InstanceId"] == instance_id
        assert attachment["Device"] == "/dev/sdh"
        assert attachment["State"] == "attached"
        client.detach_volume(VolumeId=volume_id, InstanceId=instance_id)
        assert state(client, volume_id) == "available"

    def test_volume_cannot_be_attached_while_creating(self, client: EC2Client) -> None:
        """AttachVolume refuses a volume that is not available."""
        volume_id = create(client)
        with pytest.raises(ClientError) as error:
            client.attach_volume(VolumeId=volume_id, InstanceId="i-0", Device="/dev/sdh")
        assert refusal(error) == ("IncorrectState", f"{volume_id} is not 'available'.")

    def test_fail_next_sends_so_many_volumes_to_error(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime
    ) -> None:
        """The volumes for which fail_next asks end in error, the next does not."""
        ec2.fail_next(2)
        ids = [create(client) for _ in range(3)]
        assert state(client, ids[0]) == "creating"
        clock.sleep(1.0)
        assert [state(client, each) for each in ids] == ["error", "error", "available"]

    def test_error_rate_selects_volumes_by_chance(self, clock: ManualTime) -> None:
        """A rate of 1 fails every volume, one in between just some."""
        with instant(clock, error_rate=1.0, ready=0) as always:
            client = always.client()
            assert state(client, create(client)) == "error"
        with instant(clock, error_rate=0.5, ready=0, seed=1) as sometimes:
            client = sometimes.client()
            states = {state(client, create(client)) for _ in range(16)}
        assert states == {"available", "error"}

    @pytest.mark.parametrize(
        "name", ["creating", "available", "in-use", "deleting", "deleted", "error"]
    )
    def test_set_state_holds_from_now_on(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime, name: Any
    ) -> None:
        """A state that was set replaces what was planned."""
        volume_id = create(client)
        ec2.set_state(volume_id, name)
        clock.sleep(10.0)
        assert state(client, volume_id) == name

    def test_set_state_decides_when_a_volume_was_ready(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime
    ) -> None:
        """A volume that is made available is ready then, one that is kept creating never."""
        volume_id = create(client)
        clock.sleep(0.25)
        ec2.set_state(volume_id, "available")
        clock.sleep(0.25)
        assert ec2.ready_at(volume_id) == ec2.created_at(volume_id) + 0.25
        ec2.set_state(volume_id, "error")
        assert ec2.ready_at(volume_id) == ec2.created_at(volume_id) + 0.25
        ec2.set_state(volume_id, "creating")
        assert ec2.ready_at(volume_id) == float("inf")

    def test_script_rewrites_the_life_of_a_volume(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime
    ) -> None:
        """A script says when a volume stops creating, and in which state."""
        late, broken = create(client), create(client)
        ec2.script(late, ready_after=4.0)
        ec2.script(broken, state="error")
        clock.sleep(1.0)
        assert [state(client, late), state(client, broken)] == ["creating", "error"]
        assert ec2.ready_at(broken) == ec2.created_at(broken) + 1.0
        clock.sleep(3.0)
        assert state(client, late) == "available"

    def test_controls_refuse_what_is_not_there(self, ec2: EmbeddedEC2, client: EC2Client) -> None:
        """Unknown volumes and unknown states are errors that name them."""
        with pytest.raises(LookupError, match=f"'{ABSENT}' was not created"):
            ec2.set_state(ABSENT, "error")
        with pytest.raises(
            ValueError, match=r"state must be one of creating, .*: got state='ready'"
        ):
            ec2.set_state(create(client), "ready")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="ready_after must be seconds .* got ready_after=False"):
            ec2.script(create(client), ready_after=False)

    def test_seed_replays_the_draws(self, clock: ManualTime) -> None:
        """Servers with one seed give their volumes the same times in the same order."""

        def times(seed: int) -> list[float]:
            with EmbeddedEC2(seed=seed, create_call=0, clock=clock) as server:
                client = server.client()
                ids = [create(client) for _ in range(3)]
                return [round(server.ready_at(i) - server.created_at(i), 6) for i in ids]

        first = times(1)
        assert times(1) == first
        assert times(2) != first
        assert all(1.148 <= seconds <= 5.122 for seconds in first)

    def test_deleted_volume_is_not_found(self, client: EC2Client) -> None:
        """DeleteVolume removes a volume at once."""
        volume_id = create(client)
        client.delete_volume(VolumeId=volume_id)
        with pytest.raises(ClientError, match=f"The volume '{volume_id}' does not exist"):
            state(client, volume_id)


class TestDescribe:
    """What DescribeVolumes answers and refuses."""

    def test_not_found_names_the_unknown_ids_alone(self, client: EC2Client) -> None:
        """Known ids of the same call are not named; several unknown ones share one message."""
        known, other = create(client), "vol-0123456789abcdef1"
        with pytest.raises(ClientError) as error:
            client.describe_volumes(VolumeIds=[known, ABSENT])
        expected = f"The volume '{ABSENT}' does not exist."
        assert refusal(error) == ("InvalidVolume.NotFound", expected)
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        with pytest.raises(ClientError) as error:
            client.describe_volumes(VolumeIds=[ABSENT, known, other])
        expected = f"The volumes '{ABSENT}, {other}' do not exist."
        assert refusal(error) == ("InvalidVolume.NotFound", expected)

    @pytest.mark.parametrize(
        ("volume_id", "code"),
        [("i-1234", "InvalidParameterValue"), ("vol-xyz", "InvalidVolumeID.Malformed")],
    )
    def test_malformed_id_is_refused(self, client: EC2Client, volume_id: str, code: str) -> None:
        """An id that can be none is refused as such, whether or not it exists."""
        with pytest.raises(ClientError, match=volume_id) as error:
            client.describe_volumes(VolumeIds=[volume_id])
        assert refusal(error)[0] == code

    def test_new_volume_is_unknown_for_the_consistency_delay(self, clock: ManualTime) -> None:
        """For that long after the create call, a volume is neither found nor listed."""
        with instant(clock, create_call=0.25, consistency_delay=0.75) as server:
            client = server.client()
            volume_id = create(client)
            clock.sleep(0.375)
            with pytest.raises(ClientError, match=r"InvalidVolume\.NotFound"):
                state(client, volume_id)
            assert client.describe_volumes()["Volumes"] == []
            with pytest.raises(ClientError, match=r"InvalidVolume\.NotFound"):
                client.attach_volume(VolumeId=volume_id, InstanceId="i-0", Device="/dev/sdh")
            clock.sleep(0.0625)
            with pytest.raises(ClientError, match=r"InvalidVolume\.NotFound"):
                state(client, volume_id)
            clock.sleep(0.0625)
            assert clock.monotonic() == server.created_at(volume_id) + 0.25 + 0.75
            assert state(client, volume_id) == "available"

    def test_answer_follows_the_ids_without_duplicates(self, client: EC2Client) -> None:
        """Volumes come in the order of the ids, each once."""
        first, second = create(client), create(client)
        answer = client.describe_volumes(VolumeIds=[second, first, second])
        assert [volume["VolumeId"] for volume in answer["Volumes"]] == [second, first]

    def test_filters_know_states_and_tags(
        self, ec2: EmbeddedEC2, client: EC2Client, clock: ManualTime
    ) -> None:
        """Filters by status see the state that the answer shows; filters add up."""
        good, bad = (create(client, TagSpecifications=tagged("filters")) for _ in range(2))
        ec2.set_state(bad, "error")
        mine: Any = {"Name": "tag:test", "Values": ["filters"]}

        def found(*states: str) -> list[str]:
            filters = [mine, {"Name": "status", "Values": states}]
            return [v["VolumeId"] for v in client.describe_volumes(Filters=filters)["Volumes"]]

        assert found("creating") == [good]
        assert found("available") == []
        assert found("creating", "err*") == [good, bad]
        clock.sleep(1.0)
        assert found("available") == [good]

    def test_unknown_filter_is_refused(self, client: EC2Client) -> None:
        """A filter that nobody knows is an error, not an empty answer."""
        create(client)
        with pytest.raises(ClientError, match="InvalidParameterValue"):
            client.describe_volumes(Filters=[{"Name": "no-such-filter", "Values": ["1"]}])

    def test_pages_hold_every_volume_once(self, clock: ManualTime) -> None:
        """Pages of five add up to the whole, in order."""
        with instant(clock) as server:
            client = server.client()
            ids = [create(client) for _ in range(12)]
            pages = list(
                client.get_paginator("describe_volumes").paginate(PaginationConfig={"PageSize": 5})
            )
            whole = client.describe_volumes()
        assert [len(page["Volumes"]) for page in pages] == [5, 5, 2]
        assert [v["VolumeId"] for page in pages for v in page["Volumes"]] == ids
        assert [v["VolumeId"] for v in whole["Volumes"]] == ids
        assert "NextToken" not in whole

    @pytest.mark.parametrize(
        ("parameters", "code", "text"),
        [
            ({"MaxResults": 4}, "InvalidParameterValue", "Expecting a value greater than 5"),
            (
                {"MaxResults": 5, "VolumeIds": [ABSENT]},
                "InvalidParameterCombination",
                "volumeSet cannot be used with the parameter maxResults",
            ),
            *(
                ({"NextToken": token}, "InvalidParameterValue", "Unable to parse pagination token")
                for token in ("&", "é", "5", *(base64.b64encode(n).decode() for n in (b"-5", b"x")))
            ),
        ],
    )
    def test_page_parameters_are_checked(
        self, client: EC2Client, parameters: Any, code: str, text: str
    ) -> None:
        """Small pages, pages of an id list and made-up tokens are refused."""
        with pytest.raises(ClientError, match=text) as error:
            client.describe_volumes(**parameters)
        assert refusal(error)[0] == code

    def test_too_many_ids_are_refused(self, client: EC2Client) -> None:
        """One call carries up to 500 ids."""
        volume_id = create(client)
        assert client.describe_volumes(VolumeIds=[volume_id] * 500)["Volumes"]
        with pytest.raises(ClientError, match="501 volume IDs exceed the 500") as error:
            client.describe_volumes(VolumeIds=[volume_id] * 501)
        assert refusal(error)[0] == "InvalidParameterValue"


class TestCalls:
    """What a call costs."""

    def test_calls_take_their_time(self, slow: EmbeddedEC2, clock: ManualTime) -> None:
        """A create call takes its duration, a describe call too, half of it before it looks."""
        client = slow.client()
        volume_id = create(client)
        assert clock.monotonic() == slow.created_at(volume_id) + 0.25
        clock.sleep(0.5)
        assert state(client, volume_id) == "available"  # looked at 1.0, when it was ready
        early = create(client)
        clock.sleep(0.375)
        assert state(client, early) == "creating"  # looked at 0.875, answered at 1.125
        assert slow.ready_at(early) < clock.monotonic()
        durations = [call.ended - call.started for call in slow.log[-4:]]
        assert durations == [0.25, 0.5, 0.25, 0.5]

    def test_durations_may_be_drawn(self, clock: ManualTime) -> None:
        """Models are numbers, functions of a generator or objects that draw."""
        times = iter([0.25, 0.5])
        with instant(clock, describe_call=lambda _: next(times)) as server:
            client = server.client()
            for _ in range(2):
                client.describe_availability_zones()
            assert [call.ended - call.started for call in server.log] == [0.25, 0.5]

    def test_throttle_answers_503_until_tokens_are_back(self, clock: ManualTime) -> None:
        """Beyond its bucket an operation is refused at once; other operations are not."""
        limits = Limits(operations={"DescribeVolumes": Bucket(2, refill=0.5)})
        with instant(clock, limits=limits, describe_call=0.25) as server:
            client = server.client()
            client.describe_volumes()
            client.describe_volumes()
            before = clock.monotonic()
            with pytest.raises(ClientError) as error:
                client.describe_volumes()
            assert clock.monotonic() == before
            assert refusal(error) == ("RequestLimitExceeded", "Request limit exceeded.")
            assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
            client.describe_instances()
            clock.sleep(2.0)
            client.describe_volumes()
            assert server.calls == {"DescribeVolumes": 4, "DescribeInstances": 1}
            assert server.throttled == {"DescribeVolumes": 1}
            assert server.errors == {}

    def test_client_makes_one_attempt_unless_told_otherwise(self, ec2: EmbeddedEC2) -> None:
        """A client does not retry by itself; a config of the caller's overrides that."""
        plain: Any = ec2.client().meta.config  # its stubs lack what a caller gave it
        assert plain.retries == {"mode": "standard", "total_max_attempts": 1}
        config = Config(retries={"mode": "adaptive", "total_max_attempts": 4}, read_timeout=5)
        told: Any = ec2.client(config=config).meta.config
        assert told.retries == {"mode": "adaptive", "total_max_attempts": 4}
        assert (told.read_timeout, told.max_pool_connections) == (5, 128)

    def test_log_tells_what_was_called(self, slow: EmbeddedEC2, clock: ManualTime) -> None:
        """Each call is logged with its times, the number of its ids and its error."""
        slow.clear_log()
        assert sum(slow.calls.values()) == 0
        client = slow.client()
        ids = [create(client), create(client)]
        started = clock.monotonic()
        client.describe_volumes(VolumeIds=ids)
        with pytest.raises(ClientError):
            client.describe_volumes(VolumeIds=[*ids, ABSENT])
        good, bad = slow.log[-2:]
        assert (good.operation, good.ids, good.error) == ("DescribeVolumes", 2, None)
        assert (good.started, good.ended) == (started, started + 0.5)
        assert (bad.ids, bad.error) == (3, "InvalidVolume.NotFound")
        assert slow.calls == {"CreateVolume": 2, "DescribeVolumes": 2}
        assert slow.errors == {"DescribeVolumes": 1}

    def test_other_operations_pass_through(self, slow: EmbeddedEC2, clock: ManualTime) -> None:
        """What moto answers takes its time, is counted, and its errors are errors."""
        slow.clear_log()
        client = slow.client()
        started = clock.monotonic()
        answer = client.run_instances(ImageId="ami-12c6146b", MinCount=2, MaxCount=2)
        ids = [instance["InstanceId"] for instance in answer["Instances"]]
        described = client.describe_instances(InstanceIds=ids)
        assert clock.monotonic() == started + 0.75
        assert len(described["Reservations"][0]["Instances"]) == 2
        with pytest.raises(ClientError, match=r"InvalidInstanceID\.NotFound"):
            client.describe_instances(InstanceIds=["i-0123456789abcdef0"])
        assert slow.calls == {"RunInstances": 1, "DescribeInstances": 2}
        assert slow.errors == {"DescribeInstances": 1}
        disks: list[Any] = [{"Name": "attachment.instance-id", "Values": ids}]
        volumes = client.describe_volumes(Filters=disks)["Volumes"]
        assert [volume["State"] for volume in volumes] == ["in-use", "in-use"]

    def test_create_volume_refused_by_moto_stays_refused(self, client: EC2Client) -> None:
        """An error of moto's reaches the caller as it is."""
        with pytest.raises(ClientError, match="InvalidParameterDependency"):
            create(client, VolumeType="io1")

    def test_fault_inside_the_server_is_an_internal_error(self, clock: ManualTime) -> None:
        """What goes wrong in the layer or in moto is answered with 500, at once."""

        def broken(_: object) -> float:
            raise ZeroDivisionError("no such latency")

        with instant(clock, ready=broken) as server:
            client = server.client()
            with pytest.raises(ClientError) as error:
                create(client)
            assert refusal(error) == ("InternalError", "ZeroDivisionError: no such latency")
            assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
            with pytest.raises(ClientError, match="not yet implemented"):
                client.describe_volume_status()

    def test_concurrent_calls_are_all_answered(self, ec2: EmbeddedEC2, client: EC2Client) -> None:
        """Fifty threads share a client, and each call finds its own volume."""
        ec2.clear_log()
        with ThreadPoolExecutor(50) as pool:
            ids = list(pool.map(lambda _: create(client), range(50)))
            answers = pool.map(lambda i: client.describe_volumes(VolumeIds=[i])["Volumes"], ids)
            assert [volume["VolumeId"] for (volume,) in answers] == ids
        assert ec2.calls == {"CreateVolume": 50, "DescribeVolumes": 50}


class TestServer:
    """The server as such: its life, its isolation and its manners."""

    def test_records_outlive_the_server(self, clock: ManualTime) -> None:
        """After close the log and the times of volumes are there; volumes to act on are not."""
        with instant(clock) as server:
            volume_id = create(server.client())
            created = server.created_at(volume_id)
        assert server.created_at(volume_id) == created
        assert server.ready_at(volume_id) == created + 1.0
        assert server.calls == {"CreateVolume": 1}
        with pytest.raises(RuntimeError, match="does not run"):
            server.set_state(volume_id, "error")
        with pytest.raises(RuntimeError, match="does not run"):
            server.script(volume_id, ready_after=1)

    def test_durations_may_be_timedeltas(self, clock: ManualTime) -> None:
        """T1: whatever is given in seconds is accepted as a timedelta."""
        half = timedelta(seconds=0.5)
        with EmbeddedEC2(
            clock=clock, ready=half, create_call=half, describe_call=half, consistency_delay=half
        ) as server:
            volume_id = create(server.client())
            assert clock.monotonic() == server.created_at(volume_id) + 0.5
            assert server.ready_at(volume_id) == server.created_at(volume_id) + 0.5
            server.script(volume_id, ready_after=timedelta(seconds=0.25))
            assert server.ready_at(volume_id) == server.created_at(volume_id) + 0.25

    def test_servers_share_nothing(self, ec2: EmbeddedEC2, clock: ManualTime) -> None:
        """Two servers at a time, and one after another, know just their own volumes."""
        with instant(clock) as other:
            volume_id = create(other.client())
            with pytest.raises(ClientError, match=r"InvalidVolume\.NotFound"):
                state(ec2.client(), volume_id)
            assert other.calls["CreateVolume"] == 1
        with instant(clock) as later:
            assert later.client().describe_volumes()["Volumes"] == []

    def test_close_leaves_nothing_behind(self, clock: ManualTime) -> None:
        """After close no thread runs, no port is open and moto holds no data; closing is final."""
        threads, accounts = set(threading.enumerate()), len(ec2_backends)
        descriptors = len(os.listdir("/dev/fd"))
        server = instant(clock)
        with server:
            client = server.client()
            create(client)
            started = set(threading.enumerate()) - threads
        assert len(started) == 2  # one that accepts, and one for the connection
        assert not any(thread.is_alive() for thread in started)
        assert len(ec2_backends) == accounts
        assert len(os.listdir("/dev/fd")) <= descriptors
        with pytest.raises(EndpointConnectionError):
            client.describe_volumes()
        server.close()
        with pytest.raises(RuntimeError, match="does not run"):
            server.client()

    def test_close_hangs_up_connections_of_others(self, clock: ManualTime) -> None:
        """A connection that somebody keeps open does not hold up the end."""
        with instant(clock) as server:
            connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=10)
            connection.request("GET", "/?Action=DescribeRegions")
            connection.getresponse().read()
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""
        connection.close()

    def test_server_can_be_opened_again(self, clock: ManualTime) -> None:
        """A closed server opens again, empty; one that runs does not."""
        server = instant(clock)
        with server:
            create(server.client())
            with pytest.raises(RuntimeError, match="runs already"):
                server.__enter__()
        with server:
            assert server.client().describe_volumes()["Volumes"] == []

    def test_users_aws_settings_are_ignored(
        self, ec2: EmbeddedEC2, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
    ) -> None:
        """Neither the environment, nor files, nor a proxy changes what a client does."""
        config = tmp_path / ".aws" / "config"
        config.parent.mkdir()
        config.write_text("this is no configuration")
        for name, value in {
            "AWS_DEFAULT_REGION": "eu-west-1",
            "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            "AWS_MAX_ATTEMPTS": "none",
            "AWS_PROFILE": "no-such-profile",
            "AWS_USE_FIPS_ENDPOINT": "true",
            "HOME": str(tmp_path),
            "HTTP_PROXY": "http://127.0.0.1:9",
            "USERPROFILE": str(tmp_path),
        }.items():
            monkeypatch.setenv(name, value)
        with instant(ManualTime()) as server:
            client = server.client()
            assert client.meta.region_name == "us-east-1"
            assert state(client, create(client)) == "creating"

    def test_account_of_the_environment_is_refused(
        self, monkeypatch: pytest.MonkeyPatch, clock: ManualTime
    ) -> None:
        """MOTO_ACCOUNT_ID would merge the data of all servers, so it is an error."""
        monkeypatch.setenv("MOTO_ACCOUNT_ID", "123456789012")
        with pytest.raises(RuntimeError, match="MOTO_ACCOUNT_ID"):
            instant(clock)

    def test_any_region_works(self, ec2: EmbeddedEC2) -> None:
        """Regions are separate, as a client's config chooses them."""
        client = ec2.client(config=Config(region_name="eu-west-1"))
        answer = client.create_volume(AvailabilityZone="eu-west-1a", Size=1)
        volumes = client.describe_volumes()["Volumes"]
        assert [volume["VolumeId"] for volume in volumes] == [answer["VolumeId"]]

    def test_connections_are_kept(self, ec2: EmbeddedEC2) -> None:
        """One connection serves call after call."""
        connection = http.client.HTTPConnection("127.0.0.1", port(ec2), timeout=10)
        try:
            sockets = set()
            for _ in range(2):
                connection.request("POST", "/", "Action=DescribeRegions&Version=2016-11-15")
                assert b"<DescribeRegionsResponse" in connection.getresponse().read()
                assert connection.sock is not None
                sockets.add(connection.sock.getsockname())
        finally:
            connection.close()
        assert len(sockets) == 1

    def test_plain_get_is_answered_in_silence(
        self, ec2: EmbeddedEC2, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """GET works too, as does what comes after nonsense; the terminal stays clean."""
        with socket.create_connection(("127.0.0.1", port(ec2)), timeout=10) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n")
            assert connection.recv(1) == b""
        with urlopen(f"{ec2.endpoint_url}/?Action=DescribeVolumes&MaxResults=5") as answer:
            assert b"<DescribeVolumesResponse" in answer.read()
        assert ec2.log[-1].operation == "DescribeVolumes"
        assert capfd.readouterr() == ("", "")

    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({"error_rate": 1.5}, r"error_rate must be from 0 to 1: got error_rate=1\.5"),
            ({"sees_at": -1}, "sees_at must be from 0 to 1"),
            ({"ready": -1}, "ready must be finite and >= 0"),
            ({"max_ids": 0}, "max_ids must be >= 1"),
        ],
    )
    def test_settings_are_checked(self, settings: Any, text: str) -> None:
        """What cannot be is refused when the server is made."""
        with pytest.raises(ValueError, match=text):
            EmbeddedEC2(**settings)

    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({"clock": 5}, "clock must be a clock, with a method monotonic: got clock=5"),
            ({"limits": 5}, "limits must be Limits or None: got limits=5"),
            ({"limits": Bucket(5, refill=1)}, "limits must be Limits or None"),
            ({"error_rate": "0.5"}, "error_rate must be a number: got error_rate='0.5'"),
            ({"sees_at": True}, "sees_at must be a number: got sees_at=True"),
            ({"create_call": "1"}, "create_call must be seconds"),
            ({"max_ids": None}, "max_ids must be an int"),
        ],
    )
    def test_settings_are_of_their_types(self, settings: Any, text: str) -> None:
        """What has a wrong type is refused when the server is made, by name and value."""
        with pytest.raises(TypeError, match=text):
            EmbeddedEC2(**settings)

    def test_other_services_are_refused(self, ec2: EmbeddedEC2) -> None:
        """It is an EC2, nothing else."""
        with pytest.raises(ValueError, match="service must be 'ec2': got service='s3'"):
            ec2.client("s3")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("missing", "text"),
        [
            ("moto.backends", r'needs moto: pip install "pollwait\[demo\]"'),
            ("boto3.session", r'needs boto3: pip install "pollwait\[demo\]"'),
            ("pollwait._clock", "pollwait._clock"),
        ],
    )
    def test_missing_extra_is_named(
        self, monkeypatch: pytest.MonkeyPatch, missing: str, text: str
    ) -> None:
        """Without moto or boto3 the import says what to install; other faults are themselves."""
        for name in ("server", "backend", "clients"):
            monkeypatch.delitem(sys.modules, f"{ec2_package.__name__}._{name}")
        monkeypatch.setitem(sys.modules, missing, None)
        spec = importlib.util.spec_from_file_location(ec2_package.__name__, ec2_package.__file__)
        assert spec is not None
        assert spec.loader is not None
        with pytest.raises(ImportError, match=text):
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
