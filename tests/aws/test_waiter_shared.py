"""Waits of one waiter that share calls: threads, many at once, and who fails by whom."""

from __future__ import annotations

import gc
import threading
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pollwait._core.group import LINGER
from pollwait.aws import (
    VolumeAvailableWaiter,
    WaiterCancelled,
    WaiterFailed,
    WaiterTimeout,
    define,
    path_all,
    waiter,
)
from pollwait.testing import FakeClock

from .fakes import Service, error


@pytest.fixture
def clock():
    """Return a clock whose time costs nothing."""
    return FakeClock()


def ec2_with(clock, ready, *, dead=(), names=True):
    """Return EC2 with volumes that are available from some time on; dead ones it does not know."""

    def play(operation, params):
        asked = params["VolumeIds"]
        unknown = [each for each in asked if each in dead]
        if unknown:
            who = f"The volume '{unknown[0]}' does not exist." if names else "Not found."
            return error("InvalidVolume.NotFound", who)
        return {"Volumes": [
            {"VolumeId": each,
             "State": "available" if clock.monotonic() >= ready.get(each, 0) else "creating"}
            for each in asked
        ]}  # fmt: skip

    return Service("ec2", play)


KINDS = {
    "any": lambda client, clock: waiter(client, "volume_available", clock=clock),
    "volumes": lambda client, clock: VolumeAvailableWaiter(client, clock=clock),
}


@pytest.fixture(params=KINDS)
def made(request):
    """Return how to make a waiter for volumes: by name, and the one made for them."""
    return KINDS[request.param]


def state_of(result):
    """Return the state in what a waiter for volumes gave for one volume."""
    return (result["Volumes"][0] if "Volumes" in result else result)["State"]


