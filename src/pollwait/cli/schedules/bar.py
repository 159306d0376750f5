"""A progress bar on the terminal, for what takes longer than a moment."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from ..live import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

MOMENT = 1.0  # seconds before the bar appears


@contextmanager
def bar(steps: int, *, after: float = MOMENT) -> Generator[Callable[[str], object]]:
    """Show on standard error how far some work has come, if that is a terminal and rich is there.

    Args:
        steps: how many there are.
        after: seconds before anything is shown; what is done by then shows nothing.

    Yields:
        A function to call as each step begins, with the name of the step.
    """
    if not is_terminal():
        yield str
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError:
        yield str
        return
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task("", total=steps)
    begun = 0

    def begin(name: str) -> None:
        nonlocal begun
        progress.update(task, completed=begun, description=name)
        begun += 1

    timer = Timer(after, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield begin
    finally:
        timer.cancel()
        timer.join()  # it may be starting the bar just now
        progress.stop()
