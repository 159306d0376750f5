"""The driver of one wait on threads: it calls, sleeps and raises; what happens next it is told."""

from __future__ import annotations

from .._clock import SYSTEM_CLOCK, hint
from .._core.callables import (
    PLAIN,
    describe,
    refuse_coroutine_function,
    refuse_generator_function,
    refuse_unfinished,
)
from .._core.try_again import TryAgain
from .._core.wait import Wait
from .._events import checked, conclude, leave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._clock import Clock, Event
    from .._core.rules import Rng
    from .._core.settings import Settings
    from .._core.wait import Verdict
    from .._events import Hook


def drive(settings: Settings, check: Callable[[], Any]) -> Any:
    """Run one wait to its end: return the good value, or raise what ended it."""
    refuse_generator_function(check, "check")
    refuse_coroutine_function(check, "check")
    clock: Clock = SYSTEM_CLOCK if settings.clock is None else settings.clock
    cancel: Event | None = settings.cancel
    _refuse_async(clock, cancel)
    tell: Hook | None = settings.on_event
    wait = Wait(settings, settings.name or describe(check), clock.monotonic(), _rng(settings))
    while (delay := wait.delay) is not None:
        try:
            if cancel is not None:
                if clock.wait(cancel, delay):
                    wait.cancel(clock.monotonic())
                    break
            elif delay:
                clock.sleep(delay)
            _attempt(wait, settings, clock, check)
        except BaseException as error:
            leave(wait, clock.monotonic(), error, tell)
            raise
        if tell is not None:
            tell(checked(wait))
    return conclude(wait, tell)


def _attempt(wait: Wait, settings: Settings, clock: Clock, check: Callable[[], Any]) -> None:
    """Call the check once and report its outcome to the machine."""
    value: Any = None
    judging = False
    if wait.counts_from_start:
        wait.check_started = clock.monotonic()
    try:
        value = check()
        judging = True
        if type(value) not in PLAIN:
            refuse_unfinished(value, "check")
        if settings.fail is not None and _verdict(settings.fail(value), "fail"):
            wait.report(value, clock.monotonic(), "failed")
        elif (good := settings.until(value)) is not False and _verdict(good, "until"):
            wait.report(value, clock.monotonic(), "ready")
        else:
            wait.report(value, clock.monotonic())
    except TryAgain as signal:
        wait.report(value, clock.monotonic(), error=signal, hint=hint(signal))
    except Exception as error:
        if _passes(wait, settings, clock, error, judging=judging):
            raise


def _passes(
    wait: Wait, settings: Settings, clock: Clock, error: Exception, *, judging: bool
) -> bool:
    """Report an error of the check, or of its predicates; tell whether it is for the caller."""
    try:
        verdict = "pass" if judging else _error_verdict(settings, error)
    except TryAgain as signal:
        wait.report(None, clock.monotonic(), error=signal, hint=hint(signal))
        return False
    except Exception as bug:
        wait.errored(bug, "pass", clock.monotonic())
        raise
    wait.errored(error, verdict, clock.monotonic())
    return verdict == "pass"


def _error_verdict(settings: Settings, error: Exception) -> Verdict:
    for matches in settings.retry_on:
        if _verdict(matches(error), "retry_on"):
            return "retry"
    for matches in settings.fail_on:
        if _verdict(matches(error), "fail_on"):
            return "fail"
    return "pass"


def _verdict(answer: object, predicate: str) -> bool:
    """Return what a predicate says; an awaitable says nothing here and is refused."""
    return answer is True or (answer is not False and bool(refuse_unfinished(answer, predicate)))


def _refuse_async(clock: Clock, cancel: Event | None) -> None:
    refuse_coroutine_function(clock.sleep, "clock.sleep")
    refuse_coroutine_function(clock.wait, "clock.wait")
    if cancel is not None:
        refuse_coroutine_function(cancel.wait, "cancel.wait")


def _rng(settings: Settings) -> Rng:
    if settings.rng is not None:
        return settings.rng
    import random  # not before it is needed: it would be a tenth of what `import pollwait` takes

    return random
