"""Fetches that give the answers of a test, and remember what they were asked."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from .._aio.backend import running
from .._clock import SYSTEM_CLOCK
from .._core.duration import at_least_one
from .._core.duration import seconds as in_seconds
from ._scripted import pass_time, throw

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._clock import AsyncClock, Clock
    from .._core.duration import Duration
    from ._scripted import Raised

K = TypeVar("K")
V = TypeVar("V")


class FetchScript(Generic[K, V]):
    """What recording fetches share: the answers, and a record of the calls.

    Attributes:
        calls: the keys of each call, in the order in which the calls began.
        times: when each call began, as read from the clock.
        most_in_flight: how many calls ran at once, at most.
    """

    def __init__(
        self,
        answers: Mapping[K, V | Exception] | Callable[[K], V | Exception],
        missing: Iterable[K],
        errors: Mapping[int, Raised] | None,
        duration: Duration,
    ) -> None:
        if isinstance(missing, str):
            raise TypeError(f"missing must be a collection of keys: got missing={missing!r}")
        self.calls: list[list[K]] = []
        self.times: list[float] = []
        self.most_in_flight = 0
        self._answers = answers
        self._missing = frozenset(missing)
        self._errors: dict[int, Raised] = {}
        for call, error in (errors or {}).items():
            self._errors[at_least_one(call, "errors")] = error
        self._duration = in_seconds(duration, "duration")
        self._in_flight = 0
        self._lock = threading.Lock()  # guards calls, times and what is in flight

    def _begin(self, now: float, keys: Iterable[K]) -> int:
        """Record a call and return its number."""
        with self._lock:
            self.calls.append(list(keys))
            self.times.append(now)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            return len(self.calls)

    def _end(self) -> None:
        with self._lock:
            self._in_flight -= 1

    def _answer(self, call: int) -> dict[K, V | Exception]:
        if call in self._errors:
            throw(self._errors[call])
        keys = [key for key in self.calls[call - 1] if key not in self._missing]
        answers = self._answers
        if isinstance(answers, Mapping):
            return {key: answers[key] for key in keys if key in answers}
        return {key: answers(key) for key in keys}


class RecordingFetch(FetchScript[K, V]):
    """A fetch for tests: it takes a list of keys, answers each, and remembers what it was asked.

    Args:
        answers: the answer for each key: a mapping, in which keys may be missing, or a function of
            the key. An answer that is an ``Exception`` is that key's error; what a function raises
            fails the whole call.
        missing: keys that are left out of every answer.
        errors: what whole calls raise, by their number from 1: ``{2: OSError("down")}``.
        duration: seconds that each call takes on the clock.
        clock: the clock of what calls the fetch; a duration needs one.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Attributes:
        calls: the keys of each call, in the order in which the calls began.
        times: when each call began, as read from the clock.
        most_in_flight: how many calls ran at once, at most.

    Timing:
        Threads may share it, and no lock is held while a call takes its time.

    Example:
        >>> fetch = RecordingFetch({"a": 1, "b": KeyError("b")}, errors={2: OSError("down")})
        >>> fetch(["a", "b", "c"])
        {'a': 1, 'b': KeyError('b')}
        >>> fetch(["a"])
        Traceback (most recent call last):
        OSError: down
        >>> fetch.calls
        [['a', 'b', 'c'], ['a']]
    """

    def __init__(
        self,
        answers: Mapping[K, V | Exception] | Callable[[K], V | Exception],
        *,
        missing: Iterable[K] = (),
        errors: Mapping[int, Raised] | None = None,
        duration: Duration = 0.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(answers, missing, errors, duration)
        if clock is None and self._duration:
            raise ValueError(f"a duration needs a clock: got duration={duration!r} and clock=None")
        self._clock = clock or SYSTEM_CLOCK

    def __call__(self, keys: Iterable[K]) -> dict[K, V | Exception]:
        """Answer the keys."""
        call = self._begin(self._clock.monotonic(), keys)
        try:
            pass_time(self._clock, self._duration)
            return self._answer(call)
        finally:
            self._end()


class AsyncRecordingFetch(FetchScript[K, V]):
    """``RecordingFetch`` as a coroutine function, for what is in ``aio``.

    Args:
        answers, missing, errors, duration: as in ``RecordingFetch``.
        clock: the clock of what calls the fetch; None for that of the running loop.
    """

    def __init__(
        self,
        answers: Mapping[K, V | Exception] | Callable[[K], V | Exception],
        *,
        missing: Iterable[K] = (),
        errors: Mapping[int, Raised] | None = None,
        duration: Duration = 0.0,
        clock: AsyncClock | None = None,
    ) -> None:
        super().__init__(answers, missing, errors, duration)
        self._clock = clock

    async def __call__(self, keys: Iterable[K]) -> dict[K, V | Exception]:
        """Answer the keys."""
        clock = self._clock or running()
        call = self._begin(clock.monotonic(), keys)
        try:
            if self._duration:
                await clock.sleep(self._duration)
            return self._answer(call)
        finally:
            self._end()
