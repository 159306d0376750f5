"""The candidates on threads: the same wait, written by hand, for pollwait and for its peers.

Each candidate takes a check and returns a function that runs one wait of it. What a library does
once for many waits (decorating a function, building a ``Poller``) happens in the first step and is
not timed; what it does for each wait is.

All of them wait for a truthy result, or until ``ConnectionError`` comes no more, with delays of
0.1 s that grow by half each time up to 10 s, for an hour at most. Where they cannot do the same:

- stamina and opnieuw retry on exceptions only, so they have no part in waits for a result.
- A timeout ends a wait in all of them, but only the loop written by hand, pollwait and backoff clip
  the last sleep to it.
- backoff logs every attempt and stamina every retry unless told otherwise; here both are told
  otherwise, because the others do not log. Nor does any of them draw jitter, save pollwait with its
  default schedule and opnieuw.
- polling2 keeps every value for its error, and so do its figures.
- opnieuw has one schedule: delays that double, with full jitter, such that so many calls fill the
  hour. It cannot count beyond 1,024 calls, builds a text for its log at every attempt and chains
  every error to the one before.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import backoff
import opnieuw
import polling2  # type: ignore[import-untyped]
import stamina
import tenacity

import pollwait

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Check: TypeAlias = Callable[[], object]
    Run: TypeAlias = Callable[[], object]

START = 0.1
FACTOR = 1.5
CAP = 10.0
TIMEOUT = 3600.0
OPNIEUW_CALLS = 1024  # the most that it can count: it computes 2.0 ** calls

SCHEDULE = pollwait.exponential(START, factor=FACTOR).cap(CAP)


@dataclass(frozen=True)
class Candidate:
    """A way to wait: ``prepare(check)`` returns a function that runs one wait.

    In asyncio the check may be asynchronous, and what the function returns must be awaited.
    """

    name: str
    prepare: Callable[[Any], Callable[[], Any]]


def hand_loop(check: Check) -> object:
    """Wait for a truthy result as a careful person writes it without a library."""
    deadline = time.monotonic() + TIMEOUT
    delay = START
    while True:
        value = check()
        if value:
            return value
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        time.sleep(min(delay, left))
        delay = min(delay * FACTOR, CAP)


def hand_loop_on_errors(check: Check) -> object:
    """Retry on errors as a careful person writes it without a library."""
    deadline = time.monotonic() + TIMEOUT
    delay = START
    while True:
        try:
            return check()
        except ConnectionError:
            left = deadline - time.monotonic()
            if left <= 0:
                raise
        time.sleep(min(delay, left))
        delay = min(delay * FACTOR, CAP)


def _poll(**options: Any) -> Callable[[Check], Run]:
    return lambda check: partial(pollwait.poll, check, timeout=TIMEOUT, **options)


def _poller(**options: Any) -> Callable[[Check], Run]:
    poller = pollwait.Poller(timeout=TIMEOUT, **options)
    return lambda check: partial(poller.poll, check)


def _poller_wrap(**options: Any) -> Callable[[Check], Run]:
    return pollwait.Poller(timeout=TIMEOUT, **options).wrap


def tenacity_options(retry: Any) -> dict[str, Any]:
    """Return what tenacity is told, on threads and in asyncio."""
    return {
        "retry": retry,
        "wait": tenacity.wait_exponential(multiplier=START, exp_base=FACTOR, max=CAP),
        "stop": tenacity.stop_after_delay(TIMEOUT),
    }


def _tenacity_built(retry: Any) -> Callable[[Check], Run]:
    options = tenacity_options(retry)
    return lambda check: lambda: tenacity.Retrying(**options)(check)


def tenacity_decorated(retry: Any) -> Callable[[Check], Run]:
    """Return tenacity's decorator, for functions and coroutine functions."""
    decorated: Callable[[Check], Run] = tenacity.retry(**tenacity_options(retry))
    return decorated


def backoff_decorated(decorator: Any, condition: Any) -> Callable[[Check], Run]:
    """Return a decorator of backoff, for functions and coroutine functions."""
    decorated: Callable[[Check], Run] = decorator(
        backoff.expo,
        condition,
        base=FACTOR,
        factor=START,
        max_value=CAP,
        max_time=TIMEOUT,
        jitter=None,
        logger=None,
    )
    return decorated


def stamina_options() -> dict[str, Any]:
    """Return what stamina is told, on threads and in asyncio."""
    return {
        "on": ConnectionError,
        "attempts": None,
        "timeout": TIMEOUT,
        "wait_initial": START,
        "wait_exp_base": FACTOR,
        "wait_max": CAP,
        "wait_jitter": 0.0,
    }


def stamina_decorated(check: Check) -> Run:
    """Decorate a function, or a coroutine function, by stamina."""
    return stamina.retry(**stamina_options())(check)


def _stamina_context(check: Check) -> Run:
    def wait() -> object:
        for attempt in stamina.retry_context(**stamina_options()):
            with attempt:
                return check()
        return None

    return wait


def opnieuw_decorated(check: Check) -> Run:
    """Decorate a function, or a coroutine function, by opnieuw."""
    return opnieuw.retry(
        retry_on_exceptions=ConnectionError,
        max_calls_total=OPNIEUW_CALLS,
        retry_window_after_first_call_in_seconds=int(TIMEOUT),
    )(check)


def _polling2(**options: Any) -> Callable[[Check], Run]:
    return lambda check: partial(
        polling2.poll,
        check,
        step=START,
        step_function=lambda step: min(step * FACTOR, CAP),
        timeout=TIMEOUT,
        **options,
    )


FALSY = tenacity.retry_if_result(operator.not_)
LOST = tenacity.retry_if_exception_type(ConnectionError)

ON_RESULTS = (
    Candidate("loop by hand", lambda check: partial(hand_loop, check)),
    Candidate("pollwait.poll", _poll(schedule=SCHEDULE)),
    Candidate("pollwait.poll, default schedule", _poll()),
    Candidate("pollwait.Poller.poll", _poller(schedule=SCHEDULE)),
    Candidate("pollwait.Poller.wrap", _poller_wrap(schedule=SCHEDULE)),
    Candidate("tenacity.Retrying, built per wait", _tenacity_built(FALSY)),
    Candidate("tenacity.retry", tenacity_decorated(FALSY)),
    Candidate("backoff.on_predicate", backoff_decorated(backoff.on_predicate, operator.not_)),
    Candidate("polling2.poll", _polling2()),
)
"""Waits for a truthy result; the first is the basis of the ratios."""

ON_ERRORS = (
    Candidate("loop by hand", lambda check: partial(hand_loop_on_errors, check)),
    Candidate("pollwait.poll", _poll(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("pollwait.poll, default schedule", _poll(retry_on=ConnectionError)),
    Candidate("pollwait.Poller.poll", _poller(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("pollwait.Poller.wrap", _poller_wrap(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("tenacity.Retrying, built per wait", _tenacity_built(LOST)),
    Candidate("tenacity.retry", tenacity_decorated(LOST)),
    Candidate("backoff.on_exception", backoff_decorated(backoff.on_exception, ConnectionError)),
    Candidate("stamina.retry", stamina_decorated),
    Candidate("stamina.retry_context", _stamina_context),
    Candidate("opnieuw.retry", opnieuw_decorated),
    Candidate("polling2.poll", _polling2(ignore_exceptions=(ConnectionError,))),
)
"""Waits while errors come; the first is the basis of the ratios."""
