"""What a describer does with a question: ask for an item by its id, or for a whole response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .._core.duration import at_least_one
from .._sync.batcher import Batcher
from .._sync.coalescer import Coalescer
from ._error_predicates import code_of, message_of
from ._not_described import NotDescribed
from ._request import copied, frozen
from ._sharing import PAGING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from .._clock import Clock
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from ._bound_operation import BoundOperation
    from ._sharing import Sharing


class Items:
    """Questions for items by their ids: different ids travel together.

    Args:
        bound: the operation.
        sharing: how it is asked for ids.
        params: what else every call says.
        max_size: the most ids in a call; None for as many as the operation takes.
        max_delay, clock, on_event: as in ``Batcher``.

    Raises:
        TypeError, ValueError: an argument is not as the operation needs it.
    """

    __slots__ = ("_bound", "_params", "_sharing", "calls")

    def __init__(
        self,
        bound: BoundOperation,
        sharing: Sharing,
        params: Mapping[str, Any],
        *,
        max_size: int | None,
        max_delay: Duration,
        clock: Clock | None,
        on_event: BatchHook | None,
    ) -> None:
        _refuse_beside_ids(sharing, params)
        bound.check({**params, sharing.parameter: ()})
        self._bound = bound
        self._sharing = sharing
        self._params: dict[str, Any] = copied(params)
        self.calls: Batcher[str, dict[str, Any]] = Batcher(
            self._fetch,
            max_size=_size(sharing, max_size),
            max_delay=max_delay,
            isolate=sharing.blamed,
            clock=clock,
            on_event=on_event,
        )

    def get(
        self, wanted: str | None, params: Mapping[str, Any], timeout: Duration | None
    ) -> dict[str, Any]:
        """Return the item of one id."""
        if params:
            raise TypeError(
                f"{self._bound.name} is asked for one of its {self._sharing.parameter}, as in"
                f" get('...'); parameters of all calls are given to describer():"
                f" got {', '.join(params)}"
            )
        self._check(wanted)
        try:
            return self.calls.load(str(wanted), timeout)
        except ClientError as error:
            raise self._mended(str(wanted), error) from error.__cause__

    def get_many(
        self, ids: Iterable[str], timeout: Duration | None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Return the item or the error of each of many ids."""
        if isinstance(ids, str):
            raise TypeError(f"ids must be several, and one is for get(): got ids={ids!r}")
        wanted = [*ids]
        for each in wanted:
            self._check(each)
        answers = self.calls.load_many(wanted, timeout)
        return {
            each: self._mended(each, answer) if isinstance(answer, Exception) else answer
            for each, answer in answers.items()
        }

    def _fetch(self, ids: list[str]) -> dict[str, dict[str, Any] | Exception]:
        response = self._bound.call(self._sharing.with_ids(self._params, ids))
        found = self._sharing.found(response)
        reasons = self._sharing.failures(response)
        return {
            each: found[each] if each in found else self._unknown(each, reasons.get(each, ""))
            for each in ids
        }

    def _check(self, wanted: object) -> None:
        what = f"{self._bound.name} is asked for one of its {self._sharing.parameter}"
        if not isinstance(wanted, str):
            raise TypeError(f"{what}, a str: got {wanted!r}")
        if not wanted:
            raise ValueError(f"{what}, which is not empty: got ''")

    def _mended(self, wanted: str, error: Exception) -> Exception:
        """Return the error of one id as callers know it: one kind for all that does not exist."""
        if not isinstance(error, ClientError) or self._sharing.missing(error, [wanted]) is None:
            return error
        unknown = self._unknown(wanted, f"{code_of(error)}: {message_of(error)}")
        unknown.__cause__ = error.__cause__
        return unknown

    def _unknown(self, wanted: str, reason: str) -> NotDescribed:
        return NotDescribed(wanted, operation=self._bound.name, reason=reason)

    def __str__(self) -> str:
        return f"{self._bound.name} by {self._sharing.parameter}"


class Responses:
    """Questions for whole responses by the parameters of a call: equal ones are one call.

    Args:
        bound: the operation.
        params: what every call says.
        max_delay, clock, on_event: as in ``Coalescer``.
    """

    __slots__ = ("_bound", "_params", "calls")

    def __init__(
        self,
        bound: BoundOperation,
        params: Mapping[str, Any],
        *,
        max_delay: Duration,
        clock: Clock | None,
        on_event: BatchHook | None,
    ) -> None:
        self._bound = bound
        self._params: dict[str, Any] = copied(params)
        self.calls: Coalescer[Hashable, dict[str, Any], dict[str, Any], dict[str, Any]] = Coalescer(
            _either, self._execute, max_delay=max_delay, clock=clock, on_event=on_event
        )

    def get(
        self, wanted: str | None, params: Mapping[str, Any], timeout: Duration | None
    ) -> dict[str, Any]:
        """Return the response to a call with these parameters."""
        if wanted is not None:
            raise TypeError(f"{self._takes_no_ids()}: got {wanted!r}")
        asked = {**self._params, **copied(params)}
        self._bound.check(asked)
        return self.calls.load(frozen(asked), asked, timeout)

    def get_many(
        self, ids: Iterable[str], timeout: Duration | None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Refuse, since there are no ids."""
        raise TypeError(f"{self._takes_no_ids()}: get_many() is for ids")

    def _execute(self, key: Hashable, params: dict[str, Any]) -> dict[str, Any]:
        response: dict[str, Any] = self._bound.call(params)
        return response

    def _takes_no_ids(self) -> str:
        shape: Any = getattr(self._bound.model, "input_shape", None)
        names = [name for name in getattr(shape, "members", ()) if name.lower() not in PAGING]
        asked_by = f", and is asked by {', '.join(names)}" if names else ""
        return f"{self._bound.name} takes no list of ids{asked_by}"

    def __str__(self) -> str:
        return self._bound.name


def _either(pending: dict[str, Any] | None, request: dict[str, Any]) -> dict[str, Any]:
    """Merge equal questions: any of them will do."""
    return request


def _refuse_beside_ids(sharing: Sharing, params: Mapping[str, Any]) -> None:
    """Refuse parameters that do not go together with a list of ids."""
    for name in params:
        if name == sharing.parameter:
            raise TypeError(f"{name} are what get() asks for: got them for all calls")
        if name in sharing.others:
            raise TypeError(
                f"{name} cannot be given together with {sharing.parameter}: to ask by them, say"
                f" by={name!r}"
            )
        if name.lower() in PAGING:
            raise TypeError(f"{name} cannot be given together with {sharing.parameter}")


def _size(sharing: Sharing, max_size: int | None) -> int:
    if max_size is None:
        return sharing.limit
    if at_least_one(max_size, "max_size") > sharing.limit:
        raise ValueError(
            f"max_size must be <= {sharing.limit}, the most ids that {sharing.operation} takes:"
            f" got max_size={max_size!r}"
        )
    return max_size
