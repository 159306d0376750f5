"""Real time on a clock that takes none: who must be waited for, and who for too long.

Members sleep at their gates. All of them look now and then whether the clock is at a standstill;
where somebody must look often (a thread that is not registered has the turn, or only an event can
go on), one of them is the lookout. Real time is only ever measured by the timeouts of locks, which
no patching of ``time`` changes.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from . import _reports as reports
from ._deadlock import Deadlock

if TYPE_CHECKING:
    from ._roster import Member, Roster, Sleep
    from ._turns import Turns

# Real seconds between two looks of the lookout: short beside a test, long beside a turn (20 µs).
_LOOK = 0.002

# Real seconds for which a thread that is not registered keeps its turn: many times what a check
# takes in a test, and little for those who must wait for a thread that blocks.
_SETTLE = 0.1


class Watch:
    """How members sleep for real; its fields are guarded by the lock of the turns.

    Attributes:
        kept: for how many real seconds a thread that is not registered has kept its turn.
    """

    def __init__(self, turns: Turns, watchdog: float) -> None:
        self.kept = 0.0
        self._turns = turns
        self._watchdog = watchdog
        self._lookout: Member | None = None

    def stay(self, me: Member, sleep: Sleep) -> None:
        """Wait at the gate until a sleep is over; called without the lock."""
        turns = self._turns
        moves, waited = turns.moves, 0.0
        while me.sleep is sleep:
            pause = _LOOK if self._lookout is me else self._watchdog / 4
            if me.gate.acquire(timeout=min(pause, threading.TIMEOUT_MAX)):
                continue
            with turns.lock:
                if me.sleep is not sleep:
                    break  # pragma: no cover - woken after the pause and before the lock
                self._look(me)
                waited = waited + pause if moves == turns.moves else 0.0
                moves = turns.moves
                if waited >= self._watchdog:
                    waited = 0.0
                    self._end_standstill(me)

    def post_lookout(self) -> None:
        """See to it that there is a lookout where one is needed."""
        running, roster = self._turns.running, self._turns.roster
        if running is None:
            needed = roster.wanted > 0 and roster.watches()
        else:
            needed = not running.registered
        if not needed:
            self._lookout = None
        elif self._lookout is None or self._lookout.sleep is None:
            self._lookout = next((who for who in roster.asleep if who.thread is not None), None)
            if self._lookout is not None:
                self._lookout.open_gate()

    def _look(self, me: Member) -> None:
        turns = self._turns
        running = turns.running
        if running is not None and not running.registered and self._lookout is me:
            self.kept += _LOOK
            if self.kept >= _SETTLE or not _is_alive(running):
                turns.running = None
        turns.pass_turn(me)

    def _end_standstill(self, me: Member) -> None:
        """Stop all sleepers if nothing has happened for as long as the watchdog waits."""
        turns = self._turns
        running = turns.running
        if running is not None and running.registered:
            text = reports.stuck(running, turns.roster, self._watchdog)
            running.stopped = lambda: Deadlock(text)  # in case that it ever comes back
            turns.take_off(running)
        elif running is None and turns.roster.wanted:
            text = reports.forsaken(turns.roster, turns.auto, self._watchdog)
        else:
            return
        turns.stops.everybody(lambda: Deadlock(text))
        turns.pass_turn(me)


class Arrivals:
    """Those who wait, in real time, until enough members sleep."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._expected: list[tuple[int, threading.Lock]] = []

    def notice(self) -> None:
        """Let those go on whose number has been reached; called with the lock."""
        for number, gate in self._expected:
            if gate.locked() and self._present() >= number:
                gate.release()

    def expect(self, number: int, timeout: float) -> None:
        """Block until that many sleep, at most ``timeout`` real seconds."""
        lock, gate = self._turns.lock, threading.Lock()
        gate.acquire()
        with lock:
            if self._present() >= number:
                return
            self._expected.append((number, gate))
        try:
            came = gate.acquire(timeout=min(timeout, threading.TIMEOUT_MAX))
        finally:
            with lock:
                self._expected.remove((number, gate))
        if not came:
            with lock:
                raise TimeoutError(
                    f"{self._present()} of {number} sleepers after {timeout} real seconds:"
                    f" {reports.sleepers(self._turns.roster)}"
                )

    def _present(self) -> int:
        return sum(sleep.counts for sleep in self._turns.roster.asleep.values())


def someone_is_awake(roster: Roster) -> bool:
    """Tell whether any thread but the sleepers could still do something, such as set an event.

    Threads that sleep on another clock could not: whoever wakes them is awake and counts.
    """
    inside = {member.thread for member in roster.asleep}
    return any(
        thread not in inside and not getattr(thread, "is_idle", False)
        for thread in threading.enumerate()
    )


def _is_alive(member: Member) -> bool:
    return member.thread is not None and member.thread.is_alive()
