"""What one wait has learned, and what each answer means for it.

A verdict is handed to a group as the predicates of its wait, and lives as long as that. An answer
tells of three things: what is there, in a response, the ids that the service refused, each with an
error, and the ids that are neither. Each of them says that the wait is ready, that it has failed,
or that it goes on; and together they are ready when all are, or failed when one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import ClientError

from .._core.try_again import Unasked
from ._absence import tells_absence
from ._grace import Grace
from ._parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    from ._acceptors import Acceptor, Outcome
    from ._answer import Answer, Refusal
    from ._request import Request
    from ._sharing import Sharing
    from ._terms import Terms

    Says: TypeAlias = Literal["ready", "failed", "goes on"]

WHOLE = ""
"""Stands for the id of what is waited for without ids."""


class Verdict:
    """The judge of one wait.

    What is asked for by many ids may be answered in parts. Errors are judged as they come; all else
    is, when every id has an answer.

    Args:
        request: what it asks for.
        terms: how answers are judged.

    Attributes:
        response: the newest response.
        error: the newest error.
        matched: the acceptor that matched last.
        matches: whether that was in the newest answer.
        blamed: the id by which the newest answer failed; empty for none in particular.
        graces: for each id that was ever missing, since when it is.
    """

    __slots__ = (
        "_answer",
        "_gone",
        "_good",
        "_parts",
        "_said",
        "_shown",
        "blamed",
        "error",
        "graces",
        "matched",
        "matches",
        "request",
        "response",
        "terms",
    )

    def __init__(self, request: Request, terms: Terms) -> None:
        self.request = request
        self.terms = terms
        self.response: Mapping[str, Any] | None = None
        self.error: Refusal | None = None
        self.matched: Acceptor | None = None
        self.matches = False
        self.blamed = WHOLE
        self.graces: dict[str, Grace] = {}
        self._answer: Answer | None = None
        self._parts = Parts(request)
        self._said: dict[str, Says] = {}  # of the ids that have an answer and are not shown
        self._gone: dict[str, Refusal] = {}  # the errors of those that are, as they are to be
        self._shown: Mapping[str, Any] | None = None
        self._good = 0

    def failed(self, answer: Answer) -> bool:
        """Take in an answer, and tell whether it ends the wait without success.

        Raises:
            Unasked: it is but a part of what it takes to tell.
        """
        self.error = answer.error or self.error
        self.blamed = WHOLE
        self.matches = False
        if self.request.sharing is None:
            says = self._of_whole(answer)
            self._taken(answer)
        else:
            says = self._of_part(answer, self.request.sharing)
        self._good = self._good + 1 if says == "ready" else 0
        return says == "failed"

    def ready(self, answer: Answer) -> bool:
        """Tell whether the answer that was just taken in is good, as were enough before it."""
        return self._good >= self.terms.until_stable

    @property
    def answer(self) -> Answer | None:
        """The newest answer about all ids; before there is one, what is known of some."""
        sharing = self.request.sharing
        if self._answer is not None or sharing is None:
            return self._answer
        return self._parts.together(sharing, self._gone)

    @property
    def unasked(self) -> tuple[str, ...]:
        """The ids of which nothing is known at all, for want of time."""
        return self._parts.unanswered if self._answer is None else ()

    @property
    def state(self) -> str | None:
        """The state that was shown last; of several things those of all, with commas between."""
        return None if self._shown is None else self.terms.state(self._shown)

    def _taken(self, answer: Answer) -> None:
        self._answer = answer
        if answer.response is not None:
            self.response = answer.response

    def _of_part(self, answer: Answer, sharing: Sharing) -> Says:
        """Return what is known with an answer about some of the ids, or about all.

        Raises:
            Unasked: that is nothing yet.
        """
        self._parts.add(answer)
        self._said.update(self._of_the_others(answer, sharing))
        for about in answer.present:
            self._present(about)
            self._said.pop(about, None)
            self._gone.pop(about, None)
        left = {about: self._stays(about) for about in self._parts.unanswered}
        failed = "failed" in self._said.values() or (bool(left) and self._fails_already(answer))
        if None in left.values() and not failed:
            raise Unasked
        whole = self._parts.together(sharing, self._gone) or answer
        answer.whole = whole
        self._taken(whole)
        says = {*self._said.values(), *left.values()}
        if whole.present:
            says.add(self._of_response(_of_those_present(whole)))
        self._parts.clear()
        self._said.clear()
        if failed or "failed" in says:
            return "failed"
        return "ready" if says == {"ready"} else "goes on"

    def _stays(self, about: str) -> Says | None:
        """Return what is known of an id that was not asked for again; None if that may change.

        What is missing is not ready whatever another look says, and what is gone stays gone. So ids
        that spoil calls need not be looked at in every round.
        """
        if about in self._gone and self.terms.until_stable == 1:
            return "ready"
        grace = self.graces.get(about)
        return "goes on" if grace is not None and grace.since is not None else None

    def _fails_already(self, answer: Answer) -> bool:
        """Tell whether one thing that is shown fails the wait, whatever the other answers say."""
        if not answer.present:
            return False
        shown = _of_those_present(answer)
        if not self.terms.definition.fails_by_one(shown):
            return False
        return self._of_response(shown) == "failed"

    def _of_the_others(self, answer: Answer, sharing: Sharing) -> Iterator[tuple[str, Says]]:
        """Yield each id that an answer does not show, with what it says of it."""
        for about, error in answer.errors.items():
            says = self._of_error(about, error)
            if says == "ready":
                self._gone[about] = error
            yield about, says
        yield from self._of_absences(answer, sharing)

    def _of_whole(self, answer: Answer) -> Says:
        """Return what an answer says that is about no ids."""
        if answer.error is not None:
            return self._of_error(WHOLE, answer.error)
        response = answer.response or {}
        acceptor = self._match(response)
        if self._says_missing(acceptor):
            return self._missing(WHOLE)
        says = self._of_response(response)
        left_out = None if self.terms.awaits_absence else _left_out(self.request, response)
        for about in self.graces:
            if about != left_out:
                self._present(about)
        return self._missing(left_out) if left_out and says == "ready" else says

    def _of_response(self, response: Mapping[str, Any]) -> Says:
        """Return what a response says of all that it shows."""
        self._shown = response
        return self._follows(self._match(response))

    def _of_error(self, about: str, error: Refusal) -> Says:
        """Return what an error says: of one id, or of the whole."""
        if not isinstance(error, ClientError):
            return self._fails(about)
        acceptor = self._match(error)
        if acceptor is not None and acceptor.state != "failure":
            return self._follows(acceptor, about)
        sharing = self.request.sharing
        if self.terms.awaits_absence:
            named = sharing is not None and sharing.missing(error, (about,)) is not None
            return "ready" if named and acceptor is None else self._fails(about)
        missing = tells_absence(error) or (sharing is not None and sharing.is_missing(error))
        return self._missing(about) if missing else self._fails(about)

    def _of_absences(self, answer: Answer, sharing: Sharing) -> Iterator[tuple[str, Says]]:
        """Yield each id that an answer leaves out, with what that says of it.

        It says little where the answer need not show all that there is. Then, and where nothing at
        all is shown, the acceptors know what that means.
        """
        if not answer.absent:
            return
        told = sharing.shows_all(self.request.params)
        acceptor = None if answer.present else self.terms.definition.match(answer.response or {})
        state = None if acceptor is None else acceptor.state
        for about in answer.absent:
            if self.terms.awaits_absence:
                yield about, "ready" if told or state == "success" else "goes on"
            elif not told or state == "retry" or self.terms.awaits_appearance:
                yield about, "goes on"
            else:
                yield about, self._missing(about)

    def _missing(self, about: str) -> Says:
        """Return what it says that a thing is missing which is to be there."""
        grace = self.graces.get(about)
        if grace is None:
            grace = self.graces[about] = Grace(self.terms.missing_grace)
        return "goes on" if grace.absent(self.terms.monotonic()) else self._fails(about)

    def _present(self, about: str) -> None:
        if about in self.graces:
            self.graces[about].present()

    def _fails(self, about: str) -> Says:
        self.blamed = self.blamed or about
        return "failed"

    def _says_missing(self, acceptor: Acceptor | None) -> bool:
        """Tell whether an acceptor fails a wait because a thing is missing which is to be there."""
        if acceptor is None or acceptor.state != "failure" or self.terms.awaits_absence:
            return False
        return self.terms.definition.is_not_found(acceptor)

    def _match(self, outcome: Outcome) -> Acceptor | None:
        acceptor = self.terms.definition.match(outcome)
        if acceptor is not None:
            self.matched = acceptor
            self.matches = True
        return acceptor

    def _follows(self, acceptor: Acceptor | None, about: str = WHOLE) -> Says:
        """Return what follows from the acceptor that matched, for one id or for the whole."""
        if acceptor is None or acceptor.state == "retry":
            return "goes on"
        return "ready" if acceptor.state == "success" else self._fails(about)


def _of_those_present(answer: Answer) -> Mapping[str, Any]:
    """Return the response as if only the ids that it shows had been asked for."""
    response = answer.response or {}
    sharing = answer.request.sharing
    if sharing is None or not answer.absent:
        return response
    return sharing.rebuilt(response, answer.present)


def _left_out(request: Request, response: Mapping[str, Any]) -> str | None:
    """Return an id that a response does not show of lists that were given beside each other."""
    for sharing, ids in request.listed:
        shown = sharing.found(response)
        for each in ids:
            if each not in shown and sharing.shows_all(request.params):
                return each
    return None
