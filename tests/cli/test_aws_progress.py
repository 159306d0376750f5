"""What ``pollwait aws`` shows of a wait while it lasts."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timezone

import pytest
from botocore.exceptions import ClientError

from pollwait import Checked, Finished, SystemClock
from pollwait.aws._answer import Answer
from pollwait.aws._request import Request
from pollwait.cli import live
from pollwait.cli.aws import waiting
from pollwait.cli.aws.catalogue import Service
from pollwait.cli.aws.progress import Progress
from pollwait.testing import FakeClock, ec2

from .terminals import shown_until


def refusal(code):
    """Return a service's error with a code."""
    return ClientError({"Error": {"Code": code}}, "DescribeVolumes")


def volumes(*states):
    """Return a response with volumes in these states."""
    return {"Volumes": [{"State": state} for state in states]}


def of(service, waiter):
    """Return the progress of a waiter of botocore."""
    return Progress(Service(service).waiter(waiter))


def checked(value=None, error=None, attempt=1, next_delay=1.0):
    """Return the event of a check."""
    return Checked("x", attempt, 0.5 * attempt, value, error, next_delay)


@pytest.mark.parametrize(
    ("event", "seen"),
    [
        (checked(volumes("creating")), "creating"),
        (checked(volumes("creating", "available", "available")), "2 available, 1 creating"),
        (checked(volumes()), ""),
        (checked(error=refusal("Throttling")), "Throttling"),
        (checked(error=ConnectionError("no")), "ConnectionError"),
        (checked(error=ClientError({}, "X")), "an error"),
    ],
)
def test_states_are_counted_and_errors_named(event, seen):
    """The states that the acceptors look for, most first; a single one stands alone."""
    progress = of("ec2", "volume-available")
    progress(event)
    assert progress.seen == seen


def test_absent_ids_are_counted():
    """An answer for ids tells which are not there, and errors of single ids."""
    progress = of("ec2", "volume-available")
    request = Request({"VolumeIds": ["a", "b", "c"]}, None, "x")
    response = volumes("available")
    progress(checked(Answer(request, response, present=("a",), absent=("b", "c"))))
    assert progress.seen == "available, 2 not there"
    assert progress.response == response
    errors = {"b": refusal("InvalidVolume.NotFound")}
    progress(checked(Answer(request, response, present=("a",), errors=errors)))
    assert progress.seen == "available, InvalidVolume.NotFound"
    progress(checked(Answer(request, None, refusal("AuthFailure"))))
    assert progress.seen == "AuthFailure"
    assert progress.response == response


def test_states_in_nested_lists_are_counted():
    """Of instances in their reservations, say."""
    progress = of("ec2", "instance-running")
    instances = [{"State": {"Name": name}} for name in ("pending", "running")]
    progress(checked({"Reservations": [{"Instances": instances}, {"Instances": instances[:1]}]}))
    assert progress.seen == "2 pending, 1 running"


def test_waiters_without_states_show_none():
    """Where only a status or an error counts there is nothing to show but errors."""
    progress = of("s3", "bucket-exists")
    progress(checked({"ResponseMetadata": {"HTTPStatusCode": 200}}))
    assert progress.seen == ""


def test_changes_are_told_apart():
    """Each check is told of, and whether what it saw is new."""
    progress, news = of("ec2", "volume-available"), []
    progress.changed = news.append
    for state in ("creating", "creating", "available"):
        progress(checked(volumes(state)))
    progress(checked(error=RuntimeError("it ends by this"), next_delay=None))
    progress(Finished("x", "ready", 4, 2.5))
    progress("a call of a group")
    assert news == [True, False, True]
    assert (progress.attempts, progress.elapsed) == (4, 2.5)


def test_line_says_how_it_stands(monkeypatch):
    """Time, checks and states, with time going on between two checks."""
    clock = FakeClock()
    monkeypatch.setattr(SystemClock, "monotonic", lambda self: clock.monotonic())
    progress = of("ec2", "volume-available")
    assert progress.line() == "0 s · 0 checks"
    progress(checked(volumes("creating", "available")))
    clock.advance(12.25)
    assert progress.line() == "12 s · 1 check · 1 creating, 1 available"


