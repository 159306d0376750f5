"""Definitions of waiters that are written in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from ._acceptors import PATHS, Acceptor
from ._definition import Definition
from ._error_predicates import ErrorCode
from ._response_predicates import PathPredicate, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from .._core.duration import Duration
    from ._acceptors import Matcher, State

    Condition: TypeAlias = PathPredicate | Status | ErrorCode

# Seconds, and a number of checks: ten minutes in all. Source: the pair that more of botocore's
# definitions name than any other, most of EC2's among them.
DELAY = 15.0
MAX_ATTEMPTS = 40

_MATCHERS: dict[type, Matcher] = {predicate: matcher for matcher, predicate in PATHS.items()}


def define(
    operation: str,
    *,
    success: Condition | Iterable[Condition],
    failure: Condition | Iterable[Condition] = (),
    retry: Condition | Iterable[Condition] = (),
    delay: Duration = DELAY,
    max_attempts: int = MAX_ATTEMPTS,
    name: str | None = None,
) -> Definition:
    """Return the definition of a waiter, for ``aws.waiter`` to run.

    An answer is judged by the conditions for failure first, then by those for success, then by
    those for retry; the first that holds decides. An answer for which none holds is not ready, and
    an error of the service for which none holds fails the wait: a code in ``retry`` is one to wait
    through. Throttles and connection errors need no condition.

    Args:
        operation: ``"DescribeJob"`` or ``"describe_job"``. Whether a client has it is checked when
            the definition is given to one.
        success: one or several conditions for the wait to be over, each made by ``aws.path``,
            ``path_all``, ``path_any``, ``status`` or ``error_code``.
        failure: conditions that end the wait in vain.
        retry: conditions that go on, whatever else the answer says.
        delay: seconds between two checks once the wait has taken a while; > 0.
        max_attempts: together with the delay it bounds the time of a wait that gives no timeout.
        name: what errors call it; default: the operation.

    Returns:
        An immutable value.

    Raises:
        TypeError: a condition is none of these, or an argument has a wrong type.
        ValueError: no condition is for success, a name is empty, or a number is not positive.

    Example:
        >>> from pollwait.aws import error_code, path
        >>> job_done = define(
        ...     "DescribeJob",
        ...     success=path("Job.Status", "DONE"),
        ...     failure=path("Job.Status", "FAILED"),
        ...     retry=error_code("JobNotFoundException"),
        ...     delay=5,
        ... )
        >>> str(job_done.match({"Job": {"Status": "DONE"}}))
        "Job.Status == 'DONE'"
    """
    acceptors = [
        *_acceptors(failure, "failure"),
        *_acceptors(success, "success"),
        *_acceptors(retry, "retry"),
    ]
    return Definition(
        operation if name is None else name, operation, delay, max_attempts, acceptors
    )


def _acceptors(conditions: object, state: State) -> Iterator[Acceptor]:
    for condition in _several(conditions):
        if isinstance(condition, PathPredicate):
            matcher = _MATCHERS[type(condition)]
            yield Acceptor(matcher, condition.expression, condition.expected, state)
        elif isinstance(condition, Status):
            yield Acceptor("status", None, condition.code, state)
        elif isinstance(condition, ErrorCode):
            for code in condition.codes:
                yield Acceptor("error", None, code, state)
        else:
            raise TypeError(
                f"{state} must be made by aws.path, path_all, path_any, status or error_code, one"
                f" or several: got {condition!r}; any other condition is one for the until or fail"
                " of pollwait.poll"
            )


def _several(conditions: object) -> Iterable[object]:
    if isinstance(conditions, Iterable) and not isinstance(conditions, (str, bytes)):
        return cast("Iterable[object]", conditions)
    return (conditions,)
