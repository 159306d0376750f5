"""Waiting for a volume that was just created."""

from __future__ import annotations

import pickle
import threading
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    WaiterError,
)
from botocore.parsers import ResponseParserError
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from pollwait import Called, ClockStalled, fixed, sequence
from pollwait.aws import (
    VolumeAvailableWaiter,
    WaiterCancelled,
    WaiterExhausted,
    WaiterFailed,
    WaiterTimeout,
)
from pollwait.testing import FakeClock
from pollwait.testing.ec2 import EmbeddedEC2

ID = "vol-1"
ENDPOINT = "https://ec2.us-east-1.amazonaws.com"
NOT_FOUND = ("InvalidVolume.NotFound", "The volume 'vol-1' does not exist.", 400)
THROTTLED = ("RequestLimitExceeded", "Request limit exceeded.", 503)
BROKEN = ("InternalError", "An internal error has occurred", 500)
DENIED = ("UnauthorizedOperation", "You are not authorized.", 403)
EVERY_SECOND = fixed(1)


def volume(state, **members):
    """Return a volume as EC2 describes it."""
    return {"VolumeId": ID, "State": state, **members}


def shows(*volumes):
    """Return a response of DescribeVolumes."""
    return {"Volumes": list(volumes)}


@pytest.fixture(scope="module")
def client():
    """Return a client that nothing answers but a stub."""
    return boto3.client(
        "ec2", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


@pytest.fixture
def ec2(client):
    """Return a function that scripts EC2's answers: states, responses, errors; all must be used."""

    @contextmanager
    def scripted(*answers):
        with Stubber(client) as stub:
            for answer in answers:
                if isinstance(answer, tuple):
                    stub.add_client_error("describe_volumes", *answer)
                else:
                    response = shows(volume(answer)) if isinstance(answer, str) else answer
                    stub.add_response("describe_volumes", response, {"VolumeIds": [ID]})
            yield client
            stub.assert_no_pending_responses()

    return scripted


def answering(*answers):
    """Return a client that raises the errors and returns the responses that are given."""
    left = iter(answers)

    def describe_volumes(VolumeIds):  # noqa: N803 - EC2's name
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return shows(volume(answer)) if isinstance(answer, str) else answer

    return SimpleNamespace(describe_volumes=describe_volumes)


def service_error(code, message, status):
    """Return the error of EC2."""
    response = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "DescribeVolumes")


def lone(client, **options):
    """Return a waiter whose calls keep no gap: they come when the schedule of one wait says so."""
    return VolumeAvailableWaiter(client, min_gap=0, **options)


class TestReady:
    """How a wait succeeds, and when it looks."""

    def test_wait_returns_the_volume(self, ec2):
        """W2: the volume is returned as the last answer described it: nobody need ask again."""
        ready = volume("available", Size=8, AvailabilityZone="us-east-1a")
        with ec2("creating", shows(ready)) as client:
            got = lone(client, clock=FakeClock()).wait(ID, timeout=60)
        assert got == ready

    def test_wait_follows_the_published_schedule(self, ec2):
        """W6: the first look comes after 1.25 s; delays then grow from 0.5 s by half, to 15 s."""
        clock = FakeClock()
        with ec2(*["creating"] * 11, "available") as client:
            lone(client, clock=clock).wait(ID, timeout=300)
        assert clock.sleeps[:4] == [1.25, 0.5, 0.75, 1.125]
        assert clock.sleeps[9] == 0.5 * 1.5**8
        assert clock.sleeps[10:] == [15.0, 15.0]

    def test_wait_follows_the_schedule_it_is_given(self, ec2):
        """Another schedule takes the place of the default as a whole."""
        clock = FakeClock()
        waiter_of = lone
        with ec2("creating", "creating", "available") as client:
            waiter_of(client, schedule=fixed(2).after(1), clock=clock).wait(ID, timeout=60)
        assert clock.sleeps == [1.0, 2.0, 2.0]

    @pytest.mark.parametrize("state", ["available", "in-use"])
    def test_wait_takes_a_volume_that_can_be_used(self, ec2, state):
        """W6: available is ready, and so is in-use: somebody was quick to attach it."""
        with ec2(state) as client:
            got = lone(client, clock=FakeClock()).wait(ID, timeout=60)
        assert got["State"] == state

    def test_wait_for_a_detach_goes_on_while_in_use(self, ec2):
        """W6: with in_use="wait" a volume that is attached is not ready yet."""
        clock = FakeClock()
        with ec2("in-use", "in-use", "available") as client:
            waiter = lone(client, in_use="wait", schedule=EVERY_SECOND, clock=clock)
            assert waiter.wait(ID, timeout=60)["State"] == "available"
        assert clock.sleeps == [1.0, 1.0]

    @pytest.mark.parametrize("state", ["creating", "a state of the future", None])
    def test_wait_goes_on_in_states_that_may_pass(self, state):
        """Neither an unknown state nor a missing one ends a wait."""
        response = shows({"VolumeId": ID} | ({"State": state} if state else {}))
        client = answering(response, "available")
        assert lone(client, clock=FakeClock()).wait(ID, timeout=60)

    def test_wait_shorter_than_the_first_delay_looks_at_its_deadline(self, ec2):
        """A timeout below 1.25 s still gets its one look, at the deadline."""
        clock = FakeClock()
        with ec2("available") as client:
            lone(client, clock=clock).wait(ID, timeout=0.5)
        assert clock.sleeps == [0.5]

    def test_wait_takes_a_timedelta(self, ec2):
        """Durations may be timedeltas."""
        clock = FakeClock()
        with ec2(NOT_FOUND, "creating") as client, pytest.raises(WaiterTimeout):
            lone(
                client,
                missing_grace=timedelta(seconds=2),
                schedule=EVERY_SECOND,
                clock=clock,
            ).wait(ID, timeout=timedelta(seconds=1))
        assert clock.monotonic() == 1.0


