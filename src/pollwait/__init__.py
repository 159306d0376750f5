"""Waiting, done well: polls on composable schedules, and waits and callers that share calls.

This is the face for threads; ``pollwait.aio`` is that for event loops.
"""

from __future__ import annotations

from ._clock import Clock, SystemClock
from ._clock import Event as CancelEvent
from ._core.batched import Batched
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
    BatcherClosed,
    BatcherFull,
    BatchError,
    ClockStalled,
    FetchError,
    MissingKey,
    PollCancelled,
    PollError,
    PollExhausted,
    PollFailed,
    PollTimeout,
)
from ._events import Checked, Finished, log_events
from ._group_events import Called
from ._sync.batcher import Batcher
from ._sync.coalescer import Coalescer
from ._sync.group import PollGroup
from ._sync.poller import Poller, poll

__all__ = [
    "DEFAULT",
    "MAX_DELAY",
    "BatchError",
    "Batched",
    "Batcher",
    "BatcherClosed",
    "BatcherFull",
    "Called",
    "CancelEvent",
    "Checked",
    "Clock",
    "ClockStalled",
    "Coalescer",
    "FetchError",
    "Finished",
    "History",
    "MissingKey",
    "Planned",
    "PollCancelled",
    "PollError",
    "PollExhausted",
    "PollFailed",
    "PollGroup",
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
