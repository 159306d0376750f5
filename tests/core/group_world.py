"""A world for the machine of poll groups: a clock and a fetch, without threads or event loops."""

from __future__ import annotations

import random
from heapq import heappop, heappush

from pollwait._core.group import Group
from pollwait._core.group_settings import GroupSettings


class Busy(Exception):
    """The service is too busy."""


class Down(Exception):
    """The service is away for a moment."""


def nothing(keys):
    """Stand for a fetch that the machine never calls itself."""
    raise AssertionError(keys)


def make(max_size=10, seed=0, **options):
    """Return a group, with settings for its waits."""
    settings = GroupSettings(nothing, max_size=max_size, **options)
    return Group(settings, random.Random(seed), lambda signal: signal.after), settings.waits


class World:
    """A group with a fetch and a clock, in a loop of events: the simplest driver that there is.

    Args:
        ready: when each key is ready; missing ones never are.
        duration: seconds that a call takes.
        fail: a function of a call's number and keys that returns what the call raises, if it does.

    Attributes:
        calls: the start and the keys of each call.
        ends: when each wait ended, and how, in order.
    """

    def __init__(self, ready, duration=0.0, fail=lambda number, keys: None, **options):
        self.group, self.waits = make(**options)
        self.ready, self.duration, self.fail = ready, duration, fail
        self.now = 0.0
        self.calls = []
        self.ends = []
        self.asked = []  # what each call carried: a wait and whether it was due
        self._events = []
        self._order = 0
        self._wake = None

    def at(self, time, function, *args):
        """Have something done at a time."""
        self._order += 1
        heappush(self._events, (time, self._order, function, args))

    def join(self, *keys, timeout=100.0, at=0.0, until=bool, fail=None, **options):
        """Have waits begin at a time; return them in a list that fills then."""
        seats = []

        def begin():
            settings = self.waits.replaced(
                {"timeout": timeout, "until": until, "fail": fail, **options}
            )
            seats.extend(self.group.seat(key, settings, self.now) for key in keys)
            self.group.join(seats)

        self.at(at, begin)
        return seats

    def leave(self, seats, at):
        """Have waits given up at a time."""
        self.at(at, lambda: self.group.leave(seats))

    def run(self, until=1000.0):
        """Run until nothing is left to do, or a time."""
        while self._events or self._wake is not None:
            if self._wake is not None and (not self._events or self._wake < self._events[0][0]):
                self.now, self._wake = max(self.now, self._wake), None
            else:
                time, _, function, args = heappop(self._events)
                self.now = max(self.now, time)
                function(*args)
            if self.now > until:
                break
            self._step()
        return self

    def _step(self):
        while True:
            over, call = self.group.step(self.now)
            self._end(over)
            if call is None:
                break
            self._send(call)
        delay = self.group.delay(self.now)
        self._wake = None if delay is None else self.now + delay

    def _send(self, call):
        keys = call.next()
        if keys is None:
            self._end(self.group.put_back(call, self.now))
            return
        self.calls.append((self.now, keys))
        self.asked.append([seat for seats in call.seats.values() for seat in seats])
        error = self.fail(len(self.calls), keys)
        answer = {key: self.ready.get(key, float("inf")) <= self.now for key in keys}
        self.at(self.now + self.duration, self._receive, call, keys, answer, error)

    def _receive(self, call, keys, answer, error):
        found = call.passed(answer, keys) if error is None else call.failed(error)
        self._judge(call, found)
        keys = call.next()
        if keys is not None:
            self.calls.append((self.now, keys))
            error = self.fail(len(self.calls), keys)
            answer = {key: self.ready.get(key, float("inf")) <= self.now for key in keys}
            self._receive(call, keys, answer, error)
            return
        self.group.ended(call, self.now)
        self._judge(call, call.rest())
        self._end(self.group.put_back(call, self.now))

    def _judge(self, call, found):
        judged = []
        for seat, outcome in call.answered(found):
            judging = call.judge.weigh(seat, outcome, self.now)
            for _ in judging or ():
                raise AssertionError("nothing here is asynchronous")
            judged.append(seat)
        self._end(self.group.settle(judged))

    def _end(self, over):
        self.ends += [(self.now, seat.key, seat.reason) for seat in over]

    @property
    def starts(self):
        """When the calls started."""
        return [start for start, _ in self.calls]
