"""Latency logs: what waits tell of how long they took, in memory and in files."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import pollwait
from pollwait import Checked, Finished, PollError, PollGroup, exponential, fixed, poll
from pollwait._core.latency import LatencyModel
from pollwait._latency_log import LatencyLog
from pollwait._sample_files import _to_the_end, read_samples
from pollwait.testing import FakeClock


def waited(log: LatencyLog, ready_at: float, **options: Any) -> None:
    """Wait for a thing that is ready at a time, and let the log listen."""
    clock = FakeClock()
    arguments: dict[str, Any] = {"schedule": fixed(0.5), "timeout": 4, "name": "db", **options}
    with suppress(PollError):
        poll(lambda: clock.monotonic() >= ready_at, clock=clock, on_event=log, **arguments)


def ended(name: str, reason: Any, elapsed: float, not_ready_at: float | None = None) -> Finished:
    """Return the end of some wait."""
    return Finished(name, reason, 1, elapsed, not_ready_at=not_ready_at)


def test_log_notes_between_which_checks_it_became_ready():
    """A wait gives the last check that did not find it ready, and the one that did."""
    log = LatencyLog()
    waited(log, 1.25)
    waited(log, 2.0, schedule=exponential(0.5))
    waited(log, 0.0)
    assert log.samples == [(1.0, 1.5), (1.5, 3.5), 0.0]
    assert len(log) == 3
    assert repr(log) == "<LatencyLog of 3 samples, path=None>"


def test_log_counts_the_time_that_checks_take():
    """Times are those at which checks ended."""
    clock, log = FakeClock(), LatencyLog()

    def check() -> bool:
        clock.sleep(0.25)
        return clock.monotonic() > 1

    poll(check, schedule=fixed(0.5), timeout=9, clock=clock, on_event=log)
    assert log.samples == [(1.0, 1.75)]


def test_log_notes_a_first_check_that_succeeds():
    """If the first check finds it ready, it became so some time before."""
    log = LatencyLog()
    waited(log, 1.25, schedule=fixed(0.5).after(2))
    assert log.samples == [(0.0, 2.0)]


@pytest.mark.parametrize(
    ("options", "sample"),
    [
        ({"timeout": 1.25}, (1.25, None)),
        ({"max_attempts": 3}, (1.0, None)),
        ({"schedule": fixed(0.5).times(1), "timeout": None}, (0.5, None)),
    ],
)
def test_log_notes_how_long_it_was_waited_in_vain(options, sample):
    """A wait that ended by a limit took longer than until its last check."""
    log = LatencyLog()
    waited(log, 9.0, **options)
    assert log.samples == [sample]


@pytest.mark.parametrize("time", [0.5, 1.0])
def test_log_notes_a_cancelled_wait_up_to_its_last_check(time):
    """A wait that was cancelled tells as much as it has seen; nothing if it has not looked."""
    clock, log, cancel = FakeClock(), LatencyLog(), threading.Event()
    schedule = fixed(0.5).after(0.5)

    def check() -> bool:
        if clock.monotonic() >= time:
            cancel.set()
        return False

    for _ in range(2):
        with pytest.raises(PollError):
            poll(check, schedule=schedule, timeout=9, cancel=cancel, clock=clock, on_event=log)
    assert log.samples == [(time, None)]


@pytest.mark.parametrize("options", [{"fail": lambda value: True}, {"until": lambda value: 1 / 0}])
def test_log_leaves_out_what_failed(options):
    """A failure, or an error that passes through, says nothing of when it would be ready."""
    log = LatencyLog()
    with suppress(ZeroDivisionError):
        waited(log, 9.0, **options)
    assert log.samples == []


def test_log_counts_retried_errors_as_not_ready():
    """While a check raises what is retried, the thing is not ready."""
    clock, log = FakeClock(), LatencyLog()

    def check() -> bool:
        if clock.monotonic() < 1.25:
            raise ConnectionRefusedError
        return True

    poll(check, retry_on=OSError, schedule=fixed(0.5), timeout=9, clock=clock, on_event=log)
    assert log.samples == [(1.0, 1.5)]


def test_log_serves_waits_that_run_at_once():
    """Waits of one name, interleaved in any way, each give their own sample."""
    log = LatencyLog()
    events = [
        Checked("db", 1, 0.0, False, None, 1.0),
        Checked("db", 1, 0.0, False, None, 5.0),
        Checked("db", 2, 1.0, True),
        ended("db", "ready", 1.0, 0.0),
        ended("db", "ready", 5.0, 4.0),
    ]
    for event in events:
        log(event)
    assert log.samples == [(0.0, 1.0), (4.0, 5.0)]


def test_log_listens_to_groups():
    """Waits of a group tell the same, each of its own key."""
    clock, log = FakeClock(), LatencyLog(name="b")

    def fetch(keys: list[str]) -> dict[str, bool]:
        return {key: clock.monotonic() >= {"a": 0.25, "b": 1.25}[key] for key in keys}

    group = PollGroup(
        fetch, max_size=9, min_gap=0.5, schedule=fixed(0.5), clock=clock, on_event=log
    )
    with group:
        group.wait_many(["a", "b"], timeout=9)
    [(low, high)] = log.samples  # type: ignore[misc]
    assert high - low == 0.5
    assert low < 1.25 <= high


def test_log_takes_only_waits_of_its_name():
    """With a name, waits of other names pass by."""
    log = LatencyLog(name="db")
    waited(log, 1.25)
    waited(log, 1.25, name="web")
    assert log.samples == [(1.0, 1.5)]


def test_log_keeps_the_newest_in_memory():
    """Memory is bounded: the oldest samples make room."""
    log = LatencyLog(memory=2)
    for time in (1.0, 2.0, 3.0):
        log(ended("db", "ready", time, time))
    assert log.samples == [2.0, 3.0]
    with pytest.raises(ValueError, match="memory must be >= 1: got memory=0"):
        LatencyLog(memory=0)


def test_log_makes_a_model():
    """The model of a log has seen its samples."""
    log = LatencyLog()
    waited(log, 1.25)
    waited(log, 9.0)
    assert log.model(memory=50) == LatencyModel([(1.0, 1.5), (4.0, None)], memory=50)


def test_log_ignores_other_events():
    """What is no end of a wait, such as a group's or a batcher's news, is passed over."""
    log = LatencyLog()
    log("news")
    log(Checked("db", 1, 0.5, True))
    assert log.samples == []


def test_log_writes_lines_that_it_reads_again(tmp_path: Path):
    """A file holds one object a line, and a new log on it goes on where the old one was."""
    path = tmp_path / "waits.jsonl"
    log = LatencyLog(path)
    assert path.read_bytes() == b""
    waited(log, 1.25)
    waited(log, 9.0, name="wéb")
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"name": "db", "not_ready_at": 1.0, "ready_at": 1.5},
        {"name": "wéb", "not_ready_at": 4.0, "ready_at": None},
    ]
    again = LatencyLog(str(path), name="db")
    waited(again, 0.75)
    assert again.samples == [(1.0, 1.5), (0.5, 1.0)]
    loaded = LatencyLog.load(path, memory=2)
    assert loaded.samples == [(4.0, None), (0.5, 1.0)]
    waited(loaded, 0.75)
    assert len(path.read_text().splitlines()) == 3


def test_log_begins_a_line_of_its_own_after_a_torn_one(tmp_path: Path, caplog):
    """What a crash has left of a line spoils no other; reading leaves it out and says so."""
    path = tmp_path / "waits.jsonl"
    path.write_text('{"name": "db", "not_ready_at": 1, "ready_at": 2}\n{"name": "db", "not_r')
    with caplog.at_level(logging.WARNING, "pollwait"):
        log = LatencyLog(path)
    assert log.samples == [(1.0, 2.0)]
    assert caplog.messages == [f'{path}, line 2 is torn off and left out: {{"name": "db", "not_r']
    waited(log, 1.25)
    assert LatencyLog.load(path).samples == [(1.0, 2.0), (1.0, 1.5)]


def test_log_of_several_processes_loses_and_tears_nothing(tmp_path: Path):
    """Processes that append to one file at once leave each line whole."""
    path = tmp_path / "waits.jsonl"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pollwait import Finished\n"
        "from pollwait._latency_log import LatencyLog\n"
        "log, name = LatencyLog(sys.argv[2]), sys.argv[3] * 5000\n"
        "for at in range(150): log(Finished(name, 'ready', 1, at + 1.0, not_ready_at=at))\n"
    )
    source = str(Path(pollwait.__file__).parent.parent)
    processes = [
        subprocess.Popen([sys.executable, "-c", code, source, str(path), name]) for name in "abc"
    ]
    assert [process.wait(timeout=50) for process in processes] == [0, 0, 0]
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for name in "abc":
        mine = [line["ready_at"] for line in found if line["name"] == name * 5000]
        assert mine == [at + 1.0 for at in range(150)]
    assert len(found) == 450


@pytest.mark.skipif(sys.platform == "win32", reason="locks are made otherwise there")
def test_log_writes_under_a_lock(tmp_path: Path, monkeypatch):
    """Others that lock the file wait until a line is whole, where appending alone is not enough."""
    import fcntl

    log, write, told = LatencyLog(tmp_path / "waits.jsonl"), os.write, []
    monkeypatch.setattr(fcntl, "flock", lambda file, how: told.append(how))
    monkeypatch.setattr(os, "write", lambda *args: told.append("write") or write(*args))
    waited(log, 1.25)
    assert told == [fcntl.LOCK_EX, "write", fcntl.LOCK_UN]


def test_log_on_a_full_disk_warns_and_ends_no_wait(tmp_path: Path, monkeypatch, caplog):
    """A sample that cannot be written stays in memory, and the warning says why."""
    log = LatencyLog(tmp_path / "waits.jsonl")

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with caplog.at_level(logging.WARNING, "pollwait"):
        waited(log, 1.25)
    assert log.samples == [(1.0, 1.5)]
    assert "No space left on device" in caplog.text


def test_log_writes_on_where_a_write_was_short(tmp_path: Path, monkeypatch):
    """A write that takes only part of a line is followed by the rest."""
    path = tmp_path / "waits.jsonl"
    log, write = LatencyLog(path), os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    waited(log, 1.25)
    assert LatencyLog.load(path).samples == [(1.0, 1.5)]


def test_log_refuses_a_file_that_it_cannot_use(tmp_path: Path):
    """A directory that is missing, or a file of something else, is an error at once."""
    with pytest.raises(OSError, match="missing"):
        LatencyLog(tmp_path / "missing" / "waits.jsonl")
    with pytest.raises(OSError, match="missing"):
        LatencyLog.load(tmp_path / "missing")
    other = tmp_path / "notes.txt"
    other.write_text("seconds\nhello\n")
    with pytest.raises(ValueError, match="line 2: could not convert string to float: 'hello'"):
        LatencyLog(other)


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("1.25\n2\n", [1.25, 2.0]),
        ("\ufeff1.25\n\n# a comment\n 2 \n3", [1.25, 2.0, 3.0]),
        ("duration\n1.25\n", [1.25]),
        ("1.25,1.75\n1.5, 1.5\n5,\n", [(1.25, 1.75), 1.5, (5.0, None)]),
        ("from,to\n1.25,1.75\n", [(1.25, 1.75)]),
        ("not_ready_at,ready_at\n1.25,1.75\n5,\n", [(1.25, 1.75), (5.0, None)]),
        ('name,Ready_At,not_ready_at\n"a, b",1.75,1.25\n', [(1.25, 1.75)]),
        ("id,seconds\nvol-1,1.25\n", [1.25]),
        ("[1.25, 1.75]\n[5, null]\n1.5\n", [(1.25, 1.75), (5.0, None), 1.5]),
        ('{"seconds": 1.25}\n{"not_ready_at": 1, "ready_at": 2, "x": 0}\n', [1.25, (1.0, 2.0)]),
        ("", []),
        ("1.25\n[2, 3", [1.25]),
        ("1.25\nab", [1.25]),
        ('{"seconds": 1\n1.25\n', [1.25]),
    ],
)
def test_samples_are_read_from_many_formats(tmp_path: Path, text, samples):
    """Numbers, pairs, columns with names, and JSON give the same samples."""
    path = tmp_path / "samples"
    path.write_text(text, "utf-8")
    assert read_samples(path) == samples


@pytest.mark.parametrize(
    "first", ["1\t2", "1 2", '"1,000.5"', "hello world", "1500ms", "1,5 s", '"1.5 s","2 s"', '","']
)
def test_samples_first_line_is_no_header_unless_it_holds_words(tmp_path: Path, first):
    """A value that cannot be read is an error that names its line, on the first line too."""
    path = tmp_path / "samples"
    path.write_text(f"{first}\n1.25\n")
    with pytest.raises(ValueError, match="line 1: "):
        read_samples(path)


def test_samples_that_are_missing_below_their_header_are_warned_of(tmp_path: Path, caplog):
    """A file that names columns and holds nothing else is empty, but hardly on purpose."""
    path = tmp_path / "samples"
    path.write_text("# made today\nseconds\n")
    with caplog.at_level(logging.WARNING, "pollwait"):
        assert read_samples(path) == []
    assert caplog.messages == [f"{path}, line 2 names columns, but no sample follows"]


def test_log_stays_with_its_file_wherever_the_process_goes(tmp_path: Path, monkeypatch):
    """A relative path is taken from where the process is when the log is made."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    log = LatencyLog("waits.jsonl")
    monkeypatch.chdir(elsewhere)
    waited(log, 1.25)
    assert LatencyLog.load(tmp_path / "waits.jsonl").samples == [(1.0, 1.5)]
    assert not list(elsewhere.iterdir())


