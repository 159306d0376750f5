"""Names of waiters and operations: one spelling to compare them by, and the near ones."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from botocore import xform_name

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEAR_NAMES = 3  # more are no help


def snake_case(name: str) -> str:
    """Return a name as boto3 writes it: ``VolumeAvailable`` and ``volume-available`` alike.

    Args:
        name: in CamelCase, kebab-case or snake_case.

    Returns:
        The name in snake_case, with botocore's own rules for runs of capitals.

    Example:
        >>> snake_case("DBInstanceAvailable"), snake_case("db-instance-available")
        ('db_instance_available', 'db_instance_available')
    """
    if "-" in name or "_" in name:
        return name.replace("-", "_").lower()
    return str(xform_name(name))


def near(name: str, names: Iterable[str]) -> str:
    """Return the end of a refusal: those of the names that may have been meant.

    Args:
        name: what was asked for.
        names: what there is.

    Returns:
        `` (did you mean 'a' or 'b'?)``, or nothing where no name is near.
    """
    found = get_close_matches(name, list(names), n=_NEAR_NAMES)
    return f" (did you mean {alternatives(found)}?)" if found else ""


def alternatives(names: Iterable[str]) -> str:
    """Return names as a phrase, such as ``'a', 'b' or 'c'``."""
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last
