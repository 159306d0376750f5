"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from pollwait import aio
from pollwait.testing import _real_sleep, plugin

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.real_time  # the tests inside these tests sleep a microsecond

# Loaded here, or each run in this process would load them anew, next to those of the run before.
LOADED = (aio, _real_sleep)

MARKED = "import pytest\n\npytestmark = pytest.mark.no_real_sleep\n\n"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest on a test file, with this plugin and pytest's own ones."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(code, *arguments):
        pytester.makepyfile(code)
        return pytester.runpytest_inprocess(
            "--strict-markers", "--strict-config", *arguments, plugins=[plugin]
        )

    return run


def test_fake_clock_is_a_fresh_clock(run):
    """Each test gets a fake clock of its own, which shows 0."""
    result = run(
        """
        import pytest
        from pollwait import fixed, poll
        from pollwait.testing import FakeClock

        @pytest.mark.parametrize("seconds", [2, 4])
        def test_wait(fake_clock, seconds):
            assert type(fake_clock) is FakeClock
            ready = lambda: fake_clock.monotonic() >= seconds
            assert poll(ready, schedule=fixed(1), timeout=9, clock=fake_clock)
            assert fake_clock.sleeps == [1.0] * seconds
        """
    )
    result.assert_outcomes(passed=2)


def test_virtual_loop_runs_coroutines(run):
    """Each test gets a virtual loop of its own, and what it leaves behind is wound up."""
    result = run(
        """
        import asyncio
        import threading
        import pytest
        from pollwait.testing import VirtualTimeLoop

        loops, ended = [], []

        async def sleep_for_ever():
            try:
                await asyncio.sleep(10**9)
            finally:
                await asyncio.sleep(5)
                ended.append("task")

        async def numbers():
            try:
                yield 1
                yield 2
            finally:
                await asyncio.sleep(1)
                ended.append("generator")

        async def sleep(generator):
            task = asyncio.create_task(sleep_for_ever())
            await anext(generator)
            await asyncio.sleep(60)
            return task

        @pytest.mark.parametrize("number", [0, 1])
        def test_sleep(virtual_loop, number):
            assert type(virtual_loop) is VirtualTimeLoop
            generator = numbers()
            task = virtual_loop.run_until_complete(sleep(generator))
            assert virtual_loop.time() == 60
            loops.append((virtual_loop, task, generator))

        def work():
            threading.Event().wait(0.005)
            ended.append("job")

        def test_job(virtual_loop):
            virtual_loop.run_in_executor(None, work)

        def test_loops_are_closed():
            assert sorted(ended) == ["generator", "generator", "job", "task", "task"]
            assert all(loop.is_closed() and task.cancelled() for loop, task, _ in loops)

        def test_may_close_it(virtual_loop):
            virtual_loop.close()
        """,
        "-Werror",
    )
    result.assert_outcomes(passed=5)


def test_virtual_loop_reports_errors_of_what_is_left(run, caplog):
    """An error that a task raises when it is cancelled at the end is logged, as by ``run``."""
    result = run(
        """
        import asyncio

        async def left():
            try:
                await asyncio.sleep(100)
            finally:
                raise OSError("while cleaning up")

        async def start():
            task = asyncio.create_task(left())
            await asyncio.sleep(1)
            return task

        def test_leaves_a_task(virtual_loop):
            test_leaves_a_task.kept = virtual_loop.run_until_complete(start())
        """
    )
    result.assert_outcomes(passed=1)
    assert "unhandled exception of a task that was cancelled at the end" in caplog.text
    assert "while cleaning up" in caplog.text