class TestFailed:
    """How a wait fails."""

    @pytest.mark.parametrize("state", ["error", "deleting", "deleted"])
    @pytest.mark.parametrize("in_use", ["ready", "wait"])
    def test_wait_fails_at_once_in_a_hopeless_state(self, ec2, state, in_use):
        """W6: a volume that cannot become available ends the wait as soon as that is seen."""
        clock = FakeClock()
        with ec2("creating", state) as client, pytest.raises(WaiterFailed) as caught:
            lone(client, in_use=in_use, clock=clock).wait(ID, timeout=600)
        error = caught.value
        assert str(error) == f"'vol-1 available' failed after 2 checks in 1.75 s; state '{state}'"
        assert (error.id, error.state, error.reason) == (ID, state, None)
        assert error.response["Volumes"] == [volume(state)]
        assert error.last is error.response
        assert (error.name, error.attempts, error.elapsed) == ("vol-1 available", 2, 1.75)
        assert error.kwargs["name"] == "VolumeAvailable"
        assert error.__cause__ is None

    def test_failure_names_the_reason_of_the_service(self):
        """Where the service says why, the error says it too."""
        client = answering(shows(volume("error", StatusMessage="no capacity")))
        with pytest.raises(WaiterFailed, match="state 'error': 'no capacity'$") as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=60)
        assert caught.value.reason == "no capacity"

    def test_failure_of_an_encrypted_volume_points_to_its_key(self, ec2):
        """EC2 gives no reason for a volume's error, and an unusable key is the usual one."""
        with (
            ec2(shows(volume("error", Encrypted=True))) as client,
            pytest.raises(WaiterFailed, match=r"gives no reason .* KMS key") as caught,
        ):
            lone(client, clock=FakeClock()).wait(ID, timeout=60)
        assert caught.value.reason is None

    def test_refusal_of_the_service_is_the_cause(self, ec2):
        """W2: an error that waiting does not mend fails the wait and is the failure's cause."""
        with ec2("creating", DENIED) as client, pytest.raises(WaiterFailed) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=60)
        error = caught.value
        assert str(error) == (
            "'vol-1 available' failed after 2 checks in 1.75 s; last state 'creating',"
            " last error UnauthorizedOperation: 'You are not authorized.'"
        )
        assert isinstance(error.__cause__, ClientError)
        assert error.__cause__ is error.last_error
        assert error.response is error.__cause__.response
        assert (error.state, error.reason) == ("creating", "You are not authorized.")
        assert error.last["Volumes"] == [volume("creating")]

    @pytest.mark.parametrize(
        ("fault", "text"),
        [
            ({"Message": "No."}, r"last error ClientError\('An error occurred .*: No\.'\)$"),
            ({}, r"last error ClientError\('An error occurred \(Unknown\) when .*'\)$"),
            ({"Code": "Odd"}, r"last error Odd$"),
        ],
    )
    def test_refusal_without_a_code_or_a_text_is_named_all_the_same(self, fault, text):
        """What a refusal lacks leaves no gap in the sentence."""
        client = answering(ClientError({"Error": fault}, "DescribeVolumes"))
        with pytest.raises(WaiterFailed, match=text):
            lone(client, clock=FakeClock()).wait(ID, timeout=60)

    def test_error_that_is_no_answer_passes(self):
        """What the service has not answered and waiting does not mend leaves, as a copy."""
        missing = NoCredentialsError()
        waiter = lone(answering(missing), clock=FakeClock())
        with pytest.raises(NoCredentialsError) as caught:
            waiter.wait(ID, timeout=60)
        assert caught.value.__cause__ is missing

    def test_failure_is_caught_as_botocore_error(self, ec2):
        """W2: handlers written for the waiters of boto3 catch it, and find the response."""
        with ec2("error") as client, pytest.raises(WaiterError) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=60)
        assert caught.value.last_response["Volumes"][0]["State"] == "error"

    def test_failure_travels(self, ec2):
        """W2: the error of a real wait can be pickled, with its fields and its text."""
        with ec2(THROTTLED, NOT_FOUND, "error") as client, pytest.raises(WaiterFailed) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=60)
        twin = pickle.loads(pickle.dumps(caught.value))
        assert str(twin) == str(caught.value)
        assert twin.response == caught.value.response
        assert twin.last_error.response["Error"]["Code"] == "InvalidVolume.NotFound"
        assert twin.history.total == 3


