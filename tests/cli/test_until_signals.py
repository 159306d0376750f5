"""``pollwait until`` and signals: passed on, and nothing is left."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from pollwait import fixed, poll
from pollwait.cli import main
from pollwait.cli.until.child import Command
from pollwait.cli.until.signals import Signals

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals"),
    pytest.mark.real_time,
]

# A wait whose runs are never given time to refuse: whatever needs that hangs, and fails.
POLLWAIT = """
import sys
from pollwait.cli import main
from pollwait.cli.until import child
child.KILL_AFTER = 600
sys.exit(main(["until", *sys.argv[1:]]))
"""
# A group without a parent in another group of its session cannot be stopped, and that of the tests
# may be one.
OWN_GROUP = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
SPIN = "while :; do sleep 0.01; done"


@pytest.fixture
def start():
    """Return a function that starts ``pollwait until`` in a process of its own."""
    processes = []

    def start(*arguments, before=()):
        command = [*before, sys.executable, "-c", POLLWAIT, *arguments]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **OWN_GROUP,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_signal_is_passed_on(start, lifeline, name):
    """The run gets the signal and may end as it likes; the exit code is that of the signal."""
    trap = f"trap 'echo {name}; exit 0' {name[3:]}"
    line = f"exec 9>{lifeline.path}; {trap}; echo x; echo up >&9; {SPIN}"
    process = start("--", "sh", "-c", line)
    assert lifeline.line() == b"up\n"
    process.send_signal(signal.Signals[name])
    out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.Signals[name]
    assert lifeline.rest() == b""
    assert out == f"x\n{name}\n"
    assert re.search(rf" interrupted after 1 run in [\d.]+ s; last run ended by {name}\n$", err)


def test_signal_reaches_all_of_the_run(start, lifeline):
    """What the command has started ends as well."""
    line = f"exec 9>{lifeline.path}; sleep 60 & echo up >&9; sleep 60"
    process = start("--", "sh", "-c", line)
    assert lifeline.line() == b"up\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert lifeline.rest() == b""


def test_signal_between_runs_ends_the_wait(start):
    """There is no further run."""
    process = start("--verbose", "--schedule", "fixed(600)", "--timeout", "none", "false")
    assert process.stderr.readline().startswith("pollwait: run 1 ended at ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.fullmatch(
        r"pollwait: 'false' interrupted after 1 run in [\d.]+ s; last exit code 1\n", err
    )


def test_second_signal_kills(start, lifeline):
    """Who asks twice does not wait for a run that takes its time to end."""
    line = f"exec 9>{lifeline.path}; trap 'echo int >&9' INT; echo up >&9; {SPIN}"
    process = start("--json", "--", "sh", "-c", line)
    assert lifeline.line() == b"up\n"
    process.send_signal(signal.SIGINT)
    assert lifeline.line() == b"int\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    report = json.loads(out)
    assert (report["outcome"], report["exit_code"]) == ("interrupted", None)
    assert lifeline.rest() == b""
    assert err == ""


def test_ignored_signal_stays_ignored(start, lifeline):
    """Under nohup a hang-up ends nothing."""
    line = f"exec 9>{lifeline.path}; echo up >&9; {SPIN}"
    nohup = ("sh", "-c", 'trap "" HUP; exec "$@"', "sh")
    process = start("--", "sh", "-c", line, before=nohup)
    assert lifeline.line() == b"up\n"
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143


def test_exit_code_is_known_where_children_are_ignored(capfd):
    """Started by a process that ignores SIGCHLD, it knows how a run ended all the same."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert main(["until", "--attempts=1", "--json", "sh", "-c", "exit 7"]) == 124
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert json.loads(capfd.readouterr().out)["exit_code"] == 7


def test_stop_and_continue_reach_the_run(start, lifeline):
    """Ctrl-Z stops the run too, and it goes on when the wait does."""
    line = f"exec 9>{lifeline.path}; echo $$ >&9; exec sleep 60"
    process = start("--", "sh", "-c", line)
    run = int(lifeline.line())
    process.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    poll(lambda: state(run) == "T", schedule=fixed(0.01), timeout=30)
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert lifeline.rest() == b""


