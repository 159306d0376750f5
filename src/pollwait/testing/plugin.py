"""The pytest plugin: fixtures for tests that wait, and an error for tests that really sleep.

pytest loads this module in every run of everybody who has pollwait installed, so it imports nothing
but pytest, and what a fixture or a marker needs not before that is used.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from pluggy import Result

    from . import FakeClock, VirtualTimeLoop

MARKER = (
    "no_real_sleep(enabled=True): make real sleeps of the test an error (time.sleep, asyncio.sleep"
    " on a loop with real time, and those of pollwait); fixtures may sleep"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting that marks all tests."""
    parser.addini("no_real_sleep", "mark all tests with no_real_sleep", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", MARKER)


# In the old style, which all versions of pytest read; last, so as to guard the test alone and not
# what other plugins do around it.
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Result[None], None]:
    """Guard a test against real sleeps, if it is marked."""
    if not _is_marked(item):
        yield
        return
    from ._real_sleep import RealSleepGuard

    with RealSleepGuard() as guard:
        outcome = yield
    if guard.found and outcome.excinfo is None:
        # It was raised in another thread, or the test caught it.
        outcome.force_exception(pytest.fail.Exception(guard.found[0], pytrace=False))


def _is_marked(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("no_real_sleep")
    if marker is None:
        return bool(item.config.getini("no_real_sleep"))
    return _enabled(*marker.args, **marker.kwargs)


def _enabled(enabled: object = True) -> bool:
    """Read what a marker was given, as a function of its signature would."""
    return bool(enabled)


@pytest.fixture
def no_real_sleep(request: pytest.FixtureRequest) -> None:
    """Make real sleeps of the test an error, as the marker of the same name does."""
    request.node.add_marker("no_real_sleep")


@pytest.fixture
def fake_clock() -> FakeClock:
    """A ``pollwait.testing.FakeClock`` that shows 0: pass it as ``clock`` to what waits."""
    from . import FakeClock

    return FakeClock()


@pytest.fixture
def virtual_loop() -> Generator[VirtualTimeLoop, None, None]:
    """An asyncio event loop on virtual time: ``virtual_loop.run_until_complete(coroutine)``.

    Tasks that are left at the end of the test are cancelled, an error that one of them then raises
    is logged, and the loop is closed.
    """
    from . import VirtualTimeLoop
    from ._virtual_run import wind_up

    loop = VirtualTimeLoop()
    yield loop
    if not loop.is_closed():
        wind_up(loop)
