"""The machine of poll groups: tables for each of its rules, and its parts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from pollwait import PollFailed, PollTimeout, TryAgain, fixed
from pollwait._core.agenda import Agenda
from pollwait._core.group import LINGER, MAX_IN_FLIGHT
from pollwait._core.group_settings import GroupSettings, distinct
from pollwait._core.pace import MOST_SLOWED, Pace, Standstill
from pollwait._core.seat import Chance
from pollwait._errors import FetchError, MissingKey

from .group_world import Busy, Down, World, make, nothing

# When calls start, and what they carry.


def test_first_call_waits_for_company():
    """The first call after idleness comes a few milliseconds late, and carries the whole burst."""
    world = World({"a": 0, "b": 0}, schedule=fixed(1))
    world.join("a")
    world.join("b", at=LINGER / 2)
    assert world.run().calls == [(LINGER, ["a", "b"])]


def test_linger_is_not_longer_than_the_gap():
    """Without a gap the first call comes at once."""
    world = World({"a": 0}, min_gap=0)
    world.join("a")
    assert world.run().calls == [(0, ["a"])]


def test_idle_group_remembers_its_last_call():
    """After idleness a call still keeps the gap to the one before (G8)."""
    world = World({"a": 0, "b": 0}, min_gap=0.5)
    world.join("a")
    world.join("b", at=0.25)
    assert world.run().starts == [LINGER, LINGER + 0.5]


def test_call_carries_all_who_have_been_asked():
    """When one wait is due, the others ride along, though they are not."""
    world = World({"a": 9, "b": 9}, schedule=fixed(8), min_gap=0.5)
    world.join("a")
    world.join("b", at=4)
    world.run()
    assert world.calls[:2] == [(LINGER, ["a"]), (4, ["b", "a"])]


def test_no_ride_before_the_initial_delay():
    """A wait is not asked before its initial delay is over, whoever else is (T3)."""
    world = World({"a": 9, "b": 2}, schedule=fixed(1), min_gap=0.5)
    world.join("a")
    world.join("b", schedule=fixed(8).after(2.75))
    world.run(until=3)
    assert [(start, keys) for start, keys in world.calls if "b" in keys] == [(2.75, ["b", "a"])]


def test_equal_keys_share_a_place():
    """Waits for one key travel as one, and each judges by its own predicates."""
    world = World({"a": 1}, schedule=fixed(1))
    world.join("a")
    world.join("a", until=lambda value: True)
    world.join("a", until=lambda value: False, fail=lambda value: value)
    world.run()
    assert world.calls == [(LINGER, ["a"]), (LINGER + 1, ["a"])]
    assert [reason for _, _, reason in world.ends] == ["ready", "ready", "failed"]


def test_newcomer_is_not_answered_by_a_call_under_way():
    """A wait that joins while its key is asked for is carried by the next call (G1)."""
    world = World({"a": 0}, duration=0.25, schedule=fixed(1), min_gap=0.5)
    world.join("a")
    world.join("a", at=0.125)
    world.run()
    assert world.starts == [LINGER, LINGER + 0.5]
    assert [end for end, _, _ in world.ends] == [LINGER + 0.25, LINGER + 0.75]


def test_large_round_keeps_the_gap():
    """What exceeds a call goes with the next ones, a gap apart each, due waits first (G2)."""
    world = World(dict.fromkeys("abcde", 0), max_size=2, min_gap=0.5)
    world.join(*"abcde")
    assert world.run().calls == [
        (LINGER, ["a", "b"]),
        (LINGER + 0.5, ["c", "d"]),
        (LINGER + 1, ["e"]),
    ]


def test_room_goes_to_those_not_asked_for_longest():
    """Of those that are not due, the ones that were asked longest ago ride along (G2)."""
    world = World({}, max_size=2, min_gap=0.5, schedule=fixed(50))
    world.join("a", "b")
    world.join("c", at=1)
    world.join("d", at=2)
    world.join("e", at=3)
    world.run(until=4)
    assert [keys for _, keys in world.calls] == [["a", "b"], ["c", "a"], ["d", "b"], ["e", "c"]]


def test_no_call_without_a_live_key():
    """What nobody waits for any more is not asked for, and the last one leaves nothing behind."""
    world = World({}, schedule=fixed(1), min_gap=0.5)
    a, b = world.join("a"), world.join("b")
    world.leave(a, at=1.5)
    world.leave(b, at=2.5)
    world.run()
    assert [keys for _, keys in world.calls] == [["a", "b"], ["a", "b"], ["b"]]
    assert world.group.waiting == 0
    assert world.group.delay(world.now) is None


def test_slow_call_does_not_hold_up_others():
    """While a call hangs, others go on for the waits that it does not carry, up to a number."""
    world = World({}, duration=100, min_gap=0.5)
    for number in range(6):
        world.join(number, at=float(number), timeout=None)
    world.run(until=50)
    assert [keys for _, keys in world.calls] == [[0], [1], [2], [3]]
    assert len(world.calls) == MAX_IN_FLIGHT


# Deadlines.


def test_deadline_gets_its_final_check():
    """The last check comes at the deadline, and a good value then is a success (T4, T5)."""
    world = World({"a": 2}, schedule=fixed(8), min_gap=0.5)
    world.join("a", timeout=2)
    world.join("b", timeout=3)
    world.run()
    assert world.starts == [LINGER, 2, 3]
    assert world.ends == [(2, "a", "ready"), (3, "b", "timeout")]


def test_gap_forbids_a_final_check():
    """Too close to the last call, a wait that was asked ends at its deadline without another."""
    world = World({}, schedule=fixed(1), min_gap=0.75)
    world.join("a", timeout=1.25)
    world.join("b", timeout=None)
    world.run(until=1.5)
    assert world.starts == [LINGER, 1 + LINGER]
    assert world.ends == [(1.25, "a", "timeout")]


def test_final_check_may_linger():
    """A call that lingered for company does not cost a wait its final check later on (T4)."""
    world = World({"a": 1}, schedule=fixed(0.5), min_gap=0.5)
    world.join("a", "b", timeout=1)
    world.run()
    assert world.starts == [LINGER, LINGER + 0.5, LINGER + 1]
    assert world.ends == [(LINGER + 1, "a", "ready"), (LINGER + 1, "b", "timeout")]


def test_a_wait_never_asked_stays_for_the_next_call():
    """A wait whose deadline passes in the gap gets its one check all the same, if late."""
    world = World({"b": 0}, schedule=fixed(8), min_gap=0.5)
    world.join("a", timeout=None)
    world.join("b", "c", timeout=0, at=0.25)
    world.run(until=1)
    assert world.calls[1] == (LINGER + 0.5, ["b", "c", "a"])
    assert world.ends == [(LINGER + 0.5, "b", "ready"), (LINGER + 0.5, "c", "timeout")]


def test_a_wait_never_asked_stays_no_longer_than_the_gap():
    """Where the next call has no room, a wait never asked ends a gap after its deadline."""
    world = World({}, schedule=fixed(8), max_size=1, min_gap=0.5)
    world.join("a", "b", "c", "d", timeout=0.25)
    world.run()
    assert [keys for _, keys in world.calls] == [["a"], ["b"]]
    assert [(time, key) for time, key, _ in world.ends] == [
        (0.25, "a"),
        (LINGER + 0.5, "b"),
        (0.75, "c"),
        (0.75, "d"),
    ]


def test_zero_timeout_is_one_check_at_once():
    """With a timeout of 0 an idle group asks once, without waiting for company (T4)."""
    world = World({})
    world.join("a", timeout=0)
    world.run()
    assert world.calls == [(0, ["a"])]
    assert world.ends == [(0, "a", "timeout")]


def test_deadline_in_a_slow_call():
    """A check that is under way at the deadline is the final one, and its value counts (T5)."""
    world = World({"a": 0}, duration=2, min_gap=0.5)
    world.join("a", "b", timeout=1)
    world.run()
    assert world.ends == [(2 + LINGER, "a", "ready"), (2 + LINGER, "b", "timeout")]


def test_deadlines_are_kept_while_no_call_may_start():
    """With as many calls under way as may be, waits still end at their deadlines."""
    world = World({}, duration=100, min_gap=0.5)
    for number in range(MAX_IN_FLIGHT):
        world.join(number, at=float(number), timeout=None)
    world.join("late", at=5, timeout=2)
    world.run(until=50)
    assert world.ends == [(7.5, "late", "timeout")]


def test_a_ride_is_never_the_final_check():
    """A ride close before the deadline does not end a wait early."""
    world = World({"a": 2}, schedule=fixed(8), min_gap=0.25)
    world.join("a", timeout=2)
    world.join("b", at=1.5)
    world.run(until=4)
    assert world.starts[:3] == [LINGER, 1.5, 2]
    assert world.ends == [(2, "a", "ready")]


# Riding along (G3).


@pytest.mark.parametrize(("riding", "starts"), [("free", [0, 3, 8, 11]), ("counts", [0, 3, 11])])
def test_rides_may_count(riding, starts):
    """A ride leaves a wait's own schedule alone, or stands for its next check (G3)."""
    world = World({}, riding=riding, schedule=fixed(8), min_gap=0)
    world.join("a")
    world.join("b", at=3)
    world.run(until=15)
    assert world.starts == starts


