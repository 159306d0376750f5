"""What the waiters of this package raise.

::

    WaiterError          also pollwait.PollError and botocore's own WaiterError
    ├── WaiterTimeout    also pollwait.PollTimeout, and so TimeoutError
    ├── WaiterExhausted  also pollwait.PollExhausted
    ├── WaiterFailed     also pollwait.PollFailed
    └── WaiterCancelled  also pollwait.PollCancelled

So ``except`` clauses that were written for the waiters of boto3 go on to work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import WaiterError as BotocoreWaiterError

from .._core import failure as core
from .._errors import PollCancelled, PollError, PollExhausted, PollFailed, PollTimeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core.wait import Wait


class _Botocore(BotocoreWaiterError):
    """Botocore's error around a finished sentence instead of a name and a reason."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class WaiterError(PollError, _Botocore):
    """The root of what a waiter raises when it ends without a good answer.

    A botocore ``WaiterError`` as well, though one that a waiter of boto3 raises is none of these:
    ``except botocore.exceptions.WaiterError`` catches both.

    Attributes:
        id: the id of what was waited for; of several, the one that failed, or the first that was
            not good yet. Empty where nothing tells which of the parameters is an id.
        ids: all ids that were waited for.
        state: the state that the last answer to name one gave; None if none did.
        reason: the service's own reason, from its last answer; None if it gave none.
        response: the service's last answer, which for a ``ClientError`` is that error's response;
            empty if it never answered.
        last_response: the same, by botocore's name.
        kwargs: as botocore has them: ``name``, here the kind of waiter, and ``reason``, here the
            error's whole text.
    """

    id: str
    ids: tuple[str, ...]
    state: str | None
    reason: str | None
    response: Mapping[str, Any]
    last_response: Any

    def __init__(
        self,
        message: str = "",
        *,
        waiter: str = "",
        id: str = "",  # noqa: A002 - the field's name is what callers read
        ids: tuple[str, ...] = (),
        state: str | None = None,
        reason: str | None = None,
        response: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.id = str(id)
        self.ids = tuple(map(str, ids)) or ((self.id,) if id else ())
        self.state = state
        self.reason = reason
        self.response = {} if response is None else response
        self.last_response = self.response
        self.kwargs = {"name": waiter, "reason": message}


class WaiterTimeout(WaiterError, PollTimeout):
    """Not ready by the deadline."""


class WaiterExhausted(WaiterError, PollExhausted):
    """Not ready when the schedule had ended, before any deadline."""


class WaiterFailed(WaiterError, PollFailed):
    """In a state from which it cannot become ready, gone, or refused by the service.

    The service's error, where there is one, is the ``__cause__``.
    """


class WaiterCancelled(WaiterError, PollCancelled):
    """The ``cancel`` event was set before the wait had a good answer."""


for _error in (WaiterError, WaiterTimeout, WaiterExhausted, WaiterFailed, WaiterCancelled):
    _error.__module__ = "pollwait.aws"  # where users import them from; tracebacks show it

_ERRORS: dict[str | None, type[WaiterError]] = {
    "timeout": WaiterTimeout,
    "exhausted": WaiterExhausted,
    "failed": WaiterFailed,
    "cancelled": WaiterCancelled,
}


def failure(wait: Wait, seen: str, *, cause: Exception | None, **fields: Any) -> Exception:
    """Return the error that says how a finished wait of a waiter ended.

    Args:
        wait: the wait.
        seen: what was seen last, for people: the end of the sentence.
        cause: the error of the last check, if it had one.
        fields: the arguments of ``WaiterError`` that the wait does not know, or not so well.
    """
    kind = _ERRORS.get(wait.reason)
    if kind is None:
        return core.failure(wait)
    message = f"{core.ending(wait)}; {seen}" if seen else core.ending(wait)
    error = kind(message, **{**core.facts(wait), **fields})
    error.__cause__ = cause
    return error
