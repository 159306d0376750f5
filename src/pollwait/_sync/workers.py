"""The threads that make the calls of a batcher.

There is no dispatcher. One worker leads: it waits until a window is due, takes the batch and,
before it makes the call, sees to it that another one leads if more is queued. So there are about as
many threads as calls at once; when they have nothing to do they wait for a while and end. A worker
that waits so holds no strong reference to its batcher, which is collected when nobody else does,
and then the worker ends.

Where the clock has a method ``thread``, as ``FakeClock`` has, it makes the threads, and they end as
soon as they have nothing to do.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import deque

from .._clock import SYSTEM_CLOCK
from .._core.batch import Batch
from .._core.callables import describe
from .waiters import Flag, answer_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Thread
    from typing import Any
    from weakref import ref

    from .._clock import Clock
    from .._core.line import Line
    from .waiters import Caller

# Real seconds after which a worker that has nothing to do ends: long beside what it costs to start
# a thread (some 50 µs), short beside the life of a program that has stopped asking.
IDLE = 5.0


class Workers:
    """The threads, and the machine that tells them what to do.

    Args:
        function: the user's function, which makes the calls.
        clock: tells the time of the windows; None for that of the system.
    """

    def __init__(self, function: Callable[..., Any], clock: Clock | None) -> None:
        from weakref import ref

        self._function = function
        self._clock: Clock = SYSTEM_CLOCK if clock is None else clock
        self._make_thread: Any = getattr(clock, "thread", None)
        # The lock guards all that follows. It is not held while functions of the user run, save for
        # the merge of a coalescer and the clock's `monotonic`.
        self._lock = allocate_lock()
        self._line = self._new_line()
        self._leader: Lead | None = None  # wakes the worker that waits for a window
        self._summoned = 0  # workers that are started or woken, and have not come yet
        self._unstarted = 0  # those of them that somebody must start, without the lock
        self._taken: deque[Batch] = deque()  # batches that wait for a worker
        self._delivering: set[Batch] = set()  # whose calls are over, but not all callers know
        self._idle: list[Flag] = []  # wake the workers that have nothing to do
        self._closers: list[Flag] = []  # wake those who wait for the end
        self._threads: list[Thread] = []
        self._weak: ref[Workers] = ref(self, _waking(self._idle))

    if TYPE_CHECKING:  # what the classes that derive from it have

        def _new_line(self) -> Line: ...

        def _make(self, batch: Batch) -> None: ...

    def serve(self) -> Flag | None:
        """Make calls as long as there are any: what a worker does when it is summoned.

        Returns:
            What it is to wait for until it is summoned again; None if it is to end.
        """
        over: float | None = None  # the time that has come, whatever a coarse clock says
        arrives = 1
        while True:
            try:
                task = self._next_task(over, arrives)
                arrives = 0
                if isinstance(task, Lead):
                    over = None if self._linger(task) else task.until
                    continue
            except BaseException as error:  # of a clock: without one nobody is ever answered
                self._abandon(error)
                raise
            if not isinstance(task, Batch):
                return task
            self._make(task)
            over = None

    def retire(self, flag: Flag) -> bool:
        """Let an idle worker end, unless it was summoned just now; tell whether it may."""
        with self._lock:
            if flag not in self._idle:
                return False
            self._idle.remove(flag)
            return True

    def _next_task(self, over: float | None, arrives: int) -> Batch | Lead | Flag | None:
        """Take a batch to call for; else take the lead, or rest."""
        with self._lock:
            self._summoned -= arrives
            now = self._clock.monotonic()
            if self._taken:
                batch: Batch | None = self._taken.popleft()
            else:
                batch = self._line.take(now if over is None else max(now, over))
            task = batch or self._lead_or_rest(now)
            if batch is not None:
                self._rouse(now)
            rejected = self._take_news()
        answer_all(rejected)
        self._start()
        return task

    def _lead_or_rest(self, now: float) -> Lead | Flag | None:
        due = self._line.due()
        if due is not None and self._leader is None:
            self._leader = Lead(due, due - now)
            return self._leader
        if self._make_thread is not None or self._is_over():
            return None
        flag = Flag()
        self._idle.append(flag)
        return flag

    def _linger(self, lead: Lead) -> bool:
        """Wait until a window is due; tell whether there is something to do before that."""
        try:
            return self._clock.wait(lead, lead.seconds)
        finally:
            with self._lock:
                self._leader = None

    def _rouse(self, now: float) -> None:
        """See to it that there are workers for what is due; ``_start`` must follow.

        Full windows are taken here and now, so that a key finds room if a call for it could start.
        """
        line = self._line
        while line.has_full() and (batch := line.take(now)) is not None:
            self._taken.append(batch)
        due = line.due()
        if due is not None and self._leader is not None and due < self._leader.until:
            self._leader.set()
        missing = len(self._taken) + (due is not None and self._leader is None) - self._summoned
        for _ in range(missing):
            self._summoned += 1
            if self._idle:
                self._idle.pop().set()
            else:
                self._unstarted += 1

    def _start(self) -> None:
        """Start the workers that are missing. Where that fails, those who are there must do."""
        while self._unstarted:
            with self._lock:
                if not self._unstarted:
                    return
                self._unstarted -= 1
            self._start_one()

    def _start_one(self) -> None:
        try:
            self._new_thread().start()
        except BaseException as error:
            self._do_without(error)
            if not isinstance(error, Exception):
                raise

    def _new_thread(self) -> Thread:
        from threading import Thread

        name = f"pollwait {describe(self._function)}"
        if self._make_thread is not None:
            thread: Thread = self._make_thread(target=work, args=(self._weak,), name=name)
            return thread
        thread = Thread(target=work, args=(self._weak,), name=name, daemon=True)
        with self._lock:
            self._threads = [*(old for old in self._threads if old.is_alive()), thread]
        return thread

    def _do_without(self, error: BaseException) -> None:
        """Go on without a worker that could not be started; without any, tell the callers."""
        with self._lock:
            self._summoned -= 1
            others = len(self._line.flying) - len(self._taken) + len(self._delivering)
            alone = not (others or self._summoned or self._leader)
        if alone:
            self._abandon(error)

    def _abandon(self, error: BaseException) -> None:
        """Let everybody fail who waits."""
        answer_all([(caller, key, error) for caller, key in self._give_up()])

    def _give_up(self) -> list[tuple[Caller, Any]]:
        """Forget everybody who waits, and the batches that no worker has come for."""
        with self._lock:
            left = self._line.give_up()
            for batch in self._taken:
                self._line.finished(batch)
            self._taken.clear()
            self._notice_end()
        return left

    def _take_news(self) -> list[tuple[Caller, Any, Any]]:
        """Tell callers that stood in line and joined; return those that may not, to be told."""
        line = self._line
        for caller in line.admitted:
            caller.admitted()
        line.admitted.clear()
        rejected, line.rejected = line.rejected, []
        return rejected

    def _is_over(self) -> bool:
        return self._line.closing and self._line.is_empty() and not self._delivering

    def _notice_end(self) -> None:
        if self._is_over():
            self._summoned += len(self._idle)
            for flag in (*self._closers, *self._idle):
                flag.set()
            self._closers.clear()
            self._idle.clear()


class Lead(Flag):
    """The turn of the worker that waits for a window; set when it is to look again.

    Attributes:
        until: when the window is due.
        seconds: how long that is from now.
    """

    __slots__ = ("seconds", "until")

    def __init__(self, until: float, seconds: float) -> None:
        super().__init__()
        self.until = until
        self.seconds = seconds


def work(weak: ref[Workers]) -> None:
    """Serve until there has been nothing to do for a while: what the threads run."""
    while (workers := weak()) is not None:
        flag = workers.serve()
        del workers
        if flag is None:
            return
        if not flag.wait(IDLE) and ((workers := weak()) is None or workers.retire(flag)):
            return


def _waking(idle: list[Flag]) -> Callable[[object], None]:
    """Return what wakes idle workers, so that they end, when their batcher is collected."""

    def wake(_: object) -> None:
        for flag in idle:
            flag.set()

    return wake
