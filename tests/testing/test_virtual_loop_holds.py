"""VirtualTimeLoop and the real world: executor jobs, other threads, sockets and subprocesses."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pollwait.testing import Deadlock, VirtualTimeLoop, run

real_time = pytest.mark.real_time


@pytest.fixture
def loop():
    """Make a loop and close it."""
    loop = VirtualTimeLoop()
    yield loop
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@pytest.fixture
def gate():
    """Make an event that holds a job up, and let the job go in the end."""
    event = threading.Event()
    yield event
    event.set()


def now():
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


def let_go_later(loop, gate):
    """Set an event after the loop has begun to wait for real, as far as one can tell.

    Each byte that the loop receives meanwhile wakes it, and it must go back to waiting.
    """

    def rattle():
        for _ in range(20):
            loop.call_soon_threadsafe(int)
        gate.set()

    thread = threading.Thread(target=rattle)
    thread.start()
    return thread


# --- jobs of executors


def test_time_is_held_while_a_job_runs(loop, gate):
    """No timer fires while a job runs, and its result comes at the time of its call."""

    async def scenario():
        ticks = []
        loop.call_later(1, lambda: ticks.append(now()))
        thread = let_go_later(loop, gate)
        answer = await asyncio.to_thread(lambda: (gate.wait(10), loop.time()))
        thread.join()
        assert (answer, now(), ticks) == ((True, 0.0), 0.0, [])
        await asyncio.sleep(1)
        return ticks

    assert loop.run_until_complete(scenario()) == [1.0]


def test_a_timeout_cannot_cut_a_job(loop, gate):
    """Time stands still for the timeout too, so the job's answer arrives."""

    async def scenario():
        let_go_later(loop, gate).join()
        return await asyncio.wait_for(asyncio.to_thread(gate.wait, 10), timeout=0.25)

    assert loop.run_until_complete(scenario())


def test_time_is_held_until_an_abandoned_job_has_ended(loop, gate):
    """A job whose task was cancelled runs on, and holds time until it ends."""
    ended = []

    async def scenario():
        started = threading.Event()

        def job():
            started.set()
            gate.wait(10)
            ended.append(loop.time())

        task = asyncio.create_task(asyncio.to_thread(job))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        loop.call_later(1, lambda: ended.append("timer"))
        thread = let_go_later(loop, gate)
        await asyncio.sleep(2)
        thread.join()

    loop.run_until_complete(scenario())
    assert ended == [0.0, "timer"]


def test_a_job_that_is_cancelled_before_it_starts_holds_nothing(loop, gate):
    """A queued job that was cancelled never runs, so time need not wait for it."""
    with ThreadPoolExecutor(1) as pool:

        async def scenario():
            running = loop.run_in_executor(pool, gate.wait, 10)
            queued = loop.run_in_executor(pool, pytest.fail)
            queued.cancel()
            gate.set()
            await running
            await asyncio.sleep(1)
            return now()

        assert loop.run_until_complete(scenario()) == 1.0


def test_jobs_that_fail_let_time_go(loop):
    """A job's error reaches its caller, and a job that could not be submitted holds nothing."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()

    async def scenario():
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        with pytest.raises(RuntimeError):
            loop.run_in_executor(pool, int)
        await asyncio.sleep(1)
        return now()

    assert loop.run_until_complete(scenario()) == 1.0


def test_the_default_executor_may_be_chosen(loop):
    """Jobs that name no executor run in the one that was set."""
    loop.set_default_executor(ThreadPoolExecutor(1, thread_name_prefix="chosen"))
    name = loop.run_until_complete(asyncio.to_thread(lambda: threading.current_thread().name))
    assert name.startswith("chosen")


def test_a_default_executor_that_was_shut_down_takes_no_job(loop):
    """After the shutdown a job without an executor is refused, as in asyncio's own loops."""
    loop.run_until_complete(asyncio.to_thread(int))
    loop.run_until_complete(loop.shutdown_default_executor())
    with pytest.raises(RuntimeError, match="shut down"):
        loop.run_in_executor(None, int)


def test_a_closed_loop_takes_no_job():
    """A job of a closed loop is refused before it runs."""
    loop = VirtualTimeLoop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run_in_executor(None, pytest.fail)


