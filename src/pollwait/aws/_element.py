"""Ids that say more than a text, such as a target with a port, and how errors name them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ._named_ids import named_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class Element(str):
    """An id that says more than a text: an element of a list of structures, by a name of its own.

    Attributes:
        id: the id alone, by which the service names it in errors.
        element: what stands in the list.
    """

    __slots__ = ("element", "id")
    id: str
    element: Mapping[str, Any]

    def __new__(cls, name: str, id_: str, element: Mapping[str, Any]) -> Element:
        made = super().__new__(cls, name)
        made.id = id_
        made.element = element
        return made


def named(message: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of the ids that a message names: each by its name, or by an id that is but its.

    Of several things with one id, the id names none.
    """
    culprits = named_ids(message, ids)
    with_more = [each for each in ids if isinstance(each, Element)]
    if culprits or not with_more:
        return culprits
    count = Counter(each.id for each in with_more)
    own = {each.id: each for each in with_more if count[each.id] == 1 and each.id not in ids}
    return frozenset(own[one] for one in named_ids(message, own))
