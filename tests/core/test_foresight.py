"""Groups that know how long things take: what they expect, and when they call (G9)."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait import PollFailed, TryAgain, fixed
from pollwait._core.cohorts import MOST, Cohorts
from pollwait._core.distribution import Distribution
from pollwait._core.duration import INFINITY
from pollwait._core.expected import EARLIEST, LATEST, Expected, best_moment
from pollwait._core.foresight import Foresight
from pollwait._core.group_settings import GroupSettings
from pollwait._core.latency import LatencyModel
from pollwait._core.no_foresight import CALL_COST
from pollwait._core.outlook import Outlook

from .group_world import Busy, Down, World, make, nothing

AT_TWO = Distribution((2.0, 2.0), (0.0, 1.0))
FROM_ONE_TO_THREE = Distribution((1.0, 3.0), (0.0, 1.0))
WITH_TAIL = Distribution((1.0, 1.5, 2.0), (0.0, 0.5, 0.9), 2.0)

# Doubt makes up a thousandth of what is expected, so times are only nearly those of the model.
DOUBT = 0.02


def a_world(ready, latency=AT_TWO, **options):
    """Return a world of a group with a latency model, and no gap unless one is asked for."""
    return World(ready, **{"latency": latency, "min_gap": 0, **options})


def seats_of(group, waits, *begins, key="a"):
    """Return waits that begin at some times, of a group that is never stepped."""
    settings = waits.replaced({"timeout": None})
    return [group.seat(key, settings, at) for at in begins]


def expected_of(outlook, seats, most=10**6, width=1e-9):
    """Return what is expected of waits, each in a cohort of its own unless they are equal."""
    cohorts = Cohorts(width)
    for seat in seats:
        cohorts.add(seat)
    return Expected(outlook, cohorts.counts(), most)


# What is expected.


@pytest.mark.parametrize("model", [AT_TWO, FROM_ONE_TO_THREE, WITH_TAIL])
def test_outlook_loses_time_at_the_rate_at_which_waits_are_ready(model):
    """What is lost by an age is the area under the share that is ready."""
    outlook = Outlook(model)
    area, step = 0.0, 1 / 512
    for number in range(512 * 6):
        area += step * outlook.ready((number + 0.5) * step)
    assert outlook.lost(6.0) == pytest.approx(area, abs=2 * step)


def test_outlook_always_leaves_a_chance():
    """However certain the model is, a wait may be ready sooner, and may be unready later."""
    outlook = Outlook(AT_TWO)
    assert 0.0 < outlook.ready(1.0) < 0.001
    assert 0.999 < outlook.ready(100.0) < outlook.ready(1e6) < 1.0


def test_outlook_of_instant_things_is_finite():
    """Things that were always ready at once have no median to speak of, and that is no trouble."""
    outlook = Outlook(LatencyModel([0.0, 0.0, 0.0]).distribution())
    assert 0.0 < outlook.typical < 1.0
    assert 0.0 < outlook.spread <= outlook.typical


@given(
    waits=st.lists(st.tuples(st.floats(0, 5), st.floats(0, 3)), min_size=1, max_size=8),
    later=st.floats(0, 10),
)
def test_expectation_is_that_of_what_was_not_ready_when_last_seen(waits, later):
    """Sums are those of the conditional expectations of the waits, one by one."""
    outlook = Outlook(WITH_TAIL)
    group, common = make(latency=WITH_TAIL)
    seats = []
    for began, unready in waits:
        (seat,) = seats_of(group, common, began)
        seat.seen = began + unready
        seats.append(seat)
    time = max(seat.seen for seat in seats) + later
    lost = ready = 0.0
    for seat in seats:
        age, known = time - seat.began, seat.seen - seat.began
        chance = 1 - outlook.ready(known)
        lost += (
            outlook.lost(age) - outlook.lost(known) - (age - known) * outlook.ready(known)
        ) / chance
        ready += (outlook.ready(age) - outlook.ready(known)) / chance
    found = expected_of(outlook, seats).at(time)
    assert found == (pytest.approx(lost, abs=1e-6), pytest.approx(ready, abs=1e-6))


def test_expectation_counts_no_more_waits_than_a_call_carries():
    """Of more waits than fit, those count of which the most is expected."""
    outlook = Outlook(AT_TWO)
    group, waits = make(latency=AT_TWO)
    seats = seats_of(group, waits, 0.0, 1.0, 1.0)
    assert expected_of(outlook, seats).at(4.0)[0] == pytest.approx(4.0, rel=DOUBT)
    assert expected_of(outlook, seats, most=2).at(4.0)[0] == pytest.approx(3.0, rel=DOUBT)
    assert expected_of(outlook, seats, most=1).at(4.0) == pytest.approx((2.0, 1.0), rel=DOUBT)


@given(begins=st.lists(st.floats(0, 60), min_size=1, max_size=40), cost=st.sampled_from([0.5, 4]))
def test_moment_is_about_when_the_cost_is_lost(begins, cost):
    """What is lost by the moment of a call is worth a call, give or take a factor of four."""
    outlook = Outlook(WITH_TAIL)
    group, waits = make(latency=WITH_TAIL)
    expected = expected_of(outlook, seats_of(group, waits, *begins))
    moment = best_moment(expected, cost, 1 / 64)
    lost = expected.at(moment)[0]
    if moment > expected.since:  # else a call should have been made before the last one began
        assert EARLIEST * cost * 0.999 <= lost <= LATEST * cost * 1.001


@pytest.mark.parametrize("origin", [0.0, 1e6, 1.7e9])
@pytest.mark.parametrize("cost", [1e-11, 1e-6, 0.95, 1e300])
def test_moment_is_found_whatever_the_clock_says(origin, cost):
    """Neither large numbers of a clock nor any cost keep the search from its end."""
    looks = 0

    class Counted(Expected):
        def after(self, time):
            nonlocal looks
            looks += 1
            assert looks < 500
            return super().after(time)

    for model in (AT_TWO, Distribution((0,), (1,)), LatencyModel().distribution()):
        outlook = Outlook(model)
        group, waits = make(latency=AT_TWO)
        cohorts = Cohorts(outlook.spread / 64)
        for seat in seats_of(group, waits, *[origin + number / 64 for number in range(200)]):
            cohorts.add(seat)
        looks = 0
        found = Counted(outlook, cohorts.counts(), 100)
        moment = best_moment(found, cost, outlook.spread / 64)
        assert found.since <= moment < INFINITY


@pytest.mark.parametrize("origin", [1e6, 1.7e9])
def test_moment_does_not_depend_on_the_origin_of_a_clock(origin):
    """A clock that counts from long ago brings the same moment, as far as it can tell them."""
    outlook = Outlook(WITH_TAIL)
    group, waits = make(latency=WITH_TAIL)
    moments = [
        best_moment(expected_of(outlook, seats_of(group, waits, at, at + 0.5)), 0.95, 1 / 64) - at
        for at in (0.0, origin)
    ]
    assert moments[1] == pytest.approx(moments[0], abs=1e-6)


# Cohorts.


def test_cohorts_stay_few():
    """However far apart waits began, and however many they are, sums are over few cohorts."""
    group, waits = make(latency=AT_TWO)
    cohorts = Cohorts(1 / 64)
    seats = seats_of(group, waits, *[number * 0.75 for number in range(5000)])
    for seat in seats:
        cohorts.add(seat)
    counts = dict(cohorts.counts())
    assert len(counts) <= MOST
    assert sum(counts.values()) == cohorts.size == 5000


def test_cohorts_of_many_waits_lose_little():
    """With cohorts the moment is nearly that of all waits one by one."""
    group, waits = make(latency=WITH_TAIL)
    seats = seats_of(group, waits, *[number / 500 for number in range(1000)])
    outlook = Outlook(WITH_TAIL)
    exact = best_moment(expected_of(outlook, seats), 0.5, 1 / 64)
    few = best_moment(expected_of(outlook, seats, width=1 / 64), 0.5, 1 / 64)
    assert few == pytest.approx(exact, abs=1 / 64)


def test_cohorts_forget_what_left():
    """A wait that leaves takes its times with it, and a width that has grown goes with the last."""
    group, waits = make(latency=AT_TWO)
    cohorts = Cohorts(1.0)
    early, late = seats_of(group, waits, 0.25, 0.75)
    cohorts.add(early)
    cohort = cohorts.add(late)
    assert cohort.times() == (0.5, 0.5)
    cohorts.drop(late)
    assert cohort.times() == (0.25, 0.25)
    cohorts.drop(early)
    assert (cohorts.size, list(cohorts.counts())) == (0, [])


def test_cohorts_widen_until_they_are_few_and_narrow_again():
    """What counts as alike is widened for many waits, and is as before when all have left."""
    group, waits = make(latency=AT_TWO)
    cohorts = Cohorts(1 / 64)
    seats = seats_of(group, waits, *range(MOST + 1))
    for seat in seats:
        cohorts.add(seat)
    for seat in seats:
        cohorts.drop(seat)
    first, second = seats_of(group, waits, 0.0, 0.25)
    assert cohorts.add(first) is not cohorts.add(second)


# When calls start.


def test_call_comes_soon_when_nobody_else_is_about_to_be_ready():
    """A lone wait that is surely ready at 2 s is asked for a quarter of the cost later (G9)."""
    world = a_world({"a": 2.0}, call_cost=1.0)
    world.join("a")
    (start,) = world.run().starts
    assert start == pytest.approx(2.25, abs=DOUBT)
    assert world.ends == [(start, "a", "ready")]


def test_group_on_a_clock_of_large_numbers_ends():
    """A clock that tells seconds since 1970, as frozen ones do, holds up no group (G9)."""
    origin, rng = 1.7e9, random.Random(0)
    ready = {number: origin + rng.lognormvariate(0, 1) for number in range(1000)}
    world = World(ready, latency=LatencyModel(), max_size=500, duration=0.1)
    world.now = origin
    for number in ready:
        world.join(number, timeout=60, at=origin + rng.uniform(0, 3))
    world.run(until=origin + 1000)
    assert [reason for _, _, reason in world.ends] == ["ready"] * 1000


def test_call_waits_for_those_that_are_becoming_ready():
    """While more become ready at a steady rate, just what a call costs is lost before it."""
    latency = Distribution((1.0, 101.0), (0.0, 1.0))
    world = a_world(dict.fromkeys(range(1000), 200.0), latency, max_size=1000, call_cost=5.0)
    world.join(*range(1000), timeout=1.5)
    # Ten become ready every second, so after a second five seconds are lost.
    assert world.run().starts[0] == pytest.approx(1.5, abs=DOUBT)  # the deadline comes first
    world = a_world(dict.fromkeys(range(1000), 200.0), latency, max_size=1000, call_cost=5.0)
    world.join(*range(1000), timeout=3.0)
    assert world.run().starts[0] == pytest.approx(2.0, abs=2 * DOUBT)


def test_calls_are_fewer_the_more_they_cost():
    """Four times the cost makes about half as many calls."""
    calls = []
    for cost in (0.5, 2.0):
        ready = {number: number / 4 + 1.5 for number in range(400)}
        world = a_world(ready, FROM_ONE_TO_THREE, call_cost=cost)
        for number in range(400):
            world.join(number, at=number / 4)
        world.run()
        assert {reason for _, _, reason in world.ends} == {"ready"}
        calls.append(len(world.calls))
    assert 1.7 < calls[0] / calls[1] < 2.3


def test_all_waits_ride_along():
    """A call carries all waits, those that have just begun too, and each counts as seen."""
    world = a_world({"a": 2.0, "b": 2.0}, call_cost=0.5)
    world.join("a")
    world.join("b", at=2.0)
    world.run()
    assert world.calls[0][1] == ["a", "b"]
    assert world.ends[0][1:] == ("a", "ready")


def test_gap_still_binds():
    """The starts of two calls are at least the gap apart, however much is lost meanwhile."""
    ready = {number: 2.0 + number / 16 for number in range(64)}
    world = a_world(ready, FROM_ONE_TO_THREE, call_cost=0.0625, min_gap=0.5, max_size=100)
    for number in range(64):
        world.join(number, at=number / 16)
    world.run()
    assert min(b - a for a, b in pairwise(world.starts)) > 0.5 - 1e-9
    assert len(world.starts) > 8


def test_gap_is_smaller_by_default_with_a_model():
    """The default gap leaves room for a model to choose."""
    assert GroupSettings(nothing, max_size=1).min_gap == 0.5
    assert GroupSettings(nothing, max_size=1, latency=AT_TWO).min_gap == 0.25
    assert GroupSettings(nothing, max_size=1, latency=AT_TWO, min_gap=2).min_gap == 2.0


def test_call_duration_is_taken_into_account():
    """A call sees the state halfway through, so it starts so much sooner once that is known."""
    world = a_world({"a": 0.0, "b": 0.0}, duration=0.5, call_cost=1.0)
    world.join("a")
    world.join("b", at=10.0)
    first, second = world.run().starts
    assert first == pytest.approx(2.25, abs=DOUBT)
    assert second == pytest.approx(12.0, abs=DOUBT)


def test_most_deserving_go_first_over_max_size():
    """Where a call cannot carry all, those go first that are expected to have lost the most."""
    group, waits = make(latency=AT_TWO)
    foresight = Foresight(AT_TWO, 1.0, 2, learn=False)
    seats = seats_of(group, waits, 1.0, 0.0, 0.5)
    for seat in seats:
        seat.stage = "riding"
    foresight.add(seats)
    served = list(foresight.first_served(3.5))
    assert [seat.began for seat in served] == [0.0, 0.5, 1.0]


def test_call_carries_the_most_deserving():
    """One that cannot be ready yet does not take the place of one that was asked, and may be."""
    world = a_world({"old": 2.5, "new": 3.0}, FROM_ONE_TO_THREE, max_size=1, call_cost=0.25)
    world.join("old")
    world.join("new", at=1.75)
    world.run()
    assert [keys for _, keys in world.calls][:2] == [["old"], ["old"]]
    assert [key for _, key, _ in world.ends] == ["old", "new"]


def test_none_starves_over_max_size():
    """With one place in each call, every wait that is ready gets its turn (G2)."""
    ready = dict.fromkeys(range(20), 2.0)
    world = a_world(ready, max_size=1, min_gap=0.25, call_cost=0.5)
    world.join(*range(20))
    world.run()
    assert sorted(key for _, key, _ in world.ends) == list(range(20))
    assert {reason for _, _, reason in world.ends} == {"ready"}
    assert len(world.calls) == 20


def test_wait_that_outlives_the_model_is_asked_for_ever_less_often():
    """A model that is certain of 2 s has no say after that, and calls become rare."""
    world = a_world({}, call_cost=1.0)
    world.join("a", timeout=1000.0)
    starts = world.run(until=2000.0).starts
    gaps = [later - start for start, later in pairwise(starts[:-1])]
    assert gaps == sorted(gaps)
    assert 10 < len(starts) < 100


def test_final_check_comes_at_the_deadline():
    """A wait gets its final check, whatever the model expects (T4)."""
    world = a_world({"a": 1.5})
    world.join("a", timeout=1.5)
    world.join("b", timeout=1.0)
    world.run()
    assert world.starts == [1.0, 1.5]
    assert world.ends == [(1.0, "b", "timeout"), (1.5, "a", "ready")]


def test_timeout_of_zero_is_one_check():
    """Without time there is one look at once, as ever."""
    world = a_world({"a": 0.0})
    world.join("a", timeout=0)
    assert world.run().ends == [(0.0, "a", "ready")]


def test_wait_for_ever_needs_no_deadline():
    """With timeout=None the model alone says when to look."""
    world = a_world({"a": 7.0}, call_cost=1.0)
    world.join("a", timeout=None)
    world.run()
    assert world.ends[0][1:] == ("a", "ready")
    assert world.ends[0][0] < 12.0


def test_timeout_is_required():
    """A latency model ends no wait."""
    group, waits = make(latency=AT_TWO)
    with pytest.raises(TypeError, match="timeout is required: .*a latency model ends no wait"):
        group.seat("a", waits, 0.0)


def test_hint_is_honoured():
    """A wait that was told when to look again brings no call before, and one then."""

    def until(value):
        if not value:
            raise TryAgain(after=8)
        return True

    world = a_world({"a": 3.0}, call_cost=1.0)
    world.join("a", until=until)
    first, second = world.run().starts
    assert (first, second) == (pytest.approx(2.25, abs=DOUBT), first + 8)


def test_hint_holds_for_once():
    """After the look that a hint asked for, the model says again when to look."""
    hints = [8]

    def until(value):
        if hints:
            raise TryAgain(after=hints.pop())
        return value

    world = a_world({"a": 30.0}, call_cost=1.0)
    world.join("a", until=until)
    first, second, third, *_ = world.run().starts
    assert second == first + 8
    assert third - second > 2.0


def test_throttled_call_tells_nothing():
    """After a throttle the gap widens, and the waits are as overdue as they were (G4)."""
    world = a_world(
        {"a": 0.0},
        call_cost=1.0,
        is_throttle=Busy,
        fail=lambda number, keys: Busy() if number == 1 else None,
    )
    world.join("a")
    first, second = world.run().starts
    assert second == first + 0.25  # twice the least gap of a group that is slowed


def test_retried_error_tells_nothing():
    """A call that failed says nothing of what is waited for, and is soon made again (G9)."""
    world = a_world(
        {"a": 1.75},
        call_cost=1.0,
        retry_on=Down,
        fail=lambda number, keys: Down() if number == 1 else None,
    )
    world.join("a", timeout=600)
    first, second = world.run().starts
    assert second == first + 0.25
    assert world.ends == [(second, "a", "ready")]


def test_retried_errors_make_looks_ever_rarer():
    """While calls fail each comes after as long again as they have failed, up to 10 s (G9)."""
    world = a_world({"a": 1.75}, call_cost=1.0, retry_on=Down, fail=lambda number, keys: Down())
    world.join("a", timeout=200)
    starts = world.run().starts
    gaps = [later - start for start, later in pairwise(starts)]
    assert gaps[:4] == pytest.approx([0.25, 0.25, 0.5, 1.0])
    assert max(gaps) == pytest.approx(10.0)


def test_waits_that_join_while_calls_fail_bring_no_storm():
    """A wait that joins when calls have failed for long is put off as long as the others."""
    world = a_world(
        {}, max_size=100, call_cost=1.0, retry_on=Down, fail=lambda number, keys: Down()
    )
    for number in range(60):
        world.join(number, at=number / 2, timeout=600)
    assert len(world.run(until=60.0).starts) < 30


def test_retried_errors_leave_a_hint_alone():
    """A wait that was told when to look again is not asked sooner because another's call failed."""
    hints = [8]

    def until(value):
        if hints:
            raise TryAgain(after=hints.pop())
        return value

    world = a_world(
        {},
        call_cost=1.0,
        retry_on=Down,
        fail=lambda number, keys: Down() if number == 2 else None,
    )
    world.join("a", until=until)
    world.join("b", at=1.0)
    world.run(until=30.0)
    told = world.starts[0] + 8
    assert told in world.starts