def test_a_ride_that_replaces_a_check_counts():
    """A check that is due before the next call could come is the ride itself, in either setting."""
    world = World({}, riding="free", schedule=fixed(4), min_gap=1)
    world.join("a")
    world.join("b", at=1.5)
    world.join("c", at=3.5)  # this call carries a, which is due before the next one could start
    world.run(until=7)
    assert world.starts == [LINGER, 1.5, 3.5, 5.5]


@pytest.mark.parametrize("riding", ["free", "counts"])
def test_rides_do_not_use_up_a_schedule(riding):
    """A schedule that ends is not shortened by rides."""
    world = World({}, riding=riding, min_gap=0.5, schedule=fixed(0.5))
    world.join("a", schedule=fixed(4).times(2))
    world.join("b")
    world.run(until=20)
    (end,) = [time for time, key, reason in world.ends if (key, reason) == ("a", "exhausted")]
    assert end == 8 + LINGER


def test_hint_is_honoured_by_riders():
    """A hint when to look again puts a wait off, though it rides along meanwhile (O1)."""
    seats = {}
    group, waits = make(min_gap=0.5, schedule=fixed(1))
    settings = waits.replaced({"timeout": 60})
    seats["a"] = group.seat("a", settings, 0.0)
    group.join(seats.values())
    _, call = group.step(LINGER)
    assert call is not None
    keys = call.next()
    found = call.passed({"a": TryAgain(after=5)}, keys)
    for seat, outcome in call.answered(found):
        assert call.judge.weigh(seat, outcome, 1.0) is None
    group.ended(call, 1.0)
    assert group.settle(seats.values()) == []
    assert seats["a"].due == 6.0
    assert group.delay(1.0) == 5.0


