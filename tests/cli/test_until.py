"""``pollwait until``: what ends it, what it says, and what it passes on."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from pollwait.cli import main
from pollwait.cli.until import child, report
from pollwait.cli.until import command as until
from pollwait.cli.until.child import Ended
from pollwait.testing import FakeClock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a shell")


@pytest.fixture
def clock(monkeypatch):
    """Let waits sleep on a fake clock; the commands themselves are instant."""
    clock = FakeClock()
    monkeypatch.setattr(until, "SYSTEM_CLOCK", clock)
    return clock


@pytest.fixture
def nth(tmp_path):
    """Return a function that makes a script whose last line runs with the number of the run in n.

    It tells how often it was run as well.
    """
    counter = tmp_path / "counter"

    def make(line):
        return ["sh", "-c", f"echo >> {counter}; n=$(($(wc -l < {counter}))); {line}"]

    make.runs = lambda: len(counter.read_text().splitlines())
    return make


@pytest.fixture
def scripted(clock, monkeypatch):
    """Return a function that replaces runs by entries (seconds, exit code), and notes limits."""

    def script(*entries):
        limits = []
        left = iter(entries)

        def run(self, limit):
            limits.append(limit)
            seconds, code = next(left)
            clock.advance(min(seconds, limit))
            if seconds > limit:
                return Ended(None, f"cut after {limit:g} s")
            return Ended(code, f"exit code {code}")

        monkeypatch.setattr(child.Command, "run", run)
        return limits

    return script


def test_until_runs_the_command_until_it_exits_with_0(clock, nth, capfd):
    """Runs follow the schedule, and the first that succeeds ends the wait with exit code 0."""
    script = nth("test $n -ge 4")
    assert main(["until", "--schedule", "exponential(0.5)", "--", *script]) == 0
    assert nth.runs() == 4
    assert clock.sleeps == [0.0, 0.5, 1.0, 2.0]
    assert capfd.readouterr() == ("", "")


def test_until_passes_on_the_last_output_alone(clock, nth, capfd):
    """Each stream of the last run goes to the same stream; those of earlier runs are not shown."""
    script = nth("echo out $n; echo err $n >&2; test $n -ge 3")
    assert main(["until", "--", *script]) == 0
    assert capfd.readouterr() == ("out 3\n", "err 3\n")


def test_until_passes_on_bytes_as_they_are(clock, capfdbinary):
    """Output that is no text arrives byte for byte."""
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 1000); sys.exit(0)"
    assert main(["until", sys.executable, "-IS", "-c", code]) == 0
    assert capfdbinary.readouterr() == (bytes(range(256)) * 1000, b"")


def test_until_says_that_output_is_left_out(clock, capfdbinary):
    """Of a long output the end is passed on, and whoever takes it for all is told."""
    code = "import sys; sys.stdout.write('x' * 2**20 + 'the end'); sys.stderr.write('?')"
    assert main(["until", sys.executable, "-IS", "-c", code]) == 0
    out, err = capfdbinary.readouterr()
    assert out == b"x" * (2**20 - 7) + b"the end"
    assert err == b"?\npollwait: the first 7 bytes of the command's stdout are left out\n"


def test_until_gives_up_at_the_timeout(clock, capfd):
    """Exit code 124, with the output of the last run and one sentence."""
    script = ["sh", "-c", "echo no; echo bad >&2; exit 22"]
    assert main(["until", "--timeout", "2.5", "--schedule", "fixed(1)", "--", *script]) == 124
    assert capfd.readouterr() == (
        "no\n",
        "bad\npollwait: \"sh -c 'echo no; echo bad >&2; exit 22'\" not ready after 4 runs in 2.5 s"
        " (timeout 2.5 s); last exit code 22\n",
    )
    assert clock.sleeps == [0.0, 1.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (["--attempts", "3"], "after 3 runs in 2 s (attempts 3)"),
        (["--schedule", "fixed(1).times(1)"], "after 2 runs in 1 s (schedule ended)"),
        (["--attempts", "1", "--timeout", "none"], "after 1 run in 0 s (attempts 1)"),
    ],
)
def test_until_gives_up_after_the_attempts_or_the_schedule(clock, capfd, limits, said):
    """Exit code 124 means that a limit was reached, whichever; the sentence says which."""
    assert main(["until", "--schedule", "fixed(1)", *limits, "false"]) == 124
    assert capfd.readouterr().err == f"pollwait: 'false' not ready {said}; last exit code 1\n"


@pytest.mark.parametrize("codes", [["--fail-on", "9,4"], ["--fail-on", "9", "--fail-on=4"]])
def test_until_fails_on_given_exit_codes(clock, nth, capfd, codes):
    """A code of --fail-on ends the wait at once with exit code 1; others do not."""
    assert main(["until", *codes, "--schedule", "fixed(1)", "--", *nth("exit $((n + 1))")]) == 1
    assert nth.runs() == 3
    assert capfd.readouterr().err.endswith("failed after 3 runs in 2 s; last exit code 4\n")


def test_until_counts_a_deadly_signal_as_shells_do(clock, capfd):
    """A command that dies of signal N has the exit code 128 + N, by which --fail-on knows it."""
    assert main(["until", "--fail-on", "139", "--", "sh", "-c", "kill -SEGV $$"]) == 1
    assert capfd.readouterr().err.endswith("last exit code 139 (SIGSEGV)\n")
    assert main(["until", "--attempts=1", "--", "sh", "-c", "kill -40 $$"]) == 124
    assert capfd.readouterr().err.endswith("last exit code 168 (signal 40)\n")


def test_run_ends_about_the_deadline(scripted, clock, capfd):
    """No run outlasts the deadline by more than the second that one is given which starts there."""
    limits = scripted((3.0, 1), (99.0, 0))
    assert main(["until", "--timeout", "10", "--schedule", "fixed(4)", "x"]) == 124
    assert limits == [11.0, 4.0]
    assert clock.monotonic() == 11.0
    assert capfd.readouterr().err == (
        "pollwait: 'x' not ready after 2 runs in 11 s (timeout 10 s); last run cut after 4 s\n"
    )


def test_run_that_starts_at_the_deadline_may_succeed(scripted, clock):
    """With a timeout of 0 there is one run, and it has a second."""
    limits = scripted((0.75, 0))
    assert main(["until", "--timeout", "0", "x"]) == 0
    assert limits == [1.0]


def test_each_run_is_limited_by_the_attempt_timeout(scripted, clock, capfd):
    """A run that is cut is not ready, and the next comes in its turn."""
    limits = scripted((9.0, 0), (1.0, 1), (1.0, 0))
    arguments = ["--attempt-timeout", "2", "--timeout", "none", "--schedule", "fixed(1)"]
    assert main(["until", "--verbose", *arguments, "x"]) == 0
    assert limits == [2.0, 2.0, 2.0]
    assert clock.monotonic() == 6.0
    assert capfd.readouterr().err.splitlines() == [
        "pollwait: run 1 ended at 2 s: cut after 2 s; next in 1 s",
        "pollwait: run 2 ended at 4 s: exit code 1; next in 1 s",
        "pollwait: run 3 ended at 6 s: exit code 0",
    ]


@pytest.mark.parametrize(("attempt_timeout", "limit"), [("9", 9.0), ("12", 11.0)])
def test_the_nearer_limit_holds(scripted, attempt_timeout, limit):
    """A run is limited by its own time and by what is left of the wait's."""
    limits = scripted((1.0, 0))
    assert main(["until", "--timeout", "10", "--attempt-timeout", attempt_timeout, "x"]) == 0
    assert limits == [limit]


