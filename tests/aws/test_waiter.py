"""One wait of a waiter: what it asks, what the answers mean for it, and how it ends."""

from __future__ import annotations

import json
import pickle
import threading
from datetime import timedelta
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    PaginationError,
    ParamValidationError,
    WaiterError,
)

from pollwait import Called, Finished, fixed
from pollwait._core.group import LINGER
from pollwait.aws import (
    VolumeAvailableWaiter,
    WaiterCancelled,
    WaiterExhausted,
    WaiterFailed,
    WaiterTimeout,
    define,
    describer,
    error_code,
    pages,
    path,
    path_all,
    path_any,
    status,
    waiter,
)
from pollwait.testing import FakeClock

from .fakes import KEYS, Service, error, instances, script

THROTTLED = error("RequestLimitExceeded", "Request limit exceeded.", 503)
DENIED = error("UnauthorizedOperation", "You are not authorized.", 403)
NO_INSTANCE = error("InvalidInstanceID.NotFound", "The instance ID 'i-1' does not exist")
NO_VOLUME_2 = error("InvalidVolume.NotFound", "The volume 'vol-2' does not exist.")
EVERY_SECOND = fixed(1)


@pytest.fixture
def clock():
    """Return a clock whose time costs nothing."""
    return FakeClock()


def volumes(**states):
    """Return a response of DescribeVolumes; a dash in an id is written as an underscore."""
    return {
        "Volumes": [
            {"VolumeId": each.replace("_", "-"), "State": state} for each, state in states.items()
        ]
    }


def waiting(clock, service, name, *answers, **options):
    """Return a waiter of a service that plays some answers, and the service."""
    played = Service(service, script(*answers))
    return waiter(played.client, name, clock=clock, **options), played


class TestReady:
    """How a wait succeeds, and when it looks."""

    def test_wait_returns_the_last_response(self, clock):
        """W2: what the service answered last is returned, so that nobody need ask again."""
        running, ec2 = waiting(
            clock, "ec2", "instance_running", instances(i_1="pending"), instances(i_1="running")
        )
        response = running.wait(InstanceIds=["i_1"])
        assert response["Reservations"] == instances(i_1="running")["Reservations"]
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert ec2.asked("InstanceIds") == [["i_1"], ["i_1"]]

    def test_response_is_the_callers_own(self, clock):
        """A caller may change the response without another one noticing."""
        answer = {"Stacks": [{"StackName": "s", "StackStatus": "CREATE_COMPLETE"}]}
        done, _ = waiting(clock, "cloudformation", "stack_create_complete", answer)
        one, two = clock.run(*[lambda: done.wait(StackName="s")] * 2)
        one["Stacks"][0]["StackName"] = "changed"
        assert two["Stacks"] == answer["Stacks"] == [{**answer["Stacks"][0], "StackName": "s"}]

    @pytest.mark.parametrize("name", ["instance_running", "instance-running", "InstanceRunning"])
    def test_waiter_is_known_by_any_spelling(self, clock, name):
        """Names of boto3, of the command line and of botocore's files mean the same waiter."""
        running, _ = waiting(clock, "ec2", name, instances(i_1="running"))
        assert running.name == "InstanceRunning"
        assert running.definition.operation == "DescribeInstances"
        assert repr(running) == "<Waiter InstanceRunning>"
        assert running.wait(InstanceIds=["i_1"])

    def test_default_schedule_starts_fast_and_backs_off(self, clock):
        """W3: the first look comes at once; delays grow by half up to the definition's own."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"))
        with pytest.raises(WaiterTimeout):
            running.wait(InstanceIds=["i_1"])
        assert clock.sleeps[:4] == [LINGER, 0.5, 0.75, 1.125]
        assert max(clock.sleeps) == 15.0
        assert clock.sleeps[-2] == 15.0
        assert clock.monotonic() == 600.0  # the definition's 40 attempts, 15 s each

    def test_wait_is_never_later_than_botocore_by_more_than_its_delay(self):
        """W3: whenever a thing is ready, it is noticed no later than botocore's next look."""
        for ready in [0.0, 0.3, 7.0, 14.9, 15.1, 200.0, 584.0]:
            clock = FakeClock()

            def play(operation, params, clock=clock, ready=ready):
                return instances(i_1="running" if clock.monotonic() >= ready else "pending")

            waiter(Service("ec2", play).client, "instance_running", clock=clock).wait(
                InstanceIds=["i_1"]
            )
            assert clock.monotonic() <= ready + 15 + LINGER

    def test_schedule_of_the_waiter_or_of_the_wait(self, clock):
        """A schedule of the caller's takes the place of the default; that of a wait goes first."""
        answers = [instances(i_1="pending")] * 2 + [instances(i_1="running")]
        running, _ = waiting(
            clock, "ec2", "instance_running", *answers, *answers, schedule=fixed(2)
        )
        running.wait(InstanceIds=["i_1"], timeout=60)
        assert clock.sleeps == [LINGER, 2.0, 2.0]
        running.wait(InstanceIds=["i_1"], timeout=60, schedule=fixed(3))
        assert clock.sleeps[-2:] == [3.0, 3.0]

    def test_wait_shorter_than_the_first_delay_looks_at_its_deadline(self, clock):
        """A timeout before the first look still gets one, at the deadline."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="running"))
        running.wait(InstanceIds=["i_1"], timeout=0.5, schedule=fixed(1).after(5))
        assert clock.sleeps == [0.5]

    def test_timeout_may_be_a_timedelta(self, clock):
        """Durations are seconds or timedeltas."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"))
        with pytest.raises(WaiterTimeout, match=r"timeout 2 s"):
            running.wait(InstanceIds=["i_1"], timeout=timedelta(seconds=2))

    def test_schedule_that_ends_ends_the_wait(self, clock):
        """Beside a schedule that ends there is no timeout by default."""
        running, ec2 = waiting(
            clock, "ec2", "instance_running", instances(i_1="pending"), schedule=fixed(400).times(2)
        )
        with pytest.raises(WaiterExhausted):
            running.wait(InstanceIds=["i_1"])
        assert len(ec2.calls) == 3

    def test_wait_without_ids_keeps_the_meaning_of_botocore(self, clock):
        """No id parameter at all judges everything that the filters show."""
        running, ec2 = waiting(
            clock,
            "ec2",
            "instance_running",
            instances(i_1="running", i_2="pending"),
            instances(i_1="running", i_2="running"),
        )
        filters = [{"Name": "tag:a", "Values": ["b"]}]
        assert len(running.wait(Filters=filters)["Reservations"]) == 2
        assert ec2.calls == [("DescribeInstances", {"Filters": filters})] * 2

    def test_until_stable_wants_good_answers_in_a_row(self, clock):
        """A good answer counts only if as many as asked for come one after the other."""
        good, bad = instances(i_1="running"), instances(i_1="pending")
        running, ec2 = waiting(
            clock, "ec2", "instance_running", good, bad, good, good, good, until_stable=3
        )
        running.wait(InstanceIds=["i_1"])
        assert len(ec2.calls) == 5

    def test_error_of_the_service_does_not_interrupt_a_row(self, clock):
        """An error that passes is neither a good answer nor a bad one."""
        good = instances(i_1="running")
        running, ec2 = waiting(
            clock, "ec2", "instance_running", good, THROTTLED, good, until_stable=2
        )
        running.wait(InstanceIds=["i_1"])
        assert len(ec2.calls) == 3

    def test_all_pages_are_read(self, clock):
        """W1: what is awaited may be on any page; without ids a plain call shows but the first."""
        first = {**instances(i_1="running"), "NextToken": "more"}
        running, ec2 = waiting(
            clock,
            "ec2",
            "instance_running",
            first,
            instances(i_2="pending"),
            first,
            instances(i_2="running"),
        )
        assert len(running.wait()["Reservations"]) == 2
        assert ec2.asked("NextToken") == [None, "more", None, "more"]

    def test_more_ids_than_a_call_takes_are_split(self, clock):
        """W5: each call has as many ids as the operation takes, and the response shows all."""

        def play(operation, params):
            services = [
                {
                    "serviceName": each,
                    "status": "ACTIVE",
                    "deployments": [{}],
                    "runningCount": 1,
                    "desiredCount": 1,
                }
                for each in params["services"]
            ]
            return {"services": services, "failures": []}

        ecs = Service("ecs", play)
        names = [f"s{n}" for n in range(23)]
        stable = waiter(ecs.client, "services_stable", clock=clock)
        response = stable.wait(cluster="c", services=names)
        assert [len(each) for each in ecs.asked("services")] == [10, 10, 3]
        assert [each["serviceName"] for each in response["services"]] == names

    def test_events_tell_of_responses(self, clock):
        """Listeners see responses and the service's errors, as in a plain poll."""
        told = []
        running, _ = waiting(
            clock,
            "ec2",
            "instance_running",
            NO_INSTANCE,
            instances(i_1="running"),
            on_event=told.append,
        )
        response = running.wait(InstanceIds=["i_1"])
        _, missing, _, ready, end = told
        assert isinstance(told[0], Called)
        assert (missing.value, missing.error.response) == (None, NO_INSTANCE.response)
        assert (ready.value, ready.error) == (response, None)
        assert isinstance(end, Finished)
        assert (end.reason, end.value) == ("ready", response)
        assert {each.name for each in (missing, ready, end)} == {"InstanceRunning of i_1"}


