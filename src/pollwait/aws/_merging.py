"""Merging the pages of one answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ._document import elements, mapping, member

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Members that say where the next page begins. Source: the output tokens of the paginators in
# botocore's data, which a test holds against this.
TOKEN = re.compile(r"(token|marker)$|^nextrecord|^lastevaluated|^position$", re.IGNORECASE)


def merged(pages: list[Any], results: Iterable[str]) -> Any:
    """Return one answer made of several pages.

    Of the results, lists, mappings and texts are joined and numbers added up, as botocore's own
    paginators do. All else is as the last page that has it says, save what would say where a next
    page begins. The pages stay as they are, and share their items with the result.

    Args:
        pages: at least one, in their order.
        results: where each page has its share of the result: a name, or several with dots between.

    Returns:
        The one page as it is, where there is but one.
    """
    *earlier, last = pages
    if not earlier:
        return last
    whole: dict[str, Any] = {
        name: value
        for page in earlier
        for name, value in mapping(page).items()
        if not TOKEN.search(name)
    }
    whole.update(mapping(last))
    for result in results:
        path = result.split(".")
        parts = [part for page in pages if (part := _at(page, path)) is not None]
        if parts:
            whole = _put(whole, path, _joined(parts))
    return whole


def _at(document: object, path: list[str]) -> Any:
    for name in path:
        document = member(document, name)
    return document


def _put(document: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """Return a document with something else at one place; what lies beside it is shared."""
    name, *rest = path
    inner = _put(mapping(document.get(name)), rest, value) if rest else value
    return {**document, name: inner}


def _joined(parts: list[Any]) -> Any:
    first, *others = parts
    if isinstance(first, list):
        return [element for part in parts for element in elements(part)]
    if isinstance(first, dict):
        return {name: value for part in parts for name, value in mapping(part).items()}
    if isinstance(first, (int, float, str)):
        for other in others:
            first += other
    return first