def test_a_job_may_use_the_loop(loop):
    """A job that calls back into the loop and waits for the answer gets it, in no time."""

    async def double(number):
        await asyncio.sleep(0)
        return 2 * number

    def job():
        seen = []
        loop.call_soon_threadsafe(seen.append, "called")
        answer = asyncio.run_coroutine_threadsafe(double(21), loop).result(10)
        return seen, answer

    assert loop.run_until_complete(asyncio.to_thread(job)) == (["called"], 42)
    assert loop.time() == 0.0


def test_results_of_jobs_always_come_before_the_next_timer(loop):
    """However the threads are scheduled, no timer slips in between a job's end and its result."""

    async def scenario():
        for _ in range(300):
            before = now()
            loop.call_later(0.25, int)
            await asyncio.gather(asyncio.to_thread(int), asyncio.to_thread(int))
            assert now() == before
            await asyncio.sleep(0.25)

    loop.run_until_complete(scenario())
    assert loop.time() == 75.0


# --- inhibit


def test_inhibit_holds_time_for_a_foreign_thread(loop):
    """In an inhibit block the loop waits for real, and a pending timeout stays pending."""

    async def scenario():
        answer = loop.create_future()
        with loop.inhibit():
            threading.Thread(
                target=loop.call_soon_threadsafe, args=(answer.set_result, "ready")
            ).start()
            return await asyncio.wait_for(answer, 5), now()

    assert loop.run_until_complete(scenario()) == ("ready", 0.0)


def test_inhibit_blocks_nest(loop):
    """Time moves when the last block has been left, also by an exception."""

    async def scenario():
        ticks = []
        loop.call_later(1, lambda: ticks.append(now()))
        with loop.inhibit():
            with pytest.raises(KeyError), loop.inhibit():
                raise KeyError
            answer = loop.create_future()
            thread = threading.Thread(
                target=loop.call_soon_threadsafe, args=(answer.set_result, None)
            )
            thread.start()
            await answer
            thread.join()
            assert ticks == []
        await asyncio.sleep(1)
        return ticks

    assert loop.run_until_complete(scenario()) == [1.0]


def test_inhibit_may_be_held_by_another_thread(loop):
    """A thread that holds time lets it go without saying anything else, and the loop goes on."""
    held, answered = threading.Event(), []

    def foreign():
        with loop.inhibit():
            held.set()
            for _ in range(20):
                loop.call_soon_threadsafe(answered.append, loop.time())

    async def scenario():
        thread = threading.Thread(target=foreign)
        thread.start()
        held.wait(10)
        await asyncio.sleep(1)
        thread.join()
        return now()

    assert loop.run_until_complete(scenario()) == 1.0
    assert answered == [0.0] * 20


def test_leaving_inhibit_wakes_the_loop():
    """A thread that only lets time go, after the loop has begun to wait for real, is noticed."""
    loop = VirtualTimeLoop(patience=10)

    def foreign(held):
        waits = threading.Event()
        with loop.inhibit():
            held.set()
            loop.call_soon_threadsafe(waits.set)
            waits.wait(10)

    async def scenario():
        for _ in range(200):
            held = threading.Event()
            thread = threading.Thread(target=foreign, args=(held,))
            thread.start()
            held.wait(10)
            await asyncio.sleep(1)
            thread.join()

    loop.run_until_complete(scenario())
    assert loop.time() == 200.0
    loop.close()


def test_inhibit_of_a_closed_loop_is_harmless():
    """A block that outlives its loop can be left."""
    loop = VirtualTimeLoop()
    with loop.inhibit():
        loop.close()
    assert loop.is_closed()


# --- patience


@real_time
def test_patience_ends_with_the_name_of_the_job(gate):
    """A job that does not end is an error that names it, not a hang."""
    loop = VirtualTimeLoop(patience=0.03125)

    def stubborn():
        gate.wait(10)

    with pytest.raises(Deadlock) as caught:
        loop.run_until_complete(asyncio.to_thread(stubborn))
    text = str(caught.value)
    assert text.startswith("nothing has happened for 0.03125 real seconds")
    assert "time is held at 0.0 s by the executor job" in text
    assert ".stubborn'; pending: " in text
    gate.set()
    loop.run_until_complete(*asyncio.all_tasks(loop))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@real_time