class TestConfig:
    """botocore's own WaiterConfig."""

    def times(self, clock, **options):
        """Return the gaps between looks of a wait that is never ready, and when it ended."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"))
        with pytest.raises((WaiterTimeout, WaiterExhausted)):
            running.wait(InstanceIds=["i_1"], **options)
        return clock.sleeps, clock.monotonic()

    def test_delay_caps_the_gaps_and_the_product_bounds_the_time(self, clock):
        """W1: no gap is longer than Delay, and the wait takes Delay times MaxAttempts."""
        sleeps, end = self.times(clock, WaiterConfig={"Delay": 2, "MaxAttempts": 10})
        assert max(sleeps) == 2.0
        assert end == 20.0

    @pytest.mark.parametrize(
        ("config", "end"), [({"MaxAttempts": 2}, 30.0), ({"Delay": 3}, 120.0), ({}, 600.0)]
    )
    def test_what_config_leaves_out_is_the_definitions(self, clock, config, end):
        """One of the two keys alone changes that one."""
        assert self.times(clock, WaiterConfig=config)[1] == end

    def test_timeout_goes_before_config(self, clock):
        """W1: a timeout overrides both keys as the limit."""
        config = {"Delay": 2, "MaxAttempts": 10}
        sleeps, end = self.times(clock, WaiterConfig=config, timeout=100)
        assert (max(sleeps), end) == (2.0, 100.0)

    def test_delay_caps_a_schedule_as_well(self, clock):
        """A schedule of the caller's is capped too."""
        sleeps, end = self.times(
            clock, WaiterConfig={"Delay": 2, "MaxAttempts": 3}, schedule=fixed(5)
        )
        assert (max(sleeps), end) == (2.0, 6.0)

    def test_delay_of_zero_counts_the_attempts(self, clock):
        """With Delay 0, which tests say to save time, MaxAttempts is what ends a wait."""
        stack = {"Stacks": [{"StackName": "s", "StackStatus": "CREATE_IN_PROGRESS"}]}
        done, cloudformation = waiting(clock, "cloudformation", "stack_create_complete", stack)
        for attempts in (1, 2, 3):
            with pytest.raises((WaiterTimeout, WaiterExhausted)):
                done.wait(StackName="s", WaiterConfig={"Delay": 0, "MaxAttempts": attempts})
            assert len(cloudformation.calls) == attempts
            cloudformation.calls.clear()
        assert clock.monotonic() == 0.0

    @pytest.mark.parametrize(
        ("config", "kind", "text"),
        [
            ({"delay": 1}, ValueError, r"keys 'Delay' or 'MaxAttempts'.*got 'delay' .*'Delay'"),
            ({"Timeout": 1}, ValueError, "got 'Timeout'$"),
            ({3: 1}, ValueError, "got 3$"),
            ({"Delay": -1}, ValueError, r"WaiterConfig\['Delay'\] must be finite and >= 0"),
            ({"Delay": "5"}, TypeError, r"WaiterConfig\['Delay'\] must be seconds"),
            ({"MaxAttempts": 0}, ValueError, r"WaiterConfig\['MaxAttempts'\] must be >= 1"),
            ({"MaxAttempts": 2.5}, TypeError, r"WaiterConfig\['MaxAttempts'\] must be an int"),
            ([], TypeError, r"WaiterConfig must be a dict: got WaiterConfig=\[\]"),
        ],
    )
    def test_config_is_checked(self, clock, config, kind, text):
        """W1: unknown keys and values that are none are refused before any call."""
        running, ec2 = waiting(clock, "ec2", "instance_running")
        with pytest.raises(kind, match=text):
            running.wait(InstanceIds=["i_1"], WaiterConfig=config)
        assert ec2.calls == []


