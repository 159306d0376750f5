"""The machine of poll groups against an oracle that keeps no queues and looks at every wait."""

from __future__ import annotations

import random
from heapq import heappop, heappush
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from pollwait import exponential, fixed, sequence
from pollwait._core.group import LINGER, MAX_IN_FLIGHT
from pollwait._core.room import NEAR

from .group_world import Busy, Down, World

NEVER = float("inf")


class Known:
    """A wait as the oracle knows it."""

    def __init__(self, number, begins, plan):
        schedule = plan["schedule"]
        self.number, self.key, self.schedule = number, plan["key"], schedule
        self.deadline = begins + plan["timeout"]
        self.final = schedule.initial_delay >= plan["timeout"]
        self.due = self.deadline if self.final else begins + schedule.initial_delay
        self.state = schedule.begin()
        self.attempts = 0
        self.last_asked = None
        self.extended = 0.0  # how much longer it may stay after its deadline
        self.carried = None  # how the present call carries it
        self.over = False


class Oracle:
    """Follows a trace of calls, and tells when each must have come and whom it must have carried.

    It knows no agenda, queue or stage: at every moment it asks every wait. Of calls that may carry
    several choices of keys, it checks that the choice was fair and goes on from there.
    """

    def __init__(self, script, calls):
        self.script, self.calls = script, list(calls)
        self.now, self.last_start, self.gap = 0.0, -NEVER, script["min_gap"]
        self.slowed_at = -NEVER
        self.fresh_since, self.in_flight, self.made = None, 0, 0
        self.waits, self.ends, self.events, self.order = [], [], [], 0
        for number, plan in enumerate(script["waits"]):
            self.add(plan["at"], self.begin, number, plan)
        for number, at in script["leaves"]:
            self.add(at, self.leave, number % len(script["waits"]))

    def add(self, time, function, *args):
        self.order += 1
        heappush(self.events, (time, self.order, function, args))

    def begin(self, number, plan):
        if not self.living():
            self.fresh_since = self.now
        self.waits.append(Known(number, self.now, plan))

    def leave(self, number):
        for wait in self.waits:
            if wait.number == number:
                wait.over = True

    def living(self):
        return [wait for wait in self.waits if not wait.over]

    def idle(self):
        return [wait for wait in self.living() if wait.carried is None]

    def next_call(self):
        idle = self.idle()
        if not idle or self.in_flight == MAX_IN_FLIGHT:
            return NEVER
        first = min(idle, key=lambda wait: wait.due)
        start = first.due
        if self.fresh_since is not None and not (first.due <= self.now and first.final):
            start += min(LINGER, self.script["min_gap"])
            if first.due >= self.fresh_since + LINGER:  # all that began with it are known
                start = max(wait.due for wait in idle if wait.due <= start)
        return max(start, self.last_start + self.gap)

    def end_of(self, wait):
        if not wait.attempts:
            return wait.deadline + self.script["min_gap"]
        return wait.deadline + wait.extended

    def run(self, until):
        while True:
            moments = [self.next_call(), *(self.end_of(wait) for wait in self.idle())]
            # A wait that is final is looked at again when it is due: it stands no linger.
            moments += [wait.due for wait in self.idle() if wait.final and wait.due > self.now]
            wake = max(min(moments), self.now)
            if self.events and self.events[0][0] <= wake:
                time, _, function, args = heappop(self.events)
                self.now = max(self.now, time)
                function(*args)
            elif wake == NEVER:
                break
            else:
                self.now = wake
            if self.now > until:
                break
            while self.next_call() <= self.now:
                self.call()
            for wait in self.idle():
                soon = self.next_call() <= wait.deadline + LINGER
                if self.now == wait.deadline and wait.attempts and soon:
                    wait.extended = LINGER
                if self.end_of(wait) <= self.now:
                    self.end(wait, "timeout")
        assert not self.calls, "calls that nobody needed"
        return self

    def end(self, wait, reason):
        wait.over = True
        self.ends.append((self.now, wait.key, reason))

    def call(self):
        start, keys = self.calls.pop(0)
        assert start == self.now
        self.check_fairness(keys)
        self.made += 1
        self.in_flight += 1
        self.fresh_since = None
        carried = [wait for wait in self.idle() if wait.key in keys and self.may_ride(wait)]
        for wait in carried:
            wait.carried = self.carries(wait)
            wait.last_asked = self.made
        self.last_start = self.now
        self.add(self.now + self.script["duration"], self.receive, self.made, start, carried)

    def may_ride(self, wait):
        return wait.attempts > 0 or wait.due <= self.now

    def carries(self, wait):
        if wait.due <= self.now:
            return "due"
        near = wait.due <= self.now + self.gap
        counts = near or self.script["riding"] == "counts"
        return "counts" if counts and not wait.schedule.ends else "free"

    def check_fairness(self, keys):
        """Due ones first, by due time, then those not asked for longest; and as many as can be."""
        able = [wait for wait in self.idle() if self.may_ride(wait)]
        able_keys = {wait.key for wait in able}
        assert len(keys) == len(set(keys)) == min(self.script["max_size"], len(able_keys))
        assert set(keys) <= able_keys

        def rank(key):
            mine = [wait for wait in able if wait.key == key]
            due = [wait.due for wait in mine if wait.due <= self.now]
            return (0, min(due)) if due else (1, min(wait.last_asked for wait in mine))

        left = [rank(key) for key in able_keys - set(keys)]
        assert not left or max(map(rank, keys)) <= min(left)

    def receive(self, number, start, carried):
        self.in_flight -= 1
        slow, down = number in self.script["throttled"], number in self.script["failed"]
        for wait in carried:
            how, wait.carried = wait.carried, None
            if not wait.over:
                self.take(wait, "free" if slow and how != "due" else how, slow, down, start)
        least = self.script["min_gap"]
        if slow:
            if start >= self.slowed_at:
                self.slowed_at = self.now
                slow_gap = max(self.gap, 0.125)
                self.limit = 1.0 / slow_gap
                self.step = max(0.05 / slow_gap, 0.005 / max(least, 0.125))
                self.gap = min(2 * slow_gap, max(30.0, least))
        elif not down and self.gap > least:
            rate = 1.0 / self.gap + self.step
            self.step *= 2 if rate > self.limit else 1
            self.gap = least if 1.0 / rate <= max(least, 0.125) else 1.0 / rate

    def take(self, wait, how, slow, down, start):
        wait.attempts += 1
        ready = self.script["ready"].get(wait.key, NEVER) <= start
        if ready and not slow and not down:
            self.end(wait, "ready")
        elif (wait.final and how == "due") or self.now >= wait.deadline:
            self.end(wait, "timeout")
        elif slow or how == "free":
            wait.due = max(wait.due, self.now)
            wait.final = wait.due >= wait.deadline
        else:
            step = wait.schedule.step(wait.state, self.now, start, random)
            if step is None:
                self.end(wait, "exhausted")
                return
            delay, wait.state = step
            wait.final = self.now + delay >= wait.deadline
            wait.due = min(self.now + delay, wait.deadline)