class TestMissing:
    """A volume that EC2 does not show."""

    @pytest.mark.parametrize("absence", [NOT_FOUND, shows(), {}], ids=["error", "empty", "none"])
    def test_missing_volume_is_not_ready_yet(self, ec2, absence):
        """W4: right after its creation a volume may be unknown, and that is no failure."""
        clock = FakeClock()
        with ec2(absence, absence, "creating", "available") as client:
            lone(client, schedule=EVERY_SECOND, clock=clock).wait(ID, timeout=60)
        assert clock.sleeps == [1.0, 1.0, 1.0]

    @pytest.mark.parametrize("absence", [NOT_FOUND, shows()], ids=["error", "empty"])
    def test_missing_volume_fails_after_its_grace(self, ec2, absence):
        """W4: missing for 15 s from its first absence, and so from the first look, it is gone."""
        clock = FakeClock()
        schedule = EVERY_SECOND.after(2)
        with ec2(*[absence] * 16) as client, pytest.raises(WaiterFailed) as caught:
            lone(client, schedule=schedule, clock=clock).wait(ID, timeout=60)
        error = caught.value
        assert clock.monotonic() == 17.0
        assert str(error) == (
            "'vol-1 available' failed after 16 checks in 17 s; not found since 2 s"
            " (missing_grace 15 s)"
        )
        assert error.state is None

    def test_missing_volume_fails_with_the_error_of_the_client(self, ec2):
        """The cause is the "not found" that the client raised last, and its text the reason."""
        clock = FakeClock()
        with ec2(NOT_FOUND) as client, pytest.raises(WaiterFailed) as caught:
            lone(client, missing_grace=0, clock=clock).wait(ID, timeout=60)
        error = caught.value
        assert error.__cause__.response["Error"]["Code"] == "InvalidVolume.NotFound"
        assert error.last_response["Error"]["Code"] == "InvalidVolume.NotFound"
        assert error.reason == "The volume 'vol-1' does not exist."
        assert clock.monotonic() == 1.25

    def test_grace_runs_on_the_clock_of_the_system_by_default(self, ec2):
        """Without a clock of the caller's, a missing volume is timed by the system's."""
        with ec2(NOT_FOUND) as client, pytest.raises(WaiterFailed, match="not found since"):
            lone(client, schedule=EVERY_SECOND, missing_grace=0).wait(ID, timeout=60)

    def test_answer_without_the_volume_is_not_one_about_another(self, ec2):
        """Only the volume that was asked for counts."""
        other = {"VolumeId": "vol-2", "State": "available"}
        clock = FakeClock()
        with ec2(shows(other), shows(other, volume("available"))) as client:
            got = lone(client, clock=clock).wait(ID, timeout=60)
        assert got == volume("available")

    @pytest.mark.parametrize(
        "odd",
        [
            None,
            "Volumes",
            [volume("available")],
            {"Volumes": None},
            {"Volumes": "vol-1"},
            {"Volumes": {ID: volume("available")}},
            {"Volumes": 1},
            shows(None, "vol-1", [ID], {"State": "available"}, {"VolumeId": [ID]}),
        ],
        ids=repr,
    )
    def test_answer_of_another_shape_does_not_show_the_volume(self, odd):
        """What is no answer of EC2's is an absence like any other: first excused, then not."""
        waiter_of = lone
        clock = FakeClock()
        client = SimpleNamespace(describe_volumes=lambda **_: next(answers))
        answers = iter([odd, shows(volume("available"))])
        assert waiter_of(client, clock=clock).wait(ID, timeout=60)
        answers = iter([odd])
        with pytest.raises(WaiterFailed, match="not found since") as caught:
            waiter_of(client, missing_grace=0, clock=clock).wait(ID, timeout=60)
        assert caught.value.response == ({"Volumes": []} if isinstance(odd, dict) else {})

    @pytest.mark.parametrize("odd", [{"State": ["available"]}, {"State": {}}, {1: 2}], ids=repr)
    def test_volume_of_another_shape_is_not_ready(self, odd):
        """A state that is no text is none, and members without a proper name do no harm."""
        client = answering(shows({"VolumeId": ID, **odd}))
        with pytest.raises(WaiterTimeout) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=0)
        assert caught.value.state is None

    def test_presence_makes_the_grace_whole_again(self, ec2):
        """A volume that flickers is missing only from its latest disappearance on."""
        clock = FakeClock()
        with (
            ec2(NOT_FOUND, NOT_FOUND, "creating", NOT_FOUND, shows(), NOT_FOUND) as client,
            pytest.raises(
                WaiterFailed, match=r"not found since 3 s \(missing_grace 2 s\)"
            ) as caught,
        ):
            lone(client, missing_grace=2, schedule=EVERY_SECOND, clock=clock).wait(ID, timeout=60)
        assert caught.value.elapsed == 5.0
        assert caught.value.state == "creating"

    def test_error_of_the_service_is_neither_presence_nor_absence(self, ec2):
        """The grace runs on while EC2 does not say whether the volume is there."""
        clock = FakeClock()
        with (
            ec2(NOT_FOUND, BROKEN, BROKEN, BROKEN, NOT_FOUND) as client,
            pytest.raises(WaiterFailed) as caught,
        ):
            lone(client, missing_grace=2, schedule=EVERY_SECOND, clock=clock).wait(ID, timeout=60)
        assert caught.value.elapsed == 4.0

    def test_grace_longer_than_the_timeout_ends_as_a_timeout(self, ec2):
        """The deadline is the deadline; the error says that the volume was not found."""
        with ec2(NOT_FOUND, NOT_FOUND) as client, pytest.raises(WaiterTimeout) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=1.5)
        assert str(caught.value) == (
            "'vol-1 available' not ready after 2 checks in 1.5 s (timeout 1.5 s);"
            " not found since 1.25 s (missing_grace 15 s)"
        )