class TestFailed:
    """How a wait fails."""

    def test_failure_names_the_state_the_reason_and_the_acceptor(self, clock):
        """W2: the error has the id, the state, the service's reason, and what matched."""
        answer = instances(i_1="terminated")
        item = answer["Reservations"][0]["Instances"][0]
        item["StateReason"] = {"Code": "Server.InternalError", "Message": "No capacity"}
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"), answer)
        with pytest.raises(WaiterFailed) as caught:
            running.wait(InstanceIds=["i_1"])
        failed = caught.value
        assert str(failed) == (
            "'InstanceRunning of i_1' failed after 2 checks in 0.504 s; state 'terminated':"
            " 'Server.InternalError: No capacity', matched failure acceptor: any of"
            " Reservations[].Instances[].State.Name == 'terminated'"
        )
        assert (failed.id, failed.ids, failed.state) == ("i_1", ("i_1",), "terminated")
        assert failed.reason == "Server.InternalError: No capacity"
        assert failed.response is failed.last_response is failed.last
        assert failed.response["Reservations"] == answer["Reservations"]
        assert failed.__cause__ is None
        assert failed.kwargs["name"] == "InstanceRunning"
        assert isinstance(failed, WaiterError)

    def test_failure_of_several_names_the_one_that_failed(self, clock):
        """Of several ids the error names the one in the bad state, and knows them all."""
        running, _ = waiting(
            clock, "ec2", "instance_running", instances(i_1="running", i_2="terminated")
        )
        with pytest.raises(WaiterFailed, match="state 'terminated' of i_2,") as caught:
            running.wait(InstanceIds=["i_1", "i_2"])
        assert (caught.value.id, caught.value.ids) == ("i_2", ("i_1", "i_2"))
        assert caught.value.name == "InstanceRunning of i_1, i_2"

    def test_failure_without_an_id_finds_the_reason(self, clock):
        """Where an operation takes no list of ids, the reason is found in the answer."""
        stack = {"StackName": "s", "StackStatus": "ROLLBACK_COMPLETE", "StackStatusReason": "why"}
        done, _ = waiting(clock, "cloudformation", "stack_create_complete", {"Stacks": [stack]})
        with pytest.raises(WaiterFailed, match="state 'ROLLBACK_COMPLETE': 'why'") as caught:
            done.wait(StackName="s")
        assert (caught.value.id, caught.value.reason) == ("s", "why")
        assert caught.value.name == "StackCreateComplete of s"

    def test_error_that_no_acceptor_expects_fails_with_its_cause(self, clock):
        """W2: an error that waiting does not mend ends the wait and is the failure's cause."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"), DENIED)
        with pytest.raises(WaiterFailed) as caught:
            running.wait(InstanceIds=["i_1"])
        failed = caught.value
        assert str(failed) == (
            "'InstanceRunning of i_1' failed after 2 checks in 0.504 s; last state 'pending',"
            " last error UnauthorizedOperation: 'You are not authorized.'"
        )
        assert isinstance(failed.__cause__, ClientError)
        assert failed.last_error is failed.__cause__
        assert failed.response is failed.__cause__.response
        assert failed.reason == "You are not authorized."
        assert failed.history.total == 2
        assert [record.error for record in failed.history] == [None, failed.last_error]

    def test_error_that_an_acceptor_takes_for_failure(self, clock):
        """An error acceptor for failure fails the wait, and is named."""
        exists, _ = waiting(
            clock,
            "ec2",
            "job",
            error("JobBroken", "It broke."),
            model=define(
                "DescribeVolumes", name="Job", success=status(200), failure=error_code("JobBroken")
            ),
        )
        with pytest.raises(WaiterFailed, match="matched failure acceptor: error code 'JobBroken'"):
            exists.wait()

    def test_failure_travels(self, clock):
        """W2: the error can be pickled, with its fields and its text."""
        running, _ = waiting(
            clock, "ec2", "instance_running", THROTTLED, NO_INSTANCE, instances(i_1="terminated")
        )
        with pytest.raises(WaiterFailed) as caught:
            running.wait(InstanceIds=["i_1"])
        twin = pickle.loads(pickle.dumps(caught.value))
        assert str(twin) == str(caught.value)
        assert (twin.id, twin.ids, twin.state) == ("i_1", ("i_1",), "terminated")
        assert twin.response == caught.value.response
        assert twin.history.total == 3

    @pytest.mark.parametrize("state", ["error", "deleting", "deleted"])
    @pytest.mark.parametrize("name", ["volume_available", "volume_in_use"])
    def test_volume_that_is_beyond_hope_fails_at_once(self, clock, name, state):
        """W6: botocore polls a volume in error for ten minutes; it never becomes available."""
        available, ec2 = waiting(clock, "ec2", name, volumes(vol_1=state))
        with pytest.raises(WaiterFailed, match=f"state '{state}'"):
            available.wait(VolumeIds=["vol-1"])
        assert len(ec2.calls) == 1

    def test_volume_in_use_is_not_yet_available(self, clock):
        """W6: the waiter keeps botocore's meaning, by which people wait for a detach."""
        available, ec2 = waiting(
            clock, "ec2", "volume_available", volumes(vol_1="in-use"), volumes(vol_1="available")
        )
        available.wait(VolumeIds=["vol-1"])
        assert len(ec2.calls) == 2

    @pytest.mark.parametrize(
        "raised",
        [NoCredentialsError(), ParamValidationError(report="Invalid type for parameter Filters")],
        ids=["credentials", "parameters"],
    )
    def test_error_that_is_no_answer_passes_as_a_copy(self, clock, raised):
        """What botocore raises by itself leaves as it is, but for being this caller's own."""
        running, _ = waiting(clock, "ec2", "instance_running", raised)
        with pytest.raises(type(raised)) as caught:
            running.wait(InstanceIds=["i_1"])
        assert caught.value.__cause__ is raised

    def test_pages_that_lead_nowhere_fail_the_wait(self, clock):
        """A service that gives the same token again and again is the cause of a failure."""
        running, _ = waiting(
            clock, "ec2", "instance_running", {**instances(i_1="running"), "NextToken": "same"}
        )
        for params in ({"InstanceIds": ["i_1"]}, {}):
            with pytest.raises(WaiterFailed, match="next token was received twice") as caught:
                running.wait(**params)
            assert isinstance(caught.value.__cause__, PaginationError)
            assert pickle.loads(pickle.dumps(caught.value)).attempts == 1

    @pytest.mark.parametrize(
        ("conditions", "raised", "outcome"),
        [
            ({"failure": error_code("LimitExceededException")}, "LimitExceededException", "failed"),
            ({"failure": error_code("InternalError")}, "InternalError", "failed"),
            ({"failure": status(503)}, "ServiceUnavailable", "failed"),
            ({"success": status(503)}, "ServiceUnavailable", "ready"),
            ({"success": error_code("SlowDown")}, "SlowDown", "ready"),
            ({"retry": error_code("SlowDown")}, "SlowDown", "goes on"),
            ({"failure": error_code("Other")}, "SlowDown", "goes on"),
        ],
    )
    @pytest.mark.parametrize("operation", ["describe_table", "describe_volumes"])
    def test_acceptor_that_names_an_error_that_may_pass_decides(
        self, clock, operation, conditions, raised, outcome
    ):
        """W9: what a definition says of a throttle or of a server's error is what follows."""
        by_list = operation == "describe_volumes"
        found = path("Found", "yes")
        of_success = conditions.get("success", found)
        ends = define(operation, **{**conditions, "success": of_success})
        played = Service("ec2" if by_list else "dynamodb", script(error(raised, "", 503)))
        params = {"VolumeIds": ["vol-1"]} if by_list else {"TableName": "t-1"}
        ending = waiter(played.client, ends, clock=clock)
        if outcome == "ready":
            assert ending.wait(**params, timeout=60)["Error"]["Code"] == raised
            return
        kind = WaiterFailed if outcome == "failed" else WaiterTimeout
        with pytest.raises(kind, match=raised):
            ending.wait(**params, timeout=60)
        assert clock.monotonic() >= 60 or outcome == "failed"

    def test_any_error_waits_through_those_that_may_pass(self, clock):
        """An acceptor for just any error names none, so a throttle is waited through."""
        model = {"version": 2, "waiters": {"Gone": {
            "operation": "DescribeTable", "delay": 5, "maxAttempts": 4,
            "acceptors": [{"state": "success", "matcher": "error", "expected": True}],
        }}}  # fmt: skip
        played = Service("dynamodb", script(THROTTLED, DENIED))
        gone = waiter(played.client, "gone", model=model, clock=clock)
        assert gone.wait(TableName="t-1")["Error"]["Code"] == "UnauthorizedOperation"

    def test_failure_names_no_acceptor_that_did_not_match(self, clock):
        """W4: what matched an earlier answer is no reason for a failure by another one."""
        exists, _ = waiting(
            clock, "iam", "user_exists", error("NoSuchEntity", "", 404), error("AccessDenied", "no")
        )
        with pytest.raises(WaiterFailed) as caught:
            exists.wait(UserName="u")
        assert str(caught.value).endswith("last error AccessDenied: 'no'")

    def test_boolean_error_acceptors_match(self, clock):
        """W1: ``expected: true`` is any error, and ``false`` is none, as in botocore's newest."""
        model = {
            "version": 2,
            "waiters": {
                "AnyError": {
                    "operation": "DescribeVolumes",
                    "delay": 1,
                    "maxAttempts": 3,
                    "acceptors": [
                        {"state": "success", "matcher": "error", "expected": True},
                        {"state": "retry", "matcher": "error", "expected": False},
                    ],
                }
            },
        }
        any_error, ec2 = waiting(
            clock, "ec2", "any_error", volumes(), DENIED, model=json.dumps(model)
        )
        assert any_error.wait()["Error"]["Code"] == "UnauthorizedOperation"
        assert len(ec2.calls) == 2


