"""What a describer raises for something that the service does not know."""

from __future__ import annotations

from .._errors import MissingKey


class NotDescribed(MissingKey):
    """The service does not show what was asked for: there is no such thing, or not for this caller.

    Services say so in three ways: by an error, which then is the ``__cause__``; by a failure in the
    answer; or by an answer that simply leaves it out.

    Attributes:
        key: the id that was asked for.
        operation: the operation that was asked, such as ``"DescribeInstances"``.
        reason: the service's own words; empty where it has none.
    """

    operation: str
    reason: str

    def __init__(self, key: object, *, operation: str = "", reason: str = "") -> None:
        super().__init__(key)
        self.operation = operation
        self.reason = reason
        self.args = (f"{operation} does not show {key!r}{f': {reason}' if reason else ''}",)


NotDescribed.__module__ = "pollwait.aws"  # where users import it from; tracebacks show it
