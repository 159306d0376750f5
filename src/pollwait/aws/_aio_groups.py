"""The driver of a waiter's shared calls on an event loop.

It mirrors the driver on threads, but for what must be awaited.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .._aio.backend import refuse_blocking
from .._aio.completions import Completions
from .._aio.group import PollGroup
from ._aio_pages import answer_of
from ._answer import Answer
from ._memory import Memory
from ._panel import result
from ._request import Request
from ._shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from .._aio.callers import Caller
    from .._aio.runner import Runner
    from ._ask import SharedAsk
    from ._plan import Plan
    from ._sole_ask import SoleAsk


class Group(PollGroup[Request, Answer]):
    """Waits that share calls, each with its own schedule, deadline and verdict.

    It takes all that a wait's settings can say, where ``PollGroup`` takes a part of it.
    """

    async def wait_for(self, request: Request, settings: dict[str, Any]) -> Any:
        """Wait for one request, and return its response, or raise its error."""
        runner, caller = self._begin([request], settings)
        try:
            await runner.attend(caller)
        except BaseException as error:
            runner.leave(caller, error)
            raise
        _, outcome = caller.take()
        if isinstance(outcome, Exception):
            raise outcome
        return result(outcome)

    def results(
        self,
        requests: dict[Request, str],
        settings: dict[str, Any],
        shown: Callable[[Any], Any],
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """Begin waits for several requests, and return an iterator over ids and their outcomes."""
        return self._each(Completions(*self._begin(requests, settings)), requests, shown)

    async def _each(
        self,
        completions: Completions[Request, Answer],
        ids: dict[Request, str],
        shown: Callable[[Any], Any],
    ) -> AsyncGenerator[tuple[str, Any], None]:
        async with completions:
            async for request, outcome in completions:
                yield ids[request], shown(result(outcome))

    def _begin(
        self, requests: dict[Request, str] | list[Request], settings: dict[str, Any]
    ) -> tuple[Runner, Caller]:
        runner = self._current()
        waits = self._settings.waits.replaced(settings)
        refuse_blocking(waits.clock, waits.cancel)
        return runner, runner.open(requests, waits, waits.cancel)


class Groups:
    """The groups of one waiter: one for each way in which its requests differ but for their ids.

    Args:
        plan: what the waiter is.
    """

    __slots__ = ("_plan", "_shelf")

    def __init__(self, plan: Plan) -> None:
        plan.operation.refuse_synchronous()
        self._plan = plan
        self._shelf: Shelf[Group] = Shelf()

    def of(self, request: Request) -> Group:
        """Return the group in which a request travels."""
        return self._shelf.of(request, self._made)

    def all_of(
        self,
        requests: dict[Request, str],
        settings: dict[str, Any],
        shown: Callable[[Any], Any] = lambda result: result,
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """Begin waits for requests of one group, and return an iterator over their outcomes.

        Args:
            requests: what is waited for, and the id of each.
            settings: of the waits.
            shown: what callers are given for each response or error.
        """
        if not requests:
            return _nothing()
        return self.of(next(iter(requests))).results(requests, settings, shown)

    def _made(self, request: Request) -> Group:
        return Group(partial(self._fetch, Memory()), **self._plan.group(request))

    async def _fetch(self, memory: Memory, requests: list[Request]) -> dict[Request, Any]:
        ask = self._plan.ask(requests, memory)
        while (params := ask.next()) is not None:
            await self._call(ask, params)
        return ask.answers()

    async def _call(self, ask: SharedAsk | SoleAsk, params: dict[str, Any]) -> None:
        try:
            response = await answer_of(self._plan.operation, params)
        except Exception as error:
            ask.failed(error)
        else:
            ask.passed(response)


async def _nothing() -> AsyncGenerator[tuple[str, Any], None]:
    nothing: list[tuple[str, Any]] = []
    for each in nothing:
        yield each