class TestMissing:
    """A thing that is to be there and that the service does not show."""

    NO_STACK = error("ValidationError", "Stack with id s does not exist")

    @pytest.mark.parametrize(
        ("service", "name", "params", "absence", "presence"),
        [
            # by an error code, of which the definition says nothing
            ("ec2", "volume_available", {"VolumeIds": ["vol-1"]},
             error("InvalidVolume.NotFound", "The volume 'vol-1' does not exist."),
             volumes(vol_1="available")),
            # by an answer that leaves it out
            ("ec2", "volume_available", {"VolumeIds": ["vol-1"]}, volumes(),
             volumes(vol_1="available")),
            # by an acceptor for failure
            ("cloudformation", "stack_create_complete", {"StackName": "s"}, NO_STACK,
             {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]}),
            # by an answer that says so
            ("ecs", "tasks_running", {"tasks": ["t-1"]},
             {"tasks": [], "failures": [{"arn": "t-1", "reason": "MISSING"}]},
             {"tasks": [{"taskArn": "t-1", "lastStatus": "RUNNING"}], "failures": []}),
        ],
        ids=["code", "omission", "acceptor", "answer"],
    )  # fmt: skip
    def test_missing_is_not_yet_for_a_while_and_then_a_failure(
        self, service, name, params, absence, presence
    ):
        """W4: right after its creation a thing may be unknown; after 15 s it is taken for gone."""
        clock = FakeClock()
        known, _ = waiting(clock, service, name, absence, absence, presence)
        assert known.wait(**params)
        clock = FakeClock()
        known, played = waiting(clock, service, name, absence, schedule=EVERY_SECOND)
        text = r"not found since 0(\.004)? s \(missing_grace 15 s\)"
        with pytest.raises(WaiterFailed, match=text) as caught:
            known.wait(**params)
        assert clock.monotonic() in (15.0, 15.0 + LINGER)
        assert len(played.calls) == 16
        cause = caught.value.__cause__
        told = absence.response if isinstance(absence, ClientError) else None
        assert (cause.response if cause else None) == told

    @pytest.mark.parametrize("code", ["ClusterNotFoundException", "ServiceNotFoundException"])
    def test_what_holds_a_missing_thing_may_be_missing(self, clock, code):
        """An error about something else than the thing itself is told as it is."""
        stable, _ = waiting(clock, "ecs", "services_stable", error(code, "Not found."))
        with pytest.raises(WaiterFailed, match=f"not found since .* last error {code}"):
            stable.wait(cluster="typo", services=["web"])

    def test_missing_without_ids_is_not_yet_either(self, clock):
        """W4: so is an answer that says MISSING to a call which is not about ids."""
        answers = iter([{"failures": [{"reason": "MISSING"}]}] * 2 + [{"tasks": ["RUNNING"]}])
        client = SimpleNamespace(describe_tasks=lambda **_: next(answers))
        running = define(
            "describe_tasks",
            success=path_all("tasks", "RUNNING"),
            failure=path_any("failures[].reason", "MISSING"),
        )
        assert waiter(client, running, clock=clock).wait()["tasks"] == ["RUNNING"]

    def test_missing_fails_with_the_error_of_the_client(self, clock):
        """W2: the service's own "not found" is the cause, and its text the reason."""
        stopped, _ = waiting(clock, "ec2", "instance_stopped", NO_INSTANCE, missing_grace=0)
        with pytest.raises(WaiterFailed) as caught:
            stopped.wait(InstanceIds=["i-1"])
        assert caught.value.__cause__.response["Error"]["Code"] == "InvalidInstanceID.NotFound"
        assert caught.value.reason == "The instance ID 'i-1' does not exist"
        assert str(caught.value) == (
            "'InstanceStopped of i-1' failed after 1 check in 0.004 s; not found since 0.004 s"
            " (missing_grace 0 s)"
        )

    def test_presence_makes_the_grace_whole_again(self, clock):
        """W4: a thing that flickers is missing only from its latest disappearance on."""
        shows = volumes(vol_1="creating")
        known, _ = waiting(
            clock, "ec2", "volume_available", volumes(), shows, volumes(), volumes(), volumes(),
            schedule=EVERY_SECOND, missing_grace=2, min_gap=0,
        )  # fmt: skip
        with pytest.raises(WaiterFailed, match="last state 'creating', not found since 2 s"):
            known.wait(VolumeIds=["vol-1"])
        assert clock.monotonic() == 4.0
        stack = {"Stacks": [{"StackName": "s", "StackStatus": "CREATE_IN_PROGRESS"}]}
        absent = self.NO_STACK
        known, _ = waiting(
            clock, "cloudformation", "stack_create_complete", absent, stack, absent,
            schedule=EVERY_SECOND, missing_grace=2,
        )  # fmt: skip
        with pytest.raises(WaiterFailed, match="not found since 2 s") as caught:
            known.wait(StackName="s")
        assert caught.value.elapsed == 4.0

    def test_acceptor_that_retries_while_missing_goes_on(self, clock):
        """A definition that says to retry on "not found" does so until the deadline."""
        exists, _ = waiting(clock, "ec2", "instance_exists", NO_INSTANCE)
        with pytest.raises(WaiterTimeout) as caught:
            exists.wait(InstanceIds=["i-1"])
        assert caught.value.elapsed == 200.0
        assert str(caught.value).endswith(
            "last error InvalidInstanceID.NotFound: \"The instance ID 'i-1' does not exist\","
            " last matched retry acceptor: error code 'InvalidInstanceID.NotFound'"
        )

    def test_omission_means_the_same_where_missing_is_retried(self, clock):
        """So does an answer that leaves the thing out."""
        exists, _ = waiting(clock, "ec2", "instance_exists", instances())
        with pytest.raises(WaiterTimeout):
            exists.wait(InstanceIds=["i-1"])

    def test_answer_that_leaves_out_what_is_there_says_nothing(self, clock):
        """DescribeInstanceStatus shows running instances only: a pending one is not missing."""
        ok, _ = waiting(
            clock, "ec2", "system_status_ok", {"InstanceStatuses": []}, schedule=EVERY_SECOND
        )
        with pytest.raises(WaiterTimeout):
            ok.wait(InstanceIds=["i-1"], timeout=60)

    def test_filter_that_leaves_things_out_says_nothing(self, clock):
        """W1: with ids and a filter, what the filter hides is neither missing nor ready."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="running"))
        with pytest.raises(WaiterTimeout):
            running.wait(
                InstanceIds=["i_1", "i_2"], Filters=[{"Name": "a", "Values": ["b"]}], timeout=60
            )

    @pytest.mark.parametrize(
        ("service", "name", "params", "answer", "full"),
        [
            ("ec2", "instance_running", {"InstanceIds": ["i_1", "i_2"]},
             instances(i_1="running"), instances(i_1="running", i_2="running")),
            # by the HTTP status alone
            ("ec2", "instance_exists", {"InstanceIds": ["i_1", "i_2"]},
             instances(i_1="running"), instances(i_1="running", i_2="running")),
            ("ec2", "key_pair_exists", {"KeyNames": ["a", "b"]},
             {"KeyPairs": [{"KeyName": "a"}]}, {"KeyPairs": [{"KeyName": "a"}, {"KeyName": "b"}]}),
        ],
        ids=["state", "presence", "count"],
    )  # fmt: skip
    def test_every_id_must_be_answered(self, clock, service, name, params, answer, full):
        """W1: two asked and one returned is not success, however good that one is."""
        both, played = waiting(clock, service, name, answer, answer, full)
        both.wait(**params)
        assert len(played.calls) == 3

    def test_targets_are_told_apart_by_their_ports(self, clock):
        """W5: of two targets with ports both must be answered, each with its own port."""

        def shown(*targets):
            return {"TargetHealthDescriptions": [
                {"Target": {"Id": each, "Port": port}, "TargetHealth": {"State": state}}
                for each, port, state in targets
            ]}  # fmt: skip

        one, both = ("i-1", 80, "healthy"), ("i-1", 81, "healthy")
        healthy, elb = waiting(
            clock, "elbv2", "target_in_service",
            shown(one), shown(one, ("i-1", 81, "initial")), shown(one, both),
        )  # fmt: skip
        targets = [{"Id": "i-1", "Port": 80}, {"Id": "i-1", "Port": 81}]
        healthy.wait(TargetGroupArn="arn", Targets=targets)
        assert elb.asked("Targets") == [targets] * 3
        with pytest.raises(WaiterFailed, match="i-1:81 not found since") as caught:
            waiting(clock, "elbv2", "target_in_service", shown(one))[0].wait(
                TargetGroupArn="arn", Targets=targets
            )
        assert type(caught.value.id) is str
        assert [type(each) for each in caught.value.ids] == [str, str]

    def test_deregistered_targets_are_told_apart_by_their_ports(self, clock):
        """W6: an error that names one target says nothing of the other."""

        def play(operation, params):
            if "i-1" in (asked := [each["Id"] for each in params["Targets"]]):
                return error("InvalidTarget", "The targets 'i-1' are not registered.")
            state = "draining" if clock.monotonic() < 20 else "unused"
            return {"TargetHealthDescriptions": [
                {"Target": {"Id": each, "Port": 80}, "TargetHealth": {"State": state}}
                for each in asked
            ]}  # fmt: skip

        gone = waiter(Service("elbv2", play).client, "target_deregistered", clock=clock)
        gone.wait(TargetGroupArn="arn", Targets=[{"Id": "i-1", "Port": 80}, {"Id": "i-2"}])
        assert clock.monotonic() >= 20

    def test_every_id_of_two_lists_must_be_answered(self, clock):
        """W5: two lists of ids at once share no call, and each id of both must be shown."""
        some = {"SecurityGroups": [{"GroupId": "sg-1", "GroupName": "a"}]}
        every = {"SecurityGroups": [*some["SecurityGroups"], {"GroupId": "sg-2", "GroupName": "b"}]}
        exists, ec2 = waiting(clock, "ec2", "security_group_exists", some, some, every)
        assert len(exists.wait(GroupIds=["sg-1"], GroupNames=["b"])["SecurityGroups"]) == 2
        assert len(ec2.calls) == 3
        exists, _ = waiting(clock, "ec2", "security_group_exists", some)
        with pytest.raises(WaiterFailed, match=r"of sg-1, b'.* b not found since") as caught:
            exists.wait(GroupIds=["sg-1"], GroupNames=["b"])
        assert caught.value.state is None

    def test_status_alone_is_not_every_id(self, clock):
        """W1: an acceptor that looks at the status only does not answer for what is missing."""
        known, played = waiting(
            clock,
            "ec2",
            define("describe_volumes", success=status(200)),
            volumes(vol_1="creating"),
            volumes(vol_1="creating", vol_2="creating"),
        )
        known.wait(VolumeIds=["vol-1", "vol-2"])
        assert len(played.calls) == 2

    def test_failure_names_what_is_missing(self, clock):
        """Of several ids the error says which are missing."""
        available, _ = waiting(clock, "ec2", "volume_available", volumes(vol_1="available"))
        for missing in (["vol-2"], ["vol-2", "vol-3"]):
            text = f"'available', {', '.join(missing)} not found since"
            with pytest.raises(WaiterFailed, match=text) as caught:
                available.wait(VolumeIds=["vol-1", *missing])
            assert caught.value.id == "vol-2"

    def test_timeout_names_what_was_not_in_the_answer(self, clock):
        """So does the error of a wait that goes on while they are missing."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="running"))
        with pytest.raises(WaiterTimeout, match="'running', i_2 not in the last answer") as caught:
            running.wait(InstanceIds=["i_1", "i_2"])
        assert caught.value.id == "i_2"

    def test_bad_state_counts_while_others_are_missing(self, clock):
        """A thing in a state without hope fails the wait, whatever else is not there yet."""
        running, ec2 = waiting(clock, "ec2", "instance_running", instances(i_1="terminated"))
        with pytest.raises(WaiterFailed, match="state 'terminated'") as caught:
            running.wait(InstanceIds=["i_2", "i_1"])
        assert caught.value.id == "i_1"
        assert len(ec2.calls) == 1


