"""How sleeps end by an error: those of one run, or everybody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._errors import ClockStalled
from . import _reports as reports
from ._deadlock import Deadlock
from ._roster import INFINITY
from ._watch import someone_is_awake

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._roster import Group, Member
    from ._turns import Turns

# Turns without any movement of the time: about two seconds' worth, and far more than threads need
# to sort themselves out at one instant.
MOST_TURNS = 200_000

# Turns of daemons alone while all others wait for ever: about ten seconds' worth.
MOST_DAEMON_TURNS = 1_000_000


class Released(BaseException):
    """Ends a thread whose ``run`` is over.

    No ``Exception``, so that code which retries on errors does not go on for ever.
    """


class Stops:
    """Who must stop; its fields are guarded by the lock of the turns, its methods called with it.

    Whoever is stopped is due at once, gets an error from the sleep in progress and, if registered,
    from every later one. They still take turns, so that they end one after the other.

    Attributes:
        group: the threads of the run in progress.
    """

    def __init__(self, turns: Turns) -> None:
        self.group: Group | None = None
        self._turns = turns
        self._turns_here = 0  # since the time moved
        self._daemon_turns = 0  # since anybody else had the turn

    def count(self, member: Member) -> None:
        """Count a turn."""
        self._turns_here += 1
        self._daemon_turns = self._daemon_turns + 1 if member.daemon else 0

    def count_afresh(self) -> None:
        """Begin to count turns again: the time moves."""
        self._turns_here = 0

    def release(self, group: Group, error: BaseException) -> None:
        """Have a run end with an error."""
        group.fail(error, self._turns.current().name)
        for member in group.pending:
            self._stop(member, Released)

    def everybody(self, error: Callable[[], BaseException]) -> bool:
        """Stop all who sleep; tell whether there was anybody.

        The caller of a run stays asleep until its threads have ended. Threads that the clock made
        are released silently if somebody else hears of the error.
        """
        asleep = list(self._turns.roster.asleep.items())
        heard = self.group is not None or any(not member.own for member, _ in asleep)
        if self.group is not None:
            self.group.fail(error())
        for member, sleep in asleep:
            if member.thread is None:  # registered, and perhaps never to enter
                member.stopped = error
                self._turns.take_off(member)
            elif sleep.kind != "run":
                self._stop(member, Released if member.own and heard else error)
        return any(sleep.kind != "run" for _, sleep in asleep)

    def if_deadlocked(self) -> bool:
        """Stop everybody if somebody sleeps whom nobody is left to wake."""
        roster = self._turns.roster
        if not roster.wanted or someone_is_awake(roster):
            return False
        return self._report_deadlock()

    def if_stalled(self) -> bool:
        """Stop everybody if turns are taken for ever and lead nowhere."""
        roster = self._turns.roster
        if self._turns_here >= MOST_TURNS:
            self._turns_here = 0
            text = reports.stalled(roster, MOST_TURNS)
            return self.everybody(lambda: ClockStalled(text))
        if self._daemon_turns >= MOST_DAEMON_TURNS:
            self._daemon_turns = 0
            if all(who.daemon or what.due == INFINITY for who, what in roster.asleep.items()):
                return self._report_deadlock()
        return False

    def _report_deadlock(self) -> bool:
        text = reports.deadlocked(self._turns.roster, self._turns.auto)
        return self.everybody(lambda: Deadlock(text))

    def _stop(self, member: Member, error: Callable[[], BaseException]) -> None:
        member.stopped = member.stopped or error
        if member.sleep is not None:
            self._turns.roster.hasten(member)


def raise_if_stopped(me: Member) -> None:
    """Raise what a member was stopped with; one that is not registered hears of it once."""
    error = me.stopped
    if error is None:
        return
    if not me.registered:
        me.stopped = None
    raise error()