def test_chance_is_drawn_once_per_call():
    """Jitter does not pull apart what travels together (S3)."""
    world = World({}, schedule=fixed(8).jitter("full"), min_gap=0, max_size=50)
    world.join(*range(50))
    world.run(until=40)
    assert {len(keys) for _, keys in world.calls} == {50}
    assert len({late - early for early, late in pairwise(world.starts)}) > 3


# Errors.


def test_throttles_slow_the_group_and_end_no_wait():
    """A throttle widens the gap and is asked about before poison keys; good calls mend it (G4)."""
    asked = []
    world = World(
        {"a": 7.75},
        fail=lambda number, keys: Busy() if number <= 3 else None,
        is_throttle=Busy,
        isolate=lambda error, keys: asked.append(error),
        schedule=fixed(0.25).times(8),
        min_gap=0.5,
    )
    world.join("a", "b", timeout=16)
    world.run()
    gaps = [late - early for early, late in pairwise(world.starts)]
    assert gaps[:3] == [1, 2, 4]
    assert gaps[3:] == sorted(gaps[3:], reverse=True)
    assert not asked
    assert world.ends[0][1:] == ("a", "ready")
    assert world.ends[1][1] == "b"


@pytest.mark.parametrize("refill", [0.1, 0.25, 0.5, 1.0, 1.5])
def test_pace_spends_what_a_bucket_refills(refill):
    """However little a service allows, calls come hardly faster than that, and not much slower."""
    pace, now, calls, tokens = Pace(0.5), 0.0, 0, 2.0
    hour = 3600.0
    while now < 2 * hour:
        calls += now > hour
        if tokens >= 1:
            tokens -= 1
            pace.passed()
        else:
            pace.throttled(now, now)
        tokens = min(2.0, tokens + refill * pace.gap)
        now += pace.gap
    assert 0.9 <= calls / (refill * hour) <= 1.1


