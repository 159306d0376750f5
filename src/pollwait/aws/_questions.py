"""What a describer may be asked, and what the answers mean: all of it that needs no driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .._core.duration import at_least_one
from ._bound_operation import BoundOperation
from ._error_predicates import code_of, message_of
from ._names import alternatives
from ._not_described import NotDescribed
from ._personal import is_personal
from ._request import copied
from ._sharing import PAGING
from ._sharing_rule import sharings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import TypeVar

    from botocore.model import ServiceModel
    from typing_extensions import ParamSpec

    from ._sharing import Sharing

    P = ParamSpec("P")
    T = TypeVar("T")

# What the names of operations begin with that read and change nothing.
READS = (
    "BatchDescribe", "BatchGet", "Describe", "Get", "Head", "List", "Lookup", "Query", "Scan",
    "Search",
)  # fmt: skip


def questions(
    client: Any,
    operation: str,
    by: str | None,
    max_size: int | None,
    params: Mapping[str, Any],
) -> Items | Responses:
    """Return what a describer of an operation may be asked.

    Args:
        client: the client.
        operation: its operation.
        by: the list of ids to ask by; None for the first that there is.
        max_size: the most ids in a call; None for as many as the operation takes.
        params: what every call says.

    Raises:
        TypeError, ValueError: an argument is not as the operation needs it.
    """
    bound = BoundOperation(client, operation)
    if bound.service is None:
        raise TypeError(
            "client must be one of boto3 or botocore, or of aiobotocore for asyncio, whose"
            f" meta.service_model says what an operation takes: got {client!r}"
        )
    _refuse_others(bound)
    sharing = _chosen(bound.service, bound.name, by)
    if sharing is not None:
        return Items(bound, sharing, params, max_size)
    if max_size is not None:
        raise TypeError(f"max_size is a number of ids, of which {bound.name} takes no list")
    return Responses(bound, params)


class Items:
    """Questions for items by their ids: different ids travel together.

    Args:
        bound: the operation.
        sharing: how it is asked for ids.
        params: what else every call says.
        max_size: the most ids in a call; None for as many as the operation takes.

    Raises:
        TypeError, ValueError: an argument is not as the operation needs it.

    Attributes:
        bound: the operation.
        max_size: the most ids in a call.
    """

    __slots__ = ("_params", "_sharing", "bound", "max_size")
    bound: BoundOperation
    max_size: int

    def __init__(
        self,
        bound: BoundOperation,
        sharing: Sharing,
        params: Mapping[str, Any],
        max_size: int | None,
    ) -> None:
        _refuse_beside_ids(sharing, params)
        bound.check({**params, sharing.parameter: ()})
        self.bound = bound
        self.max_size = _size(sharing, max_size)
        self._sharing = sharing
        self._params: dict[str, Any] = copied(params)

    def one(self, wanted: str | None, params: Mapping[str, Any]) -> str:
        """Return the one id that is asked for.

        Raises:
            TypeError, ValueError: it is none, or there are parameters, which are for whole answers.
        """
        if params:
            raise TypeError(
                f"{self.bound.name} is asked for one of its {self._sharing.parameter}, as in"
                f" get('...'); parameters of all calls are given to describer():"
                f" got {', '.join(params)}"
            )
        return self._checked(wanted)

    def several(self, ids: Iterable[str]) -> list[str]:
        """Return the ids that are asked for.

        Raises:
            TypeError, ValueError: these are none.
        """
        if isinstance(ids, (str, bytes, Mapping)) or not hasattr(ids, "__iter__"):
            raise TypeError(f"ids must be several, and one is for get(): got ids={ids!r}")
        return [self._checked(each) for each in ids]

    def call(self, ids: list[str]) -> dict[str, Any]:
        """Return the parameters of a call for some ids."""
        return self._sharing.with_ids(self._params, ids)

    def answers(self, ids: list[str], response: Any) -> dict[str, dict[str, Any] | Exception]:
        """Return what the response to such a call says of each of the ids."""
        found = self._sharing.found(response)
        reasons = self._sharing.failures(response)
        return {
            each: found[each] if each in found else self._unknown(each, reasons.get(each, ""))
            for each in ids
        }

    def blamed(self, error: Exception, ids: list[str]) -> Collection[str] | None:
        """Return the ids by which a call failed, as ``isolate`` of a ``Batcher`` does."""
        return self._sharing.blamed(error, ids)

    def mended(self, wanted: str, error: Exception) -> Exception:
        """Return the error of one id as callers know it: one kind for all that does not exist."""
        if not isinstance(error, ClientError) or self._sharing.missing(error, [wanted]) is None:
            return error
        unknown = self._unknown(wanted, f"{code_of(error)}: {message_of(error)}")
        unknown.__cause__ = error.__cause__
        return unknown

    def all_mended(
        self, answers: Mapping[str, dict[str, Any] | Exception]
    ) -> dict[str, dict[str, Any] | Exception]:
        """Return the items and errors of some ids as callers know them."""
        return {
            each: self.mended(each, answer) if isinstance(answer, Exception) else answer
            for each, answer in answers.items()
        }

    def _checked(self, wanted: object) -> str:
        what = f"{self.bound.name} is asked for one of its {self._sharing.parameter}"
        if not isinstance(wanted, str):
            raise TypeError(f"{what}, a str: got {wanted!r}")
        if not wanted:
            raise ValueError(f"{what}, which is not empty: got ''")
        return wanted

    def _unknown(self, wanted: str, reason: str) -> NotDescribed:
        return NotDescribed(wanted, operation=self.bound.name, reason=reason)

    def __str__(self) -> str:
        return f"{self.bound.name} by {self._sharing.parameter}"


class Responses:
    """Questions for whole responses by the parameters of a call: equal ones are one call.

    Args:
        bound: the operation.
        params: what every call says.

    Attributes:
        bound: the operation.
    """

    __slots__ = ("_params", "bound")
    bound: BoundOperation

    def __init__(self, bound: BoundOperation, params: Mapping[str, Any]) -> None:
        self.bound = bound
        self._params: dict[str, Any] = copied(params)

    def asked(self, wanted: str | None, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of the call that is asked for.

        Raises:
            TypeError: an id is asked for, or the operation takes no such parameters.
        """
        if wanted is not None:
            raise TypeError(f"{self._takes_no_ids()}: got {wanted!r}")
        asked = {**self._params, **copied(params)}
        self.bound.check(asked)
        return asked

    def no_ids(self) -> TypeError:
        """Return the error of who asks for several ids."""
        return TypeError(f"{self._takes_no_ids()}: get_many() is for ids")

    def _takes_no_ids(self) -> str:
        shape: Any = getattr(self.bound.model, "input_shape", None)
        names = [name for name in getattr(shape, "members", ()) if name.lower() not in PAGING]
        asked_by = f", and is asked by {', '.join(names)}" if names else ""
        return f"{self.bound.name} takes no list of ids{asked_by}"

    def __str__(self) -> str:
        return self.bound.name


