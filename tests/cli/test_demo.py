"""``pollwait demo``, with quick volumes and ways that hardly wait."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import pytest

from pollwait import evaluate, fixed, sequence
from pollwait.aws import VolumeAvailableWaiter
from pollwait.cli import main
from pollwait.cli.demo import command as demo
from pollwait.cli.demo import race
from pollwait.testing import FakeClock, ec2

from .terminals import shown_until


@pytest.fixture
def quick(monkeypatch):
    """Make volumes ready after 30 ms and let every way look every 10 ms."""
    embedded = ec2.EmbeddedEC2

    def make(seed):
        return embedded(seed=seed, ready=0.03, create_call=0, describe_call=0)

    def ways(server, seed):
        made = []
        for name in race.MEANINGS:
            client = server.client("ec2")
            schedule = sequence(0) + fixed(0.01)
            waiter = VolumeAvailableWaiter(client, schedule=schedule)
            made.append(
                race.Way(name, lambda volume, waiter=waiter: waiter.wait(volume, timeout=9))
            )
            made[-1].count(client)
        return made

    monkeypatch.setattr(ec2, "EmbeddedEC2", make)
    monkeypatch.setattr(race, "ways", ways)
    monkeypatch.setattr(race, "SPACING", 0.01)


def test_demo_prints_a_table_and_a_sentence(quick, capsys):
    """Without a terminal it prints plain lines, the table, and what it means."""
    assert main(["demo", "--volumes", "4"]) == 0
    out = capsys.readouterr().out
    counts = "; ".join(f"{name} 4" for name in race.MEANINGS)
    assert f"noticed of 4: {counts}" in out
    words = ["p10", "p50", "p90", "p99", "overshoot", "calls", "On average botocore's waiter"]
    for word in [*words, *race.MEANINGS, *race.MEANINGS.values()]:
        assert word in out


def test_demo_prints_one_json_object(quick, capsys):
    """With --json the output is one object: every volume was created, awaited and counted."""
    assert main(["demo", "--volumes", "3", "--seed", "7", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["volumes"], report["seed"], len(report["ways"])) == (3, 7, 5)
    for way in report["ways"]:
        assert 0.03 <= way["p10"] <= way["p50"] <= way["p90"] <= way["p99"]
        assert way["describe_calls"] >= 1
        assert way["mean_overshoot"] > 0


def test_demo_shows_bars_on_a_terminal(quick, monkeypatch, capsys):
    """On a terminal each way has a bar and its count of calls."""
    from rich.console import Console

    console = Console(force_terminal=True, width=120)
    monkeypatch.setattr(demo, "_console", lambda quiet: console)
    assert main(["demo", "--volumes", "2"]) == 0
    assert "2/2" in capsys.readouterr().out


def test_ways_are_those_that_are_compared(monkeypatch):
    """Each way waits for a volume by itself, and its calls are counted by themselves."""
    for name in ("VolumeAvailableWaiter", "PollGroup", "poll"):
        monkeypatch.setattr(race, name, partial(getattr(race, name), clock=FakeClock()))
    with ec2.EmbeddedEC2(ready=0, create_call=0, describe_call=0) as server:
        contestants = race.ways(server, seed=1)
        volume = server.client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=1)
        for way in contestants:
            way.wait(volume["VolumeId"])
        assert [(way.name, way.calls) for way in contestants] == [
            ("botocore's waiter", 1),
            ("naive 1 s loop", 1),
            ("pollwait, fitted", 1),
            ("pollwait, shared", 1),
            ("pollwait, by model", 1),
        ]


def test_earlier_volumes_are_replayed_by_the_seed():
    """What some ways know of others like it depends on the seed alone."""
    known = race.earlier_waits(1)
    assert known == race.earlier_waits(1) != race.earlier_waits(2)
    assert len(known) == race.EARLIER
    assert 0.5 < min(known) < max(known) < 5.122


def test_fitted_schedule_makes_no_more_checks_than_the_waiter():
    """It is expected to notice far sooner with no more checks than the waiter's own schedule."""
    known = race.earlier_waits(1)
    fitted = evaluate(race.fitted_schedule(known), known, check_duration=0.141, sees_at=0.5)
    waiter = evaluate(race.SCHEDULE, known, check_duration=0.141, sees_at=0.5)
    assert fitted.checks <= waiter.checks
    assert fitted.overshoot < 0.5 * waiter.overshoot


def test_requests_are_spread_over_the_demo():
    """Volumes are requested one by one, at times that a seed replays."""
    times = race.arrivals(50, seed=1)
    assert times == race.arrivals(50, seed=1) != race.arrivals(50, seed=2)
    assert len(set(times)) == 50
    assert max(gap for gap in map(float.__sub__, times[1:], times)) < 2
    assert 0 <= times[0] < 1 < 9 < times[-1] <= 50 * race.SPACING