def test_throttled_wait_ends_at_its_deadline():
    """A wait that only met throttles times out, and names them."""
    world = World({}, fail=lambda number, keys: Busy("slow down"), is_throttle=Busy, min_gap=0.5)
    seats = world.join("a", timeout=2)
    world.run()
    error = seats[0].failure()
    assert isinstance(error, PollTimeout)
    assert isinstance(error.last_error, Busy)
    assert "slow down" in str(error)
    assert world.ends == [(2, "a", "timeout")]


def test_throttle_of_one_key_slows_the_group():
    """A key's own throttle is no answer for that key, and no error for the others."""
    group, waits = make(is_throttle=Busy, min_gap=0.5)
    seats = [group.seat(key, waits.replaced({"timeout": 9}), 0.0) for key in "ab"]
    group.join(seats)
    _, call = group.step(LINGER)
    assert call is not None
    found = call.passed({"a": Busy(), "b": True}, call.next())
    group.ended(call, 0.25)
    for seat, outcome in call.answered(found):
        for _ in call.judge.weigh(seat, outcome, 0.25) or ():
            raise AssertionError
    assert [seat.key for seat in group.settle(seats)] == ["b"]
    assert group.pace.gap == 1


@pytest.mark.parametrize("named", [True, False])
def test_error_of_a_call_reaches_all_its_waits(named):
    """What a call raises ends the waits that it carried, unless ``retry_on`` names it (O2)."""
    world = World(
        {"a": 0, "b": 0},
        fail=lambda number, keys: Down() if number == 1 else None,
        retry_on=Down if named else (),
        schedule=fixed(1),
    )
    seats = [world.join("a"), world.join("b")]
    world.run()
    assert [reason for _, _, reason in world.ends] == (["ready"] * 2 if named else ["error"] * 2)
    if not named:
        errors = [seat.outcome for (seat,) in seats]
        assert all(type(error) is Down for error in errors)
        assert errors[0] is not errors[1]
        assert errors[0].__cause__ is errors[1].__cause__


def test_poison_key_fails_alone_in_the_same_round():
    """Of many keys one is bad: it is found at once, fails alone, and the rest succeed (G6, C7)."""
    keys = list(range(500))
    world = World(
        dict.fromkeys(keys, 0),
        fail=lambda number, sent: KeyError("some id is bad") if 321 in sent else None,
        isolate=lambda error, sent: (),
        max_size=500,
    )
    world.join(*keys)
    world.run()
    assert {time for time, _, _ in world.ends} == {LINGER}
    assert Counter(reason for _, _, reason in world.ends) == {"ready": 499, "error": 1}
    assert len(world.calls) < 25
    assert (LINGER, 321, "error") in world.ends


def test_base_exception_resolves_everyone():
    """What is no ``Exception`` ends every wait of the call as a FetchError, retried or not."""
    group, waits = make(retry_on=lambda error: True)
    seats = [group.seat(key, waits.replaced({"timeout": 9}), 0.0) for key in "ab"]
    group.join(seats)
    _, call = group.step(LINGER)
    assert call is not None
    call.next()
    for seat, outcome in call.answered(call.broken(KeyboardInterrupt())):
        assert call.judge.weigh(seat, outcome, 1.0) is None
    assert group.put_back(call, 1.0) == []
    assert len(group.settle(seats)) == 2
    assert all(isinstance(seat.outcome, FetchError) for seat in seats)
    assert all(isinstance(seat.outcome.__cause__, KeyboardInterrupt) for seat in seats)


