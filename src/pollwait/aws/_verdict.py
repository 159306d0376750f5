"""What one wait has learned, and what each answer means for it.

A verdict is handed to a group as the predicates of its wait, and lives as long as that. An answer
comes in parts: the response that shows what is there, an error for each id that the service
refused, and the ids that are neither. Each part says that the wait is ready, that it has failed, or
that it goes on; and together they are ready when all are, or failed when one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ._absence import tells_absence
from ._grace import Grace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    from botocore.exceptions import ClientError

    from ._acceptors import Acceptor, Outcome
    from ._answer import Answer
    from ._request import Request
    from ._sharing import Sharing
    from ._terms import Terms

    Says: TypeAlias = Literal["ready", "failed", "goes on"]

WHOLE = ""
"""Stands for the id of what is waited for without ids."""


class Verdict:
    """The judge of one wait.

    Args:
        request: what it asks for.
        terms: how answers are judged.

    Attributes:
        answer: the newest answer; None before the first.
        response: the newest that was no error.
        error: the newest error.
        matched: the acceptor that matched last.
        blamed: the id by which the newest answer failed; empty for none in particular.
        graces: for each id that was ever missing, since when it is.
    """

    __slots__ = (
        "_good",
        "_shown",
        "answer",
        "blamed",
        "error",
        "graces",
        "matched",
        "request",
        "response",
        "terms",
    )

    def __init__(self, request: Request, terms: Terms) -> None:
        self.request = request
        self.terms = terms
        self.answer: Answer | None = None
        self.response: Mapping[str, Any] | None = None
        self.error: ClientError | None = None
        self.matched: Acceptor | None = None
        self.blamed = WHOLE
        self.graces: dict[str, Grace] = {}
        self._shown: Mapping[str, Any] | None = None
        self._good = 0

    def failed(self, answer: Answer) -> bool:
        """Take in an answer, and tell whether it ends the wait without success."""
        self.answer = answer
        if answer.response is not None:
            self.response = answer.response
        self.error = answer.error or self.error
        self.blamed = WHOLE
        says = _together(self._parts(answer))
        self._good = self._good + 1 if says == "ready" else 0
        return says == "failed"

    def ready(self, answer: Answer) -> bool:
        """Tell whether the answer that was just taken in is good, as were enough before it."""
        return self._good >= self.terms.until_stable

    @property
    def state(self) -> str | None:
        """The state that was shown last; of several things those of all, with commas between."""
        return None if self._shown is None else self.terms.state(self._shown)

    def _parts(self, answer: Answer) -> Iterator[Says]:
        """Yield what each part of an answer says."""
        if self.request.sharing is None:
            yield self._of_whole(answer)
            return
        for about, error in answer.errors.items():
            yield self._of_error(about, error)
        yield from self._of_absences(answer, self.request.sharing)
        if answer.present:
            for about in answer.present:
                self._present(about)
            yield self._of_response(_of_those_present(answer))
        if answer.left:
            yield "goes on"

    def _of_whole(self, answer: Answer) -> Says:
        """Return what an answer says that is about no ids."""
        if answer.error is not None:
            return self._of_error(WHOLE, answer.error)
        response = answer.response or {}
        acceptor = self._match(response)
        if self._says_missing(acceptor):
            return self._missing(WHOLE)
        self._present(WHOLE)
        return self._of_response(response)

    def _of_response(self, response: Mapping[str, Any]) -> Says:
        """Return what a response says of all that it shows."""
        self._shown = response
        return self._follows(self._match(response))

    def _of_error(self, about: str, error: ClientError) -> Says:
        """Return what an error says: of one id, or of the whole."""
        acceptor = self._match(error)
        if acceptor is not None and acceptor.state != "failure":
            return self._follows(acceptor, about)
        sharing = self.request.sharing
        if self.terms.awaits_absence:
            named = sharing is not None and sharing.missing(error, (about,)) is not None
            return "ready" if named and acceptor is None else self._fails(about)
        missing = tells_absence(error) or (sharing is not None and sharing.is_missing(error))
        return self._missing(about) if missing else self._fails(about)

    def _of_absences(self, answer: Answer, sharing: Sharing) -> Iterator[Says]:
        """Yield what it says of each id that an answer does not show it.

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
                yield "ready" if told or state == "success" else "goes on"
            elif not told or state == "retry" or self.terms.awaits_appearance:
                yield "goes on"
            else:
                yield self._missing(about)

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


def _together(parts: Iterator[Says]) -> Says:
    """Return what the parts of an answer say together; every one of them is looked at."""
    says = set(parts)
    if "failed" in says:
        return "failed"
    return "ready" if says == {"ready"} else "goes on"
