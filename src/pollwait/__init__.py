"""Waiting, done well: polls on composable schedules, and waits and callers that share calls.

This is the face for threads; ``pollwait.aio`` is that for event loops.
"""

from __future__ import annotations

from ._clock import Clock, SystemClock
from ._clock import Event as CancelEvent
from ._core.batched import Batched
from ._core.distribution import Distribution
from ._core.evaluate import Evaluation, evaluate
from ._core.fit import Fit, fit
from ._core.history import History, Record
from ._core.latency import LatencyModel
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
from ._latency_log import LatencyLog
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
    "Distribution",
    "Evaluation",
    "FetchError",
    "Finished",
    "Fit",
    "History",
    "LatencyLog",
    "LatencyModel",
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
    "evaluate",
    "exponential",
    "fibonacci",
    "fit",
    "fixed",
    "linear",
    "log_events",
    "poll",
    "sequence",
]
