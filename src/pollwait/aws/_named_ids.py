"""Which ids the text of a service's error names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)"|\[([^\]]*)\]""")

# Where an id ends: not within a longer word, name or ARN; a full stop or colon may follow it.
_BEFORE = r"(?<![\w.:/@-])"
_AFTER = r"(?![\w-])(?![.:/@][\w*])"


def named_ids(message: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of the ids that a message names, as whole words.

    What stands in quotes or brackets counts first; without any id there, the whole text does, of
    which a word of plain letters, such as the name ``"load"`` in "load balancer", is not taken for
    an id.

    Args:
        message: the text of an error, such as "The volume 'vol-1' does not exist."
        ids: what was asked for.
    """
    occurring = [each for each in ids if each and each in message]
    if not occurring:
        return frozenset()
    quoted = " ".join(filter(None, (part for parts in _QUOTED.findall(message) for part in parts)))
    named = frozenset(each for each in occurring if _is_word(each, quoted))
    telling = (each for each in occurring if not each.isalpha())
    return named or frozenset(each for each in telling if _is_word(each, message))


def _is_word(name: str, text: str) -> bool:
    return re.search(f"{_BEFORE}{re.escape(name)}{_AFTER}", text) is not None