def test_learning_ignores_calls_that_failed():
    """What was answered bounds what is learned, and what failed does not (G9)."""
    model = LatencyModel([2.0] * 20)
    known = model.copy()
    world = a_world(
        {"a": 1.75},
        model,
        learn=True,
        retry_on=Down,
        fail=lambda number, keys: Down() if number <= 3 else None,
    )
    world.join("a", timeout=600)
    world.run()
    known.add((0.0, world.ends[0][0]))
    assert model == known


def test_missing_grace_holds():
    """A missing key gets its grace, and fails at the first look after it (G5)."""
    world = a_world({}, call_cost=0.5, missing_grace=1.0)
    (group, now) = (world.group, 0.0)
    settings = world.waits.replaced({"timeout": None})
    seat = group.seat("a", settings, now)
    group.join([seat])
    over = []
    while not over:
        now += group.delay(now)
        _, call = group.step(now)
        if call is None:
            continue
        call.next()
        for each, outcome in call.answered(call.passed({}, ["a"])):
            call.judge.weigh(each, outcome, now)
        group.ended(call, now)
        over = group.settle([seat])
    assert isinstance(seat.failure(), PollFailed)
    assert seat.absent_since is not None
    assert now - seat.absent_since >= 1.0


def test_group_without_waits_sleeps():
    """When all have left there is nothing to do, and no call is made for those that are gone."""
    world = a_world({"a": 2.0}, call_cost=1.0)
    seats = world.join("a", "b")
    world.leave(seats, at=1.0)
    assert world.run().calls == []
    assert world.group.delay(5.0) is None