HERE = "(*test_a_marked_test_that_sleeps_fails.py:*)"
REAL = "on a loop with real time"
ON_THREADS = "let it wait on another clock, *"
ON_LOOPS = "run it by pollwait.testing.run or the fixture virtual_loop"
SLEEPS = {
    "time.sleep(1)": f"time.sleep(1), in test_sleep {HERE}: {ON_THREADS}",
    "nap_by_name(0.5)": f"time.sleep(0.5), in nap_by_name {HERE}: {ON_THREADS}",
    "poll(int, schedule=fixed(2), timeout=9)": (
        f"time.sleep(2.0), in test_sleep {HERE}: {ON_THREADS}"
    ),
    "poll(int, schedule=fixed(2), timeout=9, cancel=threading.Event())": (
        f"a wait of 2.0 s for a cancel event, in test_sleep {HERE}: {ON_THREADS}"
    ),
    "asyncio.run(asyncio.sleep(3))": f"asyncio.sleep(3) {REAL}, in test_sleep {HERE}: {ON_LOOPS}",
    "asyncio.run(asyncio.wait_for(asyncio.sleep(3), 5))": (
        f"asyncio.sleep(3) {REAL}, in test_sleep {HERE}: {ON_LOOPS}"
    ),
    "asyncio.run(wait_in_coroutine())": (
        f"asyncio.sleep(2.0) {REAL}, in wait_in_coroutine {HERE}: {ON_LOOPS}"
    ),
    "asyncio.run(wait_in_coroutine(cancel=asyncio.Event()))": (
        f"a wait of 2.0 s for a cancel event {REAL}, in wait_in_coroutine {HERE}: {ON_LOOPS}"
    ),
}
PRELUDE = """
import asyncio, contextlib, subprocess, sys, threading, time
from time import sleep
import pytest
from pollwait import PollError, aio, fixed, poll
from pollwait.testing import FakeClock
from pollwait.testing import run as run_virtually

def nap_by_name(seconds):
    sleep(seconds)

async def wait_in_coroutine(schedule=fixed(2), **options):
    await aio.poll(int, schedule=schedule, timeout=9, **options)

def happened(module):
    event = module.Event()
    event.set()
    return event

def swallowing(statement):
    try:
        statement()
    except BaseException:
        pass

"""


@pytest.mark.parametrize("statement", SLEEPS)
def test_a_marked_test_that_sleeps_fails(run, statement):
    """The error names the sleep, the line of the test's own code, and the remedy."""
    code = f"{PRELUDE}@pytest.mark.no_real_sleep\ndef test_sleep():\n    {statement}\n"
    result = run(code)
    result.assert_outcomes(failed=1)
    meant = "where the sleep is meant, mark the test with @pytest.mark.no_real_sleep(enabled=False)"
    result.stdout.fnmatch_lines([f"E * a real sleep, {SLEEPS[statement]}; {meant}"])


@pytest.mark.parametrize(
    "statement",
    [
        "time.sleep(0)",
        "assert asyncio.run(asyncio.sleep(0, 'result')) == 'result'",
        "assert run_virtually(asyncio.sleep(1, 'result')) == 'result'",
        "poll(int, schedule=fixed(2).after(1), timeout=9, cancel=happened(threading))",
        "asyncio.run(wait_in_coroutine(fixed(2).after(1), cancel=happened(asyncio)))",
        "poll(lambda: True, timeout=9)",
        "poll(int, schedule=fixed(2), max_attempts=3, clock=FakeClock())",
        "asyncio.run(asyncio.wait_for(asyncio.sleep(0), 5))",
        "run_virtually(asyncio.sleep(3600))",
        "run_virtually(wait_in_coroutine())",
        "run_virtually(wait_in_coroutine(cancel=asyncio.Event()))",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(.01)']).wait(10)",
        "threading.Event().wait(0.001)",
    ],
)
def test_a_marked_test_may_do_what_is_no_sleep(run, statement):
    """Nothing that takes no time, virtual time, or waits for something real is an error."""
    code = (
        f"{PRELUDE}@pytest.mark.no_real_sleep\ndef test_no_sleep():\n"
        f"    with contextlib.suppress(PollError):\n        {statement}\n"
    )
    run(code).assert_outcomes(passed=1)


def test_what_is_no_number_is_left_to_sleep(run):
    """A sleep of nonsense is the error that it always was."""
    result = run(
        f"{PRELUDE}@pytest.mark.no_real_sleep\ndef test_sleep():\n"
        "    with pytest.raises(TypeError, match='integer'):\n        time.sleep('1')\n"
    )
    result.assert_outcomes(passed=1)


