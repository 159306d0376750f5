"""The arguments that several commands take: durations, schedules, and names of a known set."""

from __future__ import annotations

import argparse
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from .._core.duration import seconds
from .._core.schedule import Schedule
from ._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_SECONDS = re.compile(_NUMBER)
_PARTS = re.compile(rf"(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?")


def duration(text: str) -> float:
    """Return the seconds that a text such as ``90``, ``1.5``, ``45s``, ``2m`` or ``1h30m`` says.

    A ``type`` of argparse's.
    """
    if _SECONDS.fullmatch(text):
        return _checked(float(text), text)
    parts = _PARTS.fullmatch(text)
    if not text or parts is None:
        raise _no_duration(text)
    hours, minutes, rest = (float(part or 0) for part in parts.groups())
    return _checked(3600 * hours + 60 * minutes + rest, text)


def timeout(text: str) -> float | None:
    """Return the seconds that a text says; None for ``none``, which is to wait for ever.

    A ``type`` of argparse's.
    """
    if text == "none":
        return None
    try:
        return duration(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; or 'none', to wait for ever") from None


def schedule(text: str) -> Schedule:
    """Return the schedule that a text such as ``exponential(0.5, factor=1.5).cap(15)`` says.

    A ``type`` of argparse's; the error points at what is wrong.
    """
    try:
        return Schedule.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def unknown(kind: str, name: str, known: Iterable[str], otherwise: str = "") -> UsageError:
    """Return the error for a name that is none of those known, with the names that are near.

    Args:
        kind: what it would be the name of.
        name: as it was given.
        known: the names there are.
        otherwise: what to say where none of them is near.
    """
    near = get_close_matches(name, list(known), n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else otherwise
    return UsageError(f"unknown {kind} {name!r}{': ' if hint else ''}{hint}")


def _checked(value: float, text: str) -> float:
    try:
        return seconds(value, "a duration")
    except ValueError:  # more digits than a float holds
        raise _no_duration(text) from None


def _no_duration(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"must be seconds, or such as 45s, 2m and 1h30m: got {text!r}"
    )