def test_a_shutdown_of_the_executor_that_lost_patience_may_be_repeated(gate):
    """A loop whose executor did not end in time is whole, and can wait for it again."""
    loop = VirtualTimeLoop(patience=0.03125)
    loop.run_in_executor(None, gate.wait, 10)
    with pytest.raises(Deadlock, match="the end of the default executor"):
        loop.run_until_complete(loop.shutdown_default_executor())
    gate.set()
    for thread in threading.enumerate():
        if thread.daemon:  # the one that waited in vain has still to report
            thread.join()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@real_time
@pytest.mark.parametrize("sleeps", [False, True])
def test_patience_ends_with_the_reason_of_the_block(sleeps):
    """Who sleeps in an inhibit block, or waits there in vain, is told what holds time."""

    async def scenario():
        with asyncio.get_running_loop().inhibit("the answer of a server"):
            await (asyncio.sleep(1) if sleeps else asyncio.Event().wait())

    with pytest.raises(Deadlock, match="held at 0.0 s by the answer of a server; pending"):
        run(scenario(), patience=0.03125)


@real_time
def test_patience_ends_with_io_that_does_not_come():
    """A socket that stays silent is an error in the end."""
    here, there = socket.socketpair()
    here.setblocking(False)

    async def scenario():
        await asyncio.get_running_loop().sock_recv(here, 1)

    with here, there, pytest.raises(Deadlock, match="by I/O that does not come"):
        run(scenario(), patience=0.03125)


@pytest.mark.parametrize("patience", [-1, float("nan"), True, "1"])
def test_patience_is_checked(patience):
    """What is no duration is refused when the loop is made, and nothing is left open."""
    with pytest.raises((TypeError, ValueError), match="patience"):
        VirtualTimeLoop(patience=patience)


# --- sockets and subprocesses


def test_sockets_within_the_loop_need_no_care():
    """A client and a server of one loop talk for ever at one instant, while timers are pending."""

    async def serve(reader, writer):
        while data := await reader.read(1000):
            await asyncio.sleep(0.5)
            writer.write(data)
        writer.close()

    async def scenario():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        times = []
        for _ in range(50):
            writer.write(b"ping")
            await asyncio.wait_for(reader.readexactly(4), timeout=0.75)
            times.append(now())
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()
        return times

    assert run(scenario()) == [0.5 * count for count in range(1, 51)]


def test_io_alone_is_waited_for(loop):
    """Where no timer is set, a registered socket is something to wait for."""
    here, there = socket.socketpair()
    here.setblocking(False)
    thread = threading.Thread(target=there.send, args=(b"x",))

    async def scenario():
        thread.start()
        return await loop.sock_recv(here, 1)

    with here, there:
        assert loop.run_until_complete(scenario()) == b"x"
        thread.join()


def test_inhibit_holds_time_for_a_server_elsewhere(loop):
    """A timeout around a request to another thread does not fire in an inhibit block."""
    here, there = socket.socketpair()
    here.setblocking(False)

    def serve():
        there.sendall(there.recv(4)[::-1])

    async def scenario():
        threading.Thread(target=serve).start()
        with loop.inhibit("the other end"):
            await loop.sock_sendall(here, b"ping")
            return await asyncio.wait_for(loop.sock_recv(here, 4), timeout=1)

    with here, there:
        assert loop.run_until_complete(scenario()) == b"gnip"
    assert loop.time() == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="selector loops run no subprocess on Windows")
def test_inhibit_holds_time_for_a_subprocess(loop):
    """In an inhibit block a subprocess is waited for, and a pending timeout stays pending."""

    async def scenario():
        with loop.inhibit("the subprocess"):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "print('ready')", stdout=asyncio.subprocess.PIPE
            )
            output, _ = await asyncio.wait_for(process.communicate(), timeout=0.25)
        return output, process.returncode, now()

    assert loop.run_until_complete(scenario()) == (b"ready\n", 0, 0.0)
