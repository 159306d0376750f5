"""When a wait looks, and for how long: from a definition, and from what callers say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .._core.duration import at_least_one, seconds
from .._core.schedule import exponential, fixed
from .._core.settings import UNSET
from ._document import mapping
from ._names import alternatives, near

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core.duration import Duration
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from ._definition import Definition

# Seconds, and the growth of delays. The first look comes at once, since nobody knows how long a
# thing has been under way. The pair is that of the waiter for volumes.
FIRST_DELAY = 0.5
FACTOR = 1.5

_KEYS = ("Delay", "MaxAttempts")


def swift(delay: float) -> Schedule:
    """Return the schedule that looks at once, and soon again, and ends up looking every ``delay``.

    So it is late by no more than a waiter that looks that often from the start, and mostly by less.
    """
    return exponential(min(FIRST_DELAY, delay), factor=FACTOR).cap(delay)


def limits(
    definition: Definition,
    *,
    schedule: Schedule | None,
    timeout: Duration | Unset | None,
    config: Mapping[str, Any] | None,
) -> tuple[Schedule, Duration | Unset | None]:
    """Return the schedule and the timeout of a wait.

    Args:
        definition: says them where nobody else does.
        schedule: the caller's; None for the one of the definition.
        timeout: the caller's.
        config: botocore's ``WaiterConfig``.

    Raises:
        TypeError, ValueError: the config has other keys than botocore's, or values that are none.
    """
    given = _checked(config)
    delay: float = given.get("Delay", definition.delay)
    attempts: int = given.get("MaxAttempts", definition.max_attempts)
    if schedule is None:
        chosen = swift(delay) if delay else fixed(0)
    else:
        chosen = schedule.cap(delay) if "Delay" in given else schedule
    if timeout is not UNSET or (chosen.ends and not given):
        return chosen, timeout
    if not delay and attempts > 1:  # as tests say it that do not want to wait
        return chosen.times(attempts - 1), UNSET
    return chosen, delay * attempts


def _checked(config: Mapping[str, Any] | None) -> dict[str, Any]:
    if config is None:
        return {}
    given: Mapping[str, Any] = mapping(config)
    if given is not config:
        raise TypeError(f"WaiterConfig must be a dict: got WaiterConfig={config!r}")
    for key in given:
        if key not in _KEYS:
            meant = near(key, _KEYS) if isinstance(cast("object", key), str) else ""
            raise ValueError(
                f"WaiterConfig has the keys {alternatives(_KEYS)} only: got {key!r}{meant}"
            )
    checked: dict[str, Any] = {}
    if "Delay" in given:
        checked["Delay"] = seconds(given["Delay"], "WaiterConfig['Delay']")
    if "MaxAttempts" in given:
        attempts = at_least_one(given["MaxAttempts"], "WaiterConfig['MaxAttempts']")
        checked["MaxAttempts"] = attempts
    return checked
