"""What a waiter is: the operation to call, what to look for in its answers, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._core.duration import at_least_one, seconds
from .._core.value import Value
from ._absence import awaits_absence, names_absence
from ._acceptors import Acceptor
from ._names import snake_case

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from botocore.exceptions import ClientError

    from .._core.duration import Duration
    from ._acceptors import Outcome

    Awaits: TypeAlias = Literal["existence", "absence"]

FORMAT_VERSION = 2  # of botocore's waiter files, and the only one that it reads


class _Judged(Value):
    __slots__ = ("_awaits",)
    _awaits: Awaits


class Definition(_Judged):
    """A waiter's definition, as botocore's files hold them or ``define`` makes them.

    Immutable. It knows no client: whether the operation exists shows where it is put to use.

    Args:
        name: such as ``"VolumeAvailable"``.
        operation: such as ``"DescribeVolumes"``.
        delay: seconds between two checks; > 0.
        max_attempts: how many checks botocore makes at most; together with the delay it bounds the
            time.
        acceptors: judged in this order; one at least must be for success.
        description: what the waiter is for; may be empty.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a name is empty, a number is not positive, or nothing would be success.

    Example:
        >>> done = Acceptor("path", "Job.Status", "DONE", "success")
        >>> job_done = Definition("JobDone", "DescribeJob", 5, 60, [done])
        >>> job_done.match({"Job": {"Status": "DONE"}}) is done
        True
    """

    __slots__ = ("name", "operation", "delay", "max_attempts", "acceptors", "description")
    name: str
    operation: str
    delay: float
    max_attempts: int
    acceptors: tuple[Acceptor, ...]
    description: str

    def __init__(
        self,
        name: str,
        operation: str,
        delay: Duration,
        max_attempts: int,
        acceptors: Iterable[Acceptor],
        description: str = "",
    ) -> None:
        operation, name = _named(operation, "operation"), _named(name, "name")
        given = tuple(acceptors)
        if not any(acceptor.state == "success" for acceptor in given):
            raise ValueError("acceptors must hold one for success at least: got none")
        object.__setattr__(self, "_awaits", "absence" if awaits_absence(given) else "existence")
        self._fill(
            name,
            operation,
            _positive(delay, "delay"),
            at_least_one(max_attempts, "max_attempts"),
            given,
            description,
        )

    @property
    def awaits(self) -> Awaits:
        """Whether a thing is to be there in some state, or to be gone.

        Waits for a state such as terminated, in which a thing stays to be seen, await existence.
        """
        return self._awaits

    @property
    def method(self) -> str:
        """The name of the client's method, such as ``"describe_volumes"``."""
        return snake_case(self.operation)

    def match(self, outcome: Outcome) -> Acceptor | None:
        """Return the first acceptor that matches an outcome; None if none does.

        Args:
            outcome: a response, or the ``ClientError`` in its place.
        """
        for acceptor in self.acceptors:
            if acceptor.matches(outcome):
                return acceptor
        return None

    def decides(self, error: ClientError) -> bool:
        """Tell whether an error ends a wait because an acceptor names it: its code, or its status.

        One for just any error names none, and one for retry ends nothing.
        """
        acceptor = self.match(error)
        if acceptor is None or acceptor.state == "retry":
            return False
        return acceptor.matcher == "status" or isinstance(acceptor.expected, str)

    def fails_by_one(self, response: Outcome) -> bool:
        """Tell whether a part of a response fails a wait, whatever the rest of it shows.

        It does where one thing in a state is enough, and no acceptor before that could match as
        more is shown.
        """
        for acceptor in self.acceptors:
            if acceptor.matches(response):
                return acceptor.state == "failure" and acceptor.matcher == "pathAny"
            if acceptor.state != "failure" and acceptor.matcher in ("path", "pathAny"):
                return False
        return False

    def is_not_found(self, acceptor: Acceptor) -> bool:
        """Tell whether an acceptor of this definition matches when the thing does not exist.

        Error codes that would name a request as invalid elsewhere say so where they are success.
        """
        if names_absence(acceptor):
            return True
        success = acceptor.state == "success" and acceptor.matcher == "error"
        return success and self.awaits == "absence"

    def replace(self, *, name: str | None = None, operation: str | None = None) -> Definition:
        """Return the definition with another name, or its operation by another name."""
        return type(self)(
            name or self.name,
            operation or self.operation,
            self.delay,
            self.max_attempts,
            self.acceptors,
            self.description,
        )

    def document(self) -> dict[str, Any]:
        """Return the definition in the format of botocore's waiter files, as fresh dicts."""
        waiter: dict[str, Any] = {"description": self.description} if self.description else {}
        waiter["operation"] = self.operation
        waiter["delay"] = self.delay
        waiter["maxAttempts"] = self.max_attempts
        waiter["acceptors"] = [acceptor.document() for acceptor in self.acceptors]
        return {"version": FORMAT_VERSION, "waiters": {self.name: waiter}}

    def __reduce__(self) -> tuple[type[Definition], tuple[object, ...]]:
        return type(self), self._fields()


def _named(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str: got {what}={value!r}")
    if not value:
        raise ValueError(f"{what} must not be empty: got {what}=''")
    return value


def _positive(value: Duration, what: str) -> float:
    length = seconds(value, what)
    if not length:
        raise ValueError(f"{what} must be > 0: got {what}={value!r}")
    return length
