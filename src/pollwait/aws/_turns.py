"""Which ids a call asks for, where those who wait ask for more than it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def chosen(wanted: list[list[str]], limit: int) -> list[str]:
    """Return the ids of the next call, each once.

    Args:
        wanted: the ids that each request asks for, those first that have waited for longest.
        limit: how many ids a call takes.

    Returns:
        All, if they are no more than that. Else half of the call is filled by those who ask for the
        fewest and half by those who have waited for longest; so nobody holds up the others, and
        nobody is held up for ever.
    """
    everything = _distinct(wanted)
    if len(everything) <= limit:
        return everything
    of_few = _distinct(sorted(wanted, key=len))[: limit // 2]
    return _distinct([of_few, everything])[:limit]


def _distinct(lists: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(each for ids in lists for each in ids))
