"""Running one coroutine on virtual time, from a fresh event loop to a closed one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from ._virtual_loop import PATIENCE, VirtualTimeLoop

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from .._core.duration import Duration

T = TypeVar("T")


def run(
    main: Coroutine[Any, Any, T],
    *,
    debug: bool | None = None,
    patience: Duration | None = PATIENCE,
) -> T:
    """Run a coroutine on a fresh ``VirtualTimeLoop``: no sleep of it takes any real time.

    The twin of ``asyncio.run``: at the end the tasks that are left are cancelled, asynchronous
    generators and the default executor are shut down, and the loop is closed. It does not touch the
    event loop that is set for the thread and handles no signals.

    Args:
        main: a coroutine, that is, the *call* of an ``async def`` function.
        debug: asyncio's debug mode; None for what the environment says.
        patience: the longest that the loop blocks for real without any news, in real seconds; None
            for as long as it takes.

    Returns:
        What the coroutine returns.

    Raises:
        TypeError: ``main`` is no coroutine.
        RuntimeError: the thread runs an event loop already.
        Deadlock: nothing is left that could wake the coroutine, or the loop's patience is at an
            end; at the end of the run also for a task that lives on after it was cancelled, or a
            job of the default executor that does not end.
        ClockStalled: a task keeps the loop busy at one instant.

    Example:
        >>> async def two_hours():
        ...     await asyncio.gather(asyncio.sleep(3600), asyncio.sleep(7200))
        ...     return asyncio.get_running_loop().time()
        >>> run(two_hours())
        7200.0
    """
    if not asyncio.iscoroutine(main):
        raise TypeError(f"main must be a coroutine (the call of an async function): got {main!r}")
    _refuse_running_loop(main)
    loop = VirtualTimeLoop(patience=patience)
    try:
        if debug is not None:
            loop.set_debug(debug)
        return loop.run_until_complete(main)
    finally:
        wind_up(loop)


def wind_up(loop: VirtualTimeLoop) -> None:
    """Cancel the tasks that are left, shut down all else that the loop runs, and close it.

    Raises:
        Deadlock: something does not end. The loop is closed all the same.
    """
    try:
        _cancel_all_tasks(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


def _refuse_running_loop(main: Coroutine[Any, Any, Any]) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    main.close()  # or Python warns that nobody awaited it
    raise RuntimeError("run() cannot be called where an event loop is running: await the coroutine")


def _cancel_all_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    for task in tasks:
        if not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler(
                {
                    "message": "unhandled exception of a task that was cancelled at the end",
                    "exception": task.exception(),
                    "task": task,
                }
            )
