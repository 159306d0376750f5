"""One round of calls for several requests, as a pure machine.

Theory of operation
-------------------
A driver makes the calls and reports how each ended::

    ask = SharedAsk(requests, sharing), or SoleAsk(requests)
    while (params := ask.next()) is not None:
        call with params, and read all pages
        ask.passed(response), or ask.failed(error)
    return ask.answers()

Requests that share have all in common but their ids. One call asks for the ids of all, or several
where they are more than a call takes. An id that spoils a call is found by further calls and gets
the error for itself, while the others are answered in the same round. Each request is then answered
as if it had been the only one.

Ids that spoiled a call when they were last asked for go in calls of their own, so that they cost
the others nothing. Where there are a great many such ids, a round ends after some failed calls, and
those that it leaves go first in the next one.

An error that says nothing of what was asked for (a throttle, a broken connection, a service that
fails, missing credentials) ends the round. It is the outcome of the requests that it leaves without
an answer; those that have theirs already keep it.

Invariants
----------
- No call asks for more ids than the operation takes, and none is made without an id.
- Parameters for reading in pages never go together with ids (the sharing sees to that).
- Each request has one outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ParamValidationError

from .._core.history import forget_frames
from .._core.isolation import Isolation
from .._core.try_again import TryAgain
from ._answer import Answer
from ._document import mapping
from ._error_predicates import is_transient
from ._merging import merged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from typing_extensions import TypeIs

    from ._request import Request
    from ._sharing import Sharing


# How many calls may fail in one round. They come with no gap between them, and a service may name
# but one id in an error: a hundred ids that were handed out a moment ago must not take a hundred
# calls at once. It is as many as it takes to find an id among 500 that no error names.
MOST_FAILURES = 20

# How many suspects are remembered, so that ids for which nobody asks again are forgotten some day.
_MOST_SUSPECTS = 1000


class SoleAsk:
    """Calls for requests that share none, one after the other.

    Args:
        requests: whom to ask for.
    """

    __slots__ = ("_end", "_left", "_outcomes", "_request")

    def __init__(self, requests: Collection[Request]) -> None:
        self._left = [*requests]
        self._left.reverse()
        self._request: Any = None
        self._outcomes: dict[Request, Answer | Exception] = {}
        self._end: Exception | None = None

    def next(self) -> dict[str, Any] | None:
        """Return the parameters of the next call, or None when the round is over."""
        if not self._left:
            return None
        self._request = self._left.pop()
        params: dict[str, Any] = self._request.params
        return {**params}

    def passed(self, response: object) -> None:
        """Take in what the call returned."""
        self._outcomes[self._request] = Answer(self._request, response)

    def failed(self, error: Exception) -> None:
        """Take in what the call raised."""
        if is_answer(error):
            forget_frames(error, None)
            self._outcomes[self._request] = Answer(self._request, None, error)
            return
        if not self._outcomes:
            self._end = error
        self._outcomes.update(dict.fromkeys([self._request, *self._left], error))
        self._left = []

    def answers(self) -> dict[Request, Answer | Exception]:
        """Return the outcome of each request, when the round is over.

        Raises:
            Exception: the error that ended the round, where there was no answer before it.
        """
        if self._end is not None:
            raise self._end
        return self._outcomes


class SharedAsk:
    """Calls for requests that differ in their ids alone.

    Args:
        requests: whom to ask for; each has ids, and all have the same ``rest``.
        sharing: how the operation is asked for ids.
        suspects: the ids that spoiled a call when they were last asked for, longest ago first; kept
            up to date, for the next round.
        most_failures: how many calls may fail.
    """

    __slots__ = (
        "_end",
        "_errors",
        "_failures",
        "_isolation",
        "_most_failures",
        "_requests",
        "_responses",
        "_sent",
        "_sharing",
        "_suspects",
        "_unsent",
        "_waiting",
    )

    def __init__(
        self,
        requests: Collection[Request],
        sharing: Sharing,
        suspects: dict[str, None] | None = None,
        most_failures: float = MOST_FAILURES,
    ) -> None:
        self._requests = [*requests]
        self._sharing = sharing
        self._suspects: dict[str, None] = {} if suspects is None else suspects
        self._most_failures = most_failures
        ids = dict.fromkeys(each for request in requests for each in request.ids or ())
        good = [each for each in ids if each not in self._suspects]
        bad = [each for each in [*self._suspects] if each in ids]
        chunks = [*_chunks(good, sharing.limit), *_chunks(bad, sharing.limit)]
        self._waiting = [Isolation(self._blamed, chunk) for chunk in reversed(chunks)]
        self._isolation = self._waiting.pop()
        self._sent: list[str] = []
        self._responses: list[tuple[frozenset[str], Any]] = []
        self._errors: dict[str, ClientError] = {}
        self._unsent: dict[str, Any] = {}  # what botocore itself refuses to send, with its errors
        self._end: Exception | None = None
        self._failures = 0

    def next(self) -> dict[str, Any] | None:
        """Return the parameters of the next call, or None when the round is over."""
        while self._end is None:
            sent = self._isolation.next()
            if sent is not None:
                self._sent = sent
                return self._sharing.with_ids(self._requests[0].params, sent)
            if not self._waiting:
                break
            self._isolation = self._waiting.pop()
        return None

    def passed(self, response: object) -> None:
        """Take in what the call returned."""
        self._isolation.passed()
        self._forget(self._sent)
        self._responses.append((frozenset(self._sent), mapping(response)))

    def failed(self, error: Exception) -> None:
        """Take in what the call raised."""
        if not (is_answer(error) or isinstance(error, ParamValidationError)):
            self._end = error
            return
        forget_frames(error, None)
        found = self._isolation.failed(error)
        for one, why in found.items():
            if is_answer(why):
                self._errors[one] = why
            else:
                self._unsent[one] = why
        self._forget(found)
        self._suspects.update(dict.fromkeys(found))
        self._forget([*self._suspects][:-_MOST_SUSPECTS])
        self._failures += 1
        if self._failures >= self._most_failures:
            self._end = TryAgain()

    def answers(self) -> dict[Request, Answer | Exception]:
        """Return the outcome of each request, when the round is over.

        Returns:
            Answers, or in place of one the error that ended the round before there was any.

        Raises:
            Exception: the error that ended the round, where no call came back before it.
        """
        if self._end is not None and not (self._responses or self._errors or self._unsent):
            raise self._end
        parts: dict[Request, list[Any]] = {request: [] for request in self._requests}
        present: set[str] = set()
        asked = {*self._errors, *self._unsent}
        for ids, response in self._responses:
            present |= ids.intersection(self._sharing.found(response))
            asked |= ids
            concerned = [each for each in self._requests if not ids.isdisjoint(each.ids or ())]
            for request, part in self._split(response, concerned):
                parts[request].append(part)
        return {
            request: self._outcome(request, parts[request], present, asked)
            for request in self._requests
        }

    def _outcome(
        self, request: Request, parts: list[Any], present: set[str], asked: set[str]
    ) -> Answer | Exception:
        ids = [each for each in request.ids or () if each in asked]
        left = len(request.ids or ()) - len(ids)
        if self._end is not None and left and not (ids and isinstance(self._end, TryAgain)):
            return self._end
        errors = {each: self._errors[each] for each in ids if each in self._errors}
        unsent: list[Exception] = [self._unsent[each] for each in ids if each in self._unsent]
        if unsent:
            return unsent[0]
        return Answer(
            request,
            self._together(parts),
            next(iter(errors.values()), None),
            present=tuple(each for each in ids if each in present),
            absent=tuple(each for each in ids if each not in present and each not in errors),
            errors=errors,
            left=left,
        )

    def _split(self, response: Any, requests: list[Request]) -> Iterator[tuple[Request, Any]]:
        """Yield each request with its own part of a response.

        The response is cut in halves along with the requests, so that for n of them each item is
        looked at some log n times, not n.
        """
        ids = {each for request in requests for each in request.ids or ()}
        own = self._sharing.rebuilt(response, ids)
        if len(requests) == 1:
            yield requests[0], own
            return
        middle = len(requests) // 2
        yield from self._split(own, requests[:middle])
        yield from self._split(own, requests[middle:])

    def _together(self, parts: list[Any]) -> Any:
        """Return the answers to several calls for one request as one."""
        if not parts:
            return None
        lists = [path[0] for path in self._sharing.results]
        return merged(parts, [*lists, "failures"])

    def _forget(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._suspects.pop(each, None)

    def _blamed(self, error: Exception, ids: Collection[str]) -> Collection[str] | None:
        return self._sharing.blamed(error, ids)


def _chunks(ids: list[str], limit: int) -> list[list[str]]:
    return [ids[at : at + limit] for at in range(0, len(ids), limit)]


def is_answer(error: object) -> TypeIs[ClientError]:
    """Tell whether an error is what the service says of what was asked for.

    It is not where the service is too busy, out of order or out of reach, or never was asked.
    """
    return isinstance(error, ClientError) and not is_transient(error)