class TestGone:
    """A thing that is to be gone."""

    def test_deletion_is_done_when_every_id_is_gone(self, clock):
        """W1: one volume gone and one still there is not success, whoever says so."""

        def play(operation, params):
            asked = params["VolumeIds"]
            if "vol-1" in asked:
                return error("InvalidVolume.NotFound", "The volume 'vol-1' does not exist.")
            return volumes(vol_2="deleting") if clock.monotonic() < 3 else NO_VOLUME_2

        ec2 = Service("ec2", play)
        deleted = waiter(ec2.client, "volume_deleted", clock=clock)
        response = deleted.wait(VolumeIds=["vol-1", "vol-2"])
        assert response["Error"]["Code"] == "InvalidVolume.NotFound"
        assert clock.monotonic() > 3

    def test_id_that_a_complete_answer_leaves_out_is_gone(self, clock):
        """W1: a deleted thing may be left out, or be shown as deleted; either will do."""
        deleted, ec2 = waiting(
            clock,
            "ec2",
            "volume_deleted",
            volumes(vol_1="deleting"),
            volumes(vol_1="deleted"),
        )
        deleted.wait(VolumeIds=["vol-1", "vol-2"])
        assert len(ec2.calls) == 2

    def test_deletion_of_many_is_done_when_all_are_gone(self, clock):
        """Where EC2 names the volumes that are gone one by one, all of them are found."""

        def play(operation, params):
            return error(
                "InvalidVolume.NotFound", f"The volume '{params['VolumeIds'][0]}' does not exist."
            )

        ec2 = Service("ec2", play)
        waiter(ec2.client, "volume_deleted", clock=clock).wait(
            VolumeIds=[f"vol-{n}" for n in range(50)]
        )
        assert len(ec2.calls) == 50

    def test_many_missing_ids_of_one_wait_fail_it(self, clock):
        """C11: not more than a few ids are found at a time, and their grace ends all the same."""

        def play(operation, params):
            return error(
                "InvalidVolume.NotFound", f"The volume '{params['VolumeIds'][0]}' does not exist."
            )

        ec2 = Service("ec2", play)
        with pytest.raises(WaiterFailed, match="and 47 more not found since"):
            waiter(ec2.client, "volume_available", clock=clock).wait(
                VolumeIds=[f"vol-{n}" for n in range(50)]
            )
        assert clock.monotonic() < 40

    def test_deletion_that_does_not_come_names_what_is_left(self, clock):
        """Of several ids the error names the first that is still there."""
        deleted, _ = waiting(clock, "ec2", "volume_deleted", volumes(vol_2="in-use"))
        with pytest.raises(WaiterTimeout, match="last state 'in-use'$") as caught:
            deleted.wait(VolumeIds=["vol-1", "vol-2"])
        assert caught.value.id == "vol-2"

    def test_deletion_without_a_list_of_ids(self, clock):
        """Where an error is what is awaited, its response is returned."""
        table = {"Table": {"TableName": "t", "TableStatus": "DELETING"}}
        gone, _ = waiting(
            clock,
            "dynamodb",
            "table_not_exists",
            table,
            error("ResourceNotFoundException", "Requested resource not found"),
        )
        assert gone.wait(TableName="t")["Error"]["Code"] == "ResourceNotFoundException"

    def test_error_about_something_else_is_no_deletion(self, clock):
        """A "not found" that is not about the ids does not say that they are gone."""
        gone, _ = waiting(
            clock,
            "ecs",
            define("describe_services", success=path_all("services[].status", "DELETED")),
            error("ClusterNotFoundException", "Cluster not found."),
        )  # fmt: skip
        with pytest.raises(WaiterFailed, match="last error ClusterNotFoundException"):
            gone.wait(cluster="c", services=["s"])

    def test_deletion_that_a_filter_leaves_open_says_so(self, clock):
        """What a filter may have left out is named when the time is up."""
        gone, _ = waiting(clock, "ec2", "volume_deleted", volumes(vol_1="deleting"))
        filters = [{"Name": "tag:x", "Values": ["y"]}]
        with pytest.raises(WaiterTimeout, match="vol-2 not in the last answer, which need not"):
            gone.wait(VolumeIds=["vol-1", "vol-2"], Filters=filters)

    def test_filter_does_not_make_things_gone(self, clock):
        """With ids and a filter, an answer that leaves an id out does not say that it is gone."""
        deleted, _ = waiting(clock, "ec2", "volume_deleted", volumes(vol_1="deleted"))
        with pytest.raises(WaiterTimeout):
            deleted.wait(
                VolumeIds=["vol-1", "vol-2"], Filters=[{"Name": "a", "Values": ["b"]}], timeout=60
            )


