"""The HTTP Retry-After header, read as a length of time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_DIGITS = frozenset("0123456789")


def retry_after(text: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for.

    Args:
        text: the header's value: seconds, or an HTTP date in any of its three forms.
        now: the wall time, with its time zone, from which a date counts.

    Returns:
        Seconds >= 0 (a date that has passed gives 0; they may be absurdly many, or infinite), or
        None if the text is neither.

    Source:
        RFC 9110, sections 5.6.7 and 10.2.3. Fractions of a second are read too: some servers send
        them.
    """
    text = text.strip()
    whole, _, fraction = text.partition(".")
    if whole and _DIGITS.issuperset(whole + fraction):
        return float(text)
    return _until_date(text, now)


def _until_date(text: str, now: datetime) -> float | None:
    from datetime import timezone
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:  # the asctime form, and "-0000": both mean UTC
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, (date - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
