"""pollwait.testing.run: one coroutine on virtual time, which leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pollwait.testing import Deadlock, VirtualTimeLoop, run


def test_run_returns_the_result():
    """The coroutine's value is returned, in no time."""
    assert run(asyncio.sleep(10**8, "ready")) == "ready"


def test_run_starts_each_time_at_zero():
    """Each run has a time of its own."""

    async def sleep():
        await asyncio.sleep(1)
        return asyncio.get_running_loop().time()

    assert [run(sleep()), run(sleep())] == [1.0, 1.0]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_run_passes_errors_on(kind):
    """What the coroutine raises leaves untouched."""
    error = kind("as it is")

    async def fail():
        await asyncio.sleep(1)
        raise error

    with pytest.raises(kind) as caught:
        run(fail())
    assert caught.value is error


@pytest.mark.parametrize("wrong", [None, 3, asyncio.sleep, int])
def test_run_takes_a_coroutine_only(wrong):
    """A function that was not called, or anything else, is refused by name."""
    with pytest.raises(TypeError, match="main must be a coroutine"):
        run(wrong)


def test_run_within_a_running_loop_is_refused():
    """The error comes at once, and nobody warns of a coroutine that was never awaited."""

    async def inner():
        pytest.fail("must not run")

    async def outer():
        with pytest.raises(RuntimeError, match="await the coroutine"):
            run(inner())
        gc.collect()

    run(outer())


def test_run_cancels_what_is_left_and_lets_it_clean_up():
    """Tasks that are left are cancelled, and may still sleep while they clean up."""
    log = []

    async def left():
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(2)
            log.append(asyncio.get_running_loop().time())

    async def main():
        asyncio.ensure_future(left())  # noqa: RUF006
        await asyncio.sleep(1)

    run(main())
    assert log == [3.0]


def test_run_reports_errors_of_what_is_left(caplog):
    """An error raised while a left task cleans up is logged, as asyncio.run does."""

    async def left():
        try:
            await asyncio.sleep(100)
        finally:
            raise OSError("while cleaning up")

    async def main():
        task = asyncio.ensure_future(left())
        await asyncio.sleep(1)
        assert not task.done()

    with caplog.at_level(logging.ERROR, logger="asyncio"):
        run(main())
    assert "unhandled exception of a task that was cancelled at the end" in caplog.text
    assert "while cleaning up" in caplog.text


def test_run_closes_generators_executor_and_loop():
    """Asynchronous generators are finished, the executor's threads are gone, the loop is closed."""
    log = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    kept = numbers()
    before = threading.active_count()

    async def main():
        await asyncio.to_thread(int)
        await kept.__anext__()
        return asyncio.get_running_loop()

    loop = run(main())
    assert log == ["closed"]
    assert threading.active_count() == before
    assert loop.is_closed()
    del loop
    gc.collect()


def test_run_leaves_the_loop_of_the_thread_alone():
    """The event loop that is set for the thread is the same before and after."""
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    run(asyncio.sleep(1))
    assert asyncio.get_event_loop_policy().get_event_loop() is own
    asyncio.set_event_loop(None)
    own.close()


@pytest.mark.parametrize("debug", [True, False])
def test_run_sets_the_debug_mode(debug):
    """The debug mode is the loop's, if it is given."""

    async def main():
        await asyncio.sleep(1)
        return asyncio.get_running_loop().get_debug()

    assert run(main(), debug=debug) is debug


def test_run_reports_a_deadlock_and_cleans_up():
    """The error leaves the run, and the tasks that were stuck are cancelled first."""
    log = []

    async def stuck():
        try:
            await asyncio.Event().wait()
        finally:
            log.append("cancelled")

    with pytest.raises(Deadlock, match="' in stuck "):
        run(stuck())
    assert log == ["cancelled"]


def test_run_reports_a_task_that_lives_on():
    """A task that takes no notice of its cancellation is named instead of hanging the run."""
    attempts = []

    async def immortal():
        while len(attempts) < 2:  # the second is the end of this test
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            attempts.append("cancelled")

    async def main():
        loop.append(asyncio.get_running_loop())
        tasks.append(asyncio.create_task(immortal(), name="immortal"))
        await asyncio.sleep(1)

    loop, tasks = [], []
    with pytest.raises(Deadlock, match="'immortal' in immortal "):
        run(main())
    assert attempts == ["cancelled"]
    assert loop[0].is_closed()


@pytest.mark.real_time
def test_run_does_not_wait_for_a_job_without_end():
    """A job of the default executor that nobody awaits and that does not end is named."""
    gate = threading.Event()

    def endless():
        gate.wait(10)

    async def main():
        asyncio.get_running_loop().run_in_executor(None, endless)

    began = time.perf_counter()
    with pytest.raises(Deadlock, match=r"\.endless'; the end of the default executor"):
        run(main(), patience=0.03125)
    assert time.perf_counter() - began < 5
    gate.set()


@pytest.mark.real_time
def test_run_drops_the_jobs_behind_a_job_without_end():
    """What is queued behind a job that does not end is not run after the loop is closed."""
    gate, ran = threading.Event(), []
    pool = ThreadPoolExecutor(1)

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_default_executor(pool)
        asyncio.ensure_future(  # noqa: RUF006
            asyncio.shield(loop.run_in_executor(None, gate.wait, 10))
        )
        pool.submit(ran.append, "queued")

    with pytest.raises(Deadlock):
        run(main(), patience=0.03125)
    gate.set()
    pool.shutdown()
    assert ran == []


def test_run_survives_cancellation_at_every_await():
    """However far a task has come when it is cancelled, the run ends and leaves nothing behind."""

    async def victim():
        lock, queue = asyncio.Lock(), asyncio.Queue()
        async with lock:
            await asyncio.sleep(0.25)
        await asyncio.to_thread(int)
        with asyncio.get_running_loop().inhibit():
            await asyncio.to_thread(int)
        queue.put_nowait(1)
        await asyncio.wait_for(queue.get(), 1)
        await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.25))])
        return "unscathed"

    async def main(rounds):
        task = asyncio.ensure_future(victim())
        for _ in range(rounds):
            await asyncio.sleep(0)
        await asyncio.sleep(0.125 * (rounds // 10))
        task.cancel()
        (answer,) = await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(1)
        return answer

    answers = [run(main(rounds)) for rounds in range(60)]
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[-1] == "unscathed"


def test_runs_in_several_threads_are_apart():
    """Each thread may run its own virtual time."""
    answers = {}

    async def sleep(seconds):
        for _ in range(100):
            await asyncio.sleep(seconds)
        return asyncio.get_running_loop().time()

    def work(seconds):
        answers[seconds] = run(sleep(seconds))

    threads = [threading.Thread(target=work, args=(seconds,)) for seconds in (0.25, 2.0, 64.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {0.25: 25.0, 2.0: 200.0, 64.0: 6400.0}


def test_loop_in_a_fixture_serves_several_runs(virtual):
    """A loop made by a fixture runs coroutine after coroutine on one time."""
    virtual.run_until_complete(asyncio.sleep(1))
    virtual.run_until_complete(asyncio.sleep(1))
    assert virtual.time() == 2.0


@pytest.fixture
def virtual():
    """Make a loop and close it."""
    loop = VirtualTimeLoop()
    yield loop
    loop.close()