class TestTransient:
    """Errors that pass."""

    def test_error_of_the_service_that_may_pass_is_retried(self, ec2):
        """W4: an error of the service's own is a check like any other, and does not end a wait."""
        clock = FakeClock()
        with ec2("creating", BROKEN, BROKEN, "available") as client:
            lone(client, clock=clock).wait(ID, timeout=60)
        assert clock.sleeps == [1.25, 0.5, 0.75, 1.125]

    def test_throttle_slows_all_waits_and_ends_none(self, ec2):
        """W4: each throttle doubles the gap between calls."""
        clock = FakeClock()
        with ec2("creating", THROTTLED, THROTTLED, "available") as client:
            VolumeAvailableWaiter(client, clock=clock).wait(ID, timeout=60)
        assert clock.sleeps == [1.25, 0.5, 1.0, 2.0]

    def test_connection_error_is_retried(self):
        """W4: no broken connection, read timeout or unreadable answer ends a wait."""
        client = answering(
            EndpointConnectionError(endpoint_url=ENDPOINT),
            ReadTimeoutError(endpoint_url=ENDPOINT),
            ResponseParserError("Unable to parse response. Further retries may succeed."),
            "available",
        )
        assert lone(client, clock=FakeClock()).wait(ID, timeout=60)

    def test_timeout_names_the_state_and_the_error_that_were_seen_last(self, ec2):
        """Throttled to the end, the error tells both: the last state and the last error."""
        with ec2("creating", THROTTLED) as client, pytest.raises(WaiterTimeout) as caught:
            lone(client, clock=FakeClock()).wait(ID, timeout=1.75)
        error = caught.value
        assert str(error) == (
            "'vol-1 available' not ready after 2 checks in 1.75 s (timeout 1.75 s);"
            " last state 'creating', last error RequestLimitExceeded: 'Request limit exceeded.'"
        )
        assert error.response["Error"]["Code"] == "RequestLimitExceeded"
        assert error.reason == "Request limit exceeded."
        assert error.__cause__ is error.last_error

    def test_timeout_without_any_answer_names_the_error(self):
        """Where EC2 never answered there is no state and no response, only the error."""
        broken = EndpointConnectionError(endpoint_url=ENDPOINT)
        with pytest.raises(WaiterTimeout, match="last error EndpointConnectionError") as caught:
            lone(answering(broken), clock=FakeClock()).wait(ID, timeout=0)
        assert (caught.value.state, caught.value.reason) == (None, None)
        assert caught.value.response == {}
        assert caught.value.__cause__ is broken


