"""An asyncio event loop that knows what real work it is waiting for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ._deadlock import Deadlock
from ._holds import Holds, job_name

if TYPE_CHECKING:
    import selectors
    from collections.abc import Callable
    from concurrent.futures import Executor, Future

    from typing_extensions import TypeVarTuple, Unpack

    Ts = TypeVarTuple("Ts")

T = TypeVar("T")


class HoldingLoop(asyncio.SelectorEventLoop):
    """An event loop that holds time still while jobs of executors run.

    What that means for its time is a matter of the subclass, which reads ``_holds``, may add to
    them, and ends the wait of ``_last_wait``, if there is one, when it loses patience.
    """

    def __init__(self, selector: selectors.BaseSelector, holds: Holds) -> None:
        super().__init__(selector)
        self._holds = holds
        self._last_wait: asyncio.Future[None] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._pool_is_closed = False

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: Unpack[Ts]
    ) -> asyncio.Future[T]:
        """Run a function in an executor; time stands still until it has ended."""
        if self.is_closed():
            raise RuntimeError("the event loop is closed")
        pool = self._default_pool() if executor is None else executor
        job: Future[T] = pool.submit(func, *args)
        future = asyncio.wrap_future(job, loop=self)
        hold = self._holds.add(job_name(func))
        # After `wrap_future`, so that the job's result is with the loop before time is let go.
        job.add_done_callback(lambda _: self._holds.release(hold))
        return future

    def set_default_executor(  # type: ignore[override, unused-ignore]  # the stubs take any Executor
        self, executor: ThreadPoolExecutor
    ) -> None:
        """Set what runs the jobs that name no executor."""
        super().set_default_executor(executor)
        self._pool = executor

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait until the jobs of the default executor have ended, and its threads with them.

        Args:
            timeout: not used; the loop's patience bounds the wait, in real seconds.

        Raises:
            Deadlock: a job has not ended in time. Its thread lives on, and Python waits for it
                when the program ends.
        """
        self._pool_is_closed = True
        if self._pool is None:
            return
        self._last_wait = ended = self.create_future()
        closer = threading.Thread(target=self._close_pool, args=(self._pool, ended), daemon=True)
        with self._holds.during("the end of the default executor"):
            closer.start()
            try:
                await ended
            except Deadlock:
                self._pool.shutdown(wait=False, cancel_futures=True)
                raise
        closer.join()

    def _default_pool(self) -> ThreadPoolExecutor:
        if self._pool_is_closed:
            raise RuntimeError("the default executor of this loop has been shut down")
        pool = self._pool
        if pool is None:
            pool = ThreadPoolExecutor(thread_name_prefix="asyncio")
            self.set_default_executor(pool)
        return pool

    def _close_pool(self, pool: ThreadPoolExecutor, ended: asyncio.Future[None]) -> None:
        pool.shutdown(wait=True)
        with suppress(RuntimeError):  # the loop lost patience and was closed meanwhile
            self.call_soon_threadsafe(_end, ended)


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