def test_moment_is_confirmed_when_waits_have_left():
    """A call that was due for the sake of many is not made for the few that are left."""
    world = a_world({"a": 2.0}, FROM_ONE_TO_THREE, call_cost=1.0)
    world.join("a")
    others = world.join("b", "c", "d", "e")
    world.leave(others, at=1.25)
    alone = a_world({"a": 2.0}, FROM_ONE_TO_THREE, call_cost=1.0)
    alone.join("a")
    assert world.run().starts == pytest.approx(alone.run().starts)


def test_moment_hardly_depends_on_how_waits_joined():
    """Waits that join one by one come to the same moment as together, but for a hundredth."""
    begins = [number / 256 for number in range(200)]
    group, waits = make(latency=WITH_TAIL, max_size=500)
    foresight = Foresight(WITH_TAIL, 1.0, 500, learn=False)
    for seat in seats_of(group, waits, *begins):
        seat.stage = "riding"
        foresight.add([seat])
    together = Foresight(WITH_TAIL, 1.0, 500, learn=False)
    seats = seats_of(group, waits, *begins)
    for seat in seats:
        seat.stage = "riding"
    together.add(seats)
    assert foresight.moment == pytest.approx(together.moment, abs=0.01)


def test_moment_stays_when_those_that_joined_have_left():
    """A wait that joins and leaves again before it counts makes no difference."""
    group, waits = make(latency=AT_TWO)
    foresight = Foresight(AT_TWO, 1.0, 9, learn=False)
    first, second = seats_of(group, waits, 0.0, 1.0)
    first.stage = second.stage = "riding"
    foresight.add([first])
    moment = foresight.moment
    foresight.add([second])
    foresight.over([second])
    foresight.add([])
    assert foresight.moment == moment


