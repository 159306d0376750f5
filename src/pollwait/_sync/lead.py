"""The driver of a poll group on threads: the threads that wait make the calls, one of them leads.

The leader sleeps until the next call is due, hands the lead on to another thread that waits, and
makes the call. The others block until their waits are over or the lead comes to them. So a program
of one thread makes its calls in that thread, nothing runs while nobody waits, and there is no
thread to start, to end or to forget.
"""

from __future__ import annotations

import os
from collections import deque
from contextvars import Context
from threading import Event, Lock, get_ident

from .._clock import SYSTEM_CLOCK, hint
from .._core.answer import private, refuse_awaitable
from .._core.duration import INFINITY
from .._core.group import Group
from .._core.rules import MAX_DELAY
from .._errors import BatcherClosed
from .._group_events import dismiss, outcome, tell_call, tell_check
from .callers import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._clock import Clock
    from .._clock import Event as AnyEvent
    from .._core.call import Call
    from .._core.group_settings import GroupSettings
    from .._core.judge import Judging
    from .._core.rules import Rng
    from .._core.seat import Seat
    from .._core.settings import Settings
    from .._group_events import GroupHook

ASYNCHRONOUS = "pollwait.aio.PollGroup"


class Lead:
    """The group, its lock, and who leads.

    Args:
        settings: what is said of the group.
        rng: draws the jitter of its waits.
        closed: no waits may begin.

    Attributes:
        shares_interrupts: whether Ctrl-C in a call ends all the waits that it carried. Else it ends
            those of its own thread, and another thread makes the call for the rest.
    """

    def __init__(self, settings: GroupSettings, rng: Rng, *, closed: bool = False) -> None:
        self.shares_interrupts = True
        self._settings = settings
        self._process = os.getpid()
        clock: Clock | None = settings.waits.clock
        self._clock: Clock = SYSTEM_CLOCK if clock is None else clock
        self._tell: GroupHook | None = settings.waits.on_event
        # The lock guards all below but what is said otherwise. No code of users runs under it, save
        # that the clock is read.
        self._lock = Lock()
        self._group = Group(settings, rng, hint)
        self._group.closed = closed
        self._attending: dict[Caller, None] = {}
        self._leader: Caller | None = None
        self._wakes_at = 0.0  # when the leader will look
        # How many calls each thread is making: more than one if a predicate waits on the group.
        self._calling: dict[int, int] = {}
        self._quiet = Event()  # set while there are none
        self._quiet.set()
        # Without the lock: the threads that are inside ``fetch``.
        self._fetching: set[int] = set()
        # Without the lock: callers that nobody is any more, as the garbage collector found.
        self._abandoned: deque[Caller] = deque()

    @property
    def is_foreign(self) -> bool:
        """True in a forked child, where nobody leads and the lock may be held for good."""
        return self._process != os.getpid()

    def open(self, keys: Iterable[Any], settings: Settings, cancel: AnyEvent | None) -> Caller:
        """Begin a wait for each key.

        Raises:
            BatcherClosed: the group is closed.
            RuntimeError: the thread is inside the group's ``fetch``.
        """
        if get_ident() in self._fetching:
            raise RuntimeError("fetch must not wait on its own poll group: it would call itself")
        caller = Caller(cancel)
        now = self._clock.monotonic()
        seats = [self._group.seat(key, settings, now, caller) for key in keys]
        caller.hold(seats)
        with self._lock:
            if self._group.closed:
                raise BatcherClosed("the poll group is closed")
            self._group.join(seats)
            self._rouse_leader(now)
        return caller

    def attend(self, caller: Caller) -> None:
        """Block until the caller has a result, and lead meanwhile if nobody else does.

        Raises:
            RuntimeError: another thread is at the same iterator, or another process made it.
        """
        if self.is_foreign:  # pragma: no cover - nobody measures a forked child
            raise RuntimeError("the waits of this iterator belong to the process that was forked")
        with self._lock:
            if caller in self._attending:
                raise RuntimeError("another thread is waiting for this iterator's next result")
            self._attending[caller] = None
        try:
            while not caller.done:
                if caller.cancel is not None and caller.cancel.is_set():
                    self._cancel(caller)
                else:
                    self._turn(caller)
        finally:
            try:
                if caller.call is not None:  # pragma: no cover - Ctrl-C just before it was made
                    self._put_back(caller, caller.call)
            finally:
                with self._lock:
                    self._attending.pop(caller, None)
                    self._hand_on(caller)

    def leave(self, caller: Caller, error: BaseException | None = None) -> None:
        """Forget the waits of a caller that is gone, by an error or because it has enough."""
        if self.is_foreign:
            return  # pragma: no cover - nobody measures a forked child
        now = self._clock.monotonic()
        for seat in self._withdraw(caller):
            dismiss(seat, now, self._tell, error)

    def abandon(self, caller: Caller) -> None:
        """Forget the waits of a caller soon; for finalizers, which may run at any point."""
        self._abandoned.append(caller)
        if self._lock.acquire(blocking=False):
            try:
                self._sweep()
            finally:
                self._lock.release()

    def close(self, timeout: float | None) -> None:
        """End the waits that no call carries, and let the calls that are under way end."""
        with self._lock:
            over = self._settled(self._group.close())
        self._conclude(over)
        if get_ident() in self._calling:
            return  # the call under way is the caller's own
        self._clock.wait(self._quiet, MAX_DELAY if timeout is None else timeout)
        with self._lock:
            over = self._settled(self._group.leave(self._group.everyone()))
        self._conclude(over)

    def _turn(self, caller: Caller) -> None:
        """Lead for one step, or block until something happens."""
        with self._lock:
            now = self._clock.monotonic()  # not before, or calls would start closer than they may
            over, call, delay = self._plan(caller, now)
        try:
            self._conclude(over)
            if call is not None:
                self._make(call)
        finally:
            if call is not None:
                self._put_back(caller, call)
        if call is None and not over and not caller.done:
            self._sleep(caller, now, delay)

    def _plan(self, caller: Caller, now: float) -> tuple[list[Seat], Call | None, float]:
        """Return what the caller is to do: conclude waits, make a call, or sleep for so long."""
        self._sweep()
        caller.news.clear()
        if self._leader not in self._attending or not self._leader.live:
            self._leader = caller  # there was none, or Ctrl-C has taken it
        if caller.done or self._leader is not caller:
            return [], None, MAX_DELAY
        over, caller.call = self._group.step(now)
        self._settled(over)
        delay = self._group.delay(now)
        self._wakes_at = INFINITY if delay is None else now + delay
        if caller.call is not None:
            me = get_ident()
            self._calling[me] = self._calling.get(me, 0) + 1
            self._quiet.clear()
            self._hand_on(caller)
        return over, caller.call, MAX_DELAY if delay is None else delay

    def _sleep(self, caller: Caller, now: float, seconds: float) -> None:
        if not self._clock.wait(caller.signal, seconds):
            woken = self._clock.monotonic()
            with self._lock:
                over = self._settled(self._group.slept(seconds, now, woken))
            self._conclude(over)

    def _make(self, call: Call) -> None:
        """Make a call, and those that find its poison keys, and judge what they bring."""
        keys = call.next()
        while keys is not None:
            found = self._ask(call, keys)
            keys = call.next()
            if keys is None:
                self._ended(call)
            self._judge(call, found)
        self._judge(call, call.rest())

    def _ask(self, call: Call, keys: list[Any]) -> dict[Any, Any]:
        """Fetch some keys, and return what is certain of each."""
        me, began, raised = get_ident(), self._clock.monotonic(), None
        self._fetching.add(me)
        try:
            answer = Context().run(self._settings.fetch, [*keys])
            refuse_awaitable(answer, "fetch", ASYNCHRONOUS)
            found = call.passed(answer, keys)
        except Exception as error:
            raised = error
            found = call.failed(error)
        except BaseException as error:
            if self.shares_interrupts:
                self._judge(call, call.broken(error))
            raise
        finally:
            self._fetching.discard(me)
        seconds = self._clock.monotonic() - began
        return tell_call(call, keys, found, seconds, raised, self._group.pace.gap, self._tell)

    def _judge(self, call: Call, found: dict[Any, Any]) -> None:
        """Have the waits for some keys take in what was found, and keep those that go on."""
        now = self._clock.monotonic()
        judged: list[Seat] = []
        try:
            for seat, what in call.answered(found):
                judged.append(seat)
                judging = call.judge.weigh(seat, what, now)
                if judging is not None:
                    _run(judging)
                if self._tell is not None:
                    tell_check(seat, now, self._tell)
        finally:
            with self._lock:
                over = self._settled(self._group.settle(judged))
                self._rouse_leader(now)
            self._conclude(over)

    def _ended(self, call: Call) -> None:
        with self._lock:
            now = self._clock.monotonic()
            self._group.ended(call, now)
            self._rouse_leader(now)

    def _put_back(self, caller: Caller, call: Call) -> None:
        with self._lock:
            caller.call = None
            self._count_down()
            now = self._clock.monotonic()
            over = self._settled(self._group.put_back(call, now))
            self._rouse_leader(now)
        self._conclude(over)

    def _conclude(self, over: Iterable[Seat]) -> None:
        """Hand out what waits came to."""
        failure: BaseException | None = None
        for seat in over:
            try:
                result = outcome(seat, self._clock.monotonic(), self._tell)
            except BaseException as error:  # of a hook; the other callers are to be told too
                result, failure = private(error), error
            seat.owner.give(seat.key, result)
        if failure is not None:
            raise failure

    def _cancel(self, caller: Caller) -> None:
        now = self._clock.monotonic()
        seats = self._withdraw(caller)
        for seat in seats:
            seat.cancel(now)
        self._conclude(seats)

    def _withdraw(self, caller: Caller) -> list[Seat]:
        with self._lock:
            return self._settled(self._group.leave([*caller.live]))

    # What follows, and ``_plan``, is called with the lock.

    def _settled(self, over: list[Seat]) -> list[Seat]:
        for seat in over:
            del seat.owner.live[seat]
        return over

    def _sweep(self) -> None:
        while self._abandoned:
            self._settled(self._group.leave([*self._abandoned.popleft().live]))

    def _count_down(self) -> None:
        """Take in that the calling thread has made a call."""
        me = get_ident()
        left = self._calling.pop(me, 1) - 1  # none, if Ctrl-C came before it was counted
        if left:
            self._calling[me] = left
        if not self._calling:
            self._quiet.set()

    def _hand_on(self, caller: Caller) -> None:
        """Have somebody else lead, who waits and makes no call."""
        if self._leader is caller:
            idle = (other for other in self._attending if other is not caller and not other.call)
            self._leader = next(idle, None)
            if self._leader is not None:
                self._leader.news.set()

    def _rouse_leader(self, now: float) -> None:
        """Wake the leader if there is something to do sooner than it knew."""
        if self._leader is not None:
            delay = self._group.delay(now)
            if delay is not None and now + delay < self._wakes_at:
                self._leader.news.set()


def _run(judging: Judging) -> None:
    """Run a judging, which goes on only for predicates that would have to be awaited."""
    said = next(judging, None)
    if said is None:
        return
    try:
        refuse_awaitable(said, "a predicate", ASYNCHRONOUS)
    except TypeError as error:
        try:
            judging.throw(error)
        except StopIteration:
            return
