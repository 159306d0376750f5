"""Waits under a test's control: time that moves without anybody sleeping."""

from __future__ import annotations

from ._fake_clock import FakeClock

__all__ = ["FakeClock"]
