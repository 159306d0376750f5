"""What one wait asks for, as a key that equal waits share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._core.failure import shorten

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from typing_extensions import TypeIs

    from ._sharing import Sharing

_MOST_NAMED = 3  # ids in a sentence; whoever wants them all has a field


class Request:
    """The parameters of one wait: hashable, equal where they are, and out of the caller's reach.

    Args:
        params: those of the operation, as the caller gave them; they are copied.
        sharing: how calls are shared by ids; None for an operation, or parameters, by which none
            are.
        ways: all ways to ask the operation for lists of ids.
        what: what all the waits of a waiter are for, such as ``"InstanceRunning"``.
        label: what this one is for, if that is not "what of ids".

    Attributes:
        params: a copy, with the caller's own values in it where they are no dicts and lists.
        ids: those that are asked for; None without ``sharing``, or where ``params`` has none.
        sharing: how its ids travel with others; None without ids.
        listed: the ids in each list of ids, where several are given and so no call can be shared.
        rest: what requests must have in common to travel in one call; hashable.
        subject: the name of what is asked for without ids, if there is one.
        label: what is waited for. It is also the ``repr``, by which a group names its waits.
    """

    __slots__ = (
        "__weakref__",
        "_hash",
        "ids",
        "label",
        "listed",
        "params",
        "rest",
        "sharing",
        "subject",
    )
    params: dict[str, Any]
    ids: tuple[str, ...] | None
    sharing: Sharing | None
    listed: tuple[tuple[Sharing, tuple[str, ...]], ...]
    rest: Hashable
    subject: str
    label: str

    def __init__(
        self,
        params: Mapping[str, Any],
        sharing: Sharing | None,
        what: str,
        label: str = "",
        ways: Sequence[Sharing] = (),
    ) -> None:
        self.params = copied(params)
        self.ids = None if sharing is None else sharing.ids(self.params)
        self.sharing = None if self.ids is None else sharing
        lists = [(way, way.listed(self.params)) for way in ways] if self.sharing is None else []
        self.listed = tuple((way, ids) for way, ids in lists if ids)
        alike = self.params if self.sharing is None else self.sharing.with_ids(self.params, ())
        self.rest = frozen(alike)
        texts = {name: value for name, value in self.params.items() if isinstance(value, str)}
        self.subject = next(iter(texts.values())) if len(texts) == 1 and not self.ids else ""
        known = self.ids or [each for _, ids in self.listed for each in ids]
        named = listed(known) if known else self.subject or _pairs(texts)
        self.label = label or (f"{what} of {named}" if named else what)
        self._hash = hash((self.rest, self.ids))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Request):
            return NotImplemented
        return self.ids == other.ids and self.rest == other.rest

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.label


def is_collection(ids: object) -> bool:
    """Tell whether something is several things: neither one text nor a mapping."""
    return isinstance(ids, Iterable) and not isinstance(ids, (str, bytes, Mapping))


def distinct_ids(ids: Any) -> list[Any]:
    """Return ids in their order, each once.

    Raises:
        TypeError: they are no collection of ids.
    """
    if not is_collection(ids):
        raise TypeError(f"ids must be a collection of ids, such as a list: got ids={shorten(ids)}")
    found: list[Any] = list(ids)
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"ids must be str: got {shorten(each)}")
    return list(dict.fromkeys(found))


def listed(ids: Sequence[str]) -> str:
    """Return ids for people: the first few by name, and how many more there are."""
    named = ", ".join(ids[:_MOST_NAMED])
    more = len(ids) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _pairs(texts: Mapping[str, str]) -> str:
    return listed([f"{name}={value!r}" for name, value in texts.items()])


def copied(document: Any) -> Any:
    """Return a document with dicts and lists of its own; what they hold besides is shared."""
    if _is_dict(document):
        return {name: copied(value) for name, value in document.items()}
    if _is_list(document):
        return [copied(value) for value in document]
    return document


def frozen(document: Any) -> Hashable:
    """Return what equals the same of another document if, and only if, they say the same.

    Numbers of different types differ, as True and 1 do. What cannot be hashed, such as a stream, is
    like nothing but itself.
    """
    if _is_dict(document):
        return dict, frozenset((name, frozen(value)) for name, value in document.items())
    if _is_list(document):
        return list, tuple(frozen(value) for value in document)
    if isinstance(document, bytearray):
        return bytes, bytes(document)
    try:
        hash(document)
    except (TypeError, ValueError):
        return object, id(document)
    return document.__class__, document


def _is_dict(document: object) -> TypeIs[dict[Any, Any]]:
    return isinstance(document, dict)


def _is_list(document: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    return isinstance(document, (list, tuple))
