"""Waits that do not sleep: what is left is what they cost."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

import stamina.instrumentation

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def no_sleep() -> Iterator[None]:
    """Let ``time.sleep`` and ``asyncio.sleep`` return at once while the context lasts.

    This is the one switch that treats all alike: each library keeps its own default way of
    sleeping and of telling the time, and each of them looks these two functions up, in their
    modules, at every call. In asyncio nobody yields to the event loop either: a turn of the loop
    costs all of them the same, several microseconds, and would only draw the ratios together.

    stamina's hooks, which log, are taken away meanwhile.
    """
    hooks = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([])
    try:
        with patch.object(time, "sleep", _nap), patch.object(asyncio, "sleep", _async_nap):
            yield
    finally:
        stamina.instrumentation.set_on_retry_hooks(hooks)


def _nap(seconds: float) -> None:
    pass


async def _async_nap(seconds: float) -> None:
    pass
