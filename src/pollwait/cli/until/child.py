"""One run of a command after the other, none of which outlives its limit.

Each run is a process group of its own, so that a signal reaches whatever it has started. The run is
over when the command itself ends. What it has left running in the background is then its own
business, as in a shell; but where the run is cut, all of its group goes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._errors import UsageError
from .tail import Tail

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import IO

    from .signals import Signals

Output: TypeAlias = Literal["keep", "pass", "drop"]

# Seconds from the signal that asks a run to end to the one that it cannot refuse.
KILL_AFTER = 2.0

# Nothing tells when the last process of a group has ended: seconds between two looks.
_GROUP_BEAT = 0.02

_PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>

_CHUNK = 2**16  # bytes of one read: what a pipe holds, as a rule
_HELD = 2**20  # the most that a pipe holds without privileges (Linux: fs.pipe-max-size)


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        code: its exit code as shells tell it, 128 + n for signal n; None if the run was cut.
        text: the same for people.
    """

    code: int | None
    text: str


class Command:
    """A command that can be run again and again, one run at a time.

    Args:
        arguments: the command and its arguments.
        signals: what the process is told; a signal that says to end ends the run too.
        output: ``"keep"`` the end of each run's output, ``"pass"`` all of it on to where this
            process writes, or ``"drop"`` it.

    Attributes:
        stdout: the end of what the last run has written.
        stderr: likewise.
    """

    def __init__(self, arguments: Sequence[str], signals: Signals, output: Output) -> None:
        self._arguments = list(arguments)
        self._signals = signals
        self._output: int | None = {
            "keep": subprocess.PIPE,
            "pass": None,
            "drop": subprocess.DEVNULL,
        }[output]
        self._open: dict[IO[bytes], Tail] = {}
        self.stdout = Tail()
        self.stderr = Tail()

    def run(self, limit: float) -> Ended:
        """Run the command once, with no input.

        Args:
            limit: seconds after which the run is cut: its group is asked to end, and after
                ``KILL_AFTER`` killed. Infinity for none.

        Returns:
            How it ended. No process of the group is left if the run was cut.

        Raises:
            UsageError: the command cannot be started at all.
        """
        self.stdout, self.stderr = Tail(), Tail()
        if sys.platform == "win32":  # pragma: no cover - tested on POSIX alone
            return self._run_on_windows(limit)
        process = self._start()
        self._signals.group = process.pid
        try:
            cut = self._follow(process, limit)
            self._read_rest()
            return cut or _ended(process.returncode)
        except BaseException:
            _tell(process, signal.SIGKILL)
            _reap(process)
            raise
        finally:
            self._signals.group = None
            for pipe in self._open:
                pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        own_group: dict[str, Any] = (
            {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
        )
        process = self._popen(**own_group)
        pipes = ((process.stdout, self.stdout), (process.stderr, self.stderr))
        self._open = {pipe: tail for pipe, tail in pipes if pipe is not None}
        return process

    def _popen(self, **own_group: Any) -> subprocess.Popen[bytes]:
        popen: Any = subprocess.Popen  # its type depends on arguments that are not there
        try:
            process: subprocess.Popen[bytes] = popen(
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                **own_group,
            )
            return process
        except OSError as error:
            raise _cannot_run(self._arguments, error) from None

    def _follow(self, process: subprocess.Popen[bytes], limit: float) -> Ended | None:
        """Read what a run writes until it ends; if it is cut, tell why."""
        deadline = time.monotonic() + limit
        while process.poll() is None:
            now = time.monotonic()
            if self._signals.is_set():
                asked = signal.Signals(self._signals.ended_by or signal.SIGTERM)
                self._end(process, asked)
                return Ended(None, f"ended by {asked.name}")
            if now >= deadline:
                self._end(process, signal.SIGTERM)
                return Ended(None, f"cut after {limit:.3g} s")
            self._read(deadline - now)
        return None

    def _end(self, process: subprocess.Popen[bytes], asked: signal.Signals) -> None:
        """Ask a run's group to end; if it does not, or at the next signal, kill it."""
        heard = self._signals.count
        with _adopting_orphans():
            _tell(process, asked)
            _tell(process, signal.SIGCONT)  # who is stopped does not hear
            self._follow_group(process, lambda: self._signals.count == heard)
            _tell(process, signal.SIGKILL)
            self._follow_group(process, lambda: True)

    def _follow_group(self, process: subprocess.Popen[bytes], patient: Callable[[], bool]) -> None:
        """Read what a group writes until all of it has ended, or patience has.

        That it ends is not certain even when it is killed: a process may be stuck in the kernel, or
        belong to another user.
        """
        deadline = time.monotonic() + KILL_AFTER
        while _lives(process) and patient() and time.monotonic() < deadline:
            self._read(_GROUP_BEAT)
            self._signals.is_set()

    def _read(self, seconds: float) -> None:
        for pipe in self._signals.ready(self._open, seconds):
            self._read_chunk(pipe)

    def _read_chunk(self, pipe: IO[bytes]) -> int:
        chunk = os.read(pipe.fileno(), _CHUNK)
        self._open[pipe].add(chunk)
        if not chunk:
            del self._open[pipe]
            pipe.close()
        return len(chunk)

    def _read_rest(self) -> None:
        """Read what a run that is over has left in its pipes.

        Their end does not come as long as something in the background holds them, which may write
        for ever.
        """
        for pipe in list(self._open):
            os.set_blocking(pipe.fileno(), False)
            left = _HELD
            with suppress(BlockingIOError):
                while left > 0 and (size := self._read_chunk(pipe)):
                    left -= size

    def _run_on_windows(self, limit: float) -> Ended:  # pragma: no cover - tested on POSIX alone
        """Run the command where groups get no signals and pipes cannot be waited for."""
        process = self._popen(creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0))
        ended = None
        try:
            outputs = process.communicate(timeout=None if limit == float("inf") else limit)
        except subprocess.TimeoutExpired:
            process.kill()
            outputs = process.communicate()
            ended = Ended(None, f"cut after {limit:.3g} s")
        except BaseException:
            process.kill()
            raise
        for tail, written in zip((self.stdout, self.stderr), outputs, strict=True):
            tail.add(written or b"")
        return ended or _ended(process.returncode)


