"""The signal by which a check says "not yet", maybe with a hint on when to look again."""

from __future__ import annotations

from .duration import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .duration import Duration


class TryAgain(Exception):
    """Raise it in a check, or in a predicate, to say that the thing is not ready yet.

    Args:
        message: what to say of it, should the wait end without a good value.
        after: when to look again, if the server gave a hint: seconds (>= 0), a timedelta, or the
            raw text of an HTTP Retry-After header (seconds or a date). The hint takes the place of
            the schedule's next delay, up to the schedule's cap and the deadline. Text that cannot
            be read counts as no hint, with a warning on the logger ``pollwait``.

    Raises:
        TypeError: ``after`` is none of these.
        ValueError: ``after`` is NaN, infinite or negative.

    Timing:
        A date is turned into a length by the wall clock when the wait receives it; from then on
        only monotonic time counts.

    Attributes:
        after: the hint: seconds, the header's text, or None.

    Example:
        >>> from pollwait import poll
        >>> from pollwait.testing import FakeClock
        >>> clock = FakeClock()
        >>> def check():
        ...     if clock.monotonic() < 5:
        ...         raise TryAgain(after="5")
        ...     return "up"
        >>> poll(check, timeout=60, clock=clock), clock.sleeps
        ('up', [5.0])
    """

    after: float | str | None = None

    def __init__(self, message: str = "", *, after: Duration | str | None = None) -> None:
        super().__init__(*([message] if message else []))
        if after is None or isinstance(after, str):
            self.after = after
        else:
            self.after = seconds(after, "after")


class Unasked(TryAgain):
    """Says that a call did not bring what a wait of a group needs for a check.

    A fetch that cannot ask for all of its keys at once gives it for those that it left out, and a
    predicate raises it for an answer that is but a part of one. Such a call counts as no check of
    the wait, which is due when it was.
    """
