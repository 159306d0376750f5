"""The time on an event loop."""

from __future__ import annotations

import asyncio


def loop_time() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()
