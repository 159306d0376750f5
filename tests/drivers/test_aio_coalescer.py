"""Merging requests on an event loop."""

from __future__ import annotations

import asyncio

import pytest

from pollwait._aio.coalescer import Coalescer
from pollwait._core.batched import Batched
from pollwait._errors import BatcherClosed, BatcherFull, FetchError
from pollwait.testing import run

from .test_coalescer import update


def now():
    """Return the time of the loop."""
    return asyncio.get_running_loop().time()


async def at(seconds, ask):
    """Ask at a time, and return the answer and when it came."""
    await asyncio.sleep(seconds)
    try:
        answer = await ask
    except Exception as error:
        answer = error
    return answer, now()


class Execute:
    """Record the calls, each of which takes a second or raises what it is told."""

    def __init__(self, errors=()):
        self.calls = []
        self.errors = list(errors)

    async def __call__(self, key, merged):
        self.calls.append((now(), key, merged))
        await asyncio.sleep(1)
        if self.errors:
            raise self.errors.pop()
        return f"{key} done"


def make(execute, **options):
    """Return a coalescer of changes."""
    return Coalescer(update, execute, **{"max_delay": 0.5, **options})


def test_requests_for_a_key_are_merged():
    """One call for each key and window; what cannot be merged is its own caller's error."""
    execute = Execute()

    async def main():
        coalescer = make(execute)
        return await asyncio.gather(
            at(0, coalescer.load("a", {"size": 1})),
            at(0.25, coalescer.load("b", {"size": 2})),
            at(0.25, coalescer.load("a", {"iops": 3})),
            at(0.25, coalescer.load("a", {"size": 4})),
        )

    results = run(main())
    assert execute.calls == [(0.5, "a", {"size": 1, "iops": 3}), (0.75, "b", {"size": 2})]
    assert results[:3] == [("a done", 1.5), ("b done", 1.75), ("a done", 1.5)]
    assert str(results[3][0]) == "size is 1 already"


def test_execute_may_be_plain():
    """The answer decides whether it is awaited."""

    async def main():
        return await make(lambda key, merged: (key, merged)).load("a", {"size": 1})

    assert run(main()) == ("a", {"size": 1})


def test_calls_for_a_key_do_not_overlap():
    """B3: what is asked during a call is merged for the next, which waits for it to end."""
    execute = Execute()

    async def main():
        coalescer = make(execute)
        await asyncio.gather(
            at(0, coalescer.load("a", {"size": 1})),
            at(0.75, coalescer.load("a", {"size": 2})),
            at(1.375, coalescer.load("a", {"iops": 3})),
        )

    run(main())
    assert execute.calls == [(0.5, "a", {"size": 1}), (1.5, "a", {"size": 2, "iops": 3})]


@pytest.mark.parametrize("error", [OSError("down"), asyncio.CancelledError()])
def test_callers_have_exceptions_of_their_own(error):
    """B4, B6: copies where there can be some, and the next call is made as if nothing had been."""

    async def main():
        coalescer = make(Execute([error]))
        futures = [coalescer.submit("a", {"size": 1}) for _ in range(3)]
        errors = await asyncio.gather(*futures, return_exceptions=True)
        assert await coalescer.load("a", {"size": 2}) == "a done"
        return errors

    errors = run(main())
    assert {type(one) for one in errors} == {OSError if isinstance(error, OSError) else FetchError}
    assert len({id(one) for one in errors}) == 3
    assert all(one.__cause__ is error for one in errors)


def test_key_without_room_waits_or_is_refused():
    """B8: load waits, submit raises; what cannot be merged when there is room fails then."""
    execute = Execute()

    async def main():
        coalescer = make(execute, max_pending=1)
        loads = [
            asyncio.create_task(at(0, coalescer.load(key, {"size": size})))
            for key, size in (("a", 1), ("b", 2), ("b", 3))
        ]
        await asyncio.sleep(0.25)
        with pytest.raises(BatcherFull, match="no room for 'c'"):
            coalescer.submit("c", {})
        return await asyncio.gather(*loads)

    results = run(main())
    assert execute.calls == [(0.5, "a", {"size": 1}), (1.0, "b", {"size": 2})]
    assert [when for _, when in results] == [1.5, 2.0, 0.5]
    assert str(results[2][0]) == "size is 2 already"


def test_execute_that_waits_for_its_own_key_is_told_so():
    """B8: calls for one key do not overlap, so that is a circle."""

    async def execute(key, merged):
        return await coalescer.load(key, {})

    coalescer = make(execute)

    async def main():
        with pytest.raises(RuntimeError, match="would wait for itself"):
            await coalescer.load("a", {})

    run(main())


def test_merge_must_not_use_the_coalescer():
    """B8: it is told so, and nothing is lost."""

    async def main():
        coalescer = Coalescer(lambda pending, request: coalescer.submit("b", 1), Execute())
        with pytest.raises(RuntimeError, match="merge must not use its own coalescer"):
            await coalescer.load("a", 1)
        await coalescer.close()

    run(main())


def test_flush_close_and_events():
    """B10: they send without waiting for the windows, and each call is told of."""
    events = []

    async def main():
        async with make(Execute(), max_delay=60, on_event=events.append) as coalescer:
            future = coalescer.submit("a", {"size": 1})
            await coalescer.flush()
            assert await future == "a done"
            future = coalescer.submit("b", {"size": 2})
        assert future.result() == "b done"
        with pytest.raises(BatcherClosed):
            await coalescer.load("c", {})

    run(main())
    assert events == [Batched(1, "flush", 0.0, 1.0), Batched(1, "close", 0.0, 1.0)]


def test_arguments_are_checked():
    """What cannot work is refused when the coalescer is made."""
    with pytest.raises(TypeError, match="merge must be callable: got merge=5"):
        Coalescer(5, print, max_delay=1)
    with pytest.raises(TypeError, match="execute must be callable: got 5"):
        Coalescer(print, 5, max_delay=1)
    assert Coalescer[str, int, int, str](max, print, max_delay=1)
