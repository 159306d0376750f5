"""A client's operations, by whichever name they are asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ._names import near, snake_case

if TYPE_CHECKING:
    from botocore.model import ServiceModel


def service_model(client: object) -> ServiceModel | None:
    """Return the model that a client was made from; None for one that was written by hand."""
    from botocore.model import ServiceModel  # loaded with any client

    model = getattr(getattr(client, "meta", None), "service_model", None)
    return model if isinstance(model, ServiceModel) else None


def refuse_resource(client: object) -> None:
    """Raise TypeError for a resource of boto3, which is given where a client is wanted."""
    base: Any = sys.modules.get("boto3.resources.base")
    if base is not None and isinstance(client, base.ServiceResource):
        raise TypeError(
            f"client must be a client: got {client!r}, a resource of boto3, whose client is its"
            " meta.client"
        )


def service_of(client: object) -> str:
    """Return a client's service, such as ``"ec2"``; its type's name if it has no model."""
    model = service_model(client)
    return type(client).__name__ if model is None else str(model.service_name)


def operation_of(client: object, operation: str) -> str:
    """Return the name that the API gives to an operation of a client.

    Args:
        client: a client of botocore, boto3 or aiobotocore, or an object with methods like theirs.
        operation: ``"DescribeVolumes"``, ``"describe_volumes"`` or ``"describe-volumes"``.

    Returns:
        ``"DescribeVolumes"``; for a client without a model the operation as it was given.

    Raises:
        TypeError: the operation is no str.
        ValueError: the client has no such operation; the error names the near ones.
    """
    if not isinstance(operation, str):
        raise TypeError(f"operation must be a str: got operation={operation!r}")
    model = service_model(client)
    if model is None:
        return _operation_by_method(client, operation)
    if operation in model.operation_names:
        return operation
    by_method = {snake_case(name): name for name in model.operation_names}
    found = by_method.get(snake_case(operation))
    if found is None:
        in_capitals = operation[:1].isupper()
        meant = near(operation, model.operation_names if in_capitals else by_method)
        raise ValueError(f"{model.service_name} has no operation {operation!r}{meant}")
    return found


def _operation_by_method(client: object, operation: str) -> str:
    method = snake_case(operation)
    if not callable(getattr(client, method, None)):
        methods = [name for name in dir(client) if not name.startswith("_")]
        meant = near(method, methods)
        raise ValueError(f"{service_of(client)} has no method {method!r}{meant}")
    return operation