class TestTransient:
    """Errors that pass."""

    @pytest.mark.parametrize(
        "passing",
        [
            THROTTLED,
            error("SlowDown", "Please reduce your request rate.", 503),
            error("429", "Too Many Requests", 429),
            error("InternalError", "An internal error has occurred", 500),
            EndpointConnectionError(endpoint_url="https://ec2.us-east-1.amazonaws.com"),
        ],
        ids=["code", "slow-down", "429", "internal", "connection"],
    )
    @pytest.mark.parametrize(
        ("service", "name", "params", "answers"),
        [
            ("ec2", "instance_running", {"InstanceIds": ["i_1"]},
             [instances(i_1="pending"), instances(i_1="running")]),
            ("codedeploy", "deployment_successful", {"deploymentId": "d"},
             [{"deploymentInfo": {"status": status}} for status in ("InProgress", "Succeeded")]),
        ],
        ids=["shared", "alone"],
    )  # fmt: skip
    def test_error_that_passes_slows_a_wait_and_ends_none(
        self, clock, passing, service, name, params, answers
    ):
        """W4: a throttled deployment is not a failed one."""
        first, last = answers
        known, played = waiting(clock, service, name, first, passing, passing, last)
        known.wait(**params)
        assert len(played.calls) == 4

    def test_throttles_slow_all_that_the_waiter_does(self, clock):
        """W4: each throttle doubles the time between calls."""
        running, _ = waiting(
            clock, "ec2", "instance_running", THROTTLED, THROTTLED, instances(i_1="running")
        )
        running.wait(InstanceIds=["i_1"])
        assert clock.sleeps == [LINGER, 1.0, 2.0]

    def test_timeout_while_throttled_tells_both(self, clock):
        """Throttled to the end, the error tells the last state and the last error."""
        running, _ = waiting(clock, "ec2", "instance_running", instances(i_1="pending"), THROTTLED)
        with pytest.raises(WaiterTimeout) as caught:
            running.wait(InstanceIds=["i_1"], timeout=2)
        assert str(caught.value).startswith(
            "'InstanceRunning of i_1' not ready after 3 checks in 2 s (timeout 2 s);"
            " last state 'pending', last error RequestLimitExceeded: 'Request limit exceeded.'"
        )
        assert caught.value.__cause__ is caught.value.last_error
        assert caught.value.response["Error"]["Code"] == "RequestLimitExceeded"


