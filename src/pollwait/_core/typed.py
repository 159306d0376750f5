"""The two names of ``typing`` that are needed at run time, without the cost of its import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, overload
else:
    Protocol = object

    def overload(function):
        """Say nothing at run time; type checkers see ``typing.overload``."""
        return function


__all__ = ["Protocol", "overload"]