@pytest.mark.parametrize(("grace", "end"), [(0, 0), (2.5, 3)])
def test_missing_key_fails_after_its_grace(grace, end):
    """A key may be missing for a while, then its wait fails because of that (G5, C10, C11)."""
    group, waits = make(missing_grace=grace, schedule=fixed(1), min_gap=0.5)
    seat = group.seat("a", waits.replaced({"timeout": None}), 0.0)
    group.join([seat])
    now = 0.0
    while seat.reason is None:
        _, call = group.step(now + LINGER)
        assert call is not None
        found = call.passed({}, call.next())
        for one, outcome in call.answered(found):
            call.judge.weigh(one, outcome, now)
        group.ended(call, now)
        over = group.settle([seat])
        now = now if over else seat.due
    error = seat.failure()
    assert now == end
    assert isinstance(error, PollFailed)
    assert isinstance(error.__cause__, MissingKey)
    assert error.__cause__.key == "a"


def test_present_answer_resets_the_grace():
    """A key that was seen again has its whole grace period before it (G5)."""
    group, waits = make(missing_grace=2, schedule=fixed(0.5), min_gap=0.5)
    seat = group.seat("a", waits.replaced({"timeout": None}), 0.0)
    group.join([seat])
    for now, present in [(0.0, False), (1.0, True), (2.0, False), (3.5, False), (4.0, False)]:
        assert seat.reason is None
        _, call = group.step(now + LINGER)
        over = answer(group, call, {"a": False} if present else {}, now)
    assert over == [seat]
    assert seat.reason == "failed"


def test_predicate_that_raises_ends_its_own_wait():
    """What a predicate raises ends the wait that it belongs to, and no other."""

    def broken(value):
        raise ZeroDivisionError

    world = World({"a": 0}, schedule=fixed(1))
    seats = [world.join("a", until=broken), world.join("a")]
    world.run()
    assert [reason for _, _, reason in world.ends] == ["error", "ready"]
    assert isinstance(seats[0][0].outcome, ZeroDivisionError)


@pytest.mark.parametrize("which", ["retry_on", "is_throttle"])
def test_predicate_over_errors_that_raises_is_the_error(which):
    """A bug in such a predicate reaches those whose error it was asked about."""

    def broken(error):
        raise ZeroDivisionError

    world = World({}, fail=lambda number, keys: Down(), **{which: broken})
    seats = world.join("a")
    world.run()
    assert isinstance(seats[0].outcome, ZeroDivisionError)


class Awaitable:
    """What could be awaited, and cannot be closed."""

    def __await__(self):
        yield


async def coroutine_function(error):
    """Return what must be awaited."""


@pytest.mark.parametrize("named", [coroutine_function, lambda error: Awaitable()])
def test_predicate_over_errors_is_not_awaited(named):
    """A predicate over errors that returns an awaitable is refused, and nothing warns of it."""
    world = World({}, fail=lambda number, keys: Down(), retry_on=named)
    seats = world.join("a")
    world.run()
    assert isinstance(seats[0].outcome, TypeError)
    assert "retry_on must be a plain function" in str(seats[0].outcome)


def test_predicate_over_errors_may_say_anything_true():
    """Such a predicate is asked for its truth."""
    world = World(
        {"a": 0},
        fail=lambda number, keys: Down() if number == 1 else None,
        retry_on=lambda error: "yes",
        is_throttle=lambda error: [],
    )
    world.join("a")
    world.run()
    assert [reason for _, _, reason in world.ends] == ["ready"]


def test_predicate_may_ask_to_try_again():
    """A predicate that raises TryAgain says "not yet", maybe with a hint (O1)."""

    def until(value):
        if value:
            return True
        raise TryAgain(after=4)

    world = World({"a": 2}, schedule=fixed(1))
    world.join("a", until=until)
    world.run()
    assert world.starts == [LINGER, LINGER + 4]
    assert world.ends == [(LINGER + 4, "a", "ready")]


