"""The public face of merging on threads: ``Coalescer``."""

from __future__ import annotations

from _thread import get_ident

from .._core.generic import Generic, TypeVar
from .._core.limits import Limits
from .._core.merging import Merging
from .._core.round import ExecuteRound
from .crew import Crew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any

    from .._clock import Clock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import WhenFull

K = TypeVar("K")
R = TypeVar("R")
M = TypeVar("M")
V = TypeVar("V")


class Coalescer(Crew, Generic[K, R, M, V]):
    """Many requests, one call for each key: what is asked of it at about the same time is merged.

    Where a ``Batcher`` sends different keys together, this makes one request out of several for the
    same key, such as changes of one volume. Each key has a window of its own; when it closes, one
    call of ``execute`` carries what was merged, and all its callers get the one result. For a key
    there is one call at a time: what comes meanwhile is merged for the next.

    Args:
        merge: called with what is merged so far for the key (None at first) and one more request;
            returns both in one, and leaves its arguments as they are. What it raises is for the
            caller with that request alone, which then is not part of it. It must be quick, and must
            not use the coalescer: a lock is held meanwhile.
        execute: called with a key and what was merged, in a thread and a context of its own; what
            it returns or raises, all callers get.
        max_delay: seconds from the first request of a window until it closes.
        max_in_flight: the most calls at once, over all keys.
        max_pending: the most keys that wait to be sent.
        when_full: what happens to a further key then, as in ``Batcher``.
        clock: as in ``Batcher``.
        on_event: as in ``Batcher``; each batch has one key.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        As a ``Batcher``. What a caller has asked for that leaves (by its timeout, say) stays merged
        as long as others wait for the key.

    Example:
        >>> def merge(pending, request):
        ...     return {**(pending or {}), **request}
        >>> def execute(volume, changes):
        ...     return f"{volume}: {changes}"
        >>> with Coalescer(merge, execute, max_delay=60) as changes:
        ...     size = changes.submit("vol-1", {"Size": 100})
        ...     iops = changes.submit("vol-1", {"Iops": 3000})
        ...     changes.flush()
        ...     iops.result()
        "vol-1: {'Size': 100, 'Iops': 3000}"
    """

    def __init__(
        self,
        merge: Callable[[M | None, R], M],
        execute: Callable[[K, M], V],
        *,
        max_delay: Duration = 0.05,
        max_in_flight: int = 4,
        max_pending: int = 10_000,
        when_full: WhenFull = "block",
        clock: Clock | None = None,
        on_event: BatchHook | None = None,
    ) -> None:
        if not callable(merge):
            raise TypeError(f"merge must be callable: got merge={merge!r}")
        self._merge = merge
        self._merging = 0  # the thread that merges
        limits = Limits(1, max_delay, None, max_in_flight, max_pending, when_full)
        super().__init__(execute, "execute", limits, clock, on_event)

    def load(self, key: K, request: R, timeout: Duration | None = None) -> V:
        """Have a request executed, and return the result of the call that carried it.

        Args:
            key: what the request is about; anything hashable.
            request: what ``merge`` takes.
            timeout: the most seconds to wait; None for as long as it takes.

        Returns:
            What ``execute`` returned, which all callers share.

        Raises:
            Exception: what ``merge`` raised for this request; or what ``execute`` raised, as an
                exception of the caller's own.
            FetchError, TimeoutError, BatcherFull, BatcherClosed, RuntimeError, TypeError: as
                ``Batcher.load`` does.
        """
        self._refuse_in_merge()
        value: V = self._load(key, timeout, request)
        return value

    def submit(self, key: K, request: R) -> Future[V]:
        """Ask for a request to be executed and return the future of its result.

        Returns:
            A future, as ``Batcher.submit`` does.

        Raises:
            Exception: what ``merge`` raised for this request.
            BatcherFull, BatcherClosed, RuntimeError, TypeError: as ``Batcher.submit`` does.
        """
        self._refuse_in_merge()
        return self._submit(key, request)

    def _refuse_in_merge(self) -> None:
        if self._merging == get_ident():
            raise RuntimeError("merge must not use its own coalescer")

    def _guarded_merge(self, pending: Any, request: Any) -> Any:
        self._merging = get_ident()
        try:
            return self._merge(pending, request)
        finally:
            self._merging = 0

    def _new_line(self) -> Merging:
        return Merging(self._limits, self._guarded_merge)

    def _new_round(self, batch: Batch, now: float) -> ExecuteRound:
        return ExecuteRound(batch, now)