class TestTimeout:
    """How a wait ends that nothing else ends."""

    def test_timeout_names_the_last_match(self, clock):
        """W4: an acceptor that matched is named, and one that did not is not."""
        retried, _ = waiting(
            clock, "ec2", "password_data_available", {"PasswordData": ""},
        )  # fmt: skip
        with pytest.raises(WaiterTimeout) as caught:
            retried.wait(InstanceId="i-1", timeout=0)
        assert "matched" not in str(caught.value)
        bad = error("JobNotReady", "Not ready.")
        job = define(
            "DescribeVolumes",
            success=path_all("Volumes[].State", "available"),
            failure=path_any("Volumes[].State", "deleted"),
            retry=error_code("JobNotReady"),
        )
        known, _ = waiting(clock, "ec2", job, bad)
        with pytest.raises(WaiterTimeout) as caught:
            known.wait(timeout=0)
        assert str(caught.value).endswith("last matched retry acceptor: error code 'JobNotReady'")

    def test_timeout_names_the_state_that_was_seen_last(self, clock):
        """The state is the last one that was shown; of several things without ids, all states."""
        running, _ = waiting(
            clock, "ec2", "instance_running", instances(i_1="pending", i_2="stopped")
        )
        with pytest.raises(WaiterTimeout, match="last state 'pending, stopped'") as caught:
            running.wait(timeout=0)
        assert (caught.value.id, caught.value.ids) == ("", ())
        assert caught.value.name == "InstanceRunning"
        with pytest.raises(WaiterTimeout, match="last state 'stopped'") as caught:
            running.wait(InstanceIds=["i_2", "i_1"], timeout=0.5)
        assert caught.value.id == "i_2"

    def test_cancel_ends_the_wait(self, clock):
        """The event ends the wait with no further call."""
        stop = threading.Event()
        clock.call_at(0.75, stop.set)
        running, ec2 = waiting(clock, "ec2", "instance_running", instances(i_1="pending"))
        with pytest.raises(WaiterCancelled, match="cancelled after 2 checks"):
            running.wait(InstanceIds=["i_1"], cancel=stop)
        assert len(ec2.calls) == 2

    def test_timeout_of_none_waits_for_ever(self, clock):
        """Said aloud, a wait has no deadline."""
        answers = [instances(i_1="pending")] * 100
        running, _ = waiting(clock, "ec2", "instance_running", *answers, instances(i_1="running"))
        running.wait(InstanceIds=["i_1"], timeout=None)
        assert clock.monotonic() > 600


def test_interrupt_ends_the_waits_of_its_own_thread():
    """Ctrl-C in a call is for one thread; another one makes the call for the other waits."""
    clock = FakeClock()
    interrupts = [KeyboardInterrupt()]

    def play(operation, params):
        if interrupts:
            raise interrupts.pop()
        return volumes(**{each.replace("-", "_"): "available" for each in params["VolumeIds"]})

    def describe_volumes(**params):
        return play("DescribeVolumes", params)

    client = SimpleNamespace(describe_volumes=describe_volumes)
    waits = VolumeAvailableWaiter(client, clock=clock)
    ended = []

    def wait(n):
        try:
            ended.append(waits.wait(f"vol-{n}", timeout=60)["VolumeId"])
        except KeyboardInterrupt:
            ended.append("interrupted")

    clock.run(*[lambda n=n: wait(n) for n in range(3)])
    assert sorted(ended)[0] == "interrupted"
    assert len({*ended} & {"vol-0", "vol-1", "vol-2"}) == 2


