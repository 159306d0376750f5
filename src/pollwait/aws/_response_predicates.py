"""Predicates over responses, for the ``until`` and ``fail`` of a poll.

They mean what the matchers ``path``, ``pathAll``, ``pathAny`` and ``status`` mean in the waiter
definitions of botocore. A predicate judges the response that it is given and nothing else: a plain
``describe_*`` call returns one page, so ask for ids, or merge the pages first. Given an error, as
in ``retry_on``, it raises TypeError.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from .._core.value import Value
from ._document import http_status, reports_error
from ._expression import Expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self, TypeIs


class PathPredicate(Value):
    """A predicate that compares what an expression finds in a response."""

    __slots__ = ("_search",)
    maker: ClassVar[str]
    _search: Callable[[object], Any]
    expression: str
    expected: Any

    def __init__(self, expression: str, expected: object) -> None:
        object.__setattr__(self, "_search", Expression(expression).search)
        # A list or dict of the caller's may change; what was asked for does not.
        self._fill(expression, deepcopy(expected))

    def __call__(self, response: object) -> bool:
        _refuse_error(response, self)
        return not reports_error(response) and self._matches(self._search(response))

    if TYPE_CHECKING:

        def _matches(self, found: Any) -> bool: ...

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), self._fields()

    def __repr__(self) -> str:
        return f"{self.maker}({self.expression!r}, {self.expected!r})"


class Path(PathPredicate):
    """True where what is found equals what is expected."""

    __slots__ = ("expression", "expected")
    maker = "path"

    def _matches(self, found: Any) -> bool:
        return bool(found == self.expected)


class PathAll(PathPredicate):
    """True where a list is found that is not empty and every element equals the expected."""

    __slots__ = ("expression", "expected")
    maker = "path_all"

    def _matches(self, found: Any) -> bool:
        return _is_list(found) and bool(found) and all(item == self.expected for item in found)


class PathAny(PathPredicate):
    """True where a list is found of which some element equals the expected."""

    __slots__ = ("expression", "expected")
    maker = "path_any"

    def _matches(self, found: Any) -> bool:
        return _is_list(found) and any(item == self.expected for item in found)


class Status(Value):
    """True where a response came with an HTTP status."""

    __slots__ = ("code",)
    code: int

    def __init__(self, code: int) -> None:
        if type(code) is not int:
            raise TypeError(f"code must be an int: got code={code!r}")
        if not 100 <= code <= 599:
            raise ValueError(f"code must be an HTTP status from 100 to 599: got code={code!r}")
        self._fill(code)

    def __call__(self, response: object) -> bool:
        _refuse_error(response, self)
        return http_status(response) == self.code

    def __repr__(self) -> str:
        return f"status({self.code!r})"


def path(expression: str, expected: object) -> Path:
    """Return a predicate: does what the expression finds equal the expected value?

    Args:
        expression: JMESPath, such as ``"Table.TableStatus"``.
        expected: a string, number, bool, None, list or dict, as JSON has them. An expression that
            finds nothing finds None; one that fails on a response (``length`` of what is not there)
            does not match.

    Returns:
        An immutable value, to call with a response. A response that reports an error never matches.

    Raises:
        TypeError: the expression is no str.
        ValueError: the expression does not parse, calls a function that does not exist, or has a
            slice with step 0.

    Example:
        >>> active = path("Table.TableStatus", "ACTIVE")
        >>> active({"Table": {"TableStatus": "ACTIVE"}})
        True
    """
    return Path(expression, expected)


def path_all(expression: str, expected: object) -> PathAll:
    """Return a predicate: does the expression find elements, all equal to the expected value?

    An empty list does not match, and neither does what is no list. Nor does the predicate count:
    asked for two volumes and shown one, it judges that one.

    Args:
        expression: JMESPath that finds a list, such as ``"Volumes[].State"``.
        expected: what every element must equal.

    Returns:
        An immutable value, to call with a response. A response that reports an error never matches.

    Raises:
        TypeError: the expression is no str.
        ValueError: the expression does not parse, calls a function that does not exist, or has a
            slice with step 0.

    Example:
        >>> available = path_all("Volumes[].State", "available")
        >>> available({"Volumes": [{"State": "available"}, {"State": "creating"}]})
        False
    """
    return PathAll(expression, expected)


def path_any(expression: str, expected: object) -> PathAny:
    """Return a predicate: does the expression find elements, one at least equal to the expected?

    What is no list does not match.

    Args:
        expression: JMESPath that finds a list, such as ``"Volumes[].State"``.
        expected: what an element must equal.

    Returns:
        An immutable value, to call with a response. A response that reports an error never matches.

    Raises:
        TypeError: the expression is no str.
        ValueError: the expression does not parse, calls a function that does not exist, or has a
            slice with step 0.

    Example:
        >>> broken = path_any("Volumes[].State", "error")
        >>> broken({"Volumes": [{"State": "available"}, {"State": "error"}]})
        True
    """
    return PathAny(expression, expected)


def status(code: int) -> Status:
    """Return a predicate: did the response come with this HTTP status?

    Responses with a status from 300 up reach a poll as errors, for which ``retry_on`` is the place.

    Args:
        code: from 100 to 599.

    Returns:
        An immutable value, to call with a response.

    Raises:
        TypeError: the code is no int.
        ValueError: the code is no HTTP status.

    Example:
        >>> status(200)({"ResponseMetadata": {"HTTPStatusCode": 200}})
        True
    """
    return Status(code)


def _refuse_error(response: object, predicate: PathPredicate | Status) -> None:
    """Raise TypeError for an error, of which a predicate over responses knows nothing."""
    if isinstance(response, BaseException):
        raise TypeError(
            f"{predicate!r} judges responses, so it belongs in until or fail: got an error of type"
            f" {type(response).__name__}"
        )


def _is_list(found: object) -> TypeIs[list[Any]]:
    return isinstance(found, list)