class TestLimits:
    """How a wait ends that nothing else ends."""

    def test_timeout_names_the_state_that_was_seen_last(self, ec2):
        """The state in the text is the last one that EC2 named, whatever it named before."""
        clock = FakeClock()
        with ec2("in-use", "creating", "in-use") as client, pytest.raises(WaiterTimeout) as caught:
            lone(client, in_use="wait", schedule=EVERY_SECOND, clock=clock).wait(ID, timeout=2)
        assert str(caught.value) == (
            "'vol-1 available' not ready after 3 checks in 2 s (timeout 2 s); last state 'in-use'"
        )
        assert caught.value.state == "in-use"
        assert caught.value.last_response["Volumes"] == [volume("in-use")]

    def test_schedule_that_ends_needs_no_timeout(self, ec2):
        """Such a wait ends as exhausted."""
        clock = FakeClock()
        with ec2("creating", "creating") as client, pytest.raises(WaiterExhausted) as caught:
            lone(client, schedule=sequence(1), clock=clock).wait(ID)
        assert str(caught.value) == (
            "'vol-1 available' not ready after 2 checks in 1 s (schedule ended);"
            " last state 'creating'"
        )

    def test_timeout_is_required(self, ec2):
        """Without it, and without anything else that ends the wait, no call is made."""
        with ec2() as client, pytest.raises(TypeError, match="timeout is required"):
            lone(client).wait(ID)

    def test_timeout_of_none_waits_for_ever(self, ec2):
        """Said aloud, a wait has no deadline."""
        clock = FakeClock()
        with ec2(*["creating"] * 50, "available") as client:
            lone(client, clock=clock).wait(ID, timeout=None)
        assert clock.monotonic() > 600

    def test_cancel_ends_the_sleep(self, ec2):
        """The event ends the wait at once, with no further call."""
        clock, stop = FakeClock(), threading.Event()
        clock.call_at(1.5, stop.set)
        with ec2("creating") as client, pytest.raises(WaiterCancelled) as caught:
            lone(client, clock=clock).wait(ID, timeout=60, cancel=stop)
        assert str(caught.value) == (
            "'vol-1 available' cancelled after 1 check in 1.5 s; last state 'creating'"
        )

    def test_cancel_beforehand_makes_no_call(self, ec2):
        """Set from the start, it means that EC2 is not asked at all."""
        stop = threading.Event()
        stop.set()
        with ec2() as client, pytest.raises(WaiterCancelled, match="after 0 checks in 0 s$"):
            lone(client, clock=FakeClock()).wait(ID, timeout=60, cancel=stop)

    def test_clock_that_stands_still_is_reported_as_such(self):
        """A clock that stopped is no state of the volume's."""

        class Stopped(FakeClock):
            def wait(self, event, seconds):
                """Come back without having waited."""
                return event.is_set()

        stopped = Stopped()
        with pytest.raises(ClockStalled):
            lone(answering(*["creating"] * 9), clock=stopped).wait(ID, timeout=60)