def test_interrupt_leaves_at_once_and_the_waiter_lives_on(clock):
    """Ctrl-C in the midst of a call is nobody's answer, and disturbs no later wait."""
    answers = iter([KeyboardInterrupt(), {"Job": "DONE"}])

    def describe_job():
        answer = next(answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    client = SimpleNamespace(describe_job=describe_job)
    done = waiter(client, define("describe_job", success=path("Job", "DONE")), clock=clock)
    with pytest.raises(KeyboardInterrupt):
        done.wait()
    assert done.wait() == {"Job": "DONE"}


def test_error_of_a_wait_keeps_no_frames(clock):
    """A remembered error of the service holds nothing of the call that raised it."""
    running, _ = waiting(clock, "ec2", "instance_running", DENIED)
    with pytest.raises(WaiterFailed) as caught:
        running.wait(InstanceIds=["i_1"])
    assert caught.value.__cause__.__traceback__ is None


class TestArguments:
    """What is refused before any call."""

    @pytest.mark.parametrize(
        ("params", "kind", "text"),
        [
            ({"InstanceIds": []}, ValueError, "InstanceIds must not be empty, .* all there is"),
            ({"InstanceIds": ()}, ValueError, r"got InstanceIds=\(\)"),
            ({"InstanceIds": "i-1"}, TypeError, "must be a list of ids: got InstanceIds='i-1'"),
            ({"InstanceIds": iter([])}, ValueError, "InstanceIds must not be empty"),
            ({"InstanceIds": ["i-1", ""]}, ValueError, "InstanceIds must not hold an empty id"),
            ({"InstanceIds": {"i-1": 1}}, TypeError, "InstanceIds must be a list of ids"),
            ({"InstanceIds": None}, TypeError, "InstanceIds must be a list of ids"),
            ({"InstanceIDs": ["i-1"]}, TypeError, r"no parameter 'InstanceIDs' .*'InstanceIds'\?"),
            ({"instance_ids": ["i-1"]}, TypeError, r"\(did you mean 'InstanceIds'\?\)"),
            ({"Timeout": 3}, TypeError, "takes no parameter 'Timeout'"),
            ({"timeout": -1}, ValueError, "timeout must be finite"),
            ({"schedule": 3}, TypeError, "schedule must be a Schedule: got schedule=3"),
            ({"cancel": 3}, TypeError, "cancel must be an event"),
        ],
    )
    def test_wait_checks_its_arguments(self, clock, params, kind, text):
        """W1: an empty list of ids, an unknown parameter and the like make no call."""
        running, ec2 = waiting(clock, "ec2", "instance_running")
        with pytest.raises(kind, match=text):
            running.wait(**params)
        assert ec2.calls == []

    def test_wait_requires_what_the_operation_requires(self, clock):
        """A required parameter that is missing is named."""
        active, eks = waiting(clock, "eks", "nodegroup_active")
        with pytest.raises(TypeError, match="requires nodegroupName: got clusterName"):
            active.wait(clusterName="c")
        assert eks.calls == []

    @pytest.mark.parametrize("several", [tuple, set, frozenset, iter, dict.fromkeys("ab").keys()])
    def test_ids_may_come_in_any_collection(self, clock, several):
        """A generator or a set of ids is as good as a list."""
        running, ec2 = waiting(clock, "ec2", "instance_running", instances(i_1="running"))
        ids = several(["i_1"]) if callable(several) else {"i_1": 1}.keys()
        assert running.wait(InstanceIds=ids)
        assert ec2.asked("InstanceIds") == [["i_1"]]

    def test_resource_is_refused_with_its_client(self):
        """A resource of boto3 is no client, and the error says where its client is."""
        resource = boto3.resource("ec2", **KEYS)
        for wrong in (
            lambda: waiter(resource, "instance_running"),
            lambda: describer(resource, "describe_instances"),
            lambda: pages(resource, "describe_instances"),
            lambda: VolumeAvailableWaiter(resource),
        ):
            with pytest.raises(TypeError, match=r"a resource of boto3, whose client is its meta"):
                wrong()

    def test_ids_of_a_wrong_type_are_left_to_botocore(self, clock):
        """What botocore itself refuses is refused in its words."""
        running, ec2 = waiting(clock, "ec2", "instance_running")
        with pytest.raises(ParamValidationError, match="Invalid type for parameter InstanceIds"):
            running.wait(InstanceIds=[3])
        assert ec2.calls == []

    @pytest.mark.parametrize(
        ("options", "kind", "text"),
        [
            ({"missing_grace": -1}, ValueError, "missing_grace must be finite"),
            ({"min_gap": None}, TypeError, "min_gap must be seconds"),
            ({"until_stable": 0}, ValueError, "until_stable must be >= 1"),
            ({"until_stable": True}, TypeError, "until_stable must be an int"),
            ({"schedule": 3}, TypeError, "schedule must be a Schedule"),
            ({"on_event": 3}, TypeError, "on_event must be callable"),
            ({"clock": 3}, TypeError, "clock must be a clock"),
            ({"rng": 3}, TypeError, "rng must be a source"),
        ],
    )
    def test_waiter_checks_its_settings_when_made(self, options, kind, text):
        """A waiter that exists is legal."""
        with pytest.raises(kind, match=text):
            waiter(Service("ec2").client, "instance_running", **options)

    def test_waiter_knows_near_names(self):
        """A waiter that the client does not have is refused with those that it has."""
        with pytest.raises(ValueError, match="no waiter 'volume_availabel' .*'volume_available'"):
            waiter(Service("ec2").client, "volume_availabel")

    def test_async_client_is_refused_with_a_hint(self):
        """A client whose answers must be awaited is refused when the waiter is made."""

        class Lazy:
            async def close(self):
                """Say that this client is one for asyncio."""

            async def describe_volumes(self, **params):
                raise AssertionError("nobody awaits this")

        with pytest.raises(TypeError, match=r"asyncio, which pollwait\.aws\.aio takes"):
            waiter(Lazy(), define("describe_volumes", success=status(200)))

    def test_answer_that_must_be_awaited_is_refused(self, clock):
        """An answer that must be awaited is an error that says so, and leaves no warning."""

        async def answer():
            raise AssertionError("nobody awaits this")

        lazy = SimpleNamespace(describe_volumes=lambda **_: answer())
        known = waiter(lazy, define("describe_volumes", success=status(200)), clock=clock)
        with pytest.raises(TypeError, match=r"returned an awaitable .* use pollwait\.aws\.aio"):
            known.wait()


class TestOwn:
    """Waiters of one's own."""

    JOB = define(
        "describe_stacks",
        name="JobDone",
        success=path("Stacks[0].StackStatus", "DONE"),
        failure=path("Stacks[0].StackStatus", "FAILED"),
        delay=4,
        max_attempts=5,
    )

    @pytest.mark.parametrize("how", ["definition", "model", "document", "file"])
    def test_own_definition_behaves_as_any(self, clock, tmp_path, how):
        """W9: from Python, a document, its text or a file, it is a waiter like all others."""
        document = self.JOB.document()
        document["waiters"]["JobDone"]["operation"] = "DescribeStacks"
        file = tmp_path / "waiters.json"
        file.write_text(json.dumps(document), "utf-8")
        given = {
            "definition": (self.JOB, {}),
            "model": ("job_done", {"model": self.JOB}),
            "document": ("job_done", {"model": json.dumps(document)}),
            "file": ("job_done", {"model": file}),
        }
        name, options = given[how]
        running = {"Stacks": [{"StackName": "s", "StackStatus": "RUNNING"}]}
        done, played = waiting(clock, "cloudformation", name, running, **options)
        assert done.definition.operation == "DescribeStacks"
        with pytest.raises(WaiterTimeout) as caught:
            done.wait(StackName="s")
        assert caught.value.elapsed == 20.0
        played.play = script({"Stacks": [{"StackName": "s", "StackStatus": "FAILED"}]})
        with pytest.raises(WaiterFailed, match="state 'FAILED', matched failure acceptor"):
            done.wait(StackName="s")
        played.play = script({"Stacks": [{"StackName": "s", "StackStatus": "DONE"}]})
        assert done.wait(StackName="s")

    def test_own_definition_runs_on_a_client_without_a_model(self, clock):
        """Anything with the method will do for a client."""
        client = SimpleNamespace(describe_job=lambda **params: {"Job": params["Id"]})
        known = waiter(client, define("describe_job", success=path("Job", "j")), clock=clock)
        assert known.wait(Id="j") == {"Job": "j"}