QUARTERS = st.integers(0, 32).map(lambda quarters: quarters / 4)
EIGHTHS = st.integers(0, 64).map(lambda eighths: eighths / 8)

SCHEDULES = st.sampled_from(
    [
        fixed(1),
        fixed(0),
        fixed(4),
        exponential(0.5, factor=2).cap(4),
        exponential(0.5, factor=2).after(1.25),
        sequence(0.5, 2, 0.25),
        fixed(3).times(2).after(0.75),
        fixed(2).from_start(),
    ]
)

WAITS = st.fixed_dictionaries(
    {
        "at": EIGHTHS,
        "key": st.sampled_from("abcdef"),
        "timeout": QUARTERS,
        "schedule": SCHEDULES,
    }
)

SCRIPTS = st.fixed_dictionaries(
    {
        "waits": st.lists(WAITS, min_size=1, max_size=12),
        "leaves": st.lists(st.tuples(st.integers(0, 11), EIGHTHS), max_size=4),
        "ready": st.dictionaries(st.sampled_from("abcdef"), QUARTERS),
        "max_size": st.integers(1, 7),
        "min_gap": st.sampled_from([0.25, 0.5, 2.0]),
        "duration": st.sampled_from([0.0, 0.125, 0.25, 1.0, 5.0]),
        "riding": st.sampled_from(["free", "counts"]),
        "throttled": st.sets(st.integers(1, 12), max_size=4),
        "failed": st.sets(st.integers(1, 12), max_size=2),
    }
)

UNTIL = 60.0


def trace(script):
    """Run a script on the machine."""

    def fail(number, keys):
        if number in script["throttled"]:
            return Busy()
        return Down() if number in script["failed"] else None

    world = World(
        script["ready"],
        duration=script["duration"],
        fail=fail,
        is_throttle=Busy,
        retry_on=Down,
        max_size=script["max_size"],
        min_gap=script["min_gap"],
        riding=script["riding"],
    )
    seats = [
        world.join(plan["key"], timeout=plan["timeout"], at=plan["at"], schedule=plan["schedule"])
        for plan in script["waits"]
    ]
    for number, at in script["leaves"]:
        world.leave(seats[number % len(seats)], at)
    return world.run(UNTIL)


@given(SCRIPTS)
@example(
    {
        "waits": [
            {"at": 0.0, "key": "a", "timeout": 2.0, "schedule": fixed(1)},
            {"at": 0.125, "key": "b", "timeout": 8.0, "schedule": fixed(4)},
        ],
        "leaves": [],
        "ready": {"b": 5.0},
        "max_size": 1,
        "min_gap": 0.5,
        "duration": 0.25,
        "riding": "free",
        "throttled": {2},
        "failed": {3},
    }
)
def test_machine_does_as_the_oracle_says(script):
    """Every call comes when it must, carries whom it must, and every wait ends as it must."""
    world = trace(script)
    oracle = Oracle(script, world.calls).run(UNTIL)
    assert sorted(world.ends) == sorted(oracle.ends)


@given(SCRIPTS)
def test_invariants_hold(script):
    """Calls keep the gap and are never empty; every wait ends once, and nothing is left over."""
    world = trace(script)
    starts = world.starts
    assert all(late - early >= script["min_gap"] - NEAR for early, late in pairwise(starts))
    assert all(keys and len(keys) <= script["max_size"] for _, keys in world.calls)
    for start, seats in zip(starts, world.asked, strict=True):
        assert all(
            start >= seat.began + min(seat.settings.schedule.initial_delay, seat.timeout)
            for seat in seats
        )
        assert all(start <= seat.deadline + script["min_gap"] for seat in seats)
    assert len(world.ends) <= len(script["waits"])
    assert world.group.waiting == 0
    assert world.group.delay(world.now) is None


@given(
    keys=st.integers(2, 40),
    max_size=st.integers(1, 7),
    riding=st.sampled_from(["free", "counts"]),
)
def test_nobody_starves(keys, max_size, riding):
    """However many there are, each key is asked as often as any other, give or take one round."""
    world = World({}, max_size=max_size, min_gap=0.5, riding=riding, schedule=fixed(0.25))
    world.join(*range(keys), timeout=None)
    world.run(until=60)
    asked = [sum(key in carried for _, carried in world.calls) for key in range(keys)]
    assert max(asked) - min(asked) <= 1
