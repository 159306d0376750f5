"""Waits under a test's control: time that moves without anybody sleeping."""

from __future__ import annotations

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
