"""Definitions that are written in Python."""

from __future__ import annotations

import re
from datetime import timedelta

import boto3
import pytest

from pollwait.aws import error_code, is_throttle, path, path_all, path_any, status
from pollwait.aws._acceptors import Acceptor
from pollwait.aws._catalogue import definition_of, waiter_names
from pollwait.aws._define import define
from pollwait.aws._definition import Definition

from .fakes import error
from .synthesis import service_error

DONE = path("Status", "DONE")


@pytest.fixture(scope="module")
def ec2():
    """Return an EC2 client that calls nothing."""
    return boto3.client(
        "ec2", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


def test_define_makes_an_acceptor_of_each_condition():
    """Every kind of condition becomes the acceptor that means the same, those for failure first."""
    definition = define(
        "DescribeJob",
        success=[path_all("Jobs[].Status", "DONE"), status(202)],
        failure=path_any("Jobs[].Status", "FAILED"),
        retry=(error_code("JobNotFound", "Busy"), DONE),
        delay=timedelta(seconds=2),
        max_attempts=7,
        name="JobDone",
    )
    assert definition.acceptors == (
        Acceptor("pathAny", "Jobs[].Status", "FAILED", "failure"),
        Acceptor("pathAll", "Jobs[].Status", "DONE", "success"),
        Acceptor("status", None, 202, "success"),
        Acceptor("error", None, "JobNotFound", "retry"),
        Acceptor("error", None, "Busy", "retry"),
        Acceptor("path", "Status", "DONE", "retry"),
    )
    assert (definition.name, definition.operation) == ("JobDone", "DescribeJob")
    assert (definition.delay, definition.max_attempts) == (2.0, 7)


def test_define_defaults_to_ten_minutes_and_the_name_of_the_operation():
    """Without a name, errors name the operation; without numbers, EC2's are taken."""
    definition = define("describe_job", success=DONE)
    assert definition.name == definition.operation == "describe_job"
    assert definition.delay * definition.max_attempts == 600.0


def test_define_lets_a_failure_decide_before_a_success():
    """An answer that is both is a failure, as in a plain poll."""
    definition = define(
        "DescribeJob", success=path_any("Jobs[]", "DONE"), failure=path_any("Jobs[]", "FAILED")
    )
    assert definition.match({"Jobs": ["DONE", "FAILED"]}).state == "failure"
    assert definition.match({"Jobs": ["DONE"]}).state == "success"


def test_define_takes_an_error_for_success():
    """A waiter for a deletion is written with the code of what is gone."""
    definition = define("DescribeJob", success=error_code("JobNotFound"))
    assert definition.awaits == "absence"
    assert definition.match(service_error("JobNotFound")).state == "success"


@pytest.mark.parametrize(
    "condition", [len, is_throttle, "Status", None, [len], error_code, Acceptor, ["Status"]]
)
@pytest.mark.parametrize("place", ["success", "failure", "retry"])
def test_define_refuses_other_conditions(place, condition):
    """A condition that has no place in a definition is refused with what has one."""
    with pytest.raises(TypeError, match=f"{place} must be made by aws.path, path_all") as refused:
        define("DescribeJob", **{"success": DONE, place: condition})
    [culprit] = condition if isinstance(condition, list) else [condition]
    assert f"got {culprit!r}; any other condition" in str(refused.value)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"success": ()}, ValueError, "acceptors must hold one for success at least"),
        ({"operation": ""}, ValueError, "operation must not be empty"),
        ({"operation": None}, TypeError, "operation must be a str: got operation=None"),
        ({"name": ""}, ValueError, "name must not be empty"),
        ({"delay": -1}, ValueError, "delay must be finite and >= 0 seconds: got delay=-1"),
        ({"max_attempts": 0}, ValueError, "max_attempts must be >= 1"),
    ],
)
def test_define_refuses_what_could_not_run(change, error, text):
    """What no definition may hold is refused when it is given."""
    whole = {"operation": "DescribeJob", "success": DONE}
    with pytest.raises(error, match=re.escape(text)):
        define(**{**whole, **change})


@pytest.mark.parametrize("operation", ["DescribeVolumes", "describe_volumes", "describe-volumes"])
def test_defined_operation_is_found_by_each_of_its_names(ec2, operation):
    """A client knows the operation of a definition by the API's name and by its own."""
    definition = define(operation, success=DONE)
    assert definition_of(ec2, definition).operation == "DescribeVolumes"
    assert definition.operation == operation


def test_defined_operation_that_a_client_has_not_is_refused(ec2):
    """The operation is checked against the client that a definition is given to."""
    text = "waiter 'JobDone': ec2 has no operation 'describe_volume' (did you mean"
    with pytest.raises(ValueError, match=re.escape(text)):
        definition_of(ec2, define("describe_volume", success=DONE, name="JobDone"))


def test_definition_as_a_model_goes_by_its_name(ec2):
    """A definition given as model is found by its name, or takes the name if it has none."""
    named = define("DescribeVolumes", success=DONE, name="JobDone")
    assert definition_of(ec2, "job-done", named) == named
    assert waiter_names(ec2, named) == ["job_done"]
    unnamed = define("describe_volumes", success=DONE)
    assert definition_of(ec2, "job_done", unnamed).name == "job_done"
    text = "model has no waiter 'job_gone' (did you mean 'job_done'?); it is the definition of"
    with pytest.raises(ValueError, match=re.escape(text)):
        definition_of(ec2, "job_gone", named)


def test_definition_beside_a_model_is_refused(ec2):
    """A definition needs no model to be found in."""
    with pytest.raises(TypeError, match="model must be None beside a definition"):
        definition_of(ec2, define("DescribeVolumes", success=DONE), {})


@pytest.mark.parametrize(
    ("acceptors", "code", "decides"),
    [
        ({"failure": error_code("SlowDown")}, "SlowDown", True),
        ({"failure": error_code("SlowDown")}, "Throttling", False),
        ({"failure": status(400)}, "Throttling", True),
        ({"retry": error_code("SlowDown")}, "SlowDown", False),
    ],
)
def test_definition_decides_what_it_names(acceptors, code, decides):
    """An error is decided by an acceptor that names its code or status, unless it says retry."""
    defined = define("DescribeJob", success=path("Status", "DONE"), **acceptors)
    assert defined.decides(error(code)) is decides


def test_definition_that_takes_any_error_decides_none():
    """An acceptor for just any error names none."""
    any_error = Acceptor("error", None, True, "success")
    assert not Definition("Gone", "DescribeJob", 5, 4, [any_error]).decides(error("SlowDown"))


@pytest.mark.parametrize(
    ("acceptors", "fails"),
    [
        ([("pathAny", "BAD", "failure"), ("pathAll", "GOOD", "success")], True),
        ([("pathAll", "GOOD", "success"), ("pathAny", "BAD", "failure")], True),
        ([("pathAny", "GOOD", "success"), ("pathAny", "BAD", "failure")], False),
        ([("pathAll", "BAD", "failure"), ("pathAll", "GOOD", "success")], False),
        ([("pathAll", "GOOD", "success")], False),
    ],
)
def test_definition_fails_by_one_thing_whatever_else_there_is(acceptors, fails):
    """A part of a response is enough where any one thing fails and nothing before it may match."""
    defined = Definition(
        "JobDone",
        "DescribeJob",
        5,
        4,
        [Acceptor(matcher, "Jobs[].State", state, what) for matcher, state, what in acceptors],
    )
    assert defined.fails_by_one({"Jobs": [{"State": "BAD"}]}) is fails
