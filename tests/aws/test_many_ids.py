"""Waits for more ids than a call takes: one call at a time, and no answer is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pollwait import Checked, Finished, fixed
from pollwait._core.group import LINGER
from pollwait.aws import WaiterExhausted, WaiterFailed, WaiterTimeout, waiter
from pollwait.testing import FakeClock

from .fakes import Service, error

THROTTLED = error("ThrottlingException", "Rate exceeded")
BROKEN = error("ServerException", "Service Unavailable", 500)


@pytest.fixture
def clock():
    """Return a clock whose time costs nothing."""
    return FakeClock()


class Cluster:
    """ECS with services, ten of which it describes in a call.

    Attributes:
        times: the start of each call.
    """

    def __init__(self, clock, refuse=lambda number: None, ready=lambda name: 0.0):
        self.clock, self.refuse, self.ready = clock, refuse, ready
        self.times = []
        self.service = Service("ecs", self.play)

    def stable(self, **options):
        """Return a waiter for its services."""
        return waiter(self.service.client, "services_stable", clock=self.clock, **options)

    def play(self, operation, params):
        self.times.append(self.clock.monotonic())
        assert len(params["services"]) <= 10
        return self.refuse(len(self.times)) or self.described(params["services"])

    def described(self, names):
        return {"failures": [], "services": [
            {"serviceName": each, "status": "ACTIVE", "deployments": [{}], "desiredCount": 1,
             "runningCount": int(self.clock.monotonic() >= self.ready(each))}
            for each in names
        ]}  # fmt: skip

    @property
    def asked(self):
        return self.service.asked("services")


def names(count):
    """Return the names of some services."""
    return [f"s{n}" for n in range(count)]


def flat(lists):
    """Return lists as one."""
    return [each for part in lists for each in part]


def test_calls_for_many_ids_are_a_gap_apart(clock):
    """W9: 35 services take four calls, no closer together than the gap, and one response."""
    ecs = Cluster(clock)
    response = ecs.stable().wait(services=names(35))
    assert [each["serviceName"] for each in response["services"]] == names(35)
    assert response["failures"] == []
    assert ecs.times == [LINGER + 0.5 * n for n in range(4)]


def test_threads_that_ask_for_many_ids_keep_the_gap_together(clock):
    """However many wait for however many, calls start no closer together than the gap."""
    ecs = Cluster(clock)
    stable = ecs.stable()
    waits = [lambda k=k: stable.wait(services=[f"{k}-{n}" for n in range(25)]) for k in range(6)]
    responses = clock.run(*waits)
    assert all(later - sooner >= 0.5 - 1e-9 for sooner, later in pairwise(ecs.times))
    assert len(ecs.times) == 15
    assert [len(each["services"]) for each in responses] == [25] * 6


@pytest.mark.parametrize("why", [THROTTLED, BROKEN])
def test_error_that_passes_costs_no_answer(clock, why):
    """W4: after a throttle the wait goes on with the ids that have no answer yet."""
    ecs = Cluster(clock, lambda number: why if number in (3, 4, 7) else None)
    response = ecs.stable().wait(services=names(50))
    assert len(response["services"]) == 50
    good = [ids for number, ids in enumerate(ecs.asked, 1) if number not in (3, 4, 7)]
    assert flat(good) == names(50)


@pytest.mark.parametrize("count", [210, 400])
def test_wait_gets_through_a_limit_that_refills_slowly(clock, count):
    """A service that allows two calls at once and then one in two seconds answers all the same."""
    allowed = {"left": 2.0, "at": 0.0}

    def refuse(number):
        now = clock.monotonic()
        allowed["left"] = min(2.0, allowed["left"] + (now - allowed["at"]) / 2)
        allowed["at"] = now
        if allowed["left"] < 1:
            return THROTTLED
        allowed["left"] -= 1
        return None

    ecs = Cluster(clock, refuse)
    assert len(ecs.stable().wait(services=names(count))["services"]) == count
    assert clock.monotonic() < count / 10 * 2 * 1.5


def test_pass_over_all_ids_is_one_check(clock):
    """Calls count as one check together, in texts, for schedules that end, and for listeners."""
    events = []
    ecs = Cluster(clock, ready=lambda name: 1e9)
    stable = ecs.stable(schedule=fixed(5).times(1), on_event=events.append)
    with pytest.raises(WaiterExhausted, match="after 2 checks in 7.004 s") as caught:
        stable.wait(services=names(25))
    assert caught.value.attempts == 2
    assert next(each for each in events if isinstance(each, Checked)).value["services"][24]
    kinds = [type(each) for each in events if isinstance(each, Checked | Finished)]
    assert kinds == [Checked, Checked, Finished]
    assert ecs.times == [LINGER + at for at in (0.0, 0.5, 1.0, 6.0, 6.5, 7.0)]
    quick = Cluster(clock)
    config = {"Delay": 0, "MaxAttempts": 2}
    assert len(quick.stable().wait(services=names(25), WaiterConfig=config)["services"]) == 25


def test_success_takes_one_pass_in_which_all_are_good(clock):
    """What was good in an earlier pass is looked at again in the one that succeeds."""
    ecs = Cluster(clock, ready=lambda name: 4.0 if name == "s24" else 0.0)
    ecs.stable().wait(services=names(25))
    assert len(ecs.asked) % 3 == 0
    assert flat(ecs.asked[-3:]) == names(25)
    assert ecs.times[-3] >= 2.0


def test_response_shows_the_newest_of_each(clock):
    """A service that is asked for by name and by ARN, or by others too, is shown as seen last."""
    counts = {}

    def described(asked):
        for each in asked:
            counts[each] = counts.get(each, 0) + 1
        return {"failures": [], "services": [
            {"serviceName": each, "status": "ACTIVE", "deployments": [{}], "desiredCount": 1,
             "runningCount": 1, "pendingCount": counts[each]}
            for each in asked
        ]}  # fmt: skip

    ecs = Cluster(clock)
    ecs.described = described
    stable = ecs.stable()
    whole, one = clock.run(
        lambda: stable.wait(services=names(15)),
        lambda: (clock.sleep(0.25), stable.wait(services=["s0"]))[1],
    )
    assert one["services"][0]["pendingCount"] == 2
    shown = {each["serviceName"]: each["pendingCount"] for each in whole["services"]}
    assert shown["s0"] == 2
    assert len(whole["services"]) == 15


def test_deadline_in_the_midst_of_a_pass_ends_the_wait(clock):
    """A wait ends at its deadline with what it has, which is never a success."""
    ecs = Cluster(clock)
    with pytest.raises(WaiterTimeout) as caught:
        ecs.stable().wait(services=names(50), timeout=1)
    assert clock.monotonic() == 1.0 + LINGER
    assert str(caught.value) == (
        "'ServicesStable of s0, s1, s2 and 47 more' not ready after 0 checks in 1.004 s"
        " (timeout 1 s); 20 of 50 ids not asked for in time"
    )
    assert caught.value.id == "s30"


def test_bad_state_fails_in_the_midst_of_a_pass(clock):
    """W1: one service that is draining fails the wait, without a look at the rest."""
    ecs = Cluster(clock)
    described = ecs.described
    ecs.described = lambda asked: (
        described(asked)
        | ({"services": [{"serviceName": "s3", "status": "DRAINING"}]} if "s3" in asked else {})
    )
    with pytest.raises(WaiterFailed, match="state 'DRAINING' of s3") as caught:
        ecs.stable().wait(services=names(50))
    assert (caught.value.id, len(ecs.times)) == ("s3", 1)


def test_many_ids_hold_up_nobody(clock):
    """Who waits for one is served at once while another waits for hundreds."""
    ecs = Cluster(clock)
    stable = ecs.stable()
    took = {}

    def one(after):
        clock.sleep(after)
        stable.wait(services=[f"t{after}"])
        took[after] = clock.monotonic() - after

    waits = [lambda after=after: one(after) for after in range(1, 12)]
    clock.run(lambda: stable.wait(services=names(300)), *waits)
    assert max(took.values()) <= 0.5
    assert 15 <= clock.monotonic() < 20


def test_answers_from_before_a_wait_are_not_for_it(clock):
    """G1: who joins an equal wait in the midst of its pass looks at all ids itself."""
    ecs = Cluster(clock, ready=lambda name: 1.25 if name == "s29" else 0.0)
    stable = ecs.stable()
    seen = {}

    def wait(after):
        clock.sleep(after)
        calls = len(ecs.asked)
        stable.wait(services=names(30))
        seen[after] = set(flat(ecs.asked[calls:]))

    clock.run(lambda: wait(0), lambda: wait(0.75))
    assert seen[0.75] == {*names(30)}


def test_deletion_of_many_comes_in_bearable_numbers(clock):
    """W6: 60 volumes that EC2 names one by one cost 60 calls, 20 of them in a row at the most."""
    times = []

    def play(operation, params):
        times.append(clock.monotonic())
        return error("InvalidVolume.NotFound", f"The volume '{params['VolumeIds'][0]}' is gone.")

    ec2 = Service("ec2", play)
    gone = waiter(ec2.client, "volume_deleted", clock=clock)
    gone.wait(VolumeIds=[f"vol-{n}" for n in range(60)])
    assert [times.count(at) for at in sorted(set(times))] == [20, 20, 20]
    times.clear()
    results = gone.wait_many([f"vol-{n}" for n in range(100, 160)], timeout=60)
    assert all(isinstance(each, dict) for each in results.values())
    assert [times.count(at) for at in sorted(set(times))] == [20, 20, 20]


def test_deletion_counts_what_is_gone_for_gone(clock):
    """W6: what is gone stays so; the wait goes on for the last one, whatever else spoils calls."""
    deleted = {f"vol-{n}" for n in range(50)}

    def play(operation, params):
        gone = [each for each in params["VolumeIds"] if each in deleted or clock.monotonic() > 30]
        if gone:
            return error("InvalidVolume.NotFound", f"The volume '{gone[0]}' does not exist.")
        return {
            "Volumes": [{"VolumeId": each, "State": "deleting"} for each in params["VolumeIds"]]
        }

    ec2 = Service("ec2", play)
    gone = waiter(ec2.client, "volume_deleted", clock=clock)
    gone.wait(VolumeIds=[*sorted(deleted), "vol-last"])
    assert 30 < clock.monotonic() <= 45
    stable = waiter(ec2.client, "volume_deleted", clock=clock, until_stable=2)
    stable.wait(VolumeIds=["vol-1", "vol-2"])


def test_good_ids_are_ready_among_many_bad_ones(clock):
    """C7: 400 volumes come when they are ready, whatever 100 unknown ones cost that no error names.

    Those fail after their grace.
    """
    ids = [f"vol-{n}" for n in range(500)]
    dead = {each for n, each in enumerate(ids) if n % 5 == 0}

    def play(operation, params):
        if dead & {*params["VolumeIds"]}:
            return error("InvalidVolume.NotFound", "Not found.")
        state = "available" if clock.monotonic() >= 10 else "creating"
        return {"Volumes": [{"VolumeId": each, "State": state} for each in params["VolumeIds"]]}

    available = waiter(Service("ec2", play).client, "volume_available", clock=clock)
    ended = {}
    for each, result in available.as_completed(ids, timeout=60):
        ended[each] = (clock.monotonic(), isinstance(result, dict))
    assert {each for each, (_, good) in ended.items() if good} == {*ids} - dead
    assert max(at for at, good in ended.values() if good) < 20


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 35), min_size=1, max_size=4),
    st.sets(st.integers(1, 30), max_size=8),
    st.floats(0, 12),
)
def test_no_wait_succeeds_too_soon_or_starves(sizes, throttled, slowest):
    """Whoever waits for however many, through whatever throttles, ends after its last is up."""
    clock = FakeClock()
    ecs = Cluster(
        clock,
        lambda number: THROTTLED if number in throttled else None,
        lambda name: slowest if name.endswith("-0") else 0.0,
    )
    stable = ecs.stable()
    ended = []

    def wait(k, size):
        ids = [f"{k}-{n}" for n in range(size)]
        response = stable.wait(services=ids)
        ended.append(clock.monotonic())
        shown = [each["serviceName"] for each in response["services"]]
        assert sorted(shown) == sorted(ids)
        assert all(each["runningCount"] == 1 for each in response["services"])

    clock.run(*[lambda k=k, size=size: wait(k, size) for k, size in enumerate(sizes)])
    assert len(ended) == len(sizes)
    assert min(ended) >= slowest
    assert all(later - sooner >= 0.5 - 1e-9 for sooner, later in pairwise(ecs.times))
