"""The candidates in asyncio: the same wait, written by hand, for pollwait and for its peers.

They are those of ``_threads``, with the same delays and limits, and all that is said there holds
here: each takes a check and returns a function whose call, awaited, is one wait of it.

- The loop written by hand tells the time by ``loop.time``, as pollwait does: it is the clock by
  which asyncio sleeps.
- stamina and opnieuw wait on errors only, and polling2 does not know asyncio.
- Plain checks, which return and are not awaited, are taken by pollwait and by a tenacity that is
  built by hand; the decorators turn to threads for them.
- pollwait and tenacity look whether trio is loaded, which it is not here. stamina asks sniffio at
  every sleep, if that is installed.
"""

from __future__ import annotations

import asyncio
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import backoff
import stamina
import tenacity
from _threads import (
    CAP,
    FACTOR,
    FALSY,
    LOST,
    SCHEDULE,
    START,
    TIMEOUT,
    Candidate,
    backoff_decorated,
    opnieuw_decorated,
    stamina_decorated,
    stamina_options,
    tenacity_decorated,
    tenacity_options,
)

from pollwait import aio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    from _checks import AsyncCheck, Check

    AsyncRun: TypeAlias = Callable[[], Awaitable[object]]


async def hand_loop(check: AsyncCheck) -> object:
    """Wait for a truthy result as a careful person writes it without a library."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TIMEOUT
    delay = START
    while True:
        value = await check()
        if value:
            return value
        left = deadline - loop.time()
        if left <= 0:
            raise TimeoutError
        await asyncio.sleep(min(delay, left))
        delay = min(delay * FACTOR, CAP)


async def hand_loop_on_errors(check: AsyncCheck) -> object:
    """Retry on errors as a careful person writes it without a library."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TIMEOUT
    delay = START
    while True:
        try:
            return await check()
        except ConnectionError:
            left = deadline - loop.time()
            if left <= 0:
                raise
        await asyncio.sleep(min(delay, left))
        delay = min(delay * FACTOR, CAP)


async def hand_loop_of_plain_checks(check: Check) -> object:
    """Wait for a truthy result of a plain function."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TIMEOUT
    delay = START
    while True:
        value = check()
        if value:
            return value
        left = deadline - loop.time()
        if left <= 0:
            raise TimeoutError
        await asyncio.sleep(min(delay, left))
        delay = min(delay * FACTOR, CAP)


def _poll(**options: Any) -> Callable[[AsyncCheck], AsyncRun]:
    return lambda check: partial(aio.poll, check, timeout=TIMEOUT, **options)


def _poller(**options: Any) -> Callable[[AsyncCheck], AsyncRun]:
    poller = aio.Poller(timeout=TIMEOUT, **options)
    return lambda check: partial(poller.poll, check)


def _poller_wrap(**options: Any) -> Callable[[AsyncCheck], AsyncRun]:
    return aio.Poller(timeout=TIMEOUT, **options).wrap


def _tenacity_built(retry: Any) -> Callable[[AsyncCheck], AsyncRun]:
    options = tenacity_options(retry)
    return lambda check: lambda: tenacity.AsyncRetrying(**options)(check)


def _stamina_context(check: AsyncCheck) -> AsyncRun:
    async def wait() -> object:
        async for attempt in stamina.retry_context(**stamina_options()):
            with attempt:
                return await check()
        return None

    return wait


ON_RESULTS = (
    Candidate("loop by hand", lambda check: partial(hand_loop, check)),
    Candidate("pollwait.aio.poll", _poll(schedule=SCHEDULE)),
    Candidate("pollwait.aio.poll, default schedule", _poll()),
    Candidate("pollwait.aio.Poller.poll", _poller(schedule=SCHEDULE)),
    Candidate("pollwait.aio.Poller.wrap", _poller_wrap(schedule=SCHEDULE)),
    Candidate("tenacity.AsyncRetrying, built per wait", _tenacity_built(FALSY)),
    Candidate("tenacity.retry", tenacity_decorated(FALSY)),
    Candidate("backoff.on_predicate", backoff_decorated(backoff.on_predicate, operator.not_)),
)
"""Waits for a truthy result; the first is the basis of the ratios."""

ON_ERRORS = (
    Candidate("loop by hand", lambda check: partial(hand_loop_on_errors, check)),
    Candidate("pollwait.aio.poll", _poll(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("pollwait.aio.poll, default schedule", _poll(retry_on=ConnectionError)),
    Candidate("pollwait.aio.Poller.poll", _poller(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate(
        "pollwait.aio.Poller.wrap", _poller_wrap(schedule=SCHEDULE, retry_on=ConnectionError)
    ),
    Candidate("tenacity.AsyncRetrying, built per wait", _tenacity_built(LOST)),
    Candidate("tenacity.retry", tenacity_decorated(LOST)),
    Candidate("backoff.on_exception", backoff_decorated(backoff.on_exception, ConnectionError)),
    Candidate("stamina.retry", stamina_decorated),
    Candidate("stamina.retry_context", _stamina_context),
    Candidate("opnieuw.retry", opnieuw_decorated),
)
"""Waits while errors come; the first is the basis of the ratios."""

ON_PLAIN_RESULTS = (
    Candidate("loop by hand", lambda check: partial(hand_loop_of_plain_checks, check)),
    Candidate("pollwait.aio.poll", _poll(schedule=SCHEDULE)),
    Candidate("pollwait.aio.poll, default schedule", _poll()),
    Candidate("pollwait.aio.Poller.poll", _poller(schedule=SCHEDULE)),
    Candidate("tenacity.AsyncRetrying, built per wait", _tenacity_built(FALSY)),
)
"""Waits for a truthy result of a plain check; the first is the basis of the ratios."""
