"""The guard of ``conftest``: a test that would sleep for real fails instead."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from pollwait import SystemClock, fixed, poll


def test_sleep_in_a_test_fails_it() -> None:
    """``time.sleep`` fails the test, save for no time at all."""
    with pytest.raises(pytest.fail.Exception, match=r"time\.sleep\(0\.25\)"):
        time.sleep(0.25)
    time.sleep(0)


def test_wait_on_the_clock_of_the_system_fails_the_test() -> None:
    """A wait that was not given a clock is noticed, whatever its check retries."""
    with pytest.raises(pytest.fail.Exception):
        poll(lambda: False, schedule=fixed(0.25), timeout=1, retry_on=BaseException)


def test_wait_for_an_event_fails_the_test_unless_it_is_set() -> None:
    """Waiting for a cancel event sleeps too, but not when it is set already."""
    event = threading.Event()
    with pytest.raises(pytest.fail.Exception):
        SystemClock().wait(event, 0.25)
    assert not SystemClock().wait(event, 0)
    event.set()
    assert SystemClock().wait(event, 0.25)


def test_other_threads_and_processes_may_sleep() -> None:
    """A server may take its time, and a process may be waited for."""
    server = threading.Thread(target=time.sleep, args=(0.001,))
    server.start()
    server.join()
    subprocess.run([sys.executable, "-IS", "-c", ""], check=True, timeout=50)


@pytest.mark.real_time
def test_marked_tests_may_sleep() -> None:
    """A test about real sleeping says so and sleeps."""
    began = time.perf_counter()
    time.sleep(0.001)
    assert time.perf_counter() - began >= 0.001
