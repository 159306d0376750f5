"""The driver of one wait on an event loop: it calls, awaits and raises; it decides nothing.

It mirrors the driver on threads line by line, but for what must be awaited.
"""

from __future__ import annotations

import random
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from .._clock import hint
from .._core.callables import (
    PLAIN,
    describe,
    is_awaitable,
    refuse_generator,
    refuse_generator_function,
    refuse_unfinished,
)
from .._core.try_again import TryAgain
from .._core.wait import Wait
from .._events import checked, conclude, leave
from .backend import refuse_blocking, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .._clock import AsyncClock, AsyncEvent
    from .._core.settings import Settings
    from .._core.wait import Verdict
    from .._events import Hook
    from .backend import Backend


async def drive(settings: Settings, check: Callable[[], Any]) -> Any:
    """Run one wait to its end: return the good value, or raise what ended it."""
    refuse_generator_function(check, "check")
    backend = running()
    clock: AsyncClock = backend if settings.clock is None else settings.clock
    cancel: AsyncEvent | None = settings.cancel
    tell: Hook | None = settings.on_event
    rng = random if settings.rng is None else settings.rng
    refuse_blocking(clock, cancel)
    wait = Wait(settings, settings.name or describe(check), clock.monotonic(), rng)
    while (delay := wait.delay) is not None:
        try:
            if cancel is not None:
                if await clock.wait(cancel, delay):
                    wait.cancel(clock.monotonic())
                    break
            elif delay:
                await clock.sleep(delay)
            else:
                await backend.checkpoint()
            await _attempt(wait, settings, clock, backend, check)
        except BaseException as error:
            cancelled = isinstance(error, backend.cancelled)
            leave(wait, clock.monotonic(), error, tell, "cancelled" if cancelled else "error")
            raise
        if tell is not None:
            tell(checked(wait))
    return conclude(wait, tell)


async def _attempt(
    wait: Wait,
    settings: Settings,
    clock: AsyncClock,
    backend: Backend,
    check: Callable[[], Any],
) -> None:
    """Call the check once and report its outcome to the machine."""
    value: Any = None
    judging = False
    if wait.counts_from_start:
        wait.check_started = clock.monotonic()
    try:
        answer: object = check()
        kind = type(answer)
        if kind is CoroutineType or (kind not in PLAIN and is_awaitable(answer)):
            pending: Any = answer
            limit = settings.attempt_timeout
            value = await (pending if limit is None else _cut_after(limit, pending, backend))
            if type(value) not in PLAIN:
                refuse_unfinished(value, "check", "await it in the check")
        else:
            value = answer if kind in PLAIN else refuse_generator(answer, "check")
        judging = True
        if settings.fail is not None and await _verdict(settings.fail(value)):
            wait.report(value, clock.monotonic(), "failed")
        elif (good := settings.until(value)) is not False and await _verdict(good):
            wait.report(value, clock.monotonic(), "ready")
        else:
            wait.report(value, clock.monotonic())
    except TryAgain as signal:
        wait.report(value, clock.monotonic(), error=signal, hint=hint(signal))
    except AttemptCut as cut:
        wait.report(None, clock.monotonic(), error=cut.with_traceback(None))
    except Exception as error:
        if await _passes(wait, settings, clock, error, judging=judging):
            raise


async def _passes(
    wait: Wait, settings: Settings, clock: AsyncClock, error: Exception, *, judging: bool
) -> bool:
    """Report an error of the check, or of its predicates; tell whether it is for the caller."""
    try:
        verdict = "pass" if judging else await _error_verdict(settings, error)
    except TryAgain as signal:
        wait.report(None, clock.monotonic(), error=signal, hint=hint(signal))
        return False
    except Exception as bug:
        wait.errored(bug, "pass", clock.monotonic())
        raise
    wait.errored(error, verdict, clock.monotonic())
    return verdict == "pass"


class AttemptCut(TimeoutError):
    """A check was cut, for it took longer than ``attempt_timeout``."""


async def _cut_after(limit: float, answer: Awaitable[Any], backend: Backend) -> Any:
    ended, value = await backend.cut_after(limit, answer)
    if not ended:
        raise AttemptCut(f"cut after attempt_timeout={limit} s")
    return value


async def _error_verdict(settings: Settings, error: Exception) -> Verdict:
    for matches in settings.retry_on:
        if (answer := matches(error)) is True or await _verdict(answer):
            return "retry"
    for matches in settings.fail_on:
        if (answer := matches(error)) is True or await _verdict(answer):
            return "fail"
    return "pass"


async def _verdict(answer: Any) -> bool:
    """Return what a predicate says, once it is awaited if it must be."""
    return bool(await answer if is_awaitable(answer) else answer)
