"""Answers and errors of odd kinds, which are to hang nobody who shares a call."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from pollwait import Batcher, FetchError, PollGroup, aio, fixed
from pollwait.testing import FakeClock, run


@dataclasses.dataclass(frozen=True)
class Gone(Exception):
    """An error of which nothing can be set."""


class Proxy:
    """A value that is not bound to anything, and says so whatever it is asked."""

    @property
    def __class__(self):
        raise RuntimeError("not bound")


class Abort(BaseException):
    """What is no Exception."""


def fetch(keys):
    """Answer every key but one with a value."""
    return {key: Gone() if key == "gone" else "up" for key in keys}


def test_frozen_error_reaches_its_callers_on_threads():
    """B4: an error that refuses assignment is still a private one with its cause."""
    with Batcher(fetch, max_size=2) as batcher:
        futures = [batcher.submit(key) for key in ("gone", "well")]
        assert isinstance(futures[0].exception(5), Gone)
        assert isinstance(futures[0].exception(5).__cause__, Gone)
        assert futures[1].result(5) == "up"


def test_frozen_error_reaches_its_callers_in_asyncio():
    """B4: nor does it keep others from their answers on an event loop."""

    async def main():
        async with aio.Batcher(fetch, max_size=2) as batcher:
            loads = (batcher.load(key) for key in ("gone", "well"))
            return await asyncio.gather(*loads, return_exceptions=True)

    gone, well = run(main())
    assert isinstance(gone, Gone)
    assert well == "up"


def test_frozen_error_ends_its_wait_in_a_group():
    """O2: an error that nothing names leaves its wait, whatever class it has."""
    group = PollGroup(fetch, max_size=9, schedule=fixed(1), clock=FakeClock())
    found = group.wait_many(["gone", "well"], timeout=9)
    assert isinstance(found["gone"], Gone)
    assert found["well"] == "up"

    async def main():
        async with aio.PollGroup(fetch, max_size=9, schedule=fixed(1)) as group:
            return await group.wait_many(["gone", "well"], timeout=9)

    found = run(main())
    assert isinstance(found["gone"], Gone)
    assert found["well"] == "up"


def test_frozen_error_is_retried_in_a_group():
    """O2: and one that is named is retried."""
    answers = [{"key": Gone()}, {"key": "up"}]
    clock = FakeClock()
    group = PollGroup(
        lambda keys: answers.pop(0), max_size=9, retry_on=Gone, schedule=fixed(1), clock=clock
    )
    assert group.wait("key", timeout=9) == "up"


def test_value_that_cannot_be_asked_ends_its_wait():
    """O2: what goes wrong with one value is the error of its wait, and no call is made again."""
    calls = []

    def odd(keys):
        calls.append(keys)
        return {key: Proxy() for key in keys}

    async def main():
        async with aio.PollGroup(odd, max_size=9, schedule=fixed(1)) as group:
            return await group.wait_many(["key"], timeout=9)

    assert isinstance(run(main())["key"], RuntimeError)
    assert len(calls) == 1


@pytest.mark.parametrize("where", ["threads", "asyncio"])
def test_isolate_that_aborts_leaves_nobody_waiting(where):
    """B6: what is no Exception ends the round, and every wait that the call carried is told."""

    def failing(keys):
        raise LookupError(keys)

    def isolate(error, keys):
        raise Abort

    async def main():
        async with aio.PollGroup(failing, max_size=9, isolate=isolate) as group:
            return await group.wait_many(["a", "b"], timeout=9)

    if where == "asyncio":
        found = run(main())
    else:
        group = PollGroup(failing, max_size=9, isolate=isolate, clock=FakeClock())
        found = group.wait_many(["a", "b"], timeout=9)
    assert {type(error) for error in found.values()} == {FetchError}


def test_group_is_not_closed_from_another_loop():
    """B13: closing belongs to the loop that the group is used on, and says so elsewhere."""
    group = aio.PollGroup(fetch, max_size=9)

    async def use():
        return await group.wait("well", timeout=9)

    assert run(use()) == "up"
    with pytest.raises(RuntimeError, match="loop"):
        run(group.close())
