"""JMESPath expressions, checked as far as they can be before there is a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jmespath
from jmespath.exceptions import (
    IncompleteExpressionError,
    JMESPathError,
    JMESPathTypeError,
    LexerError,
    ParseError,
)
from jmespath.functions import Functions

from ._document import member

if TYPE_CHECKING:
    from collections.abc import Iterator


class Expression:
    """A JMESPath expression that parses and calls only functions that exist.

    Args:
        text: the expression.

    Raises:
        TypeError: the text is no str.
        ValueError: it does not parse, or calls a function wrongly; the error says where.
    """

    __slots__ = ("_parsed",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"expression must be a str: got expression={text!r}")
        try:
            self._parsed: Any = jmespath.compile(text)
        except JMESPathError as error:
            raise ValueError(f"{_subject(text)} {_fault(error, text)}") from None
        for call in _calls(self._parsed.parsed):
            _check_call(call, text)

    def search(self, document: object) -> Any:
        """Return what the expression finds, or None.

        None, too, where a function meets a type that it does not take: ``length(Volumes)`` of a
        response without volumes finds nothing, which is no reason to end a wait.
        """
        try:
            return self._parsed.search(document)
        except JMESPathTypeError:
            return None


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


def _calls(node: Any) -> Iterator[Any]:
    """Give the function calls below a node of the syntax tree; a slice has numbers as children."""
    if member(node, "type") == "function_expression":
        yield node
    for child in member(node, "children") or ():
        yield from _calls(child)


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
            f"{_subject(text)} calls {name}() with {given} arguments: it takes {least}"
            f"{len(signature)}"
        )