def test_a_sleep_that_the_test_swallows_fails_it(run):
    """Neither ``except BaseException`` nor another thread hides a sleep."""
    result = run(
        f"{PRELUDE}pytestmark = pytest.mark.no_real_sleep\n"
        """
def test_swallows():
    swallowing(lambda: time.sleep(1))

def test_other_thread():
    thread = threading.Thread(target=swallowing, args=[lambda: time.sleep(1)])
    thread.start()
    thread.join()

def test_other_error():
    swallowing(lambda: time.sleep(1))
    assert False, "an error of its own"
"""
    )
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines_random(
        ["a real sleep, time.sleep(1), in <lambda> (*", "*an error of its own*"]
    )


def test_threads_that_ran_before_may_sleep(run):
    """A server that a fixture has started is no part of the test."""
    result = run(
        f"{PRELUDE}"
        """
@pytest.fixture
def server():
    asked, answered = threading.Event(), threading.Event()
    def serve():
        asked.wait(10)
        time.sleep(0.001)
        answered.set()
    threading.Thread(target=serve).start()
    return asked, answered

@pytest.mark.no_real_sleep
def test_asks(server):
    asked, answered = server
    asked.set()
    assert answered.wait(10)
"""
    )
    result.assert_outcomes(passed=1)


NAP = """
import time

def nap():
    time.sleep(1e-6)

@pytest.fixture(autouse=True)
def slow_fixture():
    nap()
    yield
    nap()

"""


def test_unmarked_tests_and_fixtures_may_sleep(run):
    """Only marked tests are guarded, and of those not the fixtures."""
    result = run(
        f"import pytest\n{NAP}"
        "def test_unmarked():\n    nap()\n\n"
        "@pytest.mark.no_real_sleep\ndef test_marked():\n    pass\n\n"
        "def test_unmarked_again():\n    nap()\n"
    )
    result.assert_outcomes(passed=3)


def test_the_marker_can_be_taken_back(run):
    """Of several markers the closest counts."""
    result = run(
        f"{MARKED}{NAP}"
        "def test_marked():\n    nap()\n\n"
        "@pytest.mark.no_real_sleep(enabled=False)\ndef test_exempt():\n    nap()\n\n"
        "@pytest.mark.no_real_sleep(False)\ndef test_exempt_too():\n    nap()\n"
    )
    result.assert_outcomes(failed=1, passed=2)


