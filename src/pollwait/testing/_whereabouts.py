"""Where the tasks of an event loop wait, for the error that says that nobody can go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Enough to see who is stuck, few enough to read; the same for the frames of one task.
_MOST_TASKS = 5
_MOST_FRAMES = 4


def whereabouts(loop: asyncio.AbstractEventLoop) -> str:
    """Name the pending tasks of a loop, the oldest first, each with the calls that it waits in."""
    tasks = sorted(asyncio.all_tasks(loop), key=_age)
    if not tasks:
        return "no task is pending"
    told = [f"{task.get_name()!r} in {_calls(task)}" for task in tasks[:_MOST_TASKS]]
    if len(tasks) > _MOST_TASKS:
        told.append(f"and {len(tasks) - _MOST_TASKS} more")
    return "pending: " + "; ".join(told)


def _age(task: asyncio.Task[Any]) -> tuple[int, str]:
    # asyncio numbers the tasks that nobody names: Task-9 is older than Task-10.
    name = task.get_name()
    return len(name), name


def _calls(task: asyncio.Task[Any]) -> str:
    calls = [_call(frame) for frame in _frames(task.get_coro())]
    if len(calls) > _MOST_FRAMES:
        half = _MOST_FRAMES // 2
        calls[half:-half] = ["…"]
    return " > ".join(calls)


def _frames(awaited: Any) -> Iterator[FrameType]:
    """Follow who awaits whom, from the task's own coroutine inwards."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)


def _call(frame: FrameType) -> str:
    path = frame.f_code.co_filename.replace("\\", "/")
    return f"{frame.f_code.co_name} ({path.rpartition('/')[2]}:{frame.f_lineno})"
