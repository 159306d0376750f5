"""The signals that reach the process while it waits: noted, and acted upon when nothing is amiss.

A signal that raised an exception wherever it arrives would leave a process that was just started
without anybody who knows it. So while a wait runs, signals end up as bytes in a socket, and are
read where the wait sleeps or follows a process.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import IO, Any

    from typing_extensions import Self

# The longest sleep at a stretch, in seconds: the live line shows whole seconds.
BEAT = 1.0

# The same where no signal tells that a process has ended, because the wait runs on a thread that is
# not the main one, or on Windows.
BEAT_UNTOLD = 0.02

# Signals that say to end; Windows, which lacks some, has none noted.
ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


class Signals:
    """What the process is told while the ``with`` block runs.

    To a poll it is an event (``cancel=signals``), which is set once a signal says to end. A signal
    that was ignored before, as under ``nohup``, stays ignored. On a thread that is not the main one
    no signal is noted.

    Args:
        beat: called about once a second, to keep a live display alive.

    Attributes:
        ended_by: the number of the first signal that says to end; None so far.
        count: how many such signals have been read.
        group: the process group that is to stop and go on when this process does, if there is one.
    """

    def __init__(self, beat: Callable[[], None] = lambda: None) -> None:
        self.ended_by: int | None = None
        self.count = 0
        self.group: int | None = None
        self._beat = beat
        self._longest = BEAT_UNTOLD
        self._handlers: dict[int, Any] = {}
        self._ending: frozenset[int] = frozenset()
        self._wakeup = -1

    def __enter__(self) -> Self:
        self._inbox, self._outbox = socket.socketpair()
        self._inbox.setblocking(False)
        self._outbox.setblocking(False)
        if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
            self._longest = BEAT
            self._wakeup = signal.set_wakeup_fd(self._outbox.fileno(), warn_on_full_buffer=False)
            self._ending = frozenset(signal.Signals[name] for name in ENDING)
            for number in (*self._ending, signal.SIGCHLD, signal.SIGTSTP):
                self._handle(number, _note)
            # A group in the background that reads from the terminal is told that it cannot, where
            # it would otherwise be stopped and stay so; and it may write there.
            self._handle(signal.SIGTTIN, signal.SIG_IGN)
            self._handle(signal.SIGTTOU, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._handlers:
            signal.set_wakeup_fd(self._wakeup)
        self._inbox.close()
        self._outbox.close()

    def is_set(self) -> bool:
        """Tell whether a signal says to end."""
        self._read()
        return self.ended_by is not None

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep for that many seconds, or until a signal says to end; tell whether one does."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while not self.is_set() and (left := end - time.monotonic()) > 0:
            self.ready((), left)
        return self.is_set()

    def ready(self, files: Iterable[IO[bytes]], seconds: float) -> list[IO[bytes]]:
        """Return those of some pipes that can be read.

        It returns after that many seconds, after a beat, or when a signal arrives, with none.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._inbox, selectors.EVENT_READ)
            for file in files:
                selector.register(file, selectors.EVENT_READ, data=file)
            found = selector.select(min(seconds, self._longest))
        self._beat()
        return [key.data for key, _ in found if key.data is not None]

    def _handle(self, number: int, handler: Any) -> None:
        before = signal.getsignal(number)
        # None: it was set by something that is not Python, and could not be put back.
        ignored = before is None or (before is signal.SIG_IGN and number != signal.SIGCHLD)
        if not ignored:
            self._handlers[number] = before
            signal.signal(number, handler)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while True:
                for number in self._inbox.recv(4096):
                    self._take(number)

    def _take(self, number: int) -> None:
        if number in self._ending:
            self.ended_by = self.ended_by or number
            self.count += 1
        elif number == signal.SIGTSTP:
            self._suspend()

    def _suspend(self) -> None:
        """Stop, as Ctrl-Z asks for, together with the process that is followed; then go on."""
        self._tell_group(signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, _note)
        self._tell_group(signal.SIGCONT)

    def _tell_group(self, number: int) -> None:
        if self.group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, number)


def _note(number: int, frame: FrameType | None) -> None:
    """Do nothing: that a signal has a handler gets its number written to the socket."""
