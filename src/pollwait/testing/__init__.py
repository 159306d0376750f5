"""Waits under a test's control: time that moves without anybody sleeping."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._deadlock import Deadlock
    from ._fake_clock import FakeClock
    from ._freezegun import AsyncFreezegunClock, FreezegunClock
    from ._recording_fetch import AsyncRecordingFetch, RecordingFetch
    from ._scripted import AsyncScriptedCheck, Lasting, ScriptedCheck, ScriptEnded
    from ._virtual_loop import VirtualTimeLoop
    from ._virtual_run import run

__all__ = [
    "AsyncFreezegunClock",
    "AsyncRecordingFetch",
    "AsyncScriptedCheck",
    "Deadlock",
    "FakeClock",
    "FreezegunClock",
    "Lasting",
    "RecordingFetch",
    "ScriptEnded",
    "ScriptedCheck",
    "VirtualTimeLoop",
    "run",
]

_ROOMS = {
    "AsyncFreezegunClock": "_freezegun",
    "AsyncRecordingFetch": "_recording_fetch",
    "AsyncScriptedCheck": "_scripted",
    "Deadlock": "_deadlock",
    "FakeClock": "_fake_clock",
    "FreezegunClock": "_freezegun",
    "Lasting": "_scripted",
    "RecordingFetch": "_recording_fetch",
    "ScriptEnded": "_scripted",
    "ScriptedCheck": "_scripted",
    "VirtualTimeLoop": "_virtual_loop",
    "run": "_virtual_run",
}


def __getattr__(name: str) -> object:
    """Load a name when it is first asked for.

    pytest imports this package in every run, for the plugin in it, and a run that uses nothing of
    pollwait is not to load asyncio and the rest for its sake.
    """
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{_ROOMS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