def test_moment_comes_at_the_latest_when_four_times_the_cost_is_lost():
    """While ever more become ready the call is put off, but not for good."""
    left = [0.97**number for number in range(110)]
    shares = [0.01 * seconds**-1.2 for seconds in left]  # grows beyond all bounds until 3 s
    growing = Distribution([2.0, *[3.0 - seconds for seconds in left]], [0.0, *shares], 1.0)
    group, waits = make(latency=growing)
    expected = expected_of(Outlook(growing), seats_of(group, waits, *[0.0] * 100))
    moment = best_moment(expected, 1.0, 1 / 64)
    assert expected.at(moment)[0] == pytest.approx(4.0, rel=0.01)


# Learning.


def test_model_learns_between_which_looks_waits_were_ready():
    """A wait that was ready gives an interval, from the last look in vain to the good one."""
    model = LatencyModel()
    world = a_world({"a": 1.5}, model, learn=True, call_cost=0.5)
    world.join("a")
    world.run()
    starts = world.starts
    assert model == LatencyModel([(starts[-2], starts[-1])])


def test_model_learns_that_a_wait_took_longer():
    """A wait that timed out, or was given up after a look, is known not to have been ready."""
    model = LatencyModel()
    world = a_world({}, model, learn=True)
    world.join("a", timeout=0.5)
    world.run()
    assert model == LatencyModel([(world.starts[-1], None)])
    quiet = LatencyModel()
    world = a_world({}, quiet, learn=True, call_cost=1e6)
    world.leave(world.join("a"), at=0.25)
    world.run()
    assert quiet.weight == 0.0