class TestArguments:
    """What is refused before any call."""

    @pytest.mark.parametrize("volume_id", [None, 7, ["vol-1"], ("vol-1", "vol-2"), []])
    def test_volume_id_is_a_str(self, ec2, volume_id):
        """Anything but a str is refused, and several ids with a word on why."""
        with ec2() as client, pytest.raises(TypeError, match="must be a str: got ") as caught:
            lone(client).wait(volume_id, timeout=60)
        several = isinstance(volume_id, (list, tuple))
        assert str(caught.value).endswith(": see wait_many") is several

    @pytest.mark.parametrize(
        "volume_id", ["", " ", "vol-", "vol-1 ", " vol-1", "vol-1,vol-2", "vol-1\n", "i-1", "VOL-1"]
    )
    def test_volume_id_is_one_of_a_volume(self, ec2, volume_id):
        """An empty id would describe every volume of the account; a malformed one, none."""
        with ec2() as client, pytest.raises(ValueError, match="volume_id must be the id of"):
            lone(client).wait(volume_id, timeout=60)

    @pytest.mark.parametrize("client", [None, "ec2", object(), SimpleNamespace(describe_volumes=3)])
    def test_client_describes_volumes(self, client):
        """What is no EC2 client is refused when the waiter is made."""
        with pytest.raises(TypeError, match="client must be an EC2 client with describe_volumes"):
            lone(client)

    def test_client_of_another_service_is_refused(self):
        """So is a client that knows no volumes."""
        s3 = boto3.client(
            "s3", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        with pytest.raises(TypeError, match="client must be an EC2 client"):
            lone(s3)

    def test_async_client_is_refused_with_a_hint(self):
        """An answer that must be awaited is an error that says so, and leaves no warning."""

        async def answer():
            raise AssertionError("nobody awaits this")

        lazy = SimpleNamespace(describe_volumes=lambda **_: answer())
        with pytest.raises(TypeError, match=r"pollwait\.aws\.aio"):
            lone(lazy, clock=FakeClock()).wait(ID, timeout=60)

    @pytest.mark.parametrize(
        ("arguments", "kind", "text"),
        [
            ({"in_use": "yes"}, ValueError, "in_use must be 'ready' or 'wait': got in_use='yes'"),
            ({"in_use": True}, ValueError, "in_use must be"),
            ({"in_use": []}, ValueError, "in_use must be"),
            ({"missing_grace": -1}, ValueError, "missing_grace must be finite and >= 0"),
            ({"missing_grace": None}, TypeError, "missing_grace must be seconds"),
            ({"schedule": 3}, TypeError, "schedule must be a Schedule"),
            ({"on_event": 3}, TypeError, "on_event must be callable"),
        ],
    )
    def test_waiter_checks_its_settings_when_made(self, client, arguments, kind, text):
        """A waiter that exists is legal."""
        with pytest.raises(kind, match=text):
            lone(client, **arguments)

    @pytest.mark.parametrize(("timeout", "kind"), [(-1, ValueError), ("60", TypeError)])
    def test_timeout_is_a_length(self, ec2, timeout, kind):
        """A timeout is checked before any call."""
        with ec2() as client, pytest.raises(kind, match="timeout must be"):
            lone(client).wait(ID, timeout=timeout)


def test_waiter_shows_its_client_and_schedule(client):
    """The repr says what is polled, and when."""
    shown = repr(lone(client, schedule=fixed(3)))
    assert shown == f"VolumeAvailableWaiter({client!r}, schedule=fixed(3))"


def test_waiter_reports_each_check(ec2):
    """Listeners are told of every call, of every response and of the end."""
    told = []
    with ec2("creating", "available") as client:
        lone(client, clock=FakeClock(), on_event=told.append).wait(ID, timeout=60)
    kinds = ["Called", "Checked", "Called", "Checked", "Finished"]
    assert [type(event).__name__ for event in told] == kinds
    events = [event for event in told if not isinstance(event, Called)]
    assert {event.name for event in events} == {"vol-1 available"}
    assert events[0].value["Volumes"] == [volume("creating")]


def test_each_wait_has_its_own_grace_and_volume():
    """Two waits that share calls are judged apart: one is ready while the other is missing."""
    clock = FakeClock()

    def describe_volumes(VolumeIds):  # noqa: N803 - EC2's name
        if ID in VolumeIds:
            raise service_error(*NOT_FOUND)
        state = "available" if clock.monotonic() >= 2 else "creating"
        return shows(*({"VolumeId": each, "State": state} for each in VolumeIds))

    waiter = lone(
        SimpleNamespace(describe_volumes=describe_volumes),
        missing_grace=5,
        schedule=EVERY_SECOND,
        clock=clock,
    )
    results = waiter.wait_many([ID, "vol-2"], timeout=60)
    assert results["vol-2"] == {"VolumeId": "vol-2", "State": "available"}
    assert "not found since 0 s" in str(results[ID])
    assert (results[ID].id, results[ID].elapsed) == (ID, 5.0)


LIVES = st.lists(
    st.sampled_from(
        [
            "creating",
            "in-use",
            "available",
            "error",
            "deleting",
            NOT_FOUND,
            "empty",
            BROKEN,
            DENIED,
        ]
    ),
    max_size=12,
)


def foretold(life, grace, good, timeout):
    """Say how a wait with a check each second ends, and at which second, by reading ahead."""
    for second, seen in enumerate(life):
        if seen in good:
            return "ready", second
        if seen in ("error", "deleting", DENIED):
            return "failed", second
        if seen in (NOT_FOUND, "empty"):
            shown = [s for s in range(second) if life[s] in ("creating", "in-use")]
            since = next(
                s
                for s in range(shown[-1] + 1 if shown else 0, second + 1)
                if life[s] in (NOT_FOUND, "empty")
            )
            if second - since >= grace:
                return "failed", second
        if second == timeout:
            return "timeout", second
    raise AssertionError("the life is longer than the timeout")


@given(LIVES, st.integers(0, 5), st.sampled_from(["ready", "wait"]), st.integers(0, 12))
def test_wait_ends_as_foretold(life, grace, in_use, timeout):
    """Whatever EC2 answers, a wait ends how and when the answers, read as a whole, say it must."""
    life = [*life, *["creating"] * 13]
    good = {"available"} | ({"in-use"} if in_use == "ready" else set())
    answers = [
        service_error(*seen) if isinstance(seen, tuple) else shows() if seen == "empty" else seen
        for seen in life
    ]
    clock = FakeClock()
    waiter = lone(
        answering(*answers),
        missing_grace=grace,
        in_use=in_use,
        schedule=EVERY_SECOND,
        clock=clock,
    )
    try:
        waiter.wait(ID, timeout=timeout)
        outcome = "ready"
    except WaiterFailed:
        outcome = "failed"
    except WaiterTimeout:
        outcome = "timeout"
    assert (outcome, clock.monotonic()) == foretold(life, grace, good, timeout)


def test_wait_over_http():
    """Against a server that speaks EC2: unknown at first, then creating, then available."""
    clock = FakeClock(100.0)
    with EmbeddedEC2(
        clock=clock, ready=2.5, consistency_delay=1.5, create_call=0, describe_call=0
    ) as server:
        ec2 = server.client("ec2")
        volume_id = ec2.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
        got = lone(ec2, clock=clock).wait(volume_id, timeout=60)
        assert (got["VolumeId"], got["State"], got["Size"]) == (volume_id, "available", 8)
        # Looks at 1.25 (unknown), 1.75 and 2.5 s.
        assert clock.monotonic() == 102.5
        assert server.calls["DescribeVolumes"] == 3
        assert server.errors["DescribeVolumes"] == 1

        server.fail_next()
        broken = ec2.create_volume(AvailabilityZone="us-east-1a", Size=8)["VolumeId"]
        with pytest.raises(WaiterFailed, match="state 'error'"):
            lone(ec2, clock=clock).wait(broken, timeout=60)
