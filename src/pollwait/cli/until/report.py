"""What ``pollwait until`` shows while it waits, and what it says in the end."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..._core.failure import decimal, shorten
from ..._events import Checked
from ..live import is_terminal

if TYPE_CHECKING:
    import argparse
    from typing import TextIO

    from typing_extensions import Self

    from ..._clock import Clock
    from ..._events import Finished
    from .child import Command, Ended
    from .tail import Tail

Display: TypeAlias = Literal["live", "lines", "none"]
Outcome: TypeAlias = Literal["ready", "failed", "timed out", "interrupted"]

_CLEAR = "\r\x1b[K"  # to the start of the line, and all that is on it gone


class Watch:
    """Listens to a wait (``on_event=watch``) and shows on stderr how it goes.

    Args:
        display: ``"live"`` for one line that changes, where stderr is a terminal; ``"lines"`` for a
            line after each run; ``"none"``.
        clock: the clock of the wait.

    Attributes:
        finished: the last event of the wait; None before.
        last: how the newest run ended; None before the first has.
    """

    def __init__(self, display: Display, clock: Clock) -> None:
        self.finished: Finished | None = None
        self.last: Ended | None = None
        self._lines = display == "lines"
        self._live = display == "live" and is_terminal()
        self._clock = clock
        self._began = clock.monotonic()
        self._runs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            _say(_CLEAR, end="")

    def __call__(self, event: Checked | Finished) -> None:
        """Take in what the wait tells."""
        if not isinstance(event, Checked):
            self.finished = event
        elif event.error is None:
            self._runs, self.last = event.attempt, event.value
            if self._lines:
                _say(_line(event))
            self.beat()

    def beat(self) -> None:
        """Show the time again."""
        if self._live:
            parts = [f"{self._clock.monotonic() - self._began:.0f} s", _count(self._runs)]
            if self.last is not None:
                parts.append(_last(self.last))
            _say(_CLEAR + " · ".join(parts), end="")


@dataclass(frozen=True)
class End:
    """How the wait ended.

    Attributes:
        command: the command and its arguments.
        outcome: what became of it.
        elapsed: seconds.
        runs: how many there were.
        last: how the last one ended; None if there was none.
        error: the one sentence that says why it is not ready; None if it is.
    """

    command: list[str]
    outcome: Outcome
    elapsed: float
    runs: int
    last: Ended | None
    error: str | None

    @classmethod
    def of(
        cls, command: list[str], options: argparse.Namespace, watch: Watch, signal: int | None
    ) -> Self:
        """Gather it from what a watch was told and the signal that says to end, if one does."""
        finished = watch.finished
        assert finished is not None  # it ended
        outcome = _outcome(finished, signal)
        error = None
        if outcome != "ready":
            ended = {"timed out": "not ready"}.get(outcome, outcome)
            error = (
                f"{shorten(shlex.join(command))} {ended} after {_count(finished.attempts)}"
                f" in {decimal(finished.elapsed)} s{_limit(finished, options)}"
                f"{'; ' + _last(watch.last) if watch.last else ''}"
            )
        return cls(command, outcome, finished.elapsed, finished.attempts, watch.last, error)


def print_json(end: End, command: Command) -> None:
    """Print the end of a wait as one JSON object."""
    report: dict[str, Any] = {
        "command": end.command,
        "outcome": end.outcome,
        "elapsed": round(end.elapsed, 3),
        "attempts": end.runs,
        "exit_code": end.last and end.last.code,
        "error": end.error,
        "stdout": command.stdout.read().decode(errors="replace"),
        "stderr": command.stderr.read().decode(errors="replace"),
        "truncated": bool(command.stdout.lost or command.stderr.lost),
    }
    print(json.dumps(report))  # noqa: T201 - a command line talks


def pass_on(end: End, command: Command) -> None:
    """Write what the last run has written, and say why the command is not ready."""
    _write(sys.stdout, command.stdout.read())
    written = command.stderr.read()
    _write(sys.stderr, written)
    said = [*_losses("stdout", command.stdout), *_losses("stderr", command.stderr)]
    if end.error is not None:
        said.append(end.error)
    if said and written and not written.endswith(b"\n"):
        _say("")
    for text in said:
        _say(f"pollwait: {text}")


def _outcome(finished: Finished, signal: int | None) -> Outcome:
    if finished.reason == "ready" or finished.reason == "failed":
        return finished.reason
    return "timed out" if signal is None else "interrupted"


def _limit(finished: Finished, options: argparse.Namespace) -> str:
    if finished.reason == "timeout":
        return f" (timeout {decimal(options.timeout)} s)"
    if finished.reason == "exhausted":
        ended = finished.attempts != options.attempts
        return " (schedule ended)" if ended else f" (attempts {options.attempts})"
    return ""


def _losses(name: str, tail: Tail) -> list[str]:
    """Say that an output is not all there: whoever reads it as data must know."""
    tail.read()
    if not tail.lost:
        return []
    return [f"the first {tail.lost:,} bytes of the command's {name} are left out"]


def _line(event: Checked) -> str:
    then = "" if event.next_delay is None else f"; next in {decimal(event.next_delay)} s"
    return (
        f"pollwait: run {event.attempt} ended at {decimal(event.elapsed)} s:"
        f" {event.value.text}{then}"
    )


def _last(ended: Ended) -> str:
    return f"last {'run ' if ended.code is None else ''}{ended.text}"


def _count(runs: int) -> str:
    return f"{runs} run{'' if runs == 1 else 's'}"


def _say(text: str, end: str = "\n") -> None:
    if sys.stderr is not None:  # it is None where the descriptor was closed
        print(text, end=end, file=sys.stderr, flush=True)  # noqa: T201


def _write(stream: TextIO | None, data: bytes) -> None:
    """Write bytes as they are, where the stream takes bytes."""
    if stream is None:
        return
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # as in a notebook
        stream.write(data.decode(errors="replace"))
    else:
        buffer.write(data)
    stream.flush()