def test_model_learns_the_middle_of_calls():
    """A call is taken to see the state halfway through, once it is known how long calls take."""
    model = LatencyModel()
    world = a_world({"a": 0.0, "b": 9.0}, model, learn=True, duration=0.5, call_cost=0.5)
    world.join("a")
    world.join("b", at=8.0)
    world.run()
    seen = [span for *span, _ in json.loads(model.to_json())["seen"]]
    assert [0.0, world.starts[-1] + 0.25 - 8] in seen


def test_model_learns_only_if_told_to():
    """A given model stays as it is unless the group is to learn."""
    model = LatencyModel([1.0, 2.0])
    world = a_world({"a": 1.5}, model)
    world.join("a")
    world.run()
    assert model == LatencyModel([1.0, 2.0])


def test_samples_make_a_model_of_the_groups_own():
    """Plain samples serve as a latency, and an unknown one begins with nothing."""
    samples = [1.0, (1.5, 2.0), (3.0, None)]
    assert GroupSettings(nothing, max_size=1, latency=samples).latency == LatencyModel(samples)
    assert GroupSettings(nothing, max_size=1, learn=True).latency == LatencyModel()
    assert GroupSettings(nothing, max_size=1).latency is None


def test_group_that_learns_follows_the_news():
    """A group whose model has come to know better calls by what it knows then (G9)."""
    model = LatencyModel()
    world = a_world({n: 100.0 * n + 20.0 for n in range(40)}, model, learn=True, call_cost=1.0)
    for number in range(40):
        world.join(number, at=100.0 * number, timeout=90.0)
    world.run(until=5000.0)
    counts = [sum(100 * n <= start < 100 * n + 100 for start in world.starts) for n in range(40)]
    assert sum(counts[:3]) > 2 * sum(counts[-3:])
    late = [end - 100.0 * key - 20.0 for end, key, _ in world.ends[-10:]]
    assert max(late) < 3.0


