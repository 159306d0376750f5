"""Acceptors: what an answer to look for, and what follows when it comes.

An acceptor judges an outcome, which is a response or the ``ClientError`` that came in its place.
It means what the same acceptor means to botocore, with two differences. An error acceptor also
knows an error by the name of its shape, which some services' models set apart from the code on the
wire. And an expression that fails on a response, such as the length of what is not there, does not
match, where botocore lets it end the wait.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from botocore.exceptions import ClientError

from .._core.value import Value
from ._document import http_status, member, reports_error
from ._error_predicates import ErrorCode
from ._names import alternatives, near
from ._response_predicates import Path, PathAll, PathAny, PathPredicate, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Outcome: TypeAlias = Mapping[str, Any] | ClientError

Matcher = Literal["path", "pathAll", "pathAny", "status", "error"]
State = Literal["success", "failure", "retry"]

MATCHERS: tuple[Matcher, ...] = get_args(Matcher)
STATES: tuple[State, ...] = get_args(State)

PATHS: dict[Matcher, type[Path] | type[PathAll] | type[PathAny]] = {
    "path": Path,
    "pathAll": PathAll,
    "pathAny": PathAny,
}
_FOUND = {"path": "{}", "pathAll": "all of {}", "pathAny": "any of {}"}
_CONSTANTS = (True, False, None)


class _Condition(Value):
    __slots__ = ("_holds",)
    _holds: Callable[[Outcome], bool]


class Acceptor(_Condition):
    """A condition on an outcome, and the state of the waiter that it brings about.

    Args:
        matcher: ``"path"``, ``"pathAll"``, ``"pathAny"``, ``"status"`` or ``"error"``.
        argument: the JMESPath expression of the first three; None for the other two.
        expected: what the expression finds; an HTTP status; an error's code, True for any error,
            or False for none.
        state: ``"success"``, ``"failure"`` or ``"retry"``.

    Raises:
        TypeError: an argument is of a type that the matcher does not take.
        ValueError: the matcher or the state is unknown, the expression does not parse, or the
            status or code can be none.

    Example:
        >>> gone = Acceptor("error", None, "InvalidVolume.NotFound", "success")
        >>> gone.matches({"Volumes": []})
        False
    """

    __slots__ = ("matcher", "argument", "expected", "state")
    matcher: Matcher
    argument: str | None
    expected: Any
    state: State

    def __init__(
        self, matcher: Matcher, argument: str | None, expected: object, state: State
    ) -> None:
        one_of(matcher, MATCHERS, "matcher")
        one_of(state, STATES, "state")
        if matcher in PATHS:
            predicate = _path_predicate(matcher, argument, expected)
            holds, expected = _response_matcher(predicate), predicate.expected
        else:
            if argument is not None:
                raise TypeError(f"argument must be None for {matcher}: got argument={argument!r}")
            holds = _status_matcher(expected) if matcher == "status" else _error_matcher(expected)
        object.__setattr__(self, "_holds", holds)
        self._fill(matcher, argument, expected, state)

    def matches(self, outcome: Outcome) -> bool:
        """Tell whether the condition holds.

        Args:
            outcome: a response, or the service's error in its place. The ``response`` of such an
                error is taken for the error.
        """
        return self._holds(outcome)

    def document(self) -> dict[str, Any]:
        """Return the acceptor in the format of botocore's waiter files."""
        argument = {} if self.argument is None else {"argument": self.argument}
        return {
            "state": self.state,
            "matcher": self.matcher,
            **argument,
            "expected": deepcopy(self.expected),
        }

    def __reduce__(self) -> tuple[type[Acceptor], tuple[object, ...]]:
        return type(self), self._fields()

    def __str__(self) -> str:
        """Return the condition as a phrase, for an error's text."""
        if self.matcher in PATHS:
            comparison = "is" if self._expects_constant() else "=="
            return f"{_FOUND[self.matcher].format(self.argument)} {comparison} {self.expected!r}"
        if self.matcher == "status":
            return f"HTTP status {self.expected}"
        if isinstance(self.expected, bool):
            return "any error" if self.expected else "no error"
        return f"error code {self.expected!r}"

    def _expects_constant(self) -> bool:
        return any(self.expected is constant for constant in _CONSTANTS)


def one_of(value: object, allowed: tuple[str, ...], what: str) -> None:
    """Raise ValueError for what is none of some words, naming those that may have been meant."""
    if value in allowed:
        return
    meant = near(value, allowed) if isinstance(value, str) else ""
    raise ValueError(f"{what} must be {alternatives(allowed)}: got {what}={value!r}{meant}")


def is_error(outcome: Outcome) -> bool:
    """Tell whether an outcome is a service's error, or the response of one."""
    return isinstance(outcome, ClientError) or reports_error(outcome)


def _path_predicate(matcher: Matcher, argument: str | None, expected: object) -> PathPredicate:
    if argument is None:
        raise ValueError(f"argument must be an expression for {matcher}: got None")
    return PATHS[matcher](argument, expected)


def _response_matcher(predicate: PathPredicate) -> Callable[[Outcome], bool]:
    return lambda outcome: not isinstance(outcome, ClientError) and predicate(outcome)


def _status_matcher(expected: object) -> Callable[[Outcome], bool]:
    code = Status(cast("int", expected)).code
    return lambda outcome: http_status(_response(outcome)) == code


def _error_matcher(expected: object) -> Callable[[Outcome], bool]:
    if isinstance(expected, bool):
        return lambda outcome: is_error(outcome) is expected
    if not isinstance(expected, str):
        raise TypeError(f"expected must be a code or a bool for error: got expected={expected!r}")
    of_error = ErrorCode(expected)

    def holds(outcome: Outcome) -> bool:
        if isinstance(outcome, ClientError) and of_error(outcome):
            return True
        error = member(_response(outcome), "Error")
        # A service that once spoke the query protocol names an error twice.
        return expected in (member(error, "Code"), member(error, "QueryErrorCode"))

    return holds


def _response(outcome: Outcome) -> Mapping[str, Any]:
    return outcome.response if isinstance(outcome, ClientError) else outcome
