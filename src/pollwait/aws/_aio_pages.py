"""Reading an operation's whole answer on an event loop, however many pages it comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.callables import is_awaitable
from ._bound_operation import ON_THREADS, BoundOperation

if TYPE_CHECKING:
    from collections.abc import Mapping


async def pages(client: Any, operation: str, **params: Any) -> Any:
    """Call an operation, read all pages of its answer, and merge them into one response.

    It is ``pollwait.aws.pages``, awaited.

    Args:
        client: of aiobotocore.
        operation: as there.
        params: as there.

    Returns:
        The response, as there.

    Raises:
        TypeError: the client is none for asyncio, or as there.
        ValueError, Exception: as there.

    Example:
        >>> from types import SimpleNamespace
        >>> from pollwait.testing import run
        >>> async def describe_volumes(**params):
        ...     return {"Volumes": []}
        >>> run(pages(SimpleNamespace(describe_volumes=describe_volumes), "describe_volumes"))
        {'Volumes': []}
    """
    called = BoundOperation(client, operation)
    called.refuse_synchronous()
    called.check(params)
    return await answer_of(called, params)


async def answer_of(operation: BoundOperation, params: Mapping[str, Any]) -> Any:
    """Call an operation, and return its answer with all pages merged into one."""
    if operation.paginator is not None:
        return operation.merged([page async for page in operation.paginator.paginate(**params)])
    answer = operation.method(**params)
    if not is_awaitable(answer):
        raise TypeError(
            f"{operation.name} returned what need not be awaited ({type(answer).__name__}), so the"
            f" client is one for threads: use {ON_THREADS}"
        )
    return await answer
