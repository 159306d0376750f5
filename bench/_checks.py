"""Checks that cost next to nothing, plain and asynchronous."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeAlias

    Check: TypeAlias = Callable[[], object]
    AsyncCheck: TypeAlias = Callable[[], Awaitable[object]]


def false_until(n: int) -> Check:
    """Return a check that returns True at every n-th call, else False."""
    left = n

    def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            return False
        left = n
        return True

    return check


def raising_until(n: int) -> Check:
    """Return a check that returns True at every n-th call, else raises."""
    left = n

    def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            raise ConnectionError
        left = n
        return True

    return check


def true(n: int) -> Check:
    """Return a check that always returns True."""
    return lambda: True


# Written out once more: an asynchronous check that calls a plain one would cost more, and whatever
# the check costs hides some of what a library adds to it.


def async_false_until(n: int) -> AsyncCheck:
    """Return a check that returns True at every n-th call, else False."""
    left = n

    async def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            return False
        left = n
        return True

    return check


def async_raising_until(n: int) -> AsyncCheck:
    """Return a check that returns True at every n-th call, else raises."""
    left = n

    async def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            raise ConnectionError
        left = n
        return True

    return check


def async_true(n: int) -> AsyncCheck:
    """Return a check that always returns True."""

    async def check() -> bool:
        return True

    return check