def answer(group, call, found, now):
    """Have the waits of a call take in an answer; return those that are over."""
    judged = []
    for seat, outcome in call.answered(call.passed(found, call.next())):
        for _ in call.judge.weigh(seat, outcome, now) or ():
            raise AssertionError
        judged.append(seat)
    group.ended(call, now)
    return group.settle(judged)


def test_call_that_ends_early_does_not_prolong_a_wait():
    """A wait whose deadline came in a call that was never answered ends after it."""
    group, waits = make(min_gap=2, schedule=fixed(1))
    seat = group.seat("a", waits.replaced({"timeout": 3}), 0.0)
    group.join([seat])
    _, call = group.step(LINGER)
    assert answer(group, call, {"a": False}, LINGER) == []
    _, call = group.step(2 + LINGER)
    assert group.step(3.0) == ([], None)
    assert group.put_back(call, 3.5) == []
    assert group.delay(3.5) == 0
    assert group.step(3.5) == ([seat], None)


def test_call_that_ends_early_leaves_riders_due():
    """Whom a call leaves without an answer is due at once, also if it was not before (G8)."""
    world = World({}, schedule=fixed(8), min_gap=0.5)
    world.join("a")
    world.join("b", at=1)
    world.run(until=1)
    group = world.group
    _, call = group.step(8 + LINGER)
    assert call is not None
    assert list(call.seats) == ["a", "b"]
    assert group.put_back(call, 8 + LINGER) == []
    assert group.delay(8 + LINGER) == 0.5
    assert {seat.due for seat in group.everyone()} == {8 + LINGER}


def test_call_that_ends_early_makes_room_for_others():
    """Calls that were never answered do not count as being under way."""
    group, waits = make(min_gap=0.5)
    group.join([group.seat("a", waits.replaced({"timeout": None}), 0.0)])
    for number in range(2 * MAX_IN_FLIGHT):
        _, call = group.step(1.0 + number)
        assert call is not None
        group.put_back(call, 1.0 + number)


def test_failed_round_schedules_the_next():
    """A call that was never answered leaves its waits due at once (G8)."""
    group, waits = make(min_gap=0.5, schedule=fixed(8))
    seat = group.seat("a", waits.replaced({"timeout": 60}), 0.0)
    group.join([seat])
    _, call = group.step(LINGER)
    assert call is not None
    assert group.put_back(call, 0.25) == []
    assert group.delay(0.25) == LINGER + 0.25
    assert seat.attempts == 0


def test_error_is_ruled_on_once():
    """What an error of a whole call means is asked once, not for every wait."""
    asked = []

    def named(error):
        asked.append(error)
        return True

    world = World(
        {"a": 0, "b": 0}, fail=lambda number, keys: Down() if number == 1 else None, retry_on=named
    )
    world.join("a", "b")
    world.run()
    assert len(asked) == 1


def test_error_is_recorded_with_its_place():
    """Every wait of a call that was retried records where the error was raised (O6)."""

    def raising():
        raise Down

    def fail(number, keys):
        try:
            raising()
        except Down as error:
            return error

    world = World({}, fail=fail, retry_on=Down)
    seats = [world.join("a"), world.join("b")]
    world.run(until=1)
    places = [seat.history().first[0].where for (seat,) in seats]
    assert all(place.endswith("in raising") for place in places)


def test_throttle_ends_the_search_for_poison_keys():
    """A throttle in the midst of a search leaves the other keys for later (G4, G6)."""

    def fail(number, keys):
        if number == 1:
            return KeyError("some id is bad")
        return Busy() if number == 2 else None

    world = World(
        dict.fromkeys("abcd", 0),
        fail=fail,
        is_throttle=Busy,
        isolate=lambda error, keys: (),
        min_gap=0.5,
    )
    world.join(*"abcd")
    world.run()
    assert [start for start, _ in world.calls] == [LINGER, LINGER, 1 + LINGER]
    assert [reason for _, _, reason in world.ends] == ["ready"] * 4


# Closing and leaving.


