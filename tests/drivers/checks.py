"""Checks of several kinds that the tests of the drivers share."""

from __future__ import annotations


def returning(*outcomes):
    """Return a check that returns, or raises, one outcome after the other."""
    script = iter(outcomes)

    def scripted():
        outcome = next(script)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return scripted


class AsyncCallable:
    """An object whose call must be awaited."""

    async def __call__(self):
        return True

    async def method(self):
        """Must be awaited as well."""
        return True


async def coroutine_function():
    """Must be awaited."""
    return True
