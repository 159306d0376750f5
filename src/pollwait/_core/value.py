"""Immutable values without the import cost of ``dataclasses``.

``import dataclasses`` takes longer than everything else that ``import pollwait`` loads, so the few
value types of the core are plain slotted classes with this base.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, NoReturn


class Value:
    """An immutable object that is compared, hashed, shown and pickled by its fields.

    A subclass that names any ``__slots__`` names all its fields there, those of its base included,
    in the order of its constructor's arguments, and its constructor hands them to ``_fill``. A slot
    that is no field belongs to a base between.
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _setters: ClassVar[tuple[Callable[[object, object], None], ...]] = ()

    def __init_subclass__(cls) -> None:
        if not vars(cls).get("__slots__"):
            return  # it adds no field to those of its base
        slots: tuple[str, ...] = tuple(cls.__slots__)
        cls._setters = tuple(getattr(cls, name).__set__ for name in slots)
        cls.__match_args__ = slots  # type: ignore[misc]  # mypy: only class bodies

    def _fill(self, *fields: object) -> None:
        for set_field, field in zip(self._setters, fields, strict=True):
            set_field(self, field)  # past __setattr__, which refuses

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value) or type(other) is not type(self):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        fields = zip(self.__match_args__, self._fields(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={field!r}' for name, field in fields)})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self._fields())


def _restore(cls: type[Value], fields: tuple[object, ...]) -> Value:
    """Rebuild a pickled value; a module-level function, so that pickle finds it by name."""
    value = cls.__new__(cls)
    for name, field in zip(cls.__match_args__, fields, strict=True):
        object.__setattr__(value, name, field)
    return value