def test_runs_have_no_limit_where_none_is_given(scripted):
    """Waiting for ever leaves each run its time."""
    limits = scripted((1e6, 0))
    assert main(["until", "--timeout", "none", "x"]) == 0
    assert limits == [float("inf")]


@pytest.mark.parametrize(
    ("given", "seconds"), [(["--timeout", "1m30s"], 90.0), (["--timeout=2h"], 7200.0), ([], 60.0)]
)
def test_timeout_is_a_minute_or_a_duration(scripted, given, seconds):
    """Durations may have units; without any the wait is over after a minute."""
    limits = scripted((0, 0))
    assert main(["until", *given, "x"]) == 0
    assert limits == [seconds + 1.0]


def test_default_schedule_looks_at_once_and_later_every_few_seconds():
    """Delays start at a quarter of a second and reach 5 s."""
    first, second, *_, nineteenth, last = until.SCHEDULE.preview(20)
    assert (first.latest, second.latest) == (0.0, 0.25)
    assert last.latest - nineteenth.latest == 5.0


def test_verbose_passes_on_every_output(clock, nth, capfd):
    """With --verbose the output of every run comes as it is written."""
    script = nth("echo out $n; echo err $n >&2; test $n -ge 2")
    assert main(["until", "-v", "--schedule", "fixed(1)", "--", *script]) == 0
    out, err = capfd.readouterr()
    assert out == "out 1\nout 2\n"
    assert err.splitlines() == [
        "err 1",
        "pollwait: run 1 ended at 0 s: exit code 1; next in 1 s",
        "err 2",
        "pollwait: run 2 ended at 1 s: exit code 0",
    ]