def test_the_marker_takes_nothing_else(run):
    """What the marker does not know is an error, not a guard that is on."""
    result = run(
        "import pytest\n\n@pytest.mark.no_real_sleep(enable=False)\ndef test_typo():\n    pass\n"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *_enabled() got an unexpected keyword argument 'enable'*"])


def test_the_setting_marks_all_tests(run, pytester):
    """``no_real_sleep = true`` in the configuration marks all tests, save those that say no."""
    pytester.makeini("[pytest]\nno_real_sleep = true\n")
    result = run(
        f"import pytest\n{NAP}"
        "def test_plain():\n    nap()\n\n"
        "@pytest.mark.no_real_sleep(enabled=False)\ndef test_exempt():\n    nap()\n"
    )
    result.assert_outcomes(failed=1, passed=1)


def test_the_fixture_marks_its_test(run):
    """Who asks for the fixture is guarded, also by ``usefixtures``."""
    result = run(
        f"import pytest\n{NAP}"
        "def test_asks(no_real_sleep):\n    nap()\n\n"
        "@pytest.mark.usefixtures('no_real_sleep')\ndef test_uses():\n    nap()\n\n"
        "def test_plain():\n    nap()\n"
    )
    result.assert_outcomes(failed=2, passed=1)


def test_the_guard_covers_test_cases_of_unittest(run):
    """A ``unittest.TestCase`` is guarded, with its setUp."""
    result = run(
        f"{MARKED}import time, unittest\n"
        """
class Case(unittest.TestCase):
    def setUp(self):
        if "set_up" in self._testMethodName:
            time.sleep(1)
    def test_sleeps(self):
        time.sleep(1)
    def test_set_up(self):
        pass
    def test_fine(self):
        pass
"""
    )
    result.assert_outcomes(failed=2, passed=1)


def test_the_guard_leaves_nothing_behind(run):
    """After the test all is as it was, whatever the test has patched meanwhile."""
    result = run(
        "import asyncio, time\nfrom time import sleep\nimport pytest\n"
        "from pollwait import SystemClock\nfrom pollwait._aio.backend import AsyncioBackend\n"
        """
BEFORE = time.sleep, asyncio.sleep, SystemClock.wait, AsyncioBackend.wait

def now():
    return time.sleep, asyncio.sleep, SystemClock.wait, AsyncioBackend.wait

@pytest.mark.no_real_sleep
def test_guarded():
    assert not set(BEFORE) & set(now())
    assert sleep is time.sleep is not BEFORE[0]

def test_afterwards():
    assert now() == BEFORE
    assert sleep is BEFORE[0]

@pytest.mark.no_real_sleep
@pytest.mark.parametrize("number", range(3))
def test_patches(monkeypatch, number):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)  # puts a guard back when it is undone
    time.sleep(5)
    assert slept == [5]

def test_a_guard_that_is_over_does_nothing():
    assert time.sleep.__wrapped__ is BEFORE[0]
    time.sleep(1e-6)

@pytest.mark.no_real_sleep
def test_guards_do_not_pile_up():
    assert time.sleep.__wrapped__ is BEFORE[0]
    with pytest.raises(pytest.fail.Exception):
        sleep(1)
    pytest.skip("has slept")

def nap(seconds):
    pass

@pytest.mark.no_real_sleep
def test_patches_for_good():
    time.sleep = nap

def test_what_was_patched_for_good_stays():
    assert time.sleep is nap
    time.sleep = BEFORE[0]
"""
    )
    result.assert_outcomes(passed=8, skipped=1)


def test_the_how_to_guide_is_a_test_file_that_passes(run):
    """The code of the guide, put into one file, runs as the tests that it shows."""
    page = (Path(__file__).parents[2] / "docs/how-to/test-without-sleeping.md").read_text("utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    result = run(code, "-o", "no_real_sleep=true")
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", code, re.MULTILINE)))


def test_the_marker_is_listed(run):
    """``pytest --markers`` and ``--fixtures`` explain what the plugin brings."""
    run("", "--markers").stdout.fnmatch_lines(["@pytest.mark.no_real_sleep(enabled=True): *"])
    run("", "--fixtures").stdout.fnmatch_lines(
        ["no_real_sleep -- *", "fake_clock -- *", "virtual_loop -- *"]
    )


def test_the_plugin_imports_nothing_but_pytest():
    """Whoever has pollwait installed does not pay for a plugin that no test uses."""
    code = (
        "import sys, pytest, importlib.util as util; before = set(sys.modules);"
        f"spec = util.spec_from_file_location('plugin', {plugin.__file__!r});"
        "spec.loader.exec_module(util.module_from_spec(spec)); print(set(sys.modules) - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=50
    )
    assert run.stdout.strip() == "set()"


def test_the_plugin_has_no_autouse_fixture():
    """No test gets anything that it has not asked for."""
    assert "autouse" not in Path(plugin.__file__).read_text("utf-8")


def test_pytest_finds_the_plugin():
    """The plugin is an entry point of pytest, by the name that ``-p no:pollwait`` switches off."""
    [point] = entry_points(group="pytest11", name="pollwait")
    assert point.load() is plugin


def test_plugin_loads_nothing_that_is_not_asked_for():
    """A run of pytest that uses nothing of pollwait loads neither asyncio nor the clocks for it."""
    program = (
        "import sys; import pollwait.testing.plugin as plugin;"
        "print({'asyncio', 'pollwait.testing._fake_clock'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True
    )
    assert ran.stdout == "set()\n"
