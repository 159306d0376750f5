"""Schedules as text: what ``Schedule.parse`` reads.

The text is parsed as Python and the tree is walked: nothing is evaluated, and what is not listed
here is refused. Chains of methods and of ``+``, ``&`` and ``|`` are walked in a loop, so that a
long schedule is no deep one.
"""

from __future__ import annotations

import ast

from .schedule import Schedule, decorrelated, exponential, fibonacci, fixed, linear, sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    _Maker: TypeAlias = Callable[..., Schedule]

MAX_LENGTH = 10_000
"""How many characters a text may have: beyond any schedule, and within the parser's means."""

_SHOWN_LENGTH = 100

_FUNCTIONS: Mapping[str, _Maker] = {
    "decorrelated": decorrelated,
    "exponential": exponential,
    "fibonacci": fibonacci,
    "fixed": fixed,
    "linear": linear,
    "sequence": sequence,
}

_METHODS: Mapping[str, _Maker] = {
    "after": Schedule.after,
    "cap": Schedule.cap,
    "from_start": Schedule.from_start,
    "jitter": Schedule.jitter,
    "then": Schedule.then,
    "times": Schedule.times,
    "within": Schedule.within,
}

_OPERATORS: Mapping[type[ast.operator], _Maker] = {
    ast.Add: Schedule.__add__,
    ast.BitAnd: Schedule.__and__,
    ast.BitOr: Schedule.__or__,
}

_WORDS = ("equal", "full")


def parse(text: str) -> Schedule:
    """Read a schedule; what may be written is told in ``Schedule.parse``."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str: got text={text!r}")
    try:
        return _Reader(text).read()
    except (_UnreadableError, ValueError) as error:
        why = str(error)
    except (RecursionError, MemoryError):
        why = "it is nested too deep"
    raise ValueError(f"cannot read schedule {_shortened(text)!r}: {why}")


class _UnreadableError(Exception):
    """Why a text is no schedule, and where."""


class _Reader:
    """Reads one text; its methods take a node of the parsed text."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._indent = len(text) - len(text.lstrip())

    def read(self) -> Schedule:
        if not self._text:
            raise _UnreadableError("it is empty; fixed(3) would be one")
        if len(self._text) > MAX_LENGTH:
            raise _UnreadableError(
                f"it must have at most {MAX_LENGTH:,} characters: got {len(self._text):,}"
            )
        try:
            tree = ast.parse(self._text, mode="eval")
        except SyntaxError as error:
            at = _place(error.lineno or 1, (error.offset or 1) + self._indent)
            raise _UnreadableError(f"{at}: {error.msg}") from None
        return self._schedule(tree.body)

    def _schedule(self, node: ast.expr) -> Schedule:
        """Read the innermost schedule on the left, then what is done to it, outwards."""
        outer: list[ast.BinOp | ast.Call] = []
        while True:
            if isinstance(node, ast.BinOp):
                outer.append(node)
                node = node.left
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                outer.append(node)
                node = node.func.value
            else:
                break
        schedule = self._innermost(node)
        for step in reversed(outer):
            if isinstance(step, ast.BinOp):
                schedule = self._operator(step)(schedule, self._schedule(step.right))
            else:
                schedule = self._call(step, "method", _METHODS, schedule)
        return schedule

    def _innermost(self, node: ast.expr) -> Schedule:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node, "function", _FUNCTIONS)
        if isinstance(node, ast.Name):
            self._lookup(node, "function", _FUNCTIONS)
        raise self._refusal(node, f"{self._source(node)} is no schedule; fixed(3) would be one")

    def _operator(self, node: ast.BinOp) -> _Maker:
        operator = _OPERATORS.get(type(node.op))
        if operator is None:
            raise self._refusal(node.right, "only +, & and | combine schedules")
        return operator

    def _call(
        self, node: ast.Call, kind: str, makers: Mapping[str, _Maker], *receiver: Schedule
    ) -> Schedule:
        maker = self._lookup(node.func, kind, makers)
        read = self._schedule if maker is Schedule.then else self._value
        positional = [read(argument) for argument in node.args]
        named: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in named:
                raise self._refusal(keyword.value, "arguments are given by their names, each once")
            named[keyword.arg] = read(keyword.value)
        try:
            return maker(*receiver, *positional, **named)
        except (TypeError, ValueError) as error:
            raise self._refusal(node.func, str(error)) from None

    def _lookup(self, node: ast.expr, kind: str, makers: Mapping[str, _Maker]) -> _Maker:
        name = node.attr if isinstance(node, ast.Attribute) else self._source(node)
        maker = makers.get(name)
        if maker is None:
            allowed = ", ".join(makers)
            why = f"there is no {kind} {name}{_near(name, makers)}; allowed are {allowed}"
            raise self._refusal(node, why)
        return maker

    def _value(self, node: ast.expr) -> object:
        """Read an argument that is a number or a word."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = _number(node.operand)
            if number is not None:
                return -number
        number = _number(node)
        if number is not None:
            return number
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        name = self._source(node)
        if name in _WORDS:
            return name
        raise self._refusal(
            node, f"{name} is neither a number nor full nor equal{_near(name, _WORDS)}"
        )

    def _source(self, node: ast.expr) -> str:
        return _shortened(ast.get_source_segment(self._text, node) or "")

    def _refusal(self, node: ast.expr, why: str) -> _UnreadableError:
        line, offset = node.lineno, node.col_offset
        if isinstance(node, ast.Attribute):  # where its name is: what comes before is all right
            line = node.end_lineno or line
            offset = (node.end_col_offset or 0) - len(node.attr.encode())
        before = self._text.encode().splitlines()[line - 1][:offset].decode()
        indent = self._indent if line == 1 else 0
        return _UnreadableError(f"{_place(line, indent + len(before) + 1)}: {why}")


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."


def _place(line: int, column: int) -> str:
    return f"at column {column}" if line == 1 else f"at line {line}, column {column}"


def _near(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    return "".join(f" (did you mean {near}?)" for near in get_close_matches(name, names, n=1))


def _number(node: ast.expr) -> float | None:
    if not isinstance(node, ast.Constant) or type(node.value) is bool:
        return None
    return node.value if isinstance(node.value, (int, float)) else None