class TestMany:
    """Many waits in one thread."""

    def test_wait_many_gives_each_its_own(self, clock, made):
        """Each id has the answer that it would have alone, in the order given."""
        ec2 = ec2_with(clock, {"vol-2": 3})
        results = made(ec2.client, clock).wait_many(["vol-2", "vol-1", "vol-2"], timeout=60)
        assert list(results) == ["vol-2", "vol-1"]
        assert [state_of(each) for each in results.values()] == ["available"] * 2
        shown = results["vol-1"]
        assert shown.get("Volumes", [shown]) == [{"VolumeId": "vol-1", "State": "available"}]

    def test_wait_many_costs_as_many_calls_as_one(self, clock, made):
        """W5: 500 waits travel in one call; one more takes two."""
        ids = [f"vol-{n}" for n in range(500)]
        ec2 = ec2_with(clock, {})
        results = made(ec2.client, clock).wait_many(ids, timeout=60)
        assert all(state_of(each) == "available" for each in results.values())
        assert [len(each) for each in ec2.asked("VolumeIds")] == [500]
        ec2.calls.clear()
        made(ec2.client, clock).wait_many([*ids, "vol-500"], timeout=60)
        assert sorted(len(each) for each in ec2.asked("VolumeIds")) == [1, 500]

    @pytest.mark.parametrize("names", [True, False])
    def test_dead_id_fails_alone_and_in_the_same_round(self, clock, names):
        """W5: one dead id among 64 is found in the round, and the others are ready by it."""
        ids = [f"vol-{n}" for n in range(64)]
        ec2 = ec2_with(clock, {}, dead=["vol-7"], names=names)
        known = waiter(ec2.client, "volume_available", clock=clock, missing_grace=0)
        ended = list(known.as_completed(ids, timeout=60))
        assert clock.monotonic() == LINGER
        bad = dict(ended)["vol-7"]
        assert isinstance(bad, WaiterFailed)
        assert (bad.id, bad.__cause__.response["Error"]["Code"]) == (
            "vol-7",
            "InvalidVolume.NotFound",
        )
        assert all(isinstance(each, dict) for key, each in ended if key != "vol-7")
        assert len(ec2.calls) == (2 if names else 11)

    def test_dead_id_does_not_hold_up_the_others(self, clock, made):
        """C11: a missing id is excused for a while and then fails; the others come when ready."""
        ec2 = ec2_with(clock, {"vol-1": 4}, dead=["vol-2"])
        results = made(ec2.client, clock).wait_many(["vol-1", "vol-2"], timeout=60)
        assert state_of(results["vol-1"]) == "available"
        assert "(missing_grace 15 s)" in str(results["vol-2"])
        assert 15 < clock.monotonic() < 35

    def test_many_dead_ids_fail_after_their_grace(self, clock, made):
        """C11: so do 60 of them, which EC2 names one by one, with few calls at a time."""
        ids = [f"vol-{n}" for n in range(60)]
        ec2 = ec2_with(clock, {}, dead=ids)
        results = made(ec2.client, clock).wait_many([*ids, "vol-good"], timeout=300)
        assert state_of(results["vol-good"]) == "available"
        assert sum(isinstance(each, WaiterFailed) for each in results.values()) == 60
        assert clock.monotonic() < 60

    def test_as_completed_gives_each_when_it_is_ready(self, clock, made):
        """The first to be ready comes first."""
        ec2 = ec2_with(clock, {"vol-1": 9, "vol-2": 2, "vol-3": 5})
        completed = made(ec2.client, clock).as_completed(["vol-1", "vol-2", "vol-3"], timeout=60)
        assert [each for each, _ in completed] == ["vol-2", "vol-3", "vol-1"]

    def test_as_completed_can_be_left(self, clock, made):
        """Closing or dropping the iterator gives up what is left, begun or not."""
        ec2 = ec2_with(clock, {"vol-1": 9})
        known = made(ec2.client, clock)
        completed = known.as_completed(["vol-1", "vol-2"], timeout=60)
        assert next(iter(completed))[0] == "vol-2"
        completed.close()
        known.as_completed(["vol-3"], timeout=60)
        gc.collect()
        ec2.calls.clear()
        known.wait_many(["vol-4"], timeout=60)
        assert ec2.asked("VolumeIds") == [["vol-4"]]

    def test_cancel_ends_those_that_are_left(self, clock, made):
        """The event ends the waits that are not over; what was ready stays so."""
        stop = threading.Event()
        clock.call_at(5, stop.set)
        ec2 = ec2_with(clock, {"vol-1": 9})
        results = made(ec2.client, clock).wait_many(["vol-1", "vol-2"], timeout=60, cancel=stop)
        assert isinstance(results["vol-1"], WaiterCancelled)
        assert results["vol-1"].id == "vol-1"
        assert state_of(results["vol-2"]) == "available"

    def test_each_has_its_own_deadline(self, clock, made):
        """A timeout is told of each by itself, with its own id and state."""
        ec2 = ec2_with(clock, {"vol-1": 99, "vol-2": 99})
        results = made(ec2.client, clock).wait_many(["vol-1", "vol-2"], timeout=10)
        assert all(isinstance(each, WaiterTimeout) for each in results.values())
        assert [each.id for each in results.values()] == ["vol-1", "vol-2"]
        assert "last state 'creating'" in str(results["vol-1"])

    def test_no_ids_need_no_call(self, clock, made):
        """W1: to wait for nothing is done at once."""
        ec2 = ec2_with(clock, {})
        known = made(ec2.client, clock)
        assert known.wait_many([], timeout=60) == {}
        assert list(known.as_completed(iter(()), timeout=60)) == []
        assert ec2.calls == []

    @pytest.mark.parametrize(
        ("ids", "kind", "text"),
        [
            ("vol-1", TypeError, "must be a collection of ids"),
            (None, TypeError, "must be a collection of ids"),
            ({"vol-1": 1}, TypeError, "must be a collection of ids"),
            ([3], TypeError, "must be (a )?str"),
            ([""], ValueError, "must (not be empty|be the id of a volume)"),
        ],
    )
    def test_ids_are_checked(self, clock, made, ids, kind, text):
        """What is no collection of ids is refused before any call."""
        ec2 = ec2_with(clock, {})
        with pytest.raises(kind, match=text):
            made(ec2.client, clock).wait_many(ids, timeout=60)
        assert ec2.calls == []


