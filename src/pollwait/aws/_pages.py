"""Reading an operation's whole answer, however many pages it comes in."""

from __future__ import annotations

from typing import Any

from ._bound_operation import BoundOperation


def pages(client: Any, operation: str, **params: Any) -> Any:
    """Call an operation, read all pages of its answer, and merge them into one response.

    So a predicate sees everything at once: ``path_all`` over the first page alone would say nothing
    of the others. An operation whose answers come in one piece is called once.

    Args:
        client: of boto3 or botocore.
        operation: such as ``"describe_volumes"`` or ``"DescribeVolumes"``.
        params: those of the operation, with botocore's names.

    Returns:
        A response as the client's method returns one. Its lists of results hold those of all pages;
        what else there is, such as ``ResponseMetadata``, is that of the last page.

    Raises:
        TypeError: the client is one for asyncio, or the operation takes no such parameter, or lacks
            a required one. Nothing has been called.
        ValueError: the service has no such operation.
        Exception: what the client raises, as it is; pages that were read are lost.

    Example:
        >>> from types import SimpleNamespace
        >>> ec2 = SimpleNamespace(describe_volumes=lambda **params: {"Volumes": []})
        >>> pages(ec2, "describe_volumes")
        {'Volumes': []}
    """
    called = BoundOperation(client, operation)
    called.refuse_asynchronous()
    called.check(params)
    return called.call(params)