class Terminal(io.StringIO):
    """Standard error as a terminal has it."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that lets standard error be a terminal."""

    def terminal():
        monkeypatch.setattr(sys, "stderr", Terminal())
        monkeypatch.setenv("TERM", "xterm")
        return sys.stderr

    return terminal


def test_live_line_is_written_over_and_taken_away(terminal):
    """It is shown at the start and at each change, as long as there is room."""
    shown = terminal()
    texts = iter(["one", "x" * 200])
    with live.line(lambda: next(texts)) as changed:
        changed()
    assert shown.getvalue() == f"\r\x1b[Kone\r\x1b[K{'x' * 79}\r\x1b[K"


def test_live_line_keeps_up_with_the_time(terminal, monkeypatch):
    """Between two changes it is shown again, in a thread that ends with it."""
    monkeypatch.setattr(live, "_REFRESH", 0.001)
    seen, enough = [], threading.Event()

    def text():
        seen.append(threading.current_thread())
        if len(seen) == 3:
            enough.set()
        return "x"

    terminal()
    with live.line(text):
        assert enough.wait(50)
    (other,) = {*seen} - {threading.current_thread()}
    assert seen.count(other) > 1
    assert not other.is_alive()


def test_live_line_that_cannot_be_written_ends_no_wait(terminal, monkeypatch):
    """A terminal that is gone is no error of the wait."""
    terminal().close()
    with live.line(lambda: "x") as changed:
        changed()


def test_dumb_terminals_get_no_live_line(terminal, monkeypatch):
    """Nor does a closed standard error."""
    terminal()
    assert live.is_terminal()
    monkeypatch.setenv("TERM", "dumb")
    assert not live.is_terminal()
    monkeypatch.setattr(sys, "stderr", None)
    assert not live.is_terminal()


def test_terminal_shows_the_line_while_it_waits(terminal):
    """What is shown follows the events of the wait."""
    shown = terminal()
    definition = Service("ec2").waiter("volume-available")
    with waiting._shown("ec2 volume-available", definition, quiet=False) as progress:
        progress(checked(volumes("creating")))
    assert "0 s · 1 check · creating" in shown.getvalue()


def test_json_has_times_and_bytes_as_text():
    """ISO 8601 and base64, and the text of anything else."""
    values = [datetime(2026, 1, 31, tzinfo=timezone.utc), b"hi", frozenset()]
    shown = json.loads(json.dumps(values, default=waiting._plain))
    assert shown == [
        "2026-01-31T00:00:00+00:00",
        base64.b64encode(b"hi").decode(),
        "frozenset()",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_interrupt_leaves_a_clean_terminal():
    """Ctrl-C amid the live line ends the process with 130 and no traceback."""
    import pty

    ours, theirs = pty.openpty()
    with ec2.EmbeddedEC2(ready=600, create_call=0, describe_call=0) as server:
        created = server.client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=1)
        command = "import sys; from pollwait.cli import main; sys.exit(main())"
        words = ["--volume-ids", created["VolumeId"], "--endpoint-url", server.endpoint_url]
        keys = {f"AWS_{name}": "x" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")}
        process = subprocess.Popen(
            [sys.executable, "-c", command, "aws", "ec2", "volume-available", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **keys, "AWS_DEFAULT_REGION": "us-east-1", "TERM": "xterm"},
        )
        os.close(theirs)
        try:
            shown = shown_until(ours, b"creating")
            process.send_signal(signal.SIGINT)
            shown += shown_until(ours, None)
            assert process.wait(timeout=10) == 130, shown.decode()
        finally:
            process.kill()
            process.wait()
            os.close(ours)
    *_, line, said = shown.split(b"\r\x1b[K")
    assert line.endswith(b"creating")
    assert said.startswith(b"pollwait: interrupted after 1 check in ")
    assert b"Traceback" not in shown
