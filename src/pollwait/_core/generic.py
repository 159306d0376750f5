"""Generic classes at run time without the import of ``typing``, which only type checkers need."""

from __future__ import annotations

from types import GenericAlias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar
else:

    class Generic:
        """A class that takes type arguments and makes nothing of them."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    def TypeVar(name, **bounds):  # noqa: N802 - it stands in for a class
        """Return a stand-in for a type variable."""
        return name


__all__ = ["Generic", "TypeVar"]
