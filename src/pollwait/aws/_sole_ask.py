"""One round of calls for requests that share none, driven as ``SharedAsk`` is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.history import forget_frames
from ._answer import Answer

if TYPE_CHECKING:
    from collections.abc import Collection

    from ._ask import IsAnswer
    from ._request import Request


class SoleAsk:
    """Calls for requests that share none, one after the other.

    Args:
        requests: whom to ask for.
        is_answer: tells whether an error is what the service says of what was asked for.
    """

    __slots__ = ("_end", "_is_answer", "_left", "_outcomes", "_request")

    def __init__(self, requests: Collection[Request], is_answer: IsAnswer) -> None:
        self._left = [*requests]
        self._left.reverse()
        self._is_answer = is_answer
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
        if self._is_answer(error):
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