@pytest.mark.parametrize(("line", "code"), [("echo x; echo y >&2", 0), ("echo x; exit 3", 1)])
def test_quiet_prints_nothing(clock, capfd, line, code):
    """With --quiet there is no more than the exit code."""
    assert main(["until", "--quiet", "--fail-on", "3", "--", "sh", "-c", line]) == code
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_json_is_one_object(clock, nth, capfd, quiet):
    """With --json all that is known goes to stdout as one object, and nothing to stderr."""
    script = nth("printf 'out\\377'; printf 'err\\377' >&2; test $n -ge 2")
    assert main(["until", "--json", *quiet, "--schedule", "fixed(1)", "--", *script]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out) == {
        "command": script,
        "outcome": "ready",
        "elapsed": 1.0,
        "attempts": 2,
        "exit_code": 0,
        "error": None,
        "stdout": "out\ufffd",
        "stderr": "err\ufffd",
        "truncated": False,
    }
    assert err == ""


@pytest.mark.parametrize(
    ("options", "code", "outcome", "exit_code"),
    [
        (["--attempts", "1"], 124, "timed out", 5),
        (["--fail-on", "5"], 1, "failed", 5),
    ],
)
def test_json_tells_why_it_is_not_ready(clock, capfd, options, code, outcome, exit_code):
    """An end that is not good has its outcome and its sentence."""
    assert main(["until", "--json", *options, "sh", "-c", "exit 5"]) == code
    report = json.loads(capfd.readouterr().out)
    assert (report["outcome"], report["exit_code"]) == (outcome, exit_code)
    assert report["error"].startswith("\"sh -c 'exit 5'\" ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--attempts", "1", "--", "sh", "-c", "exit 9"],
        ["--attempts", "1", "sh", "-c", "exit 9"],
        ["--attempts=1", "sh", "-c", "exit 9", "--", "--json"],
        ["--attempts=1", "--", "sh", "-c", 'test "$1" = --attempt && exit 9', "sh", "--attempt"],
        ["--attempts=1", "sh", "-c", 'test "$1" = --attempt && exit 9', "sh", "--attempt", "-v"],
        ["--attempts=1", "--", "sh", "-c", 'test "$1" = -- && exit 9', "sh", "--"],
    ],
)
def test_options_of_the_command_are_its_own(clock, capfd, arguments):
    """All from the command on is left to it, with or without ``--`` before."""
    assert main(["until", *arguments]) == 124
    assert capfd.readouterr().err.endswith("last exit code 9\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "until needs a command, as in: pollwait until -- test -e /tmp/ready"),
        (["--"], "until needs a command, as in: pollwait until -- test -e /tmp/ready"),
        (["no-such-command"], "cannot run 'no-such-command': No such file or directory"),
        (["/"], "cannot run '/': Permission denied"),
        (
            ["test -e x"],
            "cannot run 'test -e x': No such file or directory; a line for the shell is run by:"
            " sh -c 'LINE'",
        ),
        (["--json", "-v", "x"], "--verbose writes where --json does: give one of them"),
    ],
)
def test_what_cannot_be_run_is_one_line(clock, capfd, arguments, said):
    """A call that can never succeed ends at once with exit code 2."""
    assert main(["until", *arguments]) == 2
    assert capfd.readouterr() == ("", f"pollwait: {said}\n")
    assert clock.monotonic() == 0.0


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--timeout=soon", "argument --timeout: must be seconds"),
        ("--attempt-timeout=0", "argument --attempt-timeout: must be above 0 seconds: got '0'"),
        ("--attempts=0", "argument --attempts: must be a number from 1 up: got '0'"),
        ("--attempts=x", "argument --attempts: must be a number from 1 up: got 'x'"),
        ("--fail-on=0", "argument --fail-on: must be numbers from 1 to 255, such as 3 or 3,4"),
        ("--fail-on=3,x", "argument --fail-on: must be numbers from 1 to 255, such as 3 or 3,4"),
        ("--schedule=fixd(3)", "at column 1: there is no function fixd (did you mean fixed?)"),
    ],
)
def test_wrong_options_are_usage_errors(capfd, option, said):
    """An option that cannot be read is named, with what it may be."""
    with pytest.raises(SystemExit) as caught:
        main(["until", option, "true"])
    assert caught.value.code == 2
    assert said in capfd.readouterr().err