class Fails(LatencyModel):
    """A model that takes in nothing, and has no expectation after the first one."""

    __slots__ = ()

    def add(self, sample):
        raise RuntimeError("dictionary changed size during iteration")


def test_model_that_fails_loses_no_wait():
    """An error of the model that learns ends the learning, and no wait (G9)."""
    model = Fails()
    world = a_world({"a": 1.0, "b": 1.0, "c": 6.0}, model, learn=True)
    world.join("a", "b", "c")
    world.run()
    assert sorted(key for _, key, _ in world.ends) == ["a", "b", "c"]
    assert {reason for _, _, reason in world.ends} == {"ready"}
    assert world.group.waiting == 0


def test_model_that_is_asked_in_vain_loses_no_wait(monkeypatch):
    """If a model cannot say what to expect, the group goes by what it said before."""
    model = LatencyModel([2.0] * 20)
    world = a_world({"a": 2.0}, model)
    world.join("a")

    def fail(self):
        raise RuntimeError("no idea")

    monkeypatch.setattr(LatencyModel, "distribution", fail)
    assert [reason for _, _, reason in world.run().ends] == ["ready"]


# What may be said.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"latency": AT_TWO, "schedule": fixed(1)}, ValueError, "not both"),
        ({"learn": True, "schedule": fixed(1)}, ValueError, "not both"),
        ({"latency": AT_TWO, "riding": "counts"}, ValueError, "riding"),
        ({"latency": AT_TWO, "learn": True}, TypeError, "a Distribution is fixed"),
        ({"latency": 3}, TypeError, "latency must be"),
        ({"latency": "abc"}, TypeError, "latency must be"),
        ({"latency": {}}, TypeError, "latency must be"),
        ({"latency": {}, "learn": True}, TypeError, "latency must be"),
        ({"latency": [-1.0]}, ValueError, "sample"),
        ({"latency": []}, ValueError, "latency holds no samples: use learn=True"),
        ({"learn": 1}, TypeError, "learn must be a bool"),
        ({"call_cost": 0}, ValueError, "call_cost must be finite and > 0"),
        ({"call_cost": -1}, ValueError, "call_cost must be finite and > 0"),
        ({"call_cost": float("nan")}, ValueError, "call_cost must be finite and > 0"),
        ({"call_cost": float("inf")}, ValueError, "call_cost must be finite and > 0"),
        ({"call_cost": None}, TypeError, "call_cost"),
        ({"min_gap": -1}, ValueError, "min_gap"),
    ],
)
def test_settings_refuse_what_makes_no_sense(options, error, message):
    """Each error names the argument at fault."""
    with pytest.raises(error, match=message):
        GroupSettings(nothing, max_size=1, **options)


def test_settings_take_samples_to_come():
    """Nothing is known yet where the group learns, or where somebody else fills a model."""
    assert GroupSettings(nothing, max_size=1, latency=[], learn=True).latency == LatencyModel()
    model = LatencyModel()
    assert GroupSettings(nothing, max_size=1, latency=model).latency is model


def test_without_a_model_nothing_is_foreseen():
    """A group without a model has no moment of its own, and a default cost that it never uses."""
    settings = GroupSettings(nothing, max_size=1)
    assert settings.call_cost == CALL_COST
    assert settings.foresight().moment == INFINITY