def _cannot_run(arguments: list[str], error: OSError) -> UsageError:
    name = arguments[0]
    is_a_line = len(arguments) == 1 and len(name.split()) > 1
    hint = "; a line for the shell is run by: sh -c 'LINE'" if is_a_line else ""
    return UsageError(f"cannot run {name!r}: {error.strerror}{hint}")


def _ended(code: int) -> Ended:
    if code >= 0:
        return Ended(code, f"exit code {code}")
    try:
        name = signal.Signals(-code).name
    except ValueError:  # one of the real-time signals
        name = f"signal {-code}"
    return Ended(128 - code, f"exit code {128 - code} ({name})")


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was killed, in vain if it is stuck in the kernel or not ours."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(KILL_AFTER)


def _tell(process: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to a run's group; tell whether there is anybody."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        return False
    return True


def _lives(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether any process of a run's group is left, and take note of those that have ended."""
    if process.poll() is None:
        return True
    with suppress(ChildProcessError):
        while os.waitpid(-process.pid, os.WNOHANG)[0]:
            pass
    return _tell(process, 0)


@contextmanager
def _adopting_orphans() -> Generator[None, None, None]:
    """Become the parent of those whose parent ends, where that can be (on Linux).

    Else they go to the first process of the machine or the container. Where that takes no note of
    their end, as in many a container, they stay in their group as zombies, and seem to live.
    """
    _set_subreaper(1)
    try:
        yield
    finally:
        _set_subreaper(0)


def _set_subreaper(on: int) -> None:
    if sys.platform == "linux":  # pragma: no branch - coverage is measured there
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)