def test_command_reads_no_input(clock, capfd):
    """The command finds its input at the end, and pollwait's own is left to others."""
    ours, theirs = os.pipe()
    os.write(theirs, b"input")
    os.close(theirs)
    before = os.dup(0)
    os.dup2(ours, 0)
    try:
        assert main(["until", "--attempts=1", "--", "cat"]) == 0
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert capfd.readouterr() == ("", "")
    assert os.read(ours, 9) == b"input"
    os.close(ours)


def test_output_goes_where_streams_take_text_alone(clock, monkeypatch):
    """In a notebook, whose streams have no bytes, the output is decoded."""

    class Notebook(io.StringIO):
        buffer = None

    monkeypatch.setattr(sys, "stdout", Notebook())
    assert main(["until", "printf", "a\\377b"]) == 0
    assert sys.stdout.getvalue() == "a\ufffdb"


@pytest.mark.parametrize(("closed", "out"), [(["stderr"], "x\n"), (["stdout", "stderr"], "")])
def test_closed_streams_are_no_error(clock, monkeypatch, capfd, closed, out):
    """Where streams are closed, the exit code still tells, and nothing goes astray."""
    for name in closed:
        monkeypatch.setattr(sys, name, None)
    assert main(["until", "--attempts=1", "--", "sh", "-c", "echo x; echo y >&2; exit 3"]) == 124
    assert capfd.readouterr() == (out, "")


class Terminal(io.StringIO):
    """A terminal, as far as anybody asks."""

    def isatty(self):
        return True


def test_live_line_shows_the_time_and_the_runs(scripted, clock, monkeypatch):
    """On a terminal one line tells of the wait, and is gone in the end."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    scripted((1.0, 7), (1.0, 1), (2.0, 0))
    assert main(["until", "--schedule", "fixed(10)", "x"]) == 0
    assert sys.stderr.getvalue().split(report._CLEAR) == [
        "",
        "1 s · 1 run · last exit code 7",
        "12 s · 2 runs · last exit code 1",
        "24 s · 3 runs · last exit code 0",
        "",
    ]


def test_live_line_moves_during_the_first_run(clock, monkeypatch):
    """At each beat the time is shown, also before anything is known."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with report.Watch("live", clock) as watch:
        clock.advance(3)
        watch.beat()
    clear = report._CLEAR
    assert sys.stderr.getvalue() == f"{clear}3 s · 0 runs{clear}"


@pytest.mark.parametrize(("term", "option"), [("dumb", "--json"), ("xterm", "--quiet")])
def test_live_line_is_for_terminals_that_can(scripted, monkeypatch, term, option):
    """A terminal that cannot erase gets no live line, and nor does who wants quiet."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", term)
    scripted((1.0, 0))
    assert main(["until", option, "x"]) == 0
    assert sys.stderr.getvalue() == ""