def test_wait_that_left_is_not_judged():
    """Who leaves while a call is under way is neither judged by it nor kept after it."""
    group, waits = make()
    asked = []
    settings = waits.replaced({"timeout": 9, "until": asked.append})
    seats = [group.seat("a", settings, 0.0) for _ in range(2)]
    group.join(seats)
    _, call = group.step(LINGER)
    assert group.leave(seats[:1]) == seats[:1]
    assert answer(group, call, {"a": 1}, 1.0) == []
    assert asked == [1]
    assert group.settle(seats[:1]) == []
    assert group.leave(seats) == seats[1:]
    assert group.delay(1.0) is None


def test_leaving_frees_memory():
    """Waits that have left leave nothing behind, though their deadlines are far away (O6)."""
    group, waits = make()
    settings = waits.replaced({"timeout": 1e6})
    for now in range(500):
        seats = [group.seat("a", settings, float(now)) for _ in range(3)]
        group.join(seats)
        assert group.leave(seats) == seats
    room = group._room
    assert not room._places
    assert len(room._dues) + len(room._deadlines) < 200


class Unequal:
    """A key that cannot be compared."""

    def __hash__(self):
        return 7

    def __eq__(self, other):
        raise ZeroDivisionError


def test_joining_is_all_or_nothing():
    """If a key cannot join, none of its company does."""
    group, waits = make()
    seats = [group.seat(key, waits.replaced({"timeout": 9}), 0.0) for key in ("a", Unequal(), 7)]
    with pytest.raises(ZeroDivisionError):
        group.join(seats)
    assert group.waiting == 0
    assert group.delay(0.0) is None


def test_close_spares_what_is_under_way():
    """Closing ends the waits that no call carries; the others end with their call."""
    world = World({"a": 0}, duration=1, schedule=fixed(1), min_gap=0.5)
    world.join("a", "b")
    world.join("c", at=0.25)
    closed = []
    world.at(0.5, lambda: closed.extend(world.group.close()))
    world.run()
    assert [seat.key for seat in closed] == ["c"]
    assert world.ends == [(1 + LINGER, "a", "ready"), (1 + LINGER, "b", None)]
    assert world.group.waiting == 0


def test_stopped_clock_ends_the_waits():
    """A clock that never moves while the group sleeps ends its waits (T2)."""
    group, waits = make()
    seat = group.seat("a", waits.replaced({"timeout": 60}), 0.0)
    group.join([seat])
    assert group.slept(0.5, 0.0, 0.0) == []
    assert group.slept(0.5, 0.0, 0.0) == []
    assert group.slept(0.5, 0.0, 0.0) == [seat]
    assert seat.reason == "stalled"


def test_rides_at_one_instant_are_no_standstill():
    """A wait that is asked again and again at one time does not blame the clock."""
    group, waits = make(schedule=fixed(8))
    seat = group.seat("a", waits.replaced({"timeout": None}), 0.0)
    for _ in range(9):
        seat.take(False, 1.0)
    assert seat.reason is None


def test_final_check_is_due_at_the_deadline():
    """A wait whose next check is its last is due at its deadline, to the last bit."""
    group, waits = make(schedule=fixed(8))
    seat = group.seat("a", waits.replaced({"timeout": 1.63}), 0.32)
    seat.take(False, 0.59)
    assert seat.final
    assert seat.due == seat.deadline == 0.32 + 1.63


# The parts.


def test_agenda_is_taken_in_order():
    """Entries come out by their times, and within a time as they went in."""
    agenda = Agenda()
    for time, entry in [(2, "c"), (1, "a"), (2, "d"), (1, "b"), (3, "e")]:
        agenda.add(time, entry)
    assert list(agenda.take(2)) == [(1, "a"), (1, "b"), (2, "c"), (2, "d")]
    assert len(agenda) == 1


def test_agenda_drops_what_does_not_hold():
    """What no longer holds is dropped when it comes up, or when there is much of it."""
    agenda = Agenda()
    for number in range(1000):
        agenda.add(number, number)
    assert agenda.first(lambda entry, time: entry >= 3) == 3
    agenda.prune(1000, lambda entry, time: False)
    assert len(agenda) == 997
    agenda.prune(10, lambda entry, time: entry >= 990)
    assert list(agenda.take(2000)) == [(number, number) for number in range(990, 1000)]
    assert agenda.first(lambda entry, time: True) == float("inf")


