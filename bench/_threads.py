"""The candidates on threads: the same wait, written by hand, for pollwait and for its peers.

Each candidate takes a check and returns a function that runs one wait of it. What a library does
once for many waits (decorating a function, building a ``Poller``) happens in the first step and is
not timed; what it does for each wait is.

All of them wait for a truthy result, or until ``ConnectionError`` comes no more, with delays of
0.1 s that grow by half each time up to 10 s, for an hour at most. Where they cannot do the same:

- stamina retries on exceptions only, so it has no part in waits for a result.
- A timeout ends a wait in all of them, but only the loop written by hand, pollwait and backoff clip
  the last sleep to it.
- backoff logs every attempt and stamina every retry unless told otherwise; here both are told
  otherwise, because the others do not log. Nor does any of them draw jitter, save pollwait with its
  default schedule.
- polling2 keeps every value for its error, and so do its figures.
"""

from __future__ import annotations

import operator
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import backoff
import polling2  # type: ignore[import-untyped]
import stamina
import stamina.instrumentation
import tenacity

import pollwait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Check: TypeAlias = Callable[[], object]
    Run: TypeAlias = Callable[[], object]

START = 0.1
FACTOR = 1.5
CAP = 10.0
TIMEOUT = 3600.0

SCHEDULE = pollwait.exponential(START, factor=FACTOR).cap(CAP)


@dataclass(frozen=True)
class Candidate:
    """A way to wait: ``prepare(check)`` returns a function that runs one wait."""

    name: str
    prepare: Callable[[Check], Run]


@contextmanager
def no_sleep() -> Iterator[None]:
    """Let ``time.sleep`` return at once while the context lasts.

    This is the one switch that treats all alike: each library keeps its own default way of
    sleeping and of telling the time, and each of them looks ``time.sleep`` up at every call.
    stamina's hooks, which log, are taken away meanwhile.
    """
    hooks = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([])
    try:
        with patch.object(time, "sleep", _return_at_once):
            yield
    finally:
        stamina.instrumentation.set_on_retry_hooks(hooks)


def _return_at_once(seconds: float) -> None:
    pass


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


def _tenacity_options(retry: Any) -> dict[str, Any]:
    return {
        "retry": retry,
        "wait": tenacity.wait_exponential(multiplier=START, exp_base=FACTOR, max=CAP),
        "stop": tenacity.stop_after_delay(TIMEOUT),
    }


def _tenacity_built(retry: Any) -> Callable[[Check], Run]:
    options = _tenacity_options(retry)
    return lambda check: lambda: tenacity.Retrying(**options)(check)


def _tenacity_decorated(retry: Any) -> Callable[[Check], Run]:
    decorated: Callable[[Check], Run] = tenacity.retry(**_tenacity_options(retry))
    return decorated


def _backoff(decorator: Any, condition: Any) -> Callable[[Check], Run]:
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


def _stamina(check: Check) -> Run:
    return stamina.retry(
        on=ConnectionError,
        attempts=None,
        timeout=TIMEOUT,
        wait_initial=START,
        wait_exp_base=FACTOR,
        wait_max=CAP,
        wait_jitter=0.0,
    )(check)


def _stamina_context(check: Check) -> Run:
    def wait() -> object:
        for attempt in stamina.retry_context(
            on=ConnectionError,
            attempts=None,
            timeout=TIMEOUT,
            wait_initial=START,
            wait_exp_base=FACTOR,
            wait_max=CAP,
            wait_jitter=0.0,
        ):
            with attempt:
                return check()
        return None

    return wait


def _polling2(**options: Any) -> Callable[[Check], Run]:
    return lambda check: partial(
        polling2.poll,
        check,
        step=START,
        step_function=lambda step: min(step * FACTOR, CAP),
        timeout=TIMEOUT,
        **options,
    )


_FALSY = tenacity.retry_if_result(operator.not_)
_LOST = tenacity.retry_if_exception_type(ConnectionError)

ON_RESULTS = (
    Candidate("loop by hand", lambda check: partial(hand_loop, check)),
    Candidate("pollwait.poll", _poll(schedule=SCHEDULE)),
    Candidate("pollwait.poll, default schedule", _poll()),
    Candidate("pollwait.Poller.poll", _poller(schedule=SCHEDULE)),
    Candidate("pollwait.Poller.wrap", _poller_wrap(schedule=SCHEDULE)),
    Candidate("tenacity.Retrying, built per wait", _tenacity_built(_FALSY)),
    Candidate("tenacity.retry", _tenacity_decorated(_FALSY)),
    Candidate("backoff.on_predicate", _backoff(backoff.on_predicate, operator.not_)),
    Candidate("polling2.poll", _polling2()),
)
"""Waits for a truthy result; the first is the basis of the ratios."""

ON_ERRORS = (
    Candidate("loop by hand", lambda check: partial(hand_loop_on_errors, check)),
    Candidate("pollwait.poll", _poll(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("pollwait.poll, default schedule", _poll(retry_on=ConnectionError)),
    Candidate("pollwait.Poller.poll", _poller(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("pollwait.Poller.wrap", _poller_wrap(schedule=SCHEDULE, retry_on=ConnectionError)),
    Candidate("tenacity.Retrying, built per wait", _tenacity_built(_LOST)),
    Candidate("tenacity.retry", _tenacity_decorated(_LOST)),
    Candidate("backoff.on_exception", _backoff(backoff.on_exception, ConnectionError)),
    Candidate("stamina.retry", _stamina),
    Candidate("stamina.retry_context", _stamina_context),
    Candidate("polling2.poll", _polling2(ignore_exceptions=(ConnectionError,))),
)
"""Waits while errors come; the first is the basis of the ratios."""
