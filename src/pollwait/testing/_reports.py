"""What a clock for threads says when nobody can go on."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING

from .._errors import safe_repr
from ._roster import INFINITY

if TYPE_CHECKING:
    from ._roster import Member, Roster, Sleep

_frames = sys._current_frames  # pyright: ignore[reportPrivateUsage]  # documented all the same
# What stands above this module in a stack is how the clock has started the thread.
_STARTER = os.path.join(os.path.dirname(__file__), "_threads.py")

# Enough to see who is stuck and where, few enough to read.
_MOST_SLEEPERS = 20
_MOST_CALLS = 12


def deadlocked(roster: Roster, auto: bool) -> str:
    """Say who waits for what when nobody is left who could wake anybody."""
    why = "" if auto else ", and with auto=False only advance() moves the time"
    return f"every thread is blocked at {roster.now} s{why}: {sleepers(roster)}"


def forsaken(roster: Roster, auto: bool, watchdog: float) -> str:
    """Say who waits for what when nobody has woken anybody for long."""
    what = "has set an event" if auto else "has called advance() or set an event"
    return (
        f"nobody {what} for {watchdog} real seconds, and the time stands at {roster.now} s:"
        f" {sleepers(roster)}"
    )


def stalled(roster: Roster, sleeps: int) -> str:
    """Say who keeps the time from moving."""
    return (
        f"the time stands still at {roster.now} s after {sleeps:,} sleeps of 0 s, so some thread"
        f" sleeps again and again where it should sleep longer: {sleepers(roster)}"
    )


def stuck(member: Member, roster: Roster, watchdog: float) -> str:
    """Say where a thread is that does not come back to the clock."""
    late = f"{member.name!r} has not come back to the clock for {watchdog} real seconds"
    if member.thread is None:
        return f"{late}: it was registered and never entered; {sleepers(roster)}"
    return (
        f"{late}: it is busy, or blocked on something that is not the clock;"
        f" {sleepers(roster)}; it stands at\n{_stack(member)}"
    )


def sleepers(roster: Roster) -> str:
    """Say who sleeps, and until when."""
    every = [
        f"{member.name!r} {_doing(sleep)}"
        for member, sleep in roster.asleep.items()
        if sleep.kind != "run"
    ]
    if not every:
        return "nobody sleeps"
    told = every[:_MOST_SLEEPERS]
    if len(every) > len(told):
        told.append(f"and {len(every) - len(told)} more")
    return ", ".join(told)


def _doing(sleep: Sleep) -> str:
    if sleep.kind == "begin":
        return "is about to begin"
    until = "" if sleep.due == INFINITY else f" until {sleep.due}"
    if sleep.event is not None:
        return f"waits{until} for {safe_repr(sleep.event)}"
    return f"{'advances' if sleep.kind == 'advance' else 'sleeps'}{until}"


def _stack(member: Member) -> str:
    thread = member.thread
    frame = None
    if thread is not None and thread.ident is not None and thread.is_alive():
        frame = _frames().get(thread.ident)
    if frame is None:
        return "  (nowhere: its thread has ended)"
    calls = traceback.extract_stack(frame)
    begun = [at for at, call in enumerate(calls) if call.filename == _STARTER]
    own = calls[begun[-1] + 1 if begun else 0 :]
    return "".join(traceback.format_list(own[-_MOST_CALLS:])).rstrip()
