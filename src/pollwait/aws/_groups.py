"""The driver of a waiter's shared calls on threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .._sync.completions import Completions
from .._sync.group import PollGroup
from ._answer import Answer
from ._memory import Memory
from ._panel import result
from ._request import Request
from ._shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Generator

    from .._sync.callers import Caller
    from .._sync.lead import Lead
    from ._ask import SharedAsk
    from ._plan import Plan
    from ._sole_ask import SoleAsk


class Group(PollGroup[Request, Answer]):
    """Waits that share calls, each with its own schedule, deadline and verdict.

    It takes all that a wait's settings can say, where ``PollGroup`` takes a part of it.
    """

    def _start(self) -> None:
        super()._start()
        self._lead.shares_interrupts = False

    def wait_for(self, request: Request, settings: dict[str, Any]) -> Any:
        """Wait for one request, and return its response, or raise its error."""
        lead, caller = self._begin([request], settings)
        try:
            lead.attend(caller)
        except BaseException as error:
            lead.leave(caller, error)
            raise
        _, outcome = caller.take()
        if isinstance(outcome, Exception):
            raise outcome
        return result(outcome)

    def results(
        self, requests: dict[Request, str], settings: dict[str, Any]
    ) -> Generator[tuple[str, Any], None, None]:
        """Begin waits for several requests, and return an iterator over ids and their outcomes."""
        return self._each(Completions(*self._begin(requests, settings)), requests)

    def _each(
        self, completions: Completions[Request, Answer], ids: dict[Request, str]
    ) -> Generator[tuple[str, Any], None, None]:
        with completions:
            for request, outcome in completions:
                yield ids[request], result(outcome)

    def _begin(
        self, requests: dict[Request, str] | list[Request], settings: dict[str, Any]
    ) -> tuple[Lead, Caller]:
        lead = self._current()
        waits = self._settings.waits.replaced(settings)
        return lead, lead.open(requests, waits, waits.cancel)


class Groups:
    """The groups of one waiter: one for each way in which its requests differ but for their ids.

    Args:
        plan: what the waiter is.
    """

    __slots__ = ("_plan", "_shelf")

    def __init__(self, plan: Plan) -> None:
        plan.operation.refuse_asynchronous()
        self._plan = plan
        self._shelf: Shelf[Group] = Shelf()

    def of(self, request: Request) -> Group:
        """Return the group in which a request travels."""
        return self._shelf.of(request, self._made)

    def all_of(
        self, requests: dict[Request, str], settings: dict[str, Any]
    ) -> Generator[tuple[str, Any], None, None]:
        """Begin waits for requests of one group, and return an iterator over their outcomes."""
        if not requests:
            return _nothing()
        return self.of(next(iter(requests))).results(requests, settings)

    def _made(self, request: Request) -> Group:
        return Group(partial(self._fetch, Memory()), **self._plan.group(request))

    def _fetch(self, memory: Memory, requests: list[Request]) -> dict[Request, Any]:
        ask = self._plan.ask(requests, memory)
        while (params := ask.next()) is not None:
            self._call(ask, params)
        return ask.answers()

    def _call(self, ask: SharedAsk | SoleAsk, params: dict[str, Any]) -> None:
        try:
            response = self._plan.operation.call(params)
        except Exception as error:
            ask.failed(error)
        else:
            ask.passed(response)


def _nothing() -> Generator[tuple[str, Any], None, None]:
    yield from ()