def test_error_in_a_thread_ends_the_demo(quick, monkeypatch):
    """What a way raises is raised by the command, and nothing waits for its notices."""

    def broken(volume):
        raise LookupError(volume)

    monkeypatch.setattr(race, "ways", lambda server, seed: [race.Way("broken", broken)])
    with pytest.raises(LookupError, match="vol-"):
        main(["demo", "--volumes", "2"])


@pytest.mark.parametrize("volumes", ["0", "-1", "301", "many", "1.5", ""])
def test_volumes_must_be_a_sensible_count(volumes, capsys):
    """A count that cannot be run is a usage error."""
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--volumes", volumes])
    assert caught.value.code == 2
    said = f"argument --volumes: must be a number from 1 to 300: got {volumes!r}"
    assert said in capsys.readouterr().err


def test_interrupt_exits_with_130(monkeypatch):
    """Ctrl-C is no traceback."""

    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130


HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"


def test_interrupt_of_the_starting_display_shows_the_cursor(quick, monkeypatch):
    """Ctrl-C gives the cursor back even if the live display has done no more than hide it."""
    from rich.console import Console
    from rich.progress import Progress

    def interrupted(progress):
        progress.console.show_cursor(False)
        raise KeyboardInterrupt

    console = Console(force_terminal=True, file=io.StringIO())
    monkeypatch.setattr(demo, "_console", lambda quiet: console)
    monkeypatch.setattr(Progress, "start", interrupted)
    assert main(["demo", "--volumes", "1"]) == 130
    assert console.file.getvalue().endswith((HIDE_CURSOR + SHOW_CURSOR).decode())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_interrupt_leaves_a_clean_terminal():
    """Ctrl-C amid the live display ends the process, with the cursor back and no traceback."""
    import pty

    ours, theirs = pty.openpty()
    command = "import sys; from pollwait.cli import main; sys.exit(main(['demo']))"
    process = subprocess.Popen(
        [sys.executable, "-c", command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    try:
        shown = shown_until(ours, HIDE_CURSOR)
        process.send_signal(signal.SIGINT)
        shown += shown_until(ours, None)
        assert process.wait(timeout=10) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert HIDE_CURSOR in shown
    assert shown.endswith(SHOW_CURSOR)
    assert b"Traceback" not in shown


@pytest.fixture
def unread(monkeypatch):
    """Return a function that makes the standard output a pipe which nobody reads."""

    @contextmanager
    def unread():
        reader, writer = os.pipe()
        os.close(reader)
        with monkeypatch.context() as patch, os.fdopen(writer, "w") as output:
            patch.setattr(sys, "stdout", output)
            yield

    return unread


@pytest.mark.parametrize("command", [["demo", "--volumes", "1"], ["demo", "--volumes=1", "--json"]])
def test_output_that_nobody_reads_ends_the_demo_in_silence(quick, unread, capfd, command):
    """As in ``pollwait demo | head -1``: exit code 141, and no word about it, at exit either."""
    with unread():
        assert main(command) == 141
    assert capfd.readouterr().err == ""


def test_help_that_nobody_reads_ends_in_silence(unread, capfd):
    """What is left in the buffer of the output is not lamented either."""
    with unread():
        assert main(["--version"]) == 141
    assert capfd.readouterr().err == ""


def test_broken_pipe_is_survived_without_a_file(monkeypatch, capsys):
    """Where the output is no file, as in a notebook, there is just the exit code."""

    def broken(options):
        raise BrokenPipeError

    monkeypatch.setattr(demo, "run", broken)
    assert main(["demo"]) == 141


@pytest.mark.parametrize("columns", ["40", "120"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_demo_prints_in_any_encoding(quick, monkeypatch, columns, encoding):
    """Where the output takes no lines and dots, the table is drawn with what it takes."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["demo", "--volumes", "1"]) == 0
    assert "+----" in written.getvalue().decode("ascii")


def test_demo_keeps_the_error_handler_it_is_given(quick, monkeypatch):
    """Whoever says how to write what cannot be encoded is obeyed."""
    written = io.BytesIO()
    output = io.TextIOWrapper(written, encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["demo", "--volumes", "1"]) == 0
    assert rb"\u2026" in written.getvalue()


def test_setting_that_cannot_work_is_one_line(monkeypatch, capsys):
    """With MOTO_ACCOUNT_ID set, the demo says so and exits as for any wrong call."""
    monkeypatch.setenv("MOTO_ACCOUNT_ID", "123456789012")
    assert main(["demo", "--volumes", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pollwait: the environment variable MOTO_ACCOUNT_ID must not be set")


def test_missing_extra_is_named(monkeypatch, capsys):
    """Without the packages of the demo the command says which extra to install."""
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["demo", "--volumes", "1"]) == 2
    assert 'pip install "pollwait[demo]"' in capsys.readouterr().err


def test_no_command_is_a_usage_error(capsys):
    """The command line by itself says how it is used."""
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "usage: pollwait" in capsys.readouterr().err
