"""JMESPath expressions, checked as far as they can be before there is a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jmespath
from jmespath.exceptions import (
    IncompleteExpressionError,
    JMESPathError,
    LexerError,
    ParseError,
)
from jmespath.functions import Functions

from ._document import member

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = object()
"""What an expression finds that fails on a document: equal to nothing that is expected."""

# What jmespath raises while it searches. It checks the types of most arguments and leaves the rest
# to Python: ``contains('text', `1`)``, a number that is compared with a text, ``floor(`1e400`)``.
_FAILURES = (JMESPathError, ArithmeticError, TypeError, ValueError)


class Expression:
    """A JMESPath expression that parses, and whose functions and slices exist.

    Args:
        text: the expression.

    Raises:
        TypeError: the text is no str.
        ValueError: it does not parse, calls a function wrongly, or has a slice with step 0; the
            error says where.
    """

    __slots__ = ("_parsed",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"expression must be a str: got expression={text!r}")
        try:
            self._parsed: Any = jmespath.compile(text)
        except JMESPathError as error:
            raise ValueError(f"{_subject(text)} {_fault(error, text)}") from None
        for node in _nodes(self._parsed.parsed):
            _check(node, text)

    def search(self, document: object) -> Any:
        """Return what the expression finds, None if it finds nothing, or ``FAILED``.

        It fails where values meet that do not go together, as in ``length(Volumes)`` of a response
        without volumes. That matches nothing, and is no reason to end a wait.
        """
        try:
            return self._parsed.search(document)
        except _FAILURES:
            return FAILED


def _subject(text: str) -> str:
    return f"expression must be JMESPath: got expression={text!r}, which"


def _fault(error: JMESPathError, text: str) -> str:
    if isinstance(error, LexerError):
        return f"fails at column {error.lexer_position}: {error.message}"
    if not isinstance(error, ParseError):
        return "is empty"
    if isinstance(error, IncompleteExpressionError):
        return f"is incomplete at column {len(text)}"
    return f"fails at column {error.lex_position}: unexpected {error.token_value!r}"


def _nodes(node: Any) -> Iterator[Any]:
    """Give a node of the syntax tree and all below it; a slice has numbers as children."""
    yield node
    for child in member(node, "children") or ():
        yield from _nodes(child)


def _check(node: Any, text: str) -> None:
    kind = member(node, "type")
    if kind == "function_expression":
        _check_call(node, text)
    elif kind == "slice":
        _check_slice(node["children"], text)


def _check_slice(bounds: list[int | None], text: str) -> None:
    *_, step = bounds
    if step == 0:
        shown = ":".join("" if bound is None else str(bound) for bound in bounds)
        raise ValueError(f"{_subject(text)} has a slice with step 0: [{shown}]")


def _check_call(call: Any, text: str) -> None:
    name, given = call["value"], len(call["children"])
    function = Functions.FUNCTION_TABLE.get(name)
    if function is None:
        raise ValueError(f"{_subject(text)} calls {name}(), which does not exist")
    signature = function["signature"]
    variadic = bool(signature) and signature[-1].get("variadic", False)
    if given < len(signature) or (given > len(signature) and not variadic):
        least = "at least " if variadic else ""
        raise ValueError(
            f"{_subject(text)} calls {name}() with {given} argument{'' if given == 1 else 's'}:"
            f" it takes {least}{len(signature)}"
        )
