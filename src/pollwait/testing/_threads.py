"""Threads that take turns on a clock: one at a time, several to their end, or the calling one."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from .._core.callables import describe
from .._core.rules import MAX_DELAY
from ._roster import Group, Member
from ._stops import Released

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from ._turns import Turns


class ClockThread(threading.Thread):
    """A thread that takes turns on a clock from the moment at which it is started.

    For Python it is always a daemon, so that one which is stuck for good does not keep the program
    from ending.

    Attributes:
        over: it will do nothing more.
    """

    def __init__(
        self,
        turns: Turns,
        target: Callable[..., object] | None,
        args: Iterable[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        daemon: bool = False,
        group: Group | None = None,
    ) -> None:
        name = name or (None if target is None else _name(target))
        super().__init__(None, target, name, args, kwargs, daemon=True)
        self.over = False
        self._turns = turns
        self._member = Member(self.name, self, registered=True, daemon=daemon, own=True)
        self._member.group = group

    @property
    def is_idle(self) -> bool:
        """Tell whether it sleeps, or will do nothing more."""
        return self.over or self._member.sleep is not None

    def start(self) -> None:
        """Start the thread; it begins when its turn comes."""
        if self.ident is None:
            self.register()
        self.launch()

    def register(self) -> None:
        """Have time stand still for the thread, which is about to be launched."""
        if self._member.group is None and not self._member.daemon:
            self._member.group = self._turns.current().group
        self._turns.register(self._member)

    def launch(self) -> None:
        """Start the thread, which is registered."""
        try:
            super().start()
        except BaseException:
            self.dismiss()
            raise

    def dismiss(self) -> None:
        """Take the thread off the clock if it was never launched."""
        if self.ident is None:
            self._turns.leave(self._member)

    def run(self) -> None:
        """Run the target in turns; end quietly if the clock releases the thread."""
        try:
            self._turns.enter(self._member)
            super().run()
        except Released:
            pass
        finally:
            self.over = True
            self._turns.leave(self._member)

    def is_alive(self) -> bool:
        """Tell whether it has begun and not ended, in the time of the clock."""
        return not self.over and super().is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended, at most ``timeout`` seconds of the clock."""
        if self.ident is not None and self is not threading.current_thread() and not self.over:
            seconds = MAX_DELAY if timeout is None else max(timeout, 0.0)
            if not self._turns.block(self._turns.current(), "join", seconds, End(self)):
                return
        super().join()


def _name(function: Callable[..., object]) -> str:
    return describe(function).rpartition("<locals>.")[2]


class End:
    """The end of a thread, as what others wait for."""

    def __init__(self, thread: ClockThread) -> None:
        self._thread = thread

    def is_set(self) -> bool:
        """Tell whether the thread has ended."""
        return self._thread.over

    def __repr__(self) -> str:
        return f"the end of {self._thread.name!r}"


class Registration:
    """A place in the turns of a clock, held from the moment at which this object is made."""

    def __init__(self, turns: Turns, name: str | None) -> None:
        self._turns = turns
        self._member = Member(name or threading.current_thread().name, registered=True)
        turns.register(self._member)

    def __enter__(self) -> Self:
        me = self._turns.current()
        if self._member.thread is not None:
            raise RuntimeError(f"the registration of {self._member.name!r} was entered before")
        if me.registered:
            self._turns.leave(self._member)
            raise RuntimeError(f"{me.name!r} is registered on this clock already")
        try:
            self._turns.enter(self._member)
        except BaseException:
            self._turns.leave(self._member)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._turns.leave(self._member)


def run(turns: Turns, functions: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run each function in a thread of its own, and return their results in order."""
    group, results = Group(), dict[int, Any]()
    threads = [
        ClockThread(
            turns,
            partial(_work, turns, group, function, results, index),
            name=_name(function),
            group=group,
        )
        for index, function in enumerate(functions)
    ]
    turns.open_run(group)
    try:
        _see_through(turns, group, threads)
    finally:
        turns.close_run()
    for thread in threads:
        if thread.over:
            thread.join()
    if group.failure is not None:
        raise group.failure
    return [results[index] for index in range(len(threads))]


def _see_through(turns: Turns, group: Group, threads: Iterable[ClockThread]) -> None:
    """Start the threads of a run, and wait until all of them have ended."""
    me = turns.current()
    try:
        for thread in threads:
            thread.register()
        for thread in threads:
            thread.launch()
        turns.block(me, "run", MAX_DELAY, group)
    except BaseException as error:  # such as Ctrl-C
        for thread in threads:
            thread.dismiss()
        turns.release(group, error)
        turns.block(me, "run", MAX_DELAY, group)
        raise


def _work(
    turns: Turns,
    group: Group,
    function: Callable[[], Any],
    results: dict[int, Any],
    index: int,
) -> None:
    try:
        results[index] = function()
    except Released:
        raise
    except BaseException as error:
        turns.release(group, error)
