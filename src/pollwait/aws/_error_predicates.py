"""Predicates over errors, for ``retry_on``."""

from __future__ import annotations

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own, which is no OSError
    HTTPClientError,
    IncompleteReadError,
    SSLError,
)

from .._core.value import Value
from ._document import http_status, member

# Source of the next three: what botocore's "standard" retry mode takes for a throttle, for a
# transient error by code, and for one of the connection. It hands such an error on once its own
# attempts are used up, while a wait has time left.
THROTTLES = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
TIMED_OUT = frozenset({"RequestTimeout", "RequestTimeoutException"})
CONNECTION_ERRORS = (ConnectionError, HTTPClientError, IncompleteReadError)

# Source: the server errors among EC2's error codes, which come with HTTP 500 or 503; named because
# what stands between client and service may change the status.
SERVER_ERRORS = frozenset({"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"})

# What the code around a connection fails with if it is used wrongly. Botocore wraps that too as an
# error of the connection: a client of aiobotocore that was closed comes to it, for one.
_MISTAKES = (AssertionError, AttributeError, NameError, RuntimeError, TypeError)

# How the text of an error of TLS says that the connection was lost while it was being set up.
_CUT_OFF = ("EOF", "reset", "timed out")

_TOO_MANY_REQUESTS = 429
_NOT_IMPLEMENTED = 501


class ErrorCode(Value):
    """True for a service's error with one of some codes."""

    __slots__ = ("codes",)
    codes: tuple[str, ...]

    def __init__(self, *codes: str) -> None:
        if not codes:
            raise TypeError("codes must name at least one error code: got none")
        for code in codes:
            if not isinstance(code, str):
                raise TypeError(f"codes must be str: got {code!r}")
            if not code:
                raise ValueError("codes must not be empty: got ''")
        self._fill(codes)

    def __call__(self, error: object) -> bool:
        _refuse_response(error, repr(self))
        return not self._names(error).isdisjoint(self.codes)

    def _names(self, error: object) -> set[str]:
        """Return the code, and the name of the shape where the service's model has one."""
        if not isinstance(error, ClientError):
            return set()
        shape = type(error)
        return {code_of(error)} | ({shape.__name__} if shape is not ClientError else set())

    def __reduce__(self) -> tuple[type[ErrorCode], tuple[str, ...]]:
        return type(self), self.codes

    def __repr__(self) -> str:
        return f"error_code({', '.join(map(repr, self.codes))})"


def error_code(*codes: str) -> ErrorCode:
    """Return a predicate: is this a service's error with one of these codes?

    For ``retry_on``; given to ``until`` or ``fail``, which judge responses, it raises TypeError.

    Args:
        codes: as ``ClientError`` carries them, such as ``"InvalidVolume.NotFound"``; where the
            service's model names the error otherwise, that name does as well.

    Returns:
        An immutable value, to call with an error. True only for a botocore ``ClientError``.

    Raises:
        TypeError: no code is given, or one that is no str.
        ValueError: a code is empty.

    Example:
        >>> not_found = error_code("InvalidVolume.NotFound")
        >>> not_found(ValueError("InvalidVolume.NotFound"))
        False
    """
    return ErrorCode(*codes)


def is_throttle(error: object) -> bool:
    """Tell whether a service refused a call because there were too many: by code or HTTP 429.

    For ``retry_on``; given to ``until`` or ``fail``, which judge responses, it raises TypeError.
    """
    _refuse_response(error, "is_throttle")
    if not isinstance(error, ClientError):
        return False
    return code_of(error) in THROTTLES or http_status(error.response) == _TOO_MANY_REQUESTS


def is_transient(error: object) -> bool:
    """Tell whether the same call may well succeed a little later.

    True for throttles, for connection errors and timeouts of botocore, for answers that botocore
    cannot read (cut off, or of a proxy), and for a service's own errors: HTTP 5xx save 501 (not
    implemented), ``RequestTimeout`` and the like. False for all that the caller must mend, such as
    credentials, a certificate that is not trusted, or a client that was closed.

    For ``retry_on``; given to ``until`` or ``fail``, which judge responses, it raises TypeError.
    """
    _refuse_response(error, "is_transient")
    if isinstance(error, ClientError):
        return is_throttle(error) or _is_server_error(error)
    if isinstance(error, CONNECTION_ERRORS):
        return not (_is_mistake(error) or _is_distrust(error))
    return _is_unreadable(error)


def _refuse_response(error: object, predicate: str) -> None:
    """Raise TypeError for what is no error, of which a predicate over errors knows nothing."""
    if not isinstance(error, BaseException):
        raise TypeError(
            f"{predicate} judges errors, so it belongs in retry_on: got a value of type"
            f" {type(error).__name__}"
        )


def code_of(error: ClientError) -> str:
    """Return the code of a service's error; empty if the response has none."""
    return str(member(member(error.response, "Error"), "Code") or "")


def message_of(error: ClientError) -> str:
    """Return the text of a service's error; empty if the response has none."""
    return str(member(member(error.response, "Error"), "Message") or "")


def _is_mistake(error: object) -> bool:
    """Tell whether what looks like an error of the connection is none."""
    wrapped = member(getattr(error, "kwargs", None), "error")
    return type(error) is HTTPClientError and isinstance(wrapped, _MISTAKES)


def _is_distrust(error: object) -> bool:
    """Tell whether the two ends would not talk to each other, as for want of a certificate."""
    text = str(error)
    return isinstance(error, SSLError) and not any(sign in text for sign in _CUT_OFF)


def _is_unreadable(error: object) -> bool:
    """Tell whether botocore could not read an answer."""
    from botocore.parsers import ResponseParserError  # slow to import, and loaded with any client

    return isinstance(error, ResponseParserError)


def _is_server_error(error: ClientError) -> bool:
    if code_of(error) in TIMED_OUT | SERVER_ERRORS:
        return True
    status = http_status(error.response)
    return status is not None and 500 <= status <= 599 and status != _NOT_IMPLEMENTED
