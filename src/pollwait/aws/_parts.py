"""Putting together what several calls say to one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._answer import Answer
from ._merging import merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._answer import Refusal
    from ._request import Request
    from ._sharing import Sharing


class Parts:
    """The answers to one request since it was last answered in full, as they come.

    A request may ask for more ids than a call takes, and a call may spare some that spoil it. Each
    answer is then about a part of the ids.

    Args:
        request: the request; it has ids.
    """

    __slots__ = ("_answers", "_request", "_unanswered")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._answers: list[Answer] = []
        self._unanswered: dict[str, None] = {}
        self.clear()

    def clear(self) -> None:
        """Begin anew: no id has an answer."""
        self._answers = []
        self._unanswered = dict.fromkeys(self._request.ids or ())

    def add(self, answer: Answer) -> None:
        """Take in an answer about some of the ids."""
        self._answers.append(answer)
        for each in answer.ids:
            self._unanswered.pop(each, None)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids that have no answer."""
        return tuple(self._unanswered)

    def together(self, sharing: Sharing, known: Mapping[str, Refusal]) -> Answer | None:
        """Return the answers as one, of each id the newest; None if there are none.

        Args:
            sharing: how the operation is asked for ids.
            known: older errors, of ids that need not be asked for again.
        """
        if not self._answers:
            return None
        known = {each: error for each, error in known.items() if each in self._unanswered}
        if len(self._answers) == 1 and not known:
            return self._answers[0]
        newest = {each: answer for answer in self._answers for each in answer.ids}
        errors = known | {
            each: answer.errors[each] for each, answer in newest.items() if each in answer.errors
        }
        return Answer(
            self._request,
            together(sharing, [part for part in self._shown(sharing, newest) if part is not None]),
            next(iter(errors.values()), None),
            present=self._of(newest, "present"),
            absent=self._of(newest, "absent"),
            errors=errors,
        )

    def _of(self, newest: Mapping[str, Answer], kind: str) -> tuple[str, ...]:
        return tuple(
            each
            for answer in self._answers
            for each in getattr(answer, kind)
            if newest[each] is answer
        )

    def _shown(self, sharing: Sharing, newest: Mapping[str, Answer]) -> Iterable[Any]:
        """Yield what each answer shows of the ids of which it is the newest."""
        for answer in self._answers:
            if answer.response is not None:
                own = [each for each in answer.ids if newest[each] is answer]
                yield sharing.rebuilt(answer.response, own)


def together(sharing: Sharing, responses: list[Any]) -> Any:
    """Return the responses to several calls for one request as one; None if there are none."""
    if not responses:
        return None
    lists = [path[0] for path in sharing.results]
    return merged(responses, [*lists, "failures"])
