"""The errors of the waiters: what they derive from, say and carry, and that they travel."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
import traceback

import botocore.exceptions
import pytest
from botocore.exceptions import ClientError

import pollwait
from pollwait import aws
from pollwait.aws._reason import service_reason

KINDS = {
    aws.WaiterTimeout: pollwait.PollTimeout,
    aws.WaiterExhausted: pollwait.PollExhausted,
    aws.WaiterFailed: pollwait.PollFailed,
    aws.WaiterCancelled: pollwait.PollCancelled,
}
RESPONSE = {"Volumes": [{"VolumeId": "vol-1", "State": "error"}]}


def example(kind):
    """Return an error with something in every field."""
    throttled = ClientError({"Error": {"Code": "Throttling"}}, "DescribeVolumes")
    return kind(
        "'vol-1 available' failed",
        waiter="VolumeAvailable",
        id="vol-1",
        state="error",
        reason="no capacity",
        response=RESPONSE,
        name="vol-1 available",
        attempts=2,
        elapsed=1.75,
        last=RESPONSE,
        last_error=throttled,
        history=pollwait.History((pollwait.Record(1, 1.25, None, throttled, "here"),), (), 2),
    )


@pytest.mark.parametrize(("kind", "counterpart"), KINDS.items())
def test_error_is_caught_by_either_name(kind, counterpart):
    """Each error is that of pollwait and that of botocore at once."""
    for named in (
        counterpart,
        pollwait.PollError,
        botocore.exceptions.WaiterError,
        aws.WaiterError,
    ):
        with pytest.raises(named):
            raise example(kind)
    others = [other for other in KINDS.values() if other is not counterpart]
    assert not isinstance(example(kind), tuple(others))
    assert isinstance(example(kind), botocore.exceptions.BotoCoreError)


def test_timeout_is_a_timeout_error():
    """What catches timeouts of any library catches this one."""
    with pytest.raises(TimeoutError):
        raise example(aws.WaiterTimeout)


@pytest.mark.parametrize("kind", KINDS)
def test_error_carries_what_botocore_carries(kind):
    """Handlers written for botocore find the last response, the waiter's name and the reason."""
    error = example(kind)
    assert error.last_response is error.response is RESPONSE
    assert error.kwargs == {"name": "VolumeAvailable", "reason": str(error)}
    assert str(error) == "'vol-1 available' failed"
    assert error.args == ("'vol-1 available' failed",)


def test_error_without_an_answer_has_an_empty_response():
    """Handlers may look into the response even if there never was one."""
    assert aws.WaiterFailed().response == aws.WaiterFailed().last_response == {}


def known(error):
    """Return the fields of an error in a form that can be compared."""
    fields = {**vars(error)}
    return fields | {name: repr(fields[name]) for name in ("last_error", "history")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "twin_of", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))]
)
def test_error_travels_whole(kind, twin_of):
    """A copied or pickled error has the type, the text and all fields of the first."""
    error = example(kind)
    twin = twin_of(error)
    assert type(twin) is kind
    assert str(twin) == str(error)
    assert known(twin) == known(error)


@pytest.mark.parametrize("kind", [aws.WaiterError, *KINDS])
def test_error_shows_its_public_name(kind):
    """A traceback names an error as users import it, with no private module in between."""
    shown = traceback.format_exception_only(example(kind))
    assert shown == [f"pollwait.aws.{kind.__name__}: 'vol-1 available' failed\n"]
    assert getattr(aws, kind.__name__) is kind


def test_error_travels_to_another_process():
    """A process that has imported nothing yet can read the error of another."""
    error = example(aws.WaiterTimeout)
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).state)"
    ran = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(error), capture_output=True, check=True
    )
    assert ran.stdout.split() == [b"error"]


def test_error_travels_without_what_cannot():
    """A response that cannot be pickled travels as its repr."""
    error = aws.WaiterFailed("failed", id="vol-1", response={"Body": lambda: None})
    assert "lambda" in pickle.loads(pickle.dumps(error)).response


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"State": "error"}, None),
        ({"State": "error", "StatusMessage": ""}, None),
        ({"State": "error", "StatusMessage": "no capacity"}, "no capacity"),
        ({"status": "FAILED", "statusReason": "no capacity"}, "no capacity"),
        ({"StateReason": {"Code": "Client.X", "Message": "gone"}}, "Client.X: gone"),
        ({"StateReason": {"Code": "Client.X", "Message": "Client.X: gone"}}, "Client.X: gone"),
        ({"StateReason": {"Code": "Client.X"}}, "Client.X"),
        ({"StateReason": {"Message": "gone"}}, "gone"),
        ({"StateReason": {}, "StateTransitionReason": "User initiated"}, "User initiated"),
        ({"StateReason": 3, "FailureReason": None}, None),
    ],
)
def test_service_reason_is_found_under_its_names(item, reason):
    """The reason is the service's text, wherever its describe operations put it."""
    assert service_reason(item) == reason


def forget(monkeypatch, *packages):
    """Make Python import packages anew, until the test is over."""
    for name in [name for name in sys.modules if name.startswith(packages)]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("missing", ["botocore", "jmespath"])
def test_import_without_botocore_names_the_cure(missing, monkeypatch):
    """Without the extra installed, importing the package says how to install it."""
    forget(monkeypatch, "pollwait.aws", missing)
    monkeypatch.setitem(sys.modules, missing, None)
    cure = rf'pollwait\.aws needs {missing}, .* not installed: pip install "pollwait\[aws\]"$'
    with pytest.raises(ImportError, match=cure) as caught:
        importlib.import_module("pollwait.aws")
    assert caught.value.name == missing


def test_import_hides_no_other_missing_module(monkeypatch):
    """A module of another name that is missing is reported as it is."""
    forget(monkeypatch, "pollwait.aws")
    monkeypatch.setitem(sys.modules, "pollwait.aws._ebs", None)
    with pytest.raises(ModuleNotFoundError, match=r"pollwait\.aws\._ebs"):
        importlib.import_module("pollwait.aws")


def test_package_import_loads_no_aws():
    """Whoever waits without AWS pays nothing for it."""
    program = "import sys, pollwait; print([m for m in sys.modules if 'aws' in m or 'boto' in m])"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert ran.stdout == "[]\n"
