"""Looking into responses whose shape nothing vouches for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast


def mapping(document: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for all else."""
    return cast("Mapping[str, Any]", document) if isinstance(document, Mapping) else {}


def elements(document: object) -> Sequence[Any]:
    """Return a list as it is, and an empty one for all else."""
    return cast("Sequence[Any]", document) if isinstance(document, (list, tuple)) else ()


def member(document: object, name: str) -> Any:
    """Return a member of a mapping; None if there is no such member, or no mapping."""
    return mapping(document).get(name)


def http_status(response: object) -> int | None:
    """Return the HTTP status that came with a response; None if it names none."""
    status = member(member(response, "ResponseMetadata"), "HTTPStatusCode")
    return status if isinstance(status, int) else None


def reports_error(response: object) -> bool:
    """Tell whether a response reports an error, as the ``response`` of a ClientError does.

    A response that came with success reports none, though it may hold the error of a thing that it
    shows, as GetJob of Amazon Location does.
    """
    if member(member(response, "Error"), "Code") is None:
        return False
    status = http_status(response)
    return status is None or not 200 <= status < 300