class TestThreads:
    """Waits of many threads."""

    def test_threads_share_calls(self, clock, made):
        """W5: 30 threads that wait for 30 volumes cost as many calls as one."""
        ec2 = ec2_with(clock, {f"vol-{n}": 3 for n in range(30)})
        known = made(ec2.client, clock)
        results = []

        def wait(n):
            results.append((n, known.wait_many([f"vol-{n}"], timeout=60)))

        clock.run(*[lambda n=n: wait(n) for n in range(30)])
        assert len(results) == 30
        assert all(state_of(each[f"vol-{n}"]) == "available" for n, each in results)
        alone_clock = FakeClock()
        alone = ec2_with(alone_clock, {"vol-0": 3})
        made(alone.client, alone_clock).wait_many(["vol-0"], timeout=60)
        assert len(ec2.calls) == len(alone.calls)

    def test_throttle_is_one_back_off_for_all(self, clock):
        """W4: one throttled call slows 30 waits once, and fails none of them."""
        ec2 = ec2_with(clock, {})
        play = ec2.play
        ec2.play = lambda *asked: (
            error("RequestLimitExceeded", status=503) if len(ec2.calls) == 1 else play(*asked)
        )
        known = waiter(ec2.client, "volume_available", clock=clock)
        waits = [lambda n=n: known.wait(VolumeIds=[f"vol-{n}"]) for n in range(30)]
        assert len(clock.run(*waits)) == 30
        assert [len(each) for each in ec2.asked("VolumeIds")] == [30, 30]

    def test_waits_for_several_ids_share_with_others(self, clock):
        """Waits for one id and for several travel together; each id is asked for once."""
        ec2 = ec2_with(clock, {})
        known = waiter(ec2.client, "volume_available", clock=clock)
        one, two = clock.run(
            lambda: known.wait(VolumeIds=["vol-1"]),
            lambda: known.wait(VolumeIds=["vol-1", "vol-2"]),
        )
        assert ec2.asked("VolumeIds") == [["vol-1", "vol-2"]]
        assert [len(each["Volumes"]) for each in (one, two)] == [1, 2]

    def test_waits_with_other_parameters_do_not_share(self, clock):
        """Services of two clusters are asked for apart, those of one cluster together."""

        def play(operation, params):
            return {"failures": [], "services": [
                {"serviceName": each, "status": "ACTIVE", "deployments": [{}],
                 "runningCount": 1, "desiredCount": 1, "clusterArn": params["cluster"]}
                for each in params["services"]
            ]}  # fmt: skip

        ecs = Service("ecs", play)
        stable = waiter(ecs.client, "services_stable", clock=clock)
        waits = [
            lambda c=c, s=s: stable.wait(cluster=c, services=[s]) for c in "ab" for s in ("x", "y")
        ]
        results = clock.run(*waits)
        assert [each["services"][0]["clusterArn"] for each in results] == ["a", "a", "b", "b"]
        assert [(p["cluster"], p["services"]) for _, p in ecs.calls] == [
            ("a", ["x", "y"]),
            ("b", ["x", "y"]),
        ]

    def test_equal_waits_share_calls_where_there_are_no_ids(self, clock):
        """W5: waits for one stack are one call; another stack is another call."""

        def play(operation, params):
            clock.advance(0.25)
            status = "CREATE_COMPLETE" if clock.monotonic() > 2 else "CREATE_IN_PROGRESS"
            return {"Stacks": [{"StackName": params["StackName"], "StackStatus": status}]}

        cloudformation = Service("cloudformation", play)
        done = waiter(cloudformation.client, "stack_create_complete", clock=clock)
        stacks = ["a", "a", "a", "b"]
        results = clock.run(*[lambda s=s: done.wait(StackName=s) for s in stacks])
        assert [each["Stacks"][0]["StackName"] for each in results] == stacks
        asked = cloudformation.asked("StackName")
        assert asked.count("a") <= 2 * asked.count("b")

    def test_waiters_are_scopes_of_their_own(self, clock):
        """Two waiters share nothing, even on one client."""
        ec2 = ec2_with(clock, {})
        one, two = (waiter(ec2.client, "volume_available", clock=clock) for _ in range(2))
        clock.run(lambda: one.wait(VolumeIds=["vol-1"]), lambda: two.wait(VolumeIds=["vol-2"]))
        assert ec2.asked("VolumeIds") == [["vol-1"], ["vol-2"]]

    def test_one_wait_after_another_keeps_the_gap(self, clock, made):
        """A loop over waits makes no more calls than its waiter may make."""
        ec2 = ec2_with(clock, {})
        known = made(ec2.client, clock)
        times = []
        play = ec2.play
        ec2.play = lambda *asked: times.append(clock.monotonic()) or play(*asked)
        for n in range(4):
            known.wait_many([f"vol-{n}"], timeout=60)
        assert all(later - sooner >= 0.5 for sooner, later in pairwise(times))


