"""Waits under a test's control: time that moves without anybody sleeping."""

from __future__ import annotations

from ._fake_clock import FakeClock
from ._loop_deadlock import LoopDeadlock
from ._virtual_loop import VirtualTimeLoop
from ._virtual_run import run

__all__ = ["FakeClock", "LoopDeadlock", "VirtualTimeLoop", "run"]
