"""One line on the terminal that says how a wait stands, while it lasts."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CLEAR = "\r\x1b[K"  # to the start of the line, and all that is on it gone

# Seconds: a line that shows whole seconds keeps up with the time.
_REFRESH = 0.5


def is_terminal() -> bool:
    """Tell whether standard error is a terminal on which a line can be written over."""
    stream: Any = sys.stderr  # None where the descriptor was closed
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def line(text: Callable[[], str]) -> Generator[Callable[[], None]]:
    """Show a line on standard error, which must be a terminal, and take it away in the end.

    Args:
        text: returns the line as it is by then; called in another thread as well, so that the line
            keeps up with the time.

    Yields:
        A function that shows the line anew.
    """
    over, lock = Event(), Lock()

    def show() -> None:
        with lock:
            _write(CLEAR + text()[: _columns() - 1])

    def keep_up() -> None:
        while not over.wait(_REFRESH):
            show()

    thread = Thread(target=keep_up, name="pollwait live line", daemon=True)
    thread.start()
    try:
        show()
        yield show
    finally:
        over.set()
        thread.join()
        _write(CLEAR)


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody looks any more, which is no reason not to wait
        print(end=text, file=sys.stderr, flush=True)  # noqa: T201 - a command line talks


def _columns() -> int:
    """Return the width of the terminal: a longer line would leave its beginning behind."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
