"""The verdicts of the waits that one caller begins at once, as the predicates of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._ending import ended
from ._request import copied
from ._verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core.wait import Wait
    from ._answer import Answer
    from ._request import Request
    from ._terms import Terms


class Panel:
    """Judges the answers for several waits, each by what it has learned so far.

    Args:
        requests: what each asks for; no two are equal.
        terms: how answers are judged.
    """

    __slots__ = ("_verdicts",)

    def __init__(self, requests: Iterable[Request], terms: Terms) -> None:
        self._verdicts = {request: Verdict(request, terms) for request in requests}

    def failed(self, answer: Answer) -> bool:
        """Take in an answer, and tell whether the wait that it is for has failed."""
        return self._verdicts[answer.request].failed(answer)

    def ready(self, answer: Answer) -> bool:
        """Tell whether the answer that was just taken in is good for its wait."""
        return self._verdicts[answer.request].ready(answer)

    def failure(self, wait: Wait) -> Exception:
        """Return the error of a wait of a group that has ended without a good answer."""
        seat: Any = wait  # a group's waits have keys
        return ended(wait, self._verdicts[seat.key])

    def settings(self) -> dict[str, Any]:
        """Return what the settings of these waits are to say."""
        return {"until": self.ready, "fail": self.failed, "failure": self.failure}


def result(outcome: Any) -> Any:
    """Return what a caller gets: an error as it is, of an answer a response of the caller's own.

    Where an error was what the wait was for, the response is that of the error.
    """
    if isinstance(outcome, Exception):
        return outcome
    answer: Answer = outcome.whole
    response = answer.response
    if not response and answer.error is not None:
        response = getattr(answer.error, "response", None)
    return copied(response)
