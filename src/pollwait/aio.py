"""Waiting on an event loop: the names of ``pollwait`` whose driver differs, awaited.

Schedules, errors and events are those of ``pollwait``.
"""

from __future__ import annotations

from ._aio.batcher import Batcher
from ._aio.coalescer import Coalescer
from ._aio.group import PollGroup
from ._aio.poller import Poller, poll
from ._clock import AsyncClock
from ._clock import AsyncEvent as CancelEvent

__all__ = ["AsyncClock", "Batcher", "CancelEvent", "Coalescer", "PollGroup", "Poller", "poll"]
