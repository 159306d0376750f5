"""Waiting, done well: polls on composable schedules, exact about time and honest in their errors.

This is the face for threads.
"""

from __future__ import annotations

from ._clock import Clock, SystemClock
from ._clock import Event as CancelEvent
from ._core.history import History, Record
from ._core.schedule import (
    DEFAULT,
    MAX_DELAY,
    Planned,
    Schedule,
    decorrelated,
    exponential,
    fibonacci,
    fixed,
    linear,
    sequence,
)
from ._core.try_again import TryAgain
from ._errors import (
    ClockStalled,
    PollCancelled,
    PollError,
    PollExhausted,
    PollFailed,
    PollTimeout,
)
from ._events import Checked, Finished, log_events
from ._sync.poller import Poller, poll

__all__ = [
    "DEFAULT",
    "MAX_DELAY",
    "CancelEvent",
    "Checked",
    "Clock",
    "ClockStalled",
    "Finished",
    "History",
    "Planned",
    "PollCancelled",
    "PollError",
    "PollExhausted",
    "PollFailed",
    "PollTimeout",
    "Poller",
    "Record",
    "Schedule",
    "SystemClock",
    "TryAgain",
    "decorrelated",
    "exponential",
    "fibonacci",
    "fixed",
    "linear",
    "log_events",
    "poll",
    "sequence",
]
