"""The calls of a batcher on threads: how they run, and whom they answer."""

from __future__ import annotations

from contextvars import Context, ContextVar

from .waiters import answer_all
from .workers import Workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._clock import Clock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.round import Round


# The call in whose function the current code runs, if any.
CURRENT: ContextVar[Batch | None] = ContextVar("pollwait_call", default=None)


class Calls(Workers):
    """Workers that know how to make a call.

    Args:
        function: the user's function, which makes the calls.
        clock: tells the time of the windows; None for that of the system.
        on_event: told of each batch.
    """

    def __init__(
        self, function: Callable[..., Any], clock: Clock | None, on_event: BatchHook | None
    ) -> None:
        super().__init__(function, clock)
        self._tell = on_event

    if TYPE_CHECKING:  # what the classes that derive from it have

        def _new_round(self, batch: Batch, now: float) -> Round: ...

    def _make(self, batch: Batch) -> None:
        """Make the calls for a batch, and answer its callers."""
        try:
            round_ = self._new_round(batch, self._clock.monotonic())
            while round_.arguments is not None:
                self._call(batch, round_)
        except BaseException as error:  # of isolate, of a hook, of a callback or of a clock
            self._deliver(batch, dict.fromkeys(list(batch.callers), error))
            raise
        finally:
            try:
                self._finish(batch)
            finally:
                with self._lock:
                    self._delivering.discard(batch)
                    self._notice_end()

    def _call(self, batch: Batch, round_: Round) -> None:
        arguments = round_.arguments or ()
        passing: BaseException | None = None
        try:
            answer = _own_context(batch).run(self._function, *arguments)
        except Exception as error:
            outcomes = round_.failed(_trimmed(error))
        except BaseException as error:
            outcomes = round_.broke(_trimmed(error))
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                passing = error
        else:
            outcomes = round_.answered_on_threads(answer)
        try:
            if round_.arguments is None:
                self._finish(batch)
                self._tell_of(round_)
        finally:
            self._deliver(batch, outcomes)
        if passing is not None:
            raise passing

    def _tell_of(self, round_: Round) -> None:
        if self._tell is not None:
            event = round_.event(self._clock.monotonic())
            if event is not None:
                self._tell(event)

    def _finish(self, batch: Batch) -> None:
        """Let another call start in place of one that is over, before its callers are told.

        What their callbacks do may take long, and may even wait for another call.
        """
        with self._lock:
            if batch in self._line.flying:
                self._line.finished(batch)
                self._delivering.add(batch)
                self._rouse(self._clock.monotonic())
        self._start()

    def _deliver(self, batch: Batch, outcomes: dict[Any, Any]) -> None:
        with self._lock:
            answers = batch.settle(outcomes)
        answer_all(answers)


def _own_context(batch: Batch) -> Context:
    context = Context()
    context.run(CURRENT.set, batch)
    return context


def _trimmed(error: Any) -> Any:
    """Return an error without the frame of the driver, which holds all callers."""
    trace = error.__traceback__
    return error.with_traceback(trace and trace.tb_next)
