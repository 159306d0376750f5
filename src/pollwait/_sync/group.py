"""The public face of poll groups on threads."""

from __future__ import annotations

from .._core.callables import refuse_coroutine_function
from .._core.duration import seconds as in_seconds
from .._core.generic import Generic, TypeVar
from .._core.group_settings import RIDING, GroupSettings, distinct
from .._core.no_foresight import CALL_COST
from .._core.schedule import DEFAULT
from .._core.settings import UNSET
from .._core.typed import overload
from .completions import Completions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType
    from typing import Any, TypedDict, TypeGuard

    from typing_extensions import Self, TypeIs, Unpack

    from .._clock import Clock, Event
    from .._core.duration import Duration
    from .._core.group_settings import Riding
    from .._core.isolation import Isolate
    from .._core.latency import Latency
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Predicate, RetryOn, Settings, Unset
    from .._group_events import GroupHook
    from .callers import Caller
    from .lead import Lead

    S = TypeVar("S")

    class WaitOptions(TypedDict, total=False):
        """The keyword arguments of ``wait`` that do not bear on the type of its value."""

        fail: Predicate | None
        timeout: Duration | None
        cancel: Event | None
        name: str | None


K = TypeVar("K")
V = TypeVar("V")


class PollGroup(Generic[K, V]):
    """Many waits that share each call, so that a thousand cost about as many calls as one.

    Where one call can ask for many things, such as a describe call with a list of ids, waits for
    them join one group. Whenever one of them is due, the call carries all the others too. A group
    that is told how long things take follows no schedule: it calls when that is worth most.

    It starts no thread: of the threads that wait, one at a time sleeps until the next call is due,
    and makes it. Predicates run there too, so not always in the thread of their own wait. While
    nobody waits nothing runs. Any number of threads may share a group, and no lock is held during
    a call; coroutines use ``pollwait.aio.PollGroup``.

    Args:
        fetch: called with a list of distinct keys, never an empty one; returns a mapping of keys to
            values. A value that is an ``Exception`` is the error of that key, as if a check of
            ``poll`` had raised it, and of extra keys nothing is made. What it raises itself reaches
            every wait that the call carried, save what the next four arguments say.
        max_size: the most keys of a call. Where more are due, those that have been due for longest
            go first; what room is left goes to those that were not asked for longest.
        min_gap: seconds between the starts of any two calls, at the least, and so what trades
            latency for calls: 0.5 means at most 2 calls a second, however many waits there are, and
            something ready is noticed late by 0.25 s on average where waits come and go all the
            time. Only calls that look for poison keys come without a gap. By default 0.5, and 0.25
            with a latency model, which sets calls further apart than that if it can.
        riding: what a call means for a wait that it carries ahead of its time. With ``"free"`` the
            wait's own schedule stays as it is, so that long waits help each other to be noticed
            soon. With ``"counts"`` the wait is next due a delay after the call, which makes fewer
            calls and notices long waits later.
        schedule: when each wait is due by itself; as in ``poll``.
        retry_on: errors, of calls or of keys, that count as "not ready yet"; as in ``poll``. With a
            latency model they say nothing of what is waited for, and put the next look off for as
            long again as all looks have failed, 0.25 s to 10 s; a key that is not ready is better
            answered with a value or a ``TryAgain``.
        is_throttle: errors that say that the service is too busy: types, a predicate, or several of
            either. They end no wait before its deadline. Each doubles the gap, up to 30 s, and good
            calls narrow it again.
        isolate: called as ``isolate(error, keys)`` with the error of a whole call that is no
            throttle. It returns the keys that the error names, an empty collection if some key is
            to blame but the error does not say which, or None if it is no matter of keys. Such keys
            are found by further calls at once, and fail alone.
        missing_grace: seconds for which a key may be missing from the answers, from its first
            absence on, before its wait fails; a present answer starts this afresh. With 0 the first
            absence fails it.
        latency: how long it takes from the start of a wait until it is ready: a ``LatencyModel``, a
            ``Distribution``, or samples as a ``LatencyModel`` takes them. With it the group calls
            when what its waits are expected to have lost, those seconds for which they have been
            ready and unnoticed, is worth a call. ``schedule`` and ``riding`` must not be given
            then. Each call carries all waits, from their beginning on; where there are more than
            ``max_size``, those that are expected to have lost the most. A wait's deadline and a
            predicate's ``TryAgain(after=...)`` make it due as ever. One that takes far
            longer than the model knows is asked for ever less often; that nothing is ready far
            sooner is believed. So a model that is far too slow makes a group slow until it has
            unlearned that, and with late looks it learns slowly; without ``learn``, for ever.
        call_cost: the seconds of waiting, summed over all waits, that one call is worth; above 0.
            With half of it calls are about 1.4 times as many, and come that much sooner. A call is
            made when about so much is expected to be lost: sooner if nobody else is about to be
            ready, from a quarter of it on, and later if many are, up to four times as much.
        learn: whether the model takes in what the group sees, the given ``LatencyModel`` itself, so
            that it can be kept for next time. Samples go into a model of the group's own, and
            without ``latency`` one begins that knows nothing; after some hundred waits it does
            about as well as one that was told. Waits that end before they are ready count as "not
            by then". A call is taken to see the state halfway through. One model may serve several
            groups, in any threads. If it raises an error the group ends no wait for that: it stops
            learning, or goes by what the model said before.
        clock: tells the time and sleeps; by default that of the system.
        rng: draws the jitter; by default the module ``random``. It is drawn once per call, for all
            that the call carries: apart they would need more calls.
        on_event: called with a ``Called`` after every call, and as in ``poll`` with a ``Checked``
            for every wait that a call carried and one ``Finished`` at its end. What it raises ends
            the waits that it was told of.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        A wait gets its final check at its deadline if a call may start just then. If the gap
        forbids that, the check before was the final one, and the wait ends at its deadline; but
        one that was never asked stays for the next call, at most ``min_gap`` longer. The overrun
        beyond that is at most the duration of a call, which only ``fetch`` can bound: give its
        network calls timeouts of their own. Up to four calls may be under way, made by as many
        threads that wait; a key is not asked again on behalf of a wait whose call is under way.

    Example:
        >>> from pollwait.testing import FakeClock
        >>> clock = FakeClock()
        >>> def states(volumes):
        ...     now = clock.monotonic()
        ...     return {volume: "available" if now > 2 else "creating" for volume in volumes}
        >>> group = PollGroup(states, max_size=500, clock=clock)
        >>> group.wait_many(["vol-1", "vol-2"], until="available".__eq__, timeout=60)
        {'vol-1': 'available', 'vol-2': 'available'}
    """

    def __init__(
        self,
        fetch: Callable[[list[K]], Mapping[K, V | Exception]],
        *,
        max_size: int,
        min_gap: Duration | None = None,
        riding: Riding = RIDING,
        schedule: Schedule = DEFAULT,
        retry_on: RetryOn | Iterable[RetryOn] = (),
        is_throttle: RetryOn | Iterable[RetryOn] | None = None,
        isolate: Isolate | None = None,
        missing_grace: Duration = 0.0,
        latency: Latency | None = None,
        call_cost: Duration = CALL_COST,
        learn: bool = False,
        clock: Clock | None = None,
        rng: Rng | None = None,
        on_event: GroupHook | None = None,
    ) -> None:
        refuse_coroutine_function(fetch, "fetch")
        self._settings = GroupSettings(
            fetch,
            max_size=max_size,
            min_gap=min_gap,
            riding=riding,
            schedule=schedule,
            retry_on=retry_on,
            is_throttle=is_throttle,
            isolate=isolate,
            missing_grace=missing_grace,
            latency=latency,
            call_cost=call_cost,
            learn=learn,
            clock=clock,
            rng=rng,
            on_event=on_event,
        )
        self._closed = False
        self._start()

    @overload
    def wait(
        self, key: K, *, until: Callable[[V], TypeIs[S]], **options: Unpack[WaitOptions]
    ) -> S: ...
    @overload
    def wait(
        self, key: K, *, until: Callable[[V], TypeGuard[S]], **options: Unpack[WaitOptions]
    ) -> S: ...
    @overload
    def wait(
        self, key: K, *, until: Callable[[V], object] = ..., **options: Unpack[WaitOptions]
    ) -> V: ...
    def wait(
        self,
        key: Any,
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
        name: str | None = None,
    ) -> Any:
        """Wait until the value of a key is good, and return that value.

        It blocks the calling thread. Calls that started before it was called do not count.

        Args:
            key: what to wait for; hashable. Other waits for an equal key share its place in a call,
                and each judges the value by its own predicates.
            until: tells whether a value is good; by default its truth.
            fail: tells whether a value shows a terminal state. It is asked before ``until``.
            timeout: seconds until the deadline. It must be given, unless the schedule ends the
                wait; None means for ever.
            cancel: an event such as ``threading.Event``; once it is set the wait ends. It is looked
                at every 0.05 s.
            name: what is waited for, in errors and events; by default the key.

        Returns:
            The first good value.

        Raises:
            PollTimeout: not ready by the deadline.
            PollExhausted: not ready when the schedule had ended.
            PollFailed: ``fail`` said so; or the key was missing from the answers for longer than
                ``missing_grace``, and the cause is a ``MissingKey``.
            PollCancelled: ``cancel`` was set first.
            FetchError: the call raised what cannot be handed to every wait.
            BatcherClosed: the group is closed, or was before the wait was over.
            RuntimeError: called by the group's own ``fetch``.
            TypeError, ValueError: an argument is not as above.
            Exception: what the call raised, or the answer held for the key, if no argument of the
                group says otherwise; a copy for this wait alone, with the original as its cause.
                Also what a predicate raised, as it is.
        """
        lead, caller = self._open([key], until, fail, timeout, cancel, name)
        try:
            lead.attend(caller)
        except BaseException as error:
            lead.leave(caller, error)
            raise
        _, result = caller.take()
        if isinstance(result, Exception):
            raise result
        return result

    def wait_many(
        self,
        keys: Iterable[K],
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
    ) -> dict[K, V | Exception]:
        """Wait for many keys at once, in the calling thread.

        Args:
            keys: what to wait for. None at all is fine, and of equal ones each counts once.
            until: as in ``wait``.
            fail: as in ``wait``.
            timeout: as in ``wait``, for each of them.
            cancel: as in ``wait``; it ends those that are not over.

        Returns:
            For each key, in the order given, the good value or the error that ``wait`` would have
            raised.

        Raises:
            BatcherClosed, RuntimeError, TypeError, ValueError: as ``wait`` does before any call.
        """
        wanted = distinct(keys)
        results: dict[Any, Any] = dict.fromkeys(wanted)
        lead, caller = self._open(wanted, until, fail, timeout, cancel)
        try:
            while caller.left:
                lead.attend(caller)
                while caller.done:
                    key, result = caller.take()
                    results[key] = result
        except BaseException as error:
            lead.leave(caller, error)
            raise
        return results

    def as_completed(
        self,
        keys: Iterable[K],
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
    ) -> Completions[K, V]:
        """Wait for many keys, and give each result as soon as it is there.

        The waits begin with this call, not with the first step of the iterator. On behalf of an
        iterator calls are made while somebody is waiting for its next result: no keys are asked
        for while its user is busy, unless other threads wait on the group.

        Args:
            keys: as in ``wait_many``.
            until: as in ``wait``.
            fail: as in ``wait``.
            timeout: as in ``wait``, for each of them.
            cancel: as in ``wait_many``.

        Returns:
            An iterator over pairs of a key and its good value or error, in the order in which the
            waits ended. Closing or dropping it gives up the waits that are left.

        Raises:
            BatcherClosed, RuntimeError, TypeError, ValueError: as ``wait`` does before any call.
        """
        return Completions(*self._open(distinct(keys), until, fail, timeout, cancel))

    def close(self, timeout: Duration | None = None) -> None:
        """End all waits, and refuse new ones; closing again does nothing.

        Waits that no call carries end at once with ``BatcherClosed``. Calls that are under way run
        to their end, and what they bring still counts. It is called at the end of a ``with`` block.

        Args:
            timeout: seconds to wait for the calls that are under way; after that their waits end
                with ``BatcherClosed`` too. None waits for as long as they take. Inside ``fetch`` or
                a predicate it does not wait.
        """
        limit = None if timeout is None else in_seconds(timeout, "timeout")
        self._closed = True
        self._current().close(limit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(None if kind is None else 0.0)

    def __repr__(self) -> str:
        return f"{self._settings!r}".replace("GroupSettings", "PollGroup", 1)

    def _open(
        self,
        keys: Iterable[Any],
        until: Predicate,
        fail: Predicate | None,
        timeout: Duration | Unset | None,
        cancel: Event | None,
        name: str | None = None,
    ) -> tuple[Lead, Caller]:
        if cancel is not None:
            refuse_coroutine_function(cancel.wait, "cancel.wait")
        changes = {"until": until, "fail": fail, "timeout": timeout, "name": name}
        lead = self._current()
        return lead, lead.open(keys, self._settings.waits.replaced(changes), cancel)

    def _start(self) -> None:
        from .lead import Lead

        rng = _rng(self._settings.waits)
        self._lead = Lead(self._settings, rng, closed=self._closed)

    def _current(self) -> Lead:
        """Return the lead; a fresh one in a forked child, where nobody waits yet."""
        if self._lead.is_foreign:
            self._start()  # pragma: no cover - nobody measures a forked child
        return self._lead


def _rng(settings: Settings) -> Rng:
    if settings.rng is not None:
        return settings.rng
    import random  # as late as in a single wait

    return random