def test_pace_is_halved_once_for_calls_that_overlap():
    """Calls that had started before the last throttle say nothing new."""
    pace = Pace(0.5)
    pace.throttled(started=0, now=1)
    pace.throttled(started=0.5, now=1.25)
    assert pace.gap == 1
    pace.throttled(started=2, now=2.5)
    assert pace.gap == 2


def test_pace_is_bounded_both_ways():
    """A group slows down no further than to one call in half a minute, and comes back exactly."""
    pace = Pace(0.25)
    for second in range(50):
        pace.throttled(started=second, now=second)
    assert pace.gap == MOST_SLOWED
    gaps = []
    while pace.gap > 0.25:
        pace.passed()
        gaps.append(pace.gap)
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) <= 20
    assert pace.gap == 0.25


def test_pace_slows_down_without_a_gap():
    """Where there is no gap, a throttle makes one, and it goes away again."""
    pace = Pace(0.0)
    pace.throttled(started=0, now=0)
    assert pace.gap == 0.25
    for _ in range(20):
        pace.passed()
    assert pace.gap == 0


def test_long_gap_is_never_shortened_by_throttles():
    """A gap beyond the bound stays what it is."""
    pace = Pace(60)
    pace.throttled(started=0, now=0)
    assert pace.gap == 60


def test_standstill_forgives_coarse_clocks():
    """A clock that moves now and then has not stopped."""
    still = Standstill()
    assert not any(still.slept(0.5, now // 2, now // 2) for now in (0, 1))
    assert not still.slept(0.5, 0, 1)
    assert not any(still.slept(0.5, 1, 1) for _ in range(2))
    assert not still.slept(0.0, 1, 1)
    assert still.slept(0.5, 1, 1)


def test_chance_replays():
    """The same seed gives the same draws, one for each call (S3)."""
    chance = Chance(random.Random(3))
    first = [chance.random(), chance.random()]
    chance.fresh()
    assert first[0] == first[1] == random.Random(3).random()
    assert chance.random() != first[0]


def test_settings_are_checked():
    """Arguments that make no sense are refused by name (T1)."""
    for options, name in [
        ({"max_size": 0}, "max_size"),
        ({"max_size": True}, "max_size"),
        ({"max_size": 1, "min_gap": -1}, "min_gap"),
        ({"max_size": 1, "missing_grace": float("nan")}, "missing_grace"),
        ({"max_size": 1, "riding": "never"}, "riding"),
        ({"max_size": 1, "is_throttle": 3}, "is_throttle"),
        ({"max_size": 1, "isolate": "a"}, "isolate"),
        ({"max_size": 1, "retry_on": 3}, "retry_on"),
        ({"max_size": 1, "schedule": 3}, "schedule"),
    ]:
        with pytest.raises((TypeError, ValueError), match=name):
            GroupSettings(nothing, **options)
    with pytest.raises(TypeError, match="fetch"):
        GroupSettings("fetch", max_size=1)


def test_keys_are_a_collection():
    """A string is one key and no collection of keys; equal keys count once."""
    assert distinct(["b", "a", "b"]) == ["b", "a"]
    with pytest.raises(TypeError, match="vol-1"):
        distinct("vol-1")
    with pytest.raises(TypeError, match="unhashable"):
        distinct([["a"]])


def test_memory_of_a_wait_is_bounded():
    """A wait remembers its first check and its newest one, however many there were (O6)."""
    group, waits = make()
    seat = group.seat("a", waits.replaced({"timeout": None, "until": lambda value: False}), 0.0)
    for attempt in range(1, 40):
        seat.take(attempt, float(attempt))
        history = seat.history()
        kept = [record.attempt for record in history]
        assert kept == ([1, attempt] if attempt > 1 else [1])
        assert history.total == attempt
        assert seat.newest().value == attempt
