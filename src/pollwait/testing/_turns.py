"""Threads that take turns, so that a clock moves only when all of them sleep.

How it works: at most one member runs, the one that has the turn. Going to sleep and ending pass the
turn on: to a sleeper whose time has come, or else the time moves to the next sleeper or call. The
thread that gives up its turn does all this and opens the gate of the next one, a lock that only
that one waits at, so a turn costs the same however many sleep.

Threads that are not registered take part from the outside. While one of them is awake nobody can
know what it will do, so it keeps its turn until it sleeps again, ends, or a short real time has
passed; ``Watch`` sees to that.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .._core.rules import MAX_DELAY
from ._roster import INFINITY, Member, Roster, Sleep
from ._stops import Released, Stops, raise_if_stopped
from ._watch import Arrivals, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._roster import Flag, Group, Kind


class Turns:
    """Who has the turn on a clock, and who is next.

    The lock guards every field, and those of the roster, its members, the watch and the stops. It
    is held while events are asked whether they are set, and never while other code of users runs.

    Args:
        start: the first reading of the time, in seconds.
        auto: whether time moves by itself when all sleep.
        watchdog: real seconds after which a standstill is an error.

    Attributes:
        sleeps: the seconds of the sleeps that have ended.
        running: who has the turn.
        moves: counts whatever happens, for those who look whether anything does.
    """

    def __init__(self, start: float, *, auto: bool, watchdog: float) -> None:
        self.lock = threading.RLock()
        self.roster = Roster(start)
        self.auto = auto
        self.sleeps: list[float] = []
        self.running: Member | None = None
        self.moves = 0
        self.watch = Watch(self, watchdog)
        self.arrivals = Arrivals(self)
        self.stops = Stops(self)
        self._registered: set[Member] = set()
        self._local = threading.local()

    def alone(self) -> bool:
        """Tell whether nobody takes turns, so that whoever sleeps may simply move the time."""
        return self.auto and not self._registered and not self.roster.asleep

    def move_to(self, when: float) -> None:
        """Move the time of a clock on which nobody takes turns."""
        with self.lock:
            self.roster.now = max(self.roster.now, when)
            self.running = None

    def current(self) -> Member:
        """Return the calling thread."""
        member: Member | None = getattr(self._local, "member", None)
        if member is None:
            thread = threading.current_thread()
            member = self._local.member = Member(thread.name, thread)
        return member

    def register(self, member: Member) -> None:
        """Have time stand still for a member, and put it in the queue for its first turn."""
        with self.lock:
            names = {other.name for other in self._registered}
            name, number = member.name, 2
            while member.name in names:
                member.name, number = f"{name} #{number}", number + 1
            self._registered.add(member)
            if member.group is not None:
                member.group.pending[member] = None
                if member.group.failure is not None:
                    member.stopped = Released
            self._lie_down(member, "begin", 0.0)

    def enter(self, member: Member) -> None:
        """Make the calling thread that member, once its first turn comes."""
        with self.lock:
            if self.running is self.current():
                self.running = None
            self._local.member = member
            member.thread = threading.current_thread()
            sleep = member.sleep
            self.pass_turn(member)
        if sleep is not None:
            self.watch.stay(member, sleep)
        raise_if_stopped(member)

    def leave(self, member: Member) -> None:
        """Take a member off the clock, entered or not, and pass its turn on."""
        if self.current() is member:
            del self._local.member
        failure: BaseException | None = None
        with self.lock:
            self.take_off(member)
            while self.running is None:
                try:
                    self.pass_turn(None)
                    break
                except BaseException as error:  # of a call that was due
                    failure = failure or error
                    if member.group is not None:
                        self.stops.release(member.group, error)
        if failure is not None and member.group is None:
            raise failure

    def block(self, me: Member, kind: Kind, seconds: float, event: Flag | None = None) -> bool:
        """Sleep for that many seconds or until the event is set; tell whether the event was."""
        raise_if_stopped(me)
        self._refuse_calls(me)
        try:
            with self.lock:
                sleep = self._lie_down(me, kind, seconds, event)
                self.pass_turn(me)
            self.watch.stay(me, sleep)
        except BaseException:
            with self.lock:
                self._get_up(me)
            raise
        raise_if_stopped(me)
        if sleep.error is not None:
            raise sleep.error
        return sleep.cut

    def open_run(self, group: Group) -> None:
        """Begin a run, of which there is at most one at a time.

        Raises:
            RuntimeError: there is one, or the caller takes turns itself.
        """
        me = self.current()
        self._refuse_calls(me)
        if me.registered:
            raise RuntimeError(f"run was called by {me.name!r}, which is registered: use thread()")
        with self.lock:
            if self.stops.group is not None:
                raise RuntimeError("run was called while another run is on: give it all functions")
            self.stops.group = group

    def close_run(self) -> None:
        """End the run."""
        with self.lock:
            self.stops.group = None

    def release(self, group: Group, error: BaseException) -> None:
        """Have a run end with an error, and its threads one after the other."""
        with self.lock:
            self.stops.release(group, error)

    def take_off(self, member: Member) -> None:
        """Go on without a member."""
        if member.sleep is not None:
            self.roster.remove(member)
        self._registered.discard(member)
        if member.group is not None:
            member.group.pending.pop(member, None)
        if self.running is member:
            self.running = None
        self.moves += 1

    def pass_turn(self, me: Member | None) -> None:
        """Give the turn to whoever is next, if nobody has it."""
        roster = self.roster
        while self.running is None:
            roster.notice()
            due = roster.next_due()
            if not self._may_move(due):
                if not self.stops.if_deadlocked():
                    break
                continue
            if due > roster.now:
                self.stops.count_afresh()
            function = roster.take_call(due)
            if function is not None:
                self._call(function)
            elif not self.stops.if_stalled():
                self._wake(roster.take_sleeper(), me)
        self.watch.post_lookout()

    def _lie_down(self, me: Member, kind: Kind, seconds: float, event: Flag | None = None) -> Sleep:
        now = self.roster.now
        endless = event is not None and seconds >= MAX_DELAY
        sleep = Sleep(kind, now, seconds, INFINITY if endless else now + seconds, event)
        sleep.last = kind == "advance" and not (self.auto and me.registered)
        self.roster.add(me, sleep)
        if self.running is me:
            self.running = None
        self.moves += 1
        self.arrivals.notice()
        return sleep

    def _get_up(self, me: Member) -> None:
        """End a sleep that an error breaks off."""
        if me.sleep is not None:  # pragma: no branch - an interrupt may come just after the waking
            self.roster.remove(me)
        if self.running is None and me.registered:
            self.running = me
        self.moves += 1

    def _may_move(self, due: float) -> bool:
        if due <= self.roster.now:
            return True
        if due == INFINITY:
            return False
        if self.auto:
            return self.roster.wanted > 0
        return any(
            sleep.due >= due for sleep in self.roster.asleep.values() if sleep.kind == "advance"
        )

    def _wake(self, member: Member, me: Member | None) -> None:
        sleep = self.roster.remove(member)
        self.moves += 1
        self.stops.count(member)
        if sleep.counts and member.stopped is None:
            cut_short = sleep.cut and self.roster.now < sleep.due
            self.sleeps.append(self.roster.now - sleep.began if cut_short else sleep.seconds)
        if self._takes_turn(member, sleep):
            self.running = member
            self.watch.kept = 0.0
        if member is not me:
            member.open_gate()

    def _takes_turn(self, member: Member, sleep: Sleep) -> bool:
        """Tell whether others must keep still when a member wakes.

        Not if it was nobody's sleep: a test that moves the time from outside, or calls ``run``.
        """
        if sleep.kind == "advance":
            return self.auto or member.registered
        return sleep.kind != "run"

    def _call(self, function: Callable[[], object]) -> None:
        """Make a call that is due, without the lock."""
        caller = Member("a function of call_at", threading.current_thread(), registered=True)
        self.running = caller
        self.moves += 1
        self.lock.release()
        try:
            function()
        finally:
            self.lock.acquire()
            self.moves += 1
            if self.running is caller:
                self.running = None

    def _refuse_calls(self, me: Member) -> None:
        """Raise if a function of ``call_at`` wants to sleep: its caller may sleep already."""
        running = self.running
        is_called = running is not None and running is not me and running.thread is me.thread
        if me.sleep is not None or is_called:
            raise RuntimeError("a function of call_at must not sleep while threads take turns")
