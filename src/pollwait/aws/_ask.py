"""One round of calls for several requests, as a pure machine.

Theory of operation
-------------------
A driver makes the calls and reports how each ended::

    ask = SharedAsk(requests, sharing, memory, is_answer)
    while (params := ask.next()) is not None:
        call with params, and read all pages
        ask.passed(response), or ask.failed(error)
    return ask.answers()

Requests that share have all in common but their ids. A round makes one call for the ids that have
their turn, as many as a call takes; whoever asks for more goes on in the next round, which comes a
gap later. Half of a call goes to those who ask for the fewest ids, so that one who asks for a great
many holds up nobody; the other half goes to those who have waited for longest.

An id that spoils the call is found by further calls and gets the error for itself, while the others
are answered in the same round. Such calls have no gap between them, so they are bounded, and what
they have not found out is left to the next round, which goes on where they stopped. Ids that
spoiled a call when they were last asked for go in calls of their own, so that they cost the others
nothing.

Each request is answered as if it had been the only one, for as many of its ids as were asked for.
One that was not asked for at all is left as it was.

An error that says nothing of what was asked for (a throttle, a broken connection, a service that
fails, missing credentials) ends the round. It is the outcome of the requests that it leaves without
an answer; what was answered before it stays so.

Invariants
----------
- No call asks for more ids than the operation takes, and none is made without an id.
- Parameters for reading in pages never go together with ids (the sharing sees to that).
- Each request has one outcome, and a round answers at least one id or leaves with an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ParamValidationError

from .._core.history import forget_frames
from .._core.isolation import Isolation
from .._core.try_again import TryAgain, Unasked
from ._answer import Answer
from ._document import mapping
from ._parts import together
from ._turns import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import TypeAlias

    from typing_extensions import TypeIs

    from ._answer import Refusal
    from ._memory import Memory
    from ._request import Request
    from ._sharing import Sharing

    IsAnswer: TypeAlias = Callable[[object], TypeIs[Refusal]]

# How many calls of one round may fail, or go to ids that might spoil them. They come with no gap
# between them, and a service may name but one id in an error: a hundred ids that were handed out a
# moment ago must not take a hundred calls at once. It is as many as it takes to find an id among
# 500 that no error names.
MOST_FAILURES = 20

# Ids that are called for one by one when the very first call of all is refused and no id is named.
# If each is refused with the same words, whatever is wrong is no matter of ids. That so many bad
# ids lie just there by chance is not to be expected.
PROBES = 8


class SharedAsk:
    """Calls for requests that differ in their ids alone.

    Args:
        requests: whom to ask for; each has ids, and all have the same ``rest``.
        sharing: how the operation is asked for ids.
        memory: what the rounds before have shown; kept up to date for the next one.
        is_answer: tells whether an error is what the service says of what was asked for.
    """

    __slots__ = (
        "_alike",
        "_end",
        "_errors",
        "_is_answer",
        "_isolation",
        "_memory",
        "_over",
        "_plain",
        "_probed",
        "_queue",
        "_requests",
        "_responses",
        "_sent",
        "_sharing",
        "_spent",
        "_unsent",
    )

    def __init__(
        self,
        requests: Collection[Request],
        sharing: Sharing,
        memory: Memory,
        is_answer: IsAnswer,
    ) -> None:
        self._requests = [*requests]
        self._sharing = sharing
        self._memory = memory
        self._is_answer = is_answer
        lots = [lot[: sharing.limit] for lot in memory.lots(self._ids())]
        wanted = [memory.wanted(each) for each in requests]
        if not lots and not any(wanted):  # another round has just cleared them
            wanted = [[*(each.ids or ())] for each in requests]
        plain = chosen(wanted, sharing.limit)
        self._queue = [self._search(each) for each in reversed([plain, *lots]) if each]
        self._isolation = self._queue.pop()
        self._plain: Isolation | None = self._isolation if plain else None
        self._sent: list[str] = []
        self._responses: list[tuple[frozenset[str], Any]] = []
        self._errors: dict[str, Refusal] = {}
        self._unsent: dict[str, Exception] = {}  # what botocore itself refuses to send
        self._probed: Refusal | None = None
        self._alike = 0
        self._spent = 0
        self._over = False
        self._end: Exception | None = None

    def next(self) -> dict[str, Any] | None:
        """Return the parameters of the next call, or None when the round is over."""
        while not self._over and self._spent < MOST_FAILURES:
            sent = self._isolation.next()
            if sent is not None:
                self._sent = sent
                return self._sharing.with_ids(self._requests[0].params, sent)
            if not self._queue:
                break
            self._isolation = self._queue.pop()
        return None

    def passed(self, response: object) -> None:
        """Take in what the call returned."""
        self._isolation.passed()
        self._spent += self._isolation is not self._plain
        self._memory.works = True
        self._memory.clear(self._sent)
        self._responses.append((frozenset(self._sent), mapping(response)))

    def failed(self, error: Exception) -> None:
        """Take in what the call raised."""
        if self._is_answer(error):
            forget_frames(error, None)
            self._spent += 1
            if not self._one_by_one(error):
                self._blame(error, self._errors)
                self._compare(error)
        elif isinstance(error, ParamValidationError):
            forget_frames(error, None)
            self._blame(error, self._unsent)
        else:
            self._end, self._over = error, True

    def answers(self) -> dict[Request, Answer | Exception]:
        """Return the outcome of each request, when the round is over.

        Returns:
            Answers, or in place of one the error that ended the round before there was any, or what
            says that it was not asked for.

        Raises:
            Exception: the error that ended the round, where no call came back before it.
        """
        self._leave_doubts()
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
        for request in self._requests:
            self._memory.answered(request, asked)
        return {
            request: self._outcome(request, parts[request], present, asked)
            for request in self._requests
        }

    def _outcome(
        self, request: Request, parts: list[Any], present: set[str], asked: set[str]
    ) -> Answer | Exception:
        ids = [each for each in request.ids or () if each in asked]
        if not ids:
            return self._unasked(request)
        unsent = [self._unsent[each] for each in ids if each in self._unsent]
        if unsent:
            return unsent[0]
        errors = {each: self._errors[each] for each in ids if each in self._errors}
        return Answer(
            request,
            together(self._sharing, parts),
            next(iter(errors.values()), None),
            present=tuple(each for each in ids if each in present),
            absent=tuple(each for each in ids if each not in present and each not in errors),
            errors=errors,
        )

    def _unasked(self, request: Request) -> Exception:
        """Return the outcome of a request of whose ids none has an answer.

        Who is known to be bad is asked again when it is due, and else it comes back at once.
        """
        if self._end is not None:
            return self._end
        return TryAgain() if self._memory.are_guilty(request.ids or ()) else Unasked()

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

    def _blame(self, error: Any, errors: dict[str, Any]) -> None:
        """Find those of the ids that spoiled the call, or what to call for to find them."""
        found = self._isolation.failed(error)
        errors.update(found)
        self._memory.clear(found)
        self._memory.condemn(each for each in found if each in self._isolation.poison)

    def _one_by_one(self, error: Refusal) -> bool:
        """Call for the ids one by one, or for some of them, where halving would tell less."""
        sent = self._sent
        if len(sent) == 1 or self._sharing.blamed(error, sent) != frozenset():
            return False
        if self._memory.are_guilty(sent):
            self._queue += [self._isolation, *(self._search([each]) for each in reversed(sent))]
            return True
        new = not self._memory.works and self._probed is None
        if not new or len(sent) <= PROBES or self._sharing.is_missing(error):
            return False
        self._probed = error
        probes = [sent[len(sent) * n // PROBES] for n in range(PROBES)]
        rest = [each for each in sent if each not in probes]
        self._queue += [self._search(each) for each in (rest, *([one] for one in probes))]
        return True

    def _compare(self, error: Refusal) -> None:
        """Take in the error of a single id: if many have the same, it is no matter of ids."""
        if self._probed is None or self._memory.works or not _alike(error, self._probed):
            return
        self._alike += len(self._sent) == 1
        if self._alike == PROBES:
            self._over = True
            self._errors = dict.fromkeys(self._ids(), error) | self._errors

    def _leave_doubts(self) -> None:
        """Have the next round go on with what is not found out."""
        searches = [each for each in (self._isolation, *self._queue) if each.calls]
        left = [[*self._sent]] if self._end is not None and self._isolation.calls > 1 else []
        for search in searches:
            while (ids := search.next()) is not None:
                left.append(ids)
        for ids in left:
            if not self._memory.are_guilty(ids):
                self._memory.doubt(ids)

    def _search(self, ids: list[str]) -> Isolation:
        return Isolation(self._sharing.blamed, ids)

    def _ids(self) -> dict[str, None]:
        return dict.fromkeys(each for request in self._requests for each in request.ids or ())


def _alike(one: Refusal, other: Refusal) -> bool:
    """Tell whether two errors of a service say the same."""
    return str(one) == str(other)
