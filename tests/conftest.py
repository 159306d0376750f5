"""What all tests share: no test sleeps for real, and chance is the same in every run."""

from __future__ import annotations

import signal
import sys
import threading
import time
from functools import wraps

import pytest
from hypothesis import HealthCheck, settings

from pollwait import SystemClock

# A test that failed fails again, here and elsewhere. To look further than these examples, run
# `pytest --hypothesis-profile=search`.
settings.register_profile(
    "replay",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
# Enough where each example is slow and other runs look at more.
settings.register_profile("quick", settings.get_profile("replay"), max_examples=15)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("replay")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the one marker that tests here may use."""
    config.addinivalue_line(
        "markers", "real_time: the test is about real sleeping, and sleeps as little as it can"
    )
    _heed_signals()


def _heed_signals() -> None:
    """Undo what a shell does to its background jobs, which ignore Ctrl-C, and so do their children.

    Tests send signals to themselves and to what they start.
    """
    for name in ("SIGINT", "SIGQUIT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            default = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            signal.signal(number, default)


@pytest.fixture(autouse=True)
def _no_real_sleep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sleeps raise in the thread that runs the test.

    Other threads may sleep: a server answers there. So may ``subprocess``, which sleeps between two
    looks at a process.
    """
    if request.node.get_closest_marker("real_time"):
        return
    tester = threading.get_ident()
    sleep, wait = time.sleep, SystemClock.wait

    @wraps(sleep)
    def guarded_sleep(seconds: float) -> None:
        if seconds > 0 and threading.get_ident() == tester and _caller() != "subprocess":
            pytest.fail(f"the test sleeps for real: time.sleep({seconds!r})")
        sleep(seconds)

    @wraps(wait)
    def guarded_wait(clock: SystemClock, event: threading.Event, seconds: float) -> bool:
        if seconds > 0 and not event.is_set() and threading.get_ident() == tester:
            pytest.fail(f"the test sleeps for real: event.wait({seconds!r})")
        return wait(clock, event, seconds)

    monkeypatch.setattr(time, "sleep", guarded_sleep)
    monkeypatch.setattr(SystemClock, "wait", guarded_wait)


def _caller() -> str:
    """Return the module that called the function that asks."""
    return str(sys._getframe(2).f_globals["__name__"])
