"""The public face of batching on threads: ``Batcher``."""

from __future__ import annotations

from .._core.answer import own
from .._core.duration import seconds
from .._core.generic import Generic, TypeVar
from .._core.limits import Limits, callable_or_none
from .._core.refusals import closed, full, late
from .._core.round import FetchRound
from .._core.window import Window
from .crew import Crew
from .waiters import Many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from concurrent.futures import Future

    from .._clock import Clock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import WhenFull

K = TypeVar("K")
V = TypeVar("V")


class Batcher(Crew, Generic[K, V]):
    """Many callers, one call: keys that are asked for at about the same time travel together.

    Each caller asks for one key and gets one answer, as if it were alone. Behind that, keys gather
    in a window; when it closes, one call of ``fetch`` carries all of them, the same key once. A
    caller is answered only by a call that started after it asked, and nothing is cached: to answer
    from memory, put a cache in front. To merge requests that differ, use ``Coalescer``; on an event
    loop, ``pollwait.aio.Batcher``.

    Args:
        fetch: called with a list of distinct keys, in a thread and a context of its own; returns a
            mapping of keys to values. A value that is an ``Exception`` is the error of that key's
            callers alone. A key that is absent has ``MissingKey``; other keys are ignored. What
            ``fetch`` raises, all callers of the call get.
        max_size: the most keys in a call; a window that has as many closes.
        max_delay: seconds from the first key of a window until it closes, whatever comes after it;
            0 sends at once what there is. The default is short for whoever waits, and long enough
            for the calls of a program that does many things at once to meet.
        idle_delay: seconds from the last key after which a window closes; None for never.
        max_in_flight: the most calls at once. While all are out, the next window grows.
        max_pending: the most distinct keys that wait to be sent.
        when_full: what happens to a further key then: ``"block"`` its caller until there is room,
            in the order of arrival, or ``"raise"`` ``BatcherFull``.
        isolate: finds the keys that poison a call. It is called with what ``fetch`` raised and the
            list of keys, and returns the keys that the error names, an empty collection for an
            error of some key that it does not name, or None for one that is no matter of keys, such
            as a throttled call. In the same round, the keys it names fail alone and the rest is
            sent again; keys it does not name are found by halving. None, the default, takes no
            error for a matter of keys.
        clock: tells the time of the windows; by default that of the system. Where it makes threads,
            as ``pollwait.testing.FakeClock`` does, all waiting is by it, else callers wait in real
            time.
        on_event: called with a ``Batched`` for each batch, by the thread that made the call and
            before the last answers are given; what it raises goes where errors of threads go.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        Any number of threads may share it. ``fetch`` runs in daemon threads, which are started when
        needed and end after some seconds without work; of what it raises, KeyboardInterrupt and
        SystemExit end that thread when all callers have been told. At the end of the program what
        is not answered fails with ``BatcherClosed``: ``close`` it before, or use it in a ``with``
        statement. A forked process starts with an empty one.

    Example:
        >>> def fetch(ids):
        ...     print("one call for", sorted(ids))
        ...     return {id: id.upper() for id in ids}
        >>> with Batcher(fetch, max_size=500) as batcher:
        ...     volumes = [batcher.submit(id) for id in ["vol-1", "vol-2", "vol-1"]]
        ...     batcher.flush()
        ...     [volume.result() for volume in volumes]
        one call for ['vol-1', 'vol-2']
        ['VOL-1', 'VOL-2', 'VOL-1']
    """

    def __init__(
        self,
        fetch: Callable[[list[K]], Mapping[K, V | Exception]],
        *,
        max_size: int,
        max_delay: Duration = 0.05,
        idle_delay: Duration | None = None,
        max_in_flight: int = 4,
        max_pending: int = 10_000,
        when_full: WhenFull = "block",
        isolate: Callable[[Exception, list[K]], Collection[K] | None] | None = None,
        clock: Clock | None = None,
        on_event: BatchHook | None = None,
    ) -> None:
        limits = Limits(max_size, max_delay, idle_delay, max_in_flight, max_pending, when_full)
        self._isolate = callable_or_none(isolate, "isolate")
        super().__init__(fetch, "fetch", limits, clock, on_event)

    def load(self, key: K, timeout: Duration | None = None) -> V:
        """Return the value of a key, once a call has answered it.

        Args:
            key: what to ask for; anything hashable.
            timeout: the most seconds to wait for that; None for as long as it takes.

        Returns:
            The value.

        Raises:
            Exception: what ``fetch`` raised or returned for this key: an exception of the caller's
                own, of the same type, with the original as its cause.
            MissingKey: the answer lacks the key.
            FetchError: what ``fetch`` raised cannot be copied, or is no ``Exception``.
            TimeoutError: there was no answer in time; the others that wait are not concerned.
            BatcherFull: there is no room for the key, and ``when_full`` is ``"raise"``.
            BatcherClosed: the batcher is closed.
            RuntimeError: called by ``fetch``, which would wait for itself.
            TypeError: the key is not hashable.
        """
        value: V = self._load(key, timeout)
        return value

    def submit(self, key: K) -> Future[V]:
        """Ask for a key and return the future of its value, without waiting for that.

        Cancelling the future lets the caller go: a key that nobody waits for is not sent. Where
        there is no room for the key, it blocks until there is.

        Returns:
            A future of the caller's own. Its errors are those of ``load``.

        Raises:
            BatcherFull, BatcherClosed, RuntimeError, TypeError: as ``load`` does.
        """
        return self._submit(key)

    def load_many(
        self, keys: Iterable[K], timeout: Duration | None = None
    ) -> dict[K, V | Exception]:
        """Return what many keys are answered, their errors included.

        It takes less time and memory than a future for each.

        Args:
            keys: what to ask for, in any number.
            timeout: the most seconds to wait for all of them; None for as long as it takes.

        Returns:
            For each key its value or its error, a TimeoutError if there was no answer in time. The
            keys are in the order in which they first occur.

        Raises:
            BatcherClosed: the batcher is closed.
            RuntimeError, TypeError: as ``load`` does.
        """
        limit = None if timeout is None else seconds(timeout, "timeout")
        wanted = list(dict.fromkeys(keys))
        many = Many(wanted)
        if wanted:
            try:
                self._ask_for_all(many, wanted)
                self._await(many, many, limit)
            finally:
                many.left = True
                self._drop(many, *(key for key in wanted if key not in many.outcomes))
        outcomes = many.outcomes
        return {
            key: own(outcomes[key]) if key in outcomes else late(self._function, key, limit)
            for key in wanted
        }

    def _ask_for_all(self, many: Many, wanted: list[K]) -> None:
        """Let many keys join; those without room stand in line, or are refused."""
        place = 0
        with self._lock:
            if self._line.closing:
                raise closed(self._function, wanted[0])
            now = self._clock.monotonic()
            while place < len(wanted):
                joined = self._line.join_some(wanted, place, many, now)
                self._rouse(now)
                if joined == place:
                    key = wanted[place]
                    if self._limits.when_full == "block":
                        self._line.stand_in_line(key, many, None, wanted[place + 1 :])
                        break
                    many.deliver(key, full(self._function, self._line, key))
                    joined += 1
                place = joined
        self._start()

    def _new_line(self) -> Window:
        return Window(self._limits)

    def _new_round(self, batch: Batch, now: float) -> FetchRound:
        return FetchRound(batch, now, self._isolate)
