"""Types of waits on threads, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging
    import random
    import threading
    from collections.abc import Callable
    from datetime import timedelta
    from typing import Any, Literal, TypeGuard

    from typing_extensions import TypeIs, assert_type

    from pollwait import (
        CancelEvent,
        Checked,
        Clock,
        Finished,
        History,
        Poller,
        PollError,
        PollTimeout,
        Record,
        SystemClock,
        TryAgain,
        fixed,
        log_events,
        poll,
    )
    from pollwait.testing import FakeClock

    class Job:
        """What is waited for."""

    class Done(Job):
        """It, when it is ready."""

    def find(name: str, *, fresh: bool = False) -> Job | None:
        """Look for a job."""
        ...

    def look() -> Job | None:
        """Look for the job."""
        ...

    def is_there(job: Job | None) -> TypeIs[Job]:
        """Tell whether there is one."""
        ...

    def is_done(job: Job | None) -> TypeGuard[Done]:
        """Tell whether it is done."""
        ...

    def returns() -> None:
        """A wait returns what its check returns, narrowed by a predicate that narrows."""
        assert_type(poll(look, timeout=1), Job | None)
        assert_type(poll(lambda: 3, timeout=1), int)
        assert_type(poll(look, until=is_there, timeout=1), Job)
        assert_type(poll(look, until=is_done, timeout=1), Done)
        assert_type(poll(look, until=lambda job: job is not None, timeout=1), Job | None)
        assert_type(poll(look, until=bool, timeout=1), Job | None)

    def options(length: timedelta, event: threading.Event, seen: list[Checked | Finished]) -> None:
        """Every option has a type, and none is in the way of the return type."""
        job = poll(
            look,
            until=is_there,
            fail=lambda job: job is None,
            retry_on=(ConnectionError, lambda error: error.errno == 11),
            schedule=fixed(1),
            timeout=length,
            max_attempts=3,
            name="job",
            cancel=event,
            clock=FakeClock(),
            rng=random.Random(7),
            on_event=seen.append,
        )
        assert_type(job, Job)
        poll(look, retry_on=OSError, timeout=None, clock=SystemClock(), rng=random.SystemRandom())

    def misuse() -> None:
        """What poll does not know is an error of types too."""
        poll(look, timeout="60")  # type: ignore[call-overload]  # pyright: ignore
        poll(look, timeout=1, interval=1)  # type: ignore[call-overload]  # pyright: ignore
        poll(look, bool, timeout=1)  # type: ignore[call-overload]  # pyright: ignore
        poll(find, timeout=1)  # type: ignore[arg-type]  # pyright: ignore
        Poller(timeouts=1)  # type: ignore[call-arg]  # pyright: ignore

    def pollers(poller: Poller) -> None:
        """A Poller waits with the types of poll, and wraps functions without losing theirs."""
        assert_type(poller.poll(look), Job | None)
        assert_type(poller.poll(look, until=is_there, timeout=3), Job)
        assert_type(poller.poll(look, until=is_done), Done)
        wrapped = poller.wrap(find)
        assert_type(wrapped("a", fresh=True), Job | None)
        wrapped(3)  # type: ignore[arg-type]  # pyright: ignore
        wrapped("a", stale=True)  # type: ignore[call-arg]  # pyright: ignore

    def decorators(poller: Poller) -> None:
        """A decorated function keeps its parameters; a narrowing predicate changes its return."""

        @poller.wrap
        def plain(name: str) -> int:
            return len(name)

        assert_type(plain("a"), int)

        @poller.wrap(timeout=3, name="length")
        def with_options(name: str, /, *, twice: bool = False) -> int:
            return len(name) + twice

        assert_type(with_options("a", twice=True), int)

        @poller.wrap(until=is_there)
        def narrowed(name: str) -> Job | None:
            return find(name)

        assert_type(narrowed("a"), Job)
        narrowed()  # type: ignore[call-arg]  # pyright: ignore

    def errors(error: PollError, timeout: PollTimeout) -> None:
        """Errors have typed fields, and a timeout is a TimeoutError."""
        assert_type(error.name, str)
        assert_type(error.attempts, int)
        assert_type(error.elapsed, float)
        assert_type(error.last, Any)
        assert_type(error.last_error, Exception | None)
        assert_type(error.history, History)
        caught: TimeoutError = timeout
        assert_type(caught.errno, int | None)
        TryAgain("later", after="Wed, 21 Oct 2026 07:28:00 GMT")
        TryAgain(after=3)
        TryAgain(after=b"3")  # type: ignore[arg-type]  # pyright: ignore

    def histories(history: History) -> None:
        """A history is iterable and its records have typed fields."""
        for record in history:
            assert_type(record, Record)
            assert_type(record.elapsed, float)
            assert_type(record.where, str | None)
        assert_type(history.total, int)
        assert_type(history.forgotten, int)

    def events(event: Checked | Finished, logger: logging.Logger) -> None:
        """One isinstance tells the two events apart."""
        hook: Callable[[Checked | Finished], object] = log_events(logger)
        hook(event)
        if isinstance(event, Checked):
            assert_type(event.next_delay, float | None)
        else:
            assert_type(
                event.reason,
                Literal["ready", "failed", "timeout", "exhausted", "cancelled", "error"],
            )

    def clocks(fake: FakeClock) -> None:
        """The clocks of the package are clocks."""
        clock: Clock = fake
        clock = SystemClock()
        assert_type(clock.monotonic(), float)
        assert_type(fake.sleeps, list[float])


class OwnClock:
    """A clock that a user writes with nothing but public names."""

    def monotonic(self) -> float:
        """Tell the time."""
        return 0.0

    def sleep(self, seconds: float) -> None:
        """Sleep."""

    def wait(self, event: CancelEvent, seconds: float) -> bool:
        """Wait."""
        return event.is_set()


def own_clocks_and_unions() -> None:
    """Such a clock is accepted, and so is a union of exception types."""
    clock: Clock = OwnClock()
    assert_type(poll(str, timeout=0, clock=clock, retry_on=OSError | ValueError), str)