def either(pending: dict[str, Any] | None, request: dict[str, Any]) -> dict[str, Any]:
    """Merge equal questions, for a ``Coalescer``: any of them will do."""
    return request


def named(function: Callable[P, T], questions: Items | Responses) -> Callable[P, T]:
    """Return a function that errors call by what it asks for."""

    def asking(*args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    asking.__name__ = asking.__qualname__ = str(questions)
    return asking


def _refuse_others(bound: BoundOperation) -> None:
    """Refuse operations whose answer is not the same for all who ask."""
    if not bound.name.startswith(READS):
        raise ValueError(f"{bound.name} may change something, so its calls cannot be shared")
    model: Any = bound.model
    if model.has_streaming_output or model.has_event_stream_output:
        raise ValueError(f"{bound.name} answers with a stream, which cannot be shared")
    if bound.service is not None and is_personal(bound.service.service_name, model):
        raise ValueError(
            f"{bound.name} gives each caller something of its own, so its calls cannot be shared"
        )


def _chosen(service: ServiceModel, operation: str, by: str | None) -> Sharing | None:
    """Return how the caller wants to ask for ids."""
    ways = {way.parameter: way for way in sharings_of(service, operation)}
    if by is None:
        return next(iter(ways.values()), None)
    if by not in ways:
        allowed = f"must be {alternatives(ways)}" if ways else f"has no place with {operation}"
        raise ValueError(f"by {allowed}: got by={by!r}")
    return ways[by]


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
