"""The asyncio face under trio."""

from __future__ import annotations

import pytest

from pollwait import Finished, PollCancelled, PollTimeout, aio, fixed

trio = pytest.importorskip("trio")


def run(function):
    """Run an async function on trio, on a clock that jumps."""
    from trio.testing import MockClock

    return trio.run(function, clock=MockClock(autojump_threshold=0))


def test_wait_runs_on_trio():
    """Checks of both kinds are made on trio's clock."""

    async def wait():
        began, starts = trio.current_time(), []

        async def check():
            starts.append(trio.current_time() - began)
            await trio.sleep(0.5)
            return len(starts) == 3

        assert await aio.poll(check, schedule=fixed(1), timeout=60)
        assert await aio.poll(lambda: True, timeout=0)
        return starts

    assert run(wait) == [0.0, 1.5, 3.0]


def test_attempt_timeout_cuts_a_check():
    """T4: trio cancels the check alone, which counts as not ready."""

    async def wait():
        began = trio.current_time()
        with pytest.raises(PollTimeout, match="cut after attempt_timeout") as caught:
            await aio.poll(trio.sleep_forever, schedule=fixed(1), timeout=10, attempt_timeout=2)
        return caught.value.attempts, trio.current_time() - began

    assert run(wait) == (4, 11.0)


def test_cancelled_scope_leaves_at_once():
    """T7: a cancelled scope ends the wait there and then, whatever retry_on says."""
    events = []

    async def wait():
        began = trio.current_time()
        with trio.move_on_after(2.5):
            await aio.poll(
                lambda: False,
                schedule=fixed(1),
                timeout=60,
                retry_on=BaseException,
                on_event=events.append,
            )
        return trio.current_time() - began

    assert run(wait) == 2.5
    assert [event.reason for event in events if isinstance(event, Finished)] == ["cancelled"]


def test_cancel_event_ends_a_sleep_at_once():
    """T7: a trio.Event that is set during a sleep ends the wait with no further check."""

    async def wait():
        stop, checks = trio.Event(), []

        async def set_later():
            await trio.sleep(2.5)
            stop.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(set_later)
            with pytest.raises(PollCancelled):
                await aio.poll(lambda: checks.append(1), schedule=fixed(1), timeout=60, cancel=stop)
        return len(checks)

    assert run(wait) == 3


def test_zero_delay_is_a_checkpoint():
    """A delay of 0 is a checkpoint, at which trio may cancel."""

    async def wait():
        with trio.CancelScope() as scope:
            scope.cancel()
            await aio.poll(lambda: False, schedule=fixed(0), timeout=60)
        return scope.cancelled_caught

    assert run(wait)
