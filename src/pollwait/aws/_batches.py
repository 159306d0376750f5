"""The drivers of a describer's shared calls on threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .._sync.batcher import Batcher
from .._sync.coalescer import Coalescer
from ._questions import Items, Responses, either, named
from ._request import frozen

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from .._core.duration import Duration


class BatchedItems:
    """Asks for items by their ids.

    Args:
        questions: what may be asked.
        options: of the ``Batcher``.
    """

    __slots__ = ("_questions", "calls")

    def __init__(self, questions: Items, **options: Any) -> None:
        self._questions = questions
        self.calls: Batcher[str, dict[str, Any]] = Batcher(
            named(self._fetch, questions),
            max_size=questions.max_size,
            isolate=questions.blamed,
            **options,
        )

    def get(
        self, wanted: str | None, params: Mapping[str, Any], timeout: Duration | None
    ) -> dict[str, Any]:
        """Return the item of one id."""
        one = self._questions.one(wanted, params)
        try:
            return self.calls.load(one, timeout)
        except ClientError as error:
            raise self._questions.mended(one, error) from error.__cause__

    def get_many(
        self, ids: Iterable[str], timeout: Duration | None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Return the item or the error of each of many ids."""
        answers = self.calls.load_many(self._questions.several(ids), timeout)
        return self._questions.all_mended(answers)

    def _fetch(self, ids: list[str]) -> dict[str, dict[str, Any] | Exception]:
        response = self._questions.bound.call(self._questions.call(ids))
        return self._questions.answers(ids, response)

    def __str__(self) -> str:
        return str(self._questions)


class BatchedResponses:
    """Asks for whole responses by the parameters of a call.

    Args:
        questions: what may be asked.
        options: of the ``Coalescer``.
    """

    __slots__ = ("_questions", "calls")

    def __init__(self, questions: Responses, **options: Any) -> None:
        self._questions = questions
        self.calls: Coalescer[Hashable, dict[str, Any], dict[str, Any], dict[str, Any]] = Coalescer(
            either, named(self._execute, questions), **options
        )

    def get(
        self, wanted: str | None, params: Mapping[str, Any], timeout: Duration | None
    ) -> dict[str, Any]:
        """Return the response to a call with these parameters."""
        asked = self._questions.asked(wanted, params)
        return self.calls.load(frozen(asked), asked, timeout)

    def get_many(
        self, ids: Iterable[str], timeout: Duration | None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Refuse, since there are no ids."""
        raise self._questions.no_ids()

    def _execute(self, key: Hashable, params: dict[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = self._questions.bound.call(params)
        return response

    def __str__(self) -> str:
        return str(self._questions)


def batched(questions: Items | Responses, **options: Any) -> BatchedItems | BatchedResponses:
    """Return the driver for some questions."""
    if isinstance(questions, Items):
        return BatchedItems(questions, **options)
    return BatchedResponses(questions, **options)
