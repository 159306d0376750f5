"""One operation of a client: what it takes, and how its answers come in pages."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from .._core.answer import refuse_awaitable
from ._merging import merged
from ._names import near, snake_case
from ._operations import operation_of, refuse_resource, service_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from botocore.model import OperationModel, ServiceModel

ON_THREADS, ASYNCHRONOUS = "pollwait.aws", "pollwait.aws.aio"

# Required parameters that botocore gives where the caller does not.
FILLED_IN = frozenset({("glacier", "accountId")})


class BoundOperation:
    """An operation of a client.

    Args:
        client: of boto3, botocore or aiobotocore; or anything else that has the method, of which
            nothing more is known.
        operation: in CamelCase, snake_case or kebab-case.

    Raises:
        TypeError: the operation is named by no str.
        ValueError: the client has no such operation.

    Attributes:
        client: the client.
        name: as in the API, such as ``"DescribeVolumes"``; as given where the client has no model.
        method: the client's method.
        paginator: the client's for this operation; None where answers come in one piece.
        service: the model of the client's service; None where it has none.
        model: that of the operation; None as well.
    """

    __slots__ = ("client", "method", "model", "name", "paginator", "service")
    client: Any
    name: str
    method: Callable[..., Any]
    paginator: Any
    service: ServiceModel | None
    model: OperationModel | None

    def __init__(self, client: Any, operation: str) -> None:
        if not isinstance(operation, str):
            raise TypeError(f"operation must be a str: got operation={operation!r}")
        refuse_resource(client)
        self.client = client
        self.name = operation_of(client, operation)
        self.service = service_model(client)
        self.model = None if self.service is None else self.service.operation_model(self.name)
        method = snake_case(self.name)
        self.method = getattr(client, method)
        pages = self.model is not None and client.can_paginate(method)
        self.paginator = client.get_paginator(method) if pages else None

    def call(self, params: Mapping[str, Any]) -> Any:
        """Call the operation, and return its answer with all pages merged into one."""
        if self.paginator is None:
            answer = self.method(**params)
            refuse_awaitable(answer, self.name, ASYNCHRONOUS)
            return answer
        return self.merged(list(self.paginator.paginate(**params)))

    def merged(self, pages: list[Any]) -> Any:
        """Return the pages of one answer as one."""
        return merged(pages, [key.expression for key in self.paginator.result_keys or ()])

    @property
    def is_asynchronous(self) -> bool:
        """Whether the client's answers must be awaited, as far as its methods tell."""
        others = [getattr(self.client, name, None) for name in ("close", "_make_api_call")]
        return any(iscoroutinefunction(each) for each in (self.method, *others))

    def refuse_asynchronous(self) -> None:
        """Raise TypeError for a client whose answers must be awaited."""
        if self.is_asynchronous:
            raise TypeError(
                f"client must not be one for asyncio, which {ASYNCHRONOUS} takes:"
                f" got {self.client!r}"
            )

    def refuse_synchronous(self) -> None:
        """Raise TypeError for a client of botocore whose answers are there at once.

        Of a client without a model nobody knows before it has answered.
        """
        if self.service is not None and not self.is_asynchronous:
            raise TypeError(
                f"client must be one for asyncio, and {ON_THREADS} takes those of boto3:"
                f" got {self.client!r}"
            )

    def texts(self) -> list[str] | None:
        """Return the names of all strings that it takes; None where nobody knows."""
        if self.model is None:
            return None
        shape: Any = self.model.input_shape
        members: dict[str, Any] = {} if shape is None else shape.members
        return [name for name, each in members.items() if each.type_name == "string"]

    def required_texts(self) -> list[str]:
        """Return the names of the strings that a caller must give."""
        shape: Any = None if self.model is None else self.model.input_shape
        required = self._to_be_given(shape)
        return [name for name in required if shape.members[name].type_name == "string"]

    def check(self, params: Iterable[str]) -> None:
        """Refuse parameters that the operation does not take, and calls that lack required ones.

        Raises:
            TypeError: naming them, and those that may have been meant. Nothing has been called.
        """
        if self.model is None or self.service is None:
            return
        shape: Any = self.model.input_shape
        known: list[str] = [] if shape is None else list(shape.members)
        given = sorted(params)
        for name in given:
            if name not in known:
                raise TypeError(f"{self.name} takes no parameter {name!r}{_meant(name, known)}")
        missing = [name for name in self._to_be_given(shape) if name not in given]
        if missing:
            raise TypeError(
                f"{self.name} requires {', '.join(missing)}: got {', '.join(given) or 'none'}"
            )

    def _to_be_given(self, shape: Any) -> list[str]:
        """Return the required members, save what botocore fills in for some services."""
        service = None if self.service is None else self.service.service_name
        return [name for name in _required(shape) if (service, name) not in FILLED_IN]


def _required(shape: Any) -> list[str]:
    """Return the members that a caller must give; tokens that botocore makes up are none."""
    if shape is None:
        return []
    return [
        name
        for name in shape.required_members
        if not shape.members[name].metadata.get("idempotencyToken")
    ]


def _meant(name: str, known: list[str]) -> str:
    """Say what may have been meant by a name; where nothing is near, what there is."""
    letters = {other.lower(): other for other in known}
    same = letters.get(name.lower().replace("_", "").replace("-", ""))
    if same is not None:
        return f" (did you mean {same!r}?)"
    return near(name, known) or (f": it takes {', '.join(known)}" if known else "")