def state(pid):
    """Return the letter by which ps tells the state of a process."""
    ps = ["ps", "-o", "stat=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, check=True, text=True).stdout[:1]


def test_signal_amid_the_start_of_a_run_leaves_nothing(monkeypatch):
    """A signal that comes before the run is known to anybody ends it as any other does."""
    popen, started = Command._popen, []

    def interrupted(self, **options):
        started.append(popen(self, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(Command, "_popen", interrupted)
    assert main(["until", "--", "sleep", "60"]) == 130
    assert [process.returncode for process in started] == [-signal.SIGINT]


def test_signal_before_the_first_run_prevents_it(tmp_path, monkeypatch, capfd):
    """Once a signal says to end, nothing is started."""
    enter = Signals.__enter__

    def told(self):
        entered = enter(self)
        os.kill(os.getpid(), signal.SIGTERM)
        return entered

    monkeypatch.setattr(Signals, "__enter__", told)
    assert main(["until", "--", "touch", str(tmp_path / "ran")]) == 143
    assert not (tmp_path / "ran").exists()
    assert re.search(r" interrupted after 0 runs in [\d.]+ s\n$", capfd.readouterr().err)


def test_waiting_for_signals_takes_its_time():
    """As an event, it is not set as long as there is no signal."""
    with Signals() as signals:
        began = time.monotonic()
        assert not signals.wait(0.01)
        assert time.monotonic() - began >= 0.01
        assert not signals.is_set()


@pytest.mark.parametrize("timeout", [30, None])
def test_waiting_for_signals_ends_with_one(timeout):
    """A signal ends the sleep; the first one counts for what it was."""
    with Signals() as signals:
        timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGTERM))
        timer.start()
        assert signals.wait(timeout)
        timer.join()
        signal.raise_signal(signal.SIGINT)
        assert signals.is_set()
        assert (signals.ended_by, signals.count) == (signal.SIGTERM, 2)


@pytest.mark.parametrize("group", [None, 4711])
def test_stop_is_for_the_process_and_its_group(monkeypatch, group):
    """The group is stopped before the process stops, and goes on after it does."""
    told = []
    with Signals() as signals:
        monkeypatch.setattr(os, "kill", lambda pid, number: told.append((pid, number)))
        monkeypatch.setattr(os, "killpg", lambda pid, number: told.append((-pid, number)))
        signals.group = group
        signal.raise_signal(signal.SIGTSTP)
        assert not signals.is_set()
        monkeypatch.undo()
    own = [(os.getpid(), signal.SIGTSTP)]
    both = [(-4711, signal.SIGSTOP), *own, (-4711, signal.SIGCONT)]
    assert told == (both if group else own)


def test_ignored_signal_is_not_noted():
    """Where a signal did nothing before, it does nothing during the wait."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            signal.raise_signal(signal.SIGHUP)
            assert not signals.is_set()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_put_back():
    """After the wait signals do what they did before, and so does whoever is woken by them."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    woken = signal.set_wakeup_fd(theirs)
    before = signal.signal(signal.SIGHUP, lambda number, frame: None)
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    try:
        assert main(["until", "true"]) == 0
        assert [signal.getsignal(number) for number in signal.valid_signals()] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)
        assert signal.set_wakeup_fd(woken) == theirs
        os.close(ours)
        os.close(theirs)


TERMINAL = """
import os, sys
os.setsid()
os.open(os.ttyname(0), os.O_RDWR)  # the first terminal that is opened becomes that of the session
from pollwait import fixed, poll
from pollwait.cli import main
sys.exit(main(["until", *sys.argv[1:]]))
"""


@pytest.fixture
def terminal():
    """Return a function that starts ``pollwait until`` on a terminal of its own."""
    import pty

    ours, theirs = pty.openpty()
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
        )
        processes.append(process)
        os.close(theirs)
        return process, ours

    yield start
    for process in processes:
        process.kill()
        process.wait()
    os.close(ours)


def shown(terminal):
    """Return what a terminal shows, until nobody writes to it any more."""
    text = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            news = os.read(terminal, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not news:
            break
        text += news
    return text.decode()


def test_run_cannot_read_the_terminal_and_is_told(terminal):
    """A command that asks a question gets an error, and is not stopped for ever."""
    process, screen = terminal("--fail-on", "3", "--", "sh", "-c", "cat </dev/tty; exit 3")
    assert "failed after 1 run" in shown(screen)
    assert process.wait(timeout=30) == 1


def test_interrupt_key_ends_the_wait_on_a_clean_line(terminal, lifeline):
    """Ctrl-C reaches the run, and the live line is gone."""
    line = f"exec 9>{lifeline.path}; trap 'exit 0' INT; echo out; echo up >&9; {SPIN}"
    process, screen = terminal("--", "sh", "-c", line)
    assert lifeline.line() == b"up\n"
    os.write(screen, b"\x03")
    text = shown(screen)
    assert process.wait(timeout=30) == 130
    assert lifeline.rest() == b""
    assert "0 s · 0 runs" in text
    assert re.search(r"\r\x1b\[Kout\r\npollwait: .* interrupted after 1 run in .*\r\n$", text)
