"""Who sleeps on a clock, and what is due next: plain data, without locks and threads of its own.

Invariants: a member is asleep exactly while its ``sleep`` is set. Sleepers are due in the order of
(time, order of arrival), calls before sleepers of the same time. One whose event is set, or who is
told to stop, is due at the present time, behind those who are due already. The time never steps
back.
"""

from __future__ import annotations

import heapq
import threading
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Kind: TypeAlias = Literal["begin", "sleep", "wait", "join", "advance", "run"]

INFINITY = float("inf")


class Flag(Protocol):
    """What a sleeper may wait for."""

    def is_set(self) -> bool:
        """Tell whether it has happened."""
        ...


class Group:
    """The threads of one ``run``: a flag that is set when all of them have ended.

    Attributes:
        pending: those that have not ended, in the order in which they came.
        failure: the first error that one of them ended with.
    """

    def __init__(self) -> None:
        self.pending: dict[Member, None] = {}
        self.failure: BaseException | None = None

    def is_set(self) -> bool:
        """Tell whether all threads have ended."""
        return not self.pending

    def fail(self, error: BaseException, name: str = "") -> None:
        """Keep the first error, and note further ones on it."""
        if self.failure is None:
            self.failure = error
        elif name and error is not self.failure:
            _note(self.failure, f"then {name!r} ended with {type(error).__name__}: {error}")


class Member:
    """A thread as its clock sees it.

    Attributes:
        name: what reports call it.
        thread: None as long as nobody knows which one it will be.
        registered: time stands still while it is awake.
        daemon: time does not move for it alone.
        own: its thread was made by the clock, so that nobody else sees what it ends with.
        group: the ``run`` that it belongs to.
        gate: held while the member sleeps; whoever wakes it opens the gate.
        sleep: the sleep in progress; None while the member is awake.
        stopped: what its calls of the clock raise from now on.
    """

    def __init__(
        self,
        name: str,
        thread: threading.Thread | None = None,
        *,
        registered: bool = False,
        daemon: bool = False,
        own: bool = False,
        group: Group | None = None,
    ) -> None:
        self.name = name
        self.thread = thread
        self.registered = registered
        self.daemon = daemon
        self.own = own
        self.group = group
        self.gate = threading.Lock()
        self.gate.acquire()
        self.sleep: Sleep | None = None
        self.stopped: Callable[[], BaseException] | None = None

    def open_gate(self) -> None:
        """Let the thread look at its state; it tells by itself whether that is its turn."""
        if self.gate.locked():
            self.gate.release()


@dataclass(eq=False)
class Sleep:
    """One sleep in progress.

    Attributes:
        due: when it ends by itself; infinite if never.
        last: at its time, it comes behind all others.
        cut: its event was seen to be set.
        error: what its event raised when it was asked.
    """

    kind: Kind
    began: float
    seconds: float
    due: float
    event: Flag | None = None
    last: bool = False
    cut: bool = False
    error: BaseException | None = None
    order: int = 0

    @property
    def counts(self) -> bool:
        """Tell whether it is a sleep in the eyes of a test."""
        return self.kind in {"sleep", "wait"}


class Roster:
    """The time of a clock, its sleepers and its calls.

    Attributes:
        now: the time, in seconds.
        asleep: all sleepers, in the order of their arrival.
        wanted: how many of them are no daemons.
    """

    def __init__(self, start: float) -> None:
        self.now = start
        self.asleep: dict[Member, Sleep] = {}
        self.wanted = 0
        self._order = count()
        self._sleepers: list[tuple[float, bool, int, Member]] = []
        self._calls: list[tuple[float, int, Callable[[], object]]] = []
        self._watched: dict[int, tuple[Flag, dict[Member, Sleep]]] = {}

    def add(self, member: Member, sleep: Sleep) -> None:
        """Put a member to sleep."""
        member.sleep = self.asleep[member] = sleep
        self.wanted += not member.daemon
        if sleep.event is not None:
            _, watchers = self._watched.setdefault(id(sleep.event), (sleep.event, {}))
            watchers[member] = sleep
        self._push(member, sleep, sleep.due)

    def remove(self, member: Member) -> Sleep:
        """End a member's sleep and return it."""
        sleep = self.asleep.pop(member)
        self._unwatch(member, sleep)
        member.sleep = None
        self.wanted -= not member.daemon
        return sleep

    def hasten(self, member: Member) -> None:
        """Have a sleeper be due at the present time."""
        sleep = self.asleep[member]
        self._unwatch(member, sleep)
        self._push(member, sleep, self.now)

    def notice(self) -> None:
        """Hasten all whose events are set, or cannot be asked."""
        found: list[tuple[Member, Sleep]] = []
        for event, watchers in self._watched.values():
            try:
                if not event.is_set():
                    continue
            except BaseException as error:
                for sleep in watchers.values():
                    sleep.error = error
            found.extend(watchers.items())
        found.sort(key=_arrival)
        for member, sleep in found:
            sleep.cut = True
            self.hasten(member)

    def call_at(self, when: float, function: Callable[[], object]) -> None:
        """Add a call."""
        heapq.heappush(self._calls, (when, next(self._order), function))

    def watches(self) -> bool:
        """Tell whether somebody waits for an event."""
        return bool(self._watched)

    def next_due(self) -> float:
        """Return the time of what is due next, infinite if nothing is."""
        while self._sleepers and not _holds(self._sleepers[0]):
            heapq.heappop(self._sleepers)
        due = self._sleepers[0][0] if self._sleepers else INFINITY
        return min(due, self._calls[0][0]) if self._calls else due

    def take_call(self, end: float) -> Callable[[], object] | None:
        """Move the time to the next call that is due by ``end`` and return it, if there is one."""
        if not self._calls or self._calls[0][0] > end:
            return None
        when, _, function = heapq.heappop(self._calls)
        self.now = max(self.now, when)
        return function

    def take_sleeper(self) -> Member:
        """Move the time to the next sleeper, and return it still asleep."""
        due, _, _, member = heapq.heappop(self._sleepers)
        self.now = max(self.now, due)
        return member

    def _push(self, member: Member, sleep: Sleep, due: float) -> None:
        sleep.order = next(self._order)
        if due == INFINITY:
            return
        heapq.heappush(self._sleepers, (due, sleep.last, sleep.order, member))
        if len(self._sleepers) > 64 + 2 * len(self.asleep):  # mostly sleeps that events have ended
            self._sleepers = [entry for entry in self._sleepers if _holds(entry)]
            heapq.heapify(self._sleepers)

    def _unwatch(self, member: Member, sleep: Sleep) -> None:
        watched = self._watched.get(id(sleep.event))
        if watched is None:
            return
        _, watchers = watched
        watchers.pop(member, None)
        if not watchers:
            del self._watched[id(sleep.event)]


def _arrival(watcher: tuple[Member, Sleep]) -> int:
    _, sleep = watcher
    return sleep.order


def _holds(entry: tuple[float, bool, int, Member]) -> bool:
    """Tell whether a sleeper still sleeps as it did when the entry was made."""
    _, _, order, member = entry
    return member.sleep is not None and member.sleep.order == order


def _note(error: BaseException, text: str) -> None:
    """Do what ``add_note`` does, which Python 3.10 lacks."""
    vars(error).setdefault("__notes__", []).append(text)