class TestWithoutLists:
    """Operations that take no list of ids."""

    def test_wait_many_names_the_one_parameter(self, clock):
        """Where one parameter tells things apart, ids are its values; each has its own call."""

        def play(operation, params):
            name = params["name"]
            return {"cluster": {"name": name, "status": "FAILED" if name == "b" else "ACTIVE"}}

        eks = Service("eks", play)
        results = waiter(eks.client, "cluster_active", clock=clock).wait_many(["a", "b"])
        assert results["a"]["cluster"]["name"] == "a"
        assert isinstance(results["b"], WaiterFailed)
        assert (results["b"].id, results["b"].state) == ("b", "FAILED")
        assert eks.asked("name") == ["a", "b"]

    def test_wait_many_fills_in_what_is_not_given(self, clock):
        """Of two required parameters one may be given, so that the ids are the other."""

        def play(operation, params):
            return {"nodegroup": {"nodegroupName": params["nodegroupName"], "status": "ACTIVE"}}

        eks = Service("eks", play)
        active = waiter(eks.client, "nodegroup_active", clock=clock)
        assert list(active.wait_many(["n", "m"], clusterName="c")) == ["n", "m"]
        assert eks.asked("clusterName") == ["c", "c"]
        with pytest.raises(TypeError, match=r"required are clusterName, nodegroupName; give all"):
            active.wait_many(["n"])

    @pytest.mark.parametrize(
        ("service", "name", "parameter"),
        [
            ("rds", "db_instance_available", "DBInstanceIdentifier"),
            ("cloudformation", "stack_create_complete", "StackName"),
        ],
    )
    def test_wait_many_knows_names_that_are_not_required(self, clock, service, name, parameter):
        """Operations that describe everything without a name are known by a table."""
        answers = {
            "rds": {"DBInstances": [{"DBInstanceStatus": "available"}]},
            "cloudformation": {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]},
        }
        played = Service(service, lambda *asked: answers[service])
        waiter(played.client, name, clock=clock).wait_many(["x", "y"])
        assert played.asked(parameter) == ["x", "y"]

    def test_wait_many_asks_by_the_names_that_it_is_told(self, clock):
        """Where things have ids and names, ``by`` says which of them are given."""

        def play(operation, params):
            names = params["Names"]
            return {"LoadBalancers": [
                {"LoadBalancerName": each, "LoadBalancerArn": f"arn:{each}",
                 "State": {"Code": "active"}}
                for each in names
            ]}  # fmt: skip

        elb = Service("elbv2", play)
        available = waiter(elb.client, "load_balancer_available", clock=clock)
        found = available.wait_many(["a", "b"], by="Names", timeout=60)
        shown = [each["LoadBalancers"][0]["LoadBalancerName"] for each in found.values()]
        assert shown == ["a", "b"]
        assert elb.asked("Names") == [["a", "b"]]
        assert dict(available.as_completed(["c"], by="Names"))["c"]["LoadBalancers"]
        with pytest.raises(TypeError, match="Names must not be given beside ids"):
            available.wait_many(["a"], by="Names", Names=["b"])
        with pytest.raises(ValueError, match="by must be 'LoadBalancerArns', 'Names'.* got by='N'"):
            available.wait_many(["a"], by="N")

    def test_wait_many_asks_by_any_text_that_it_is_told(self, clock):
        """Where no list is taken, ``by`` names the one parameter that tells things apart."""
        s3 = Service("s3", lambda operation, params: {})
        exists = waiter(s3.client, "object_exists", clock=clock)
        exists.wait_many(["a", "b"], by="Key", Bucket="bucket")
        assert s3.asked("Key") == ["a", "b"]
        client = SimpleNamespace(describe_job=lambda **params: params)
        job = waiter(client, define("describe_job", success=path_all("[Name]", "n")), clock=clock)
        assert job.wait_many(["n"], by="Name")["n"] == {"Name": "n"}
        with pytest.raises(TypeError, match="name it, as in by='Name', or call wait for each"):
            job.wait_many(["n"])

    @pytest.mark.parametrize(
        ("options", "kind"),
        [({"timeout": "x"}, TypeError), ({"foo": 1}, TypeError), ({"cancel": 3}, TypeError),
         ({"schedule": 3}, TypeError), ({"by": "x"}, ValueError), ({"VolumeIds": []}, TypeError)],
    )  # fmt: skip
    def test_arguments_are_checked_where_nothing_is_waited_for(self, clock, options, kind):
        """A mistake shows with no ids as it does with some."""
        available = waiter(Service("ec2").client, "volume_available", clock=clock)
        with pytest.raises(kind):
            available.wait_many([], **options)

    def test_wait_many_says_where_nothing_tells_things_apart(self, clock):
        """Where no parameter tells things apart, the error says what to do instead."""
        bucket = define("list_buckets", success=path_all("Buckets[].Name", "b"))
        s3 = Service("s3")
        with pytest.raises(TypeError, match="call wait for each, in threads of your own"):
            waiter(s3.client, bucket, clock=clock).wait_many(["b"])

    @pytest.mark.parametrize(
        ("service", "name", "params"),
        [
            ("ec2", "volume_available", {"VolumeIds": ["vol-1"]}),
            ("cloudformation", "stack_create_complete", {"StackName": "s"}),
        ],
    )
    def test_ids_are_given_once(self, clock, service, name, params):
        """The parameter of the ids beside them is refused."""
        played = Service(service)
        (parameter,) = params
        with pytest.raises(TypeError, match=f"{parameter} must not be given beside ids"):
            waiter(played.client, name, clock=clock).wait_many(["x"], **params)


def test_wait_for_existence_goes_on_until_its_deadline(clock):
    """A waiter whose name says "exists" waits on for what an empty answer does not show."""

    def play(operation, params):
        return {"MetricAlarms": [{"AlarmName": "a"}] if clock.monotonic() >= 20 else []}

    exists = waiter(Service("cloudwatch", play).client, "alarm_exists", clock=clock)
    found = exists.wait(AlarmNames=["a"], timeout=60)
    assert found["MetricAlarms"] == [{"AlarmName": "a"}]


def test_ids_need_no_parameter_that_botocore_fills_in(clock):
    """An account that botocore gives by itself is not asked of the caller."""
    vaults = Service("glacier", lambda operation, params: {"VaultName": params["vaultName"]})
    found = waiter(vaults.client, "vault_exists", clock=clock).wait_many(["v"], timeout=60)
    assert found["v"]["VaultName"] == "v"
