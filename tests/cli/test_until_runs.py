"""``pollwait until`` and processes: what is cut goes with all that it has started."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from pollwait.cli import main
from pollwait.cli.until import child, signals
from pollwait.cli.until.child import Command
from pollwait.cli.until.signals import Signals

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups"),
    pytest.mark.real_time,
]

SPIN = "while :; do sleep 0.01; done"
ONCE = ["until", "--attempts=1"]
CUT = [*ONCE, "--timeout=none", "--attempt-timeout=500"]


@pytest.fixture(autouse=True)
def cut_when_up(lifeline, monkeypatch):
    """Let the time of the first run be over once it has written a line to the lifeline."""

    class Time:
        readings = 0
        passed = 0.0

        def monotonic(self):
            self.readings += 1  # from the first one on the time of the first run counts
            if self.readings > 1 and not self.passed and lifeline.said() == b"up\n":
                self.passed = 1000.0
            return time.monotonic() + self.passed

    monkeypatch.setattr(child, "time", Time())
    monkeypatch.setattr(signals, "BEAT", 0.01)


@pytest.fixture
def patient(monkeypatch):
    """Never kill: who does not end when asked makes the test hang."""
    monkeypatch.setattr(child, "KILL_AFTER", 600)


@pytest.fixture
def impatient(monkeypatch):
    """Kill soon after asking."""
    monkeypatch.setattr(child, "KILL_AFTER", 0.05)


def shell(lifeline, line):
    """Return the arguments by which a shell runs a line."""
    return ["--", "sh", "-c", f"exec 9>{lifeline.path}; {line}"]


def test_cut_run_is_asked_to_end(lifeline, patient, capfd):
    """A run that takes too long gets SIGTERM, and what it says then is passed on."""
    line = f"trap 'echo bye; exit 0' TERM; echo hi; echo up >&9; {SPIN}"
    assert main([*CUT, *shell(lifeline, line)]) == 124
    assert lifeline.rest() == b""
    out, err = capfd.readouterr()
    assert out == "hi\nbye\n"
    assert err.endswith(" (attempts 1); last run cut after 500 s\n")


@pytest.mark.parametrize("background", ["", "sleep 60 & ", "(sleep 60 & sleep 60) & "])
def test_cut_run_takes_all_that_it_started_along(lifeline, patient, background):
    """Children and grandchildren in the group of a run end with it."""
    assert main([*CUT, "-q", *shell(lifeline, f"{background}echo up >&9; sleep 60")]) == 124
    assert lifeline.rest() == b""


def test_run_that_refuses_is_killed(lifeline, impatient):
    """Who ignores SIGTERM gets SIGKILL a while later, and so do its children."""
    line = "trap '' TERM; sleep 60 & echo up >&9; sleep 60"
    assert main([*CUT, *shell(lifeline, line)]) == 124
    assert lifeline.rest() == b""


def test_children_have_time_to_end_after_their_parent(lifeline, patient):
    """The group has its time to end also where the command itself ends at once."""
    child = "trap 'sleep 0.05; echo done >&9; exit' TERM; echo up >&9; " + SPIN
    code = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], close_fds=False)\n"
        "time.sleep(60)\n"
    )
    run = shell(lifeline, f'exec {sys.executable} -IS -c "$@"')
    assert main([*CUT, *run, "sh", code, "sh", "-c", child]) == 124
    assert lifeline.rest() == b"done\n"


def test_stopped_run_is_cut(lifeline, patient):
    """A run that is stopped, and so hears nothing, is woken to end."""
    assert main([*CUT, *shell(lifeline, "echo up >&9; kill -STOP $$")]) == 124
    assert lifeline.rest() == b""


def test_run_that_writes_without_end_is_cut_and_bounded(lifeline, patient, capfdbinary):
    """However much a run writes, the end of it is what is kept."""
    line = "head -c 3000000 /dev/zero; echo up >&9; exec yes"
    assert main([*CUT, *shell(lifeline, line)]) == 124
    assert lifeline.rest() == b""
    out, err = capfdbinary.readouterr()
    assert len(out) == 2**20
    assert b"bytes of the command's stdout are left out\n" in err


def test_what_a_run_leaves_behind_is_left_alone(lifeline, capfd):
    """A run is over when its command ends, and what that leaves in the background lives on."""
    assert main([*ONCE, *shell(lifeline, "sleep 60 & echo $!")]) == 0
    assert lifeline.is_held()
    os.kill(int(capfd.readouterr().out), signal.SIGKILL)
    assert lifeline.rest() == b""


def test_chatterer_left_behind_is_not_listened_to(lifeline, capfd):
    """A background process that writes for ever does not keep the run from being over."""
    assert main([*ONCE, *shell(lifeline, "yes &")]) == 0
    assert lifeline.rest() == b""  # it died of its closed output
    assert set(capfd.readouterr().out.split()) <= {"y"}


def test_run_without_output_is_followed_to_its_end(lifeline, capfd):
    """A command that closes its output is over when it ends, and not before."""
    assert main([*ONCE, *shell(lifeline, "exec >&- 2>&-; sleep 0.05; exit 3")]) == 124
    assert "last exit code 3" in capfd.readouterr().err


def test_end_of_a_run_is_noticed_at_once(lifeline, monkeypatch):
    """The end of a run ends the sleep that waits for it."""
    monkeypatch.setattr(signals, "BEAT", 600)
    assert main(["until", "--verbose", "--timeout", "none", "sleep", "0.05"]) == 0


def test_until_works_on_any_thread(lifeline, patient, capfd):
    """On a thread that is not the main one there are no signals, and all else is the same."""
    codes = []

    def run():
        codes.append(main([*CUT, *shell(lifeline, "echo up >&9; sleep 60")]))
        codes.append(main([*ONCE, *shell(lifeline, "echo x; sleep 0.05; exit 3")]))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(50)
    assert codes == [124, 124]
    assert lifeline.rest() == b""
    assert capfd.readouterr().out == "x\n"


def test_error_while_a_run_is_followed_kills_it(lifeline, tmp_path):
    """Whatever goes wrong here, no process is left."""
    up = tmp_path / "up"

    def broken():
        if up.exists():
            raise LookupError

    run = shell(lifeline, f"touch {up}; sleep 60")[1:]
    with pytest.raises(LookupError), Signals(broken) as told:
        Command(run, told, "keep").run(600)
    assert lifeline.rest() == b""


def test_command_that_vanishes_ends_the_wait(tmp_path, capfd):
    """A command that was there and is no more is a usage error too."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nrm $0\nexit 1\n")
    script.chmod(0o755)
    assert main(["until", "--schedule", "fixed(0)", str(script)]) == 2
    assert "cannot run" in capfd.readouterr().err


def test_nothing_is_left_open(lifeline, capfd):
    """A wait gives back what it has opened, also after runs that were cut or left pipes open."""
    before = len(os.listdir("/dev/fd"))
    for line in ("echo up >&9; sleep 60", "exit 0", "sleep 60 & echo $!"):
        main([*CUT, *shell(lifeline, line)])
    assert len(os.listdir("/dev/fd")) == before
    os.kill(int(capfd.readouterr().out), signal.SIGKILL)


def test_no_zombie_is_left(lifeline, patient):
    """Whatever ends under the wait is taken note of."""
    main([*CUT, *shell(lifeline, "sleep 60 & echo up >&9; sleep 60")])
    main(["until", "true"])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