def test_samples_of_one_name_are_read_alone(tmp_path: Path):
    """A name in a column or under a key chooses samples; those without a name are others."""
    path = tmp_path / "samples"
    path.write_text('name,seconds\na,1\nb,2\n{"name": "a", "seconds": 3}\n[1, 2]\n')
    assert read_samples(path, name="a") == [1.0, 3.0]
    assert read_samples(path) == [1.0, 2.0, 3.0, (1.0, 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.25\nnan\n", "line 2: sample must be finite and >= 0 seconds: got sample=nan"),
        ("2,1\n", r"line 1: ready_at must be >= not_ready_at: got sample=\(2.0, 1.0\)"),
        ("1,2,3\n", "line 1: a line must have as many values as the first, 2: got 3"),
        ("1\n1,2\n", "line 2: a line must have as many values as the first, 1: got 2"),
        ("[\n1.0,\n2.0\n]\n", "line 1: each line must be a sample: got a document of several"),
        ("1" * 140_000 + "\n", "line 1: field larger than field limit"),
        ("[" * 100_000 + "\n", "line 1: "),
        ("a,b,c\n1,2,3\n", "line 1: columns must be named not_ready_at and ready_at, or seconds"),
        ("[1, 2, 3]\n", "line 1: sample must be a time or a pair"),
        ('{"ready_at": 1}\n', "line 1: it must hold not_ready_at and ready_at, or seconds"),
        ('{"seconds": "1"}\n', "line 1: sample must be seconds"),
        (",2\n", "line 1: not_ready_at must be seconds"),
    ],
)
def test_samples_that_are_none_are_refused_by_their_line(tmp_path: Path, text, message):
    """A line that is no sample is an error that says which line and why."""
    path = tmp_path / "samples"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        read_samples(path)


def test_line_that_is_being_written_ends_the_reading():
    """What another process adds to the last line meanwhile is not taken for a line of its own."""
    lines = ["[1, 2]\n", '{"not_ready_at": 1,', ' "ready_at": 2}\n']
    assert list(_to_the_end(lines)) == lines[:2]
