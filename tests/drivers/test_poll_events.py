"""What a wait tells those who listen."""

from __future__ import annotations

import logging
import pickle

import pytest

from pollwait import (
    Checked,
    Finished,
    PollCancelled,
    PollError,
    PollExhausted,
    PollFailed,
    PollTimeout,
    TryAgain,
    fixed,
    log_events,
    poll,
)
from pollwait.testing import FakeClock

from .checks import returning


def events_of(check, **options):
    """Run a wait; return its events and what it returned or raised."""
    events = []
    options = {"schedule": fixed(1), "timeout": 60, "clock": FakeClock(), "name": "db", **options}
    try:
        end = poll(check, on_event=events.append, **options)
    except BaseException as error:
        end = error
    return events, end


def test_each_check_and_the_end_are_told():
    """One Checked per check, with the delay that follows, and one Finished."""
    refused, busy = ConnectionError("refused"), TryAgain("busy", after=5)
    events, end = events_of(returning("", refused, busy, "up"), retry_on=OSError)
    assert end == "up"
    assert events == [
        Checked("db", 1, 0.0, "", None, 1.0),
        Checked("db", 2, 1.0, None, refused, 1.0),
        Checked("db", 3, 2.0, None, busy, 5.0),
        Checked("db", 4, 7.0, "up", None, None),
        Finished("db", "ready", 4, 7.0, "up", None),
    ]


@pytest.mark.parametrize(
    ("check", "options", "reason", "kind", "checks"),
    [
        (lambda: False, {"timeout": 1}, "timeout", PollTimeout, 2),
        (lambda: False, {"max_attempts": 2}, "exhausted", PollExhausted, 2),
        (lambda: "error", {"fail": "error".__eq__}, "failed", PollFailed, 1),
        (returning(0, KeyError("bug")), {}, "error", KeyError, 2),
        (
            returning(0, "x"),
            {"until": lambda value: value and 1 / 0},
            "error",
            ZeroDivisionError,
            2,
        ),
        (
            returning(0, OSError()),
            {"retry_on": lambda error: 1 / 0},
            "error",
            ZeroDivisionError,
            2,
        ),
        (returning(0, KeyboardInterrupt()), {}, "error", KeyboardInterrupt, 1),
    ],
)
def test_every_end_is_told_with_its_reason(check, options, reason, kind, checks):
    """Finished comes once, last, with the reason and with the very error that is raised."""
    events, end = events_of(check, **options)
    assert isinstance(end, kind)
    assert [type(event) for event in events] == [Checked] * checks + [Finished]
    assert events[-1] == Finished("db", reason, checks, events[-1].elapsed, None, end)
    assert isinstance(end, PollError) == (reason != "error")


def test_cancelled_end_is_told():
    """A wait that is cancelled before its first check tells of its end alone."""

    class Set:
        def is_set(self):
            return True

        def wait(self, timeout=None):
            return True

    events, end = events_of(lambda: True, cancel=Set())
    assert isinstance(end, PollCancelled)
    assert events == [Finished("db", "cancelled", 0, 0.0, None, end)]


@pytest.mark.parametrize("kind", [Checked, Finished])
def test_raising_hook_surfaces(kind):
    """A hook that raises ends the wait with its own error, and is not called again."""
    told = []

    def hook(event):
        told.append(event)
        if isinstance(event, kind):
            raise LookupError("broken hook")

    with pytest.raises(LookupError, match="broken hook"):
        poll(lambda: True, timeout=1, on_event=hook, retry_on=LookupError)
    assert len(told) == (1 if kind is Checked else 2)


def test_events_are_values():
    """Events are immutable, can be matched by position, and pickle."""
    event = Checked("db", 1, 0.0, "up", None, None)
    assert pickle.loads(pickle.dumps(event)) == event
    with pytest.raises(AttributeError, match="Checked is immutable: cannot set 'name'"):
        event.name = "other"
    with pytest.raises(AttributeError, match="Checked is immutable: cannot delete 'name'"):
        del event.name
    match event:
        case Checked(name, attempt):
            assert (name, attempt) == ("db", 1)


def test_log_events_writes_one_line_an_event(caplog):
    """Checks are logged at DEBUG, a good end at INFO, and the event travels in the record."""
    caplog.set_level(logging.DEBUG, "waits")
    hook = log_events(logging.getLogger("waits"))
    options = {"schedule": fixed(1), "clock": FakeClock(), "name": "db", "on_event": hook}
    poll(returning(None, OSError("down"), "up"), retry_on=OSError, timeout=60, **options)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", "'db' check 1 at 0 s returned None; next in 1 s"),
        ("DEBUG", "'db' check 2 at 1 s raised OSError('down'); next in 1 s"),
        ("DEBUG", "'db' check 3 at 2 s returned 'up'"),
        ("INFO", "'db' ready after 3 checks in 2 s"),
    ]
    assert isinstance(caplog.records[0].event, Checked)


def test_log_events_warns_of_bad_ends(caplog):
    """A wait that ended without a good value is logged at WARNING, in the words of its error."""
    hook = log_events(logging.getLogger("waits"))
    for check in (lambda: False, returning(KeyError("bug"))):
        with pytest.raises((PollTimeout, KeyError)):
            poll(check, timeout=0, clock=FakeClock(), name="db", on_event=hook)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "'db' not ready after 1 check in 0 s (timeout 0 s); last value False at 0 s"),
        ("WARNING", "'db' ended after 1 check in 0 s by KeyError('bug')"),
    ]


@pytest.mark.parametrize("logger", ["waits", None, logging])
def test_log_events_wants_a_logger(logger):
    """What cannot log is refused when the hook is made, not at the first event."""
    if logger is logging:
        assert callable(log_events(logger))  # the module has the same three functions
        return
    with pytest.raises(TypeError, match="logger must be a logging.Logger: got logger="):
        log_events(logger)


def test_end_of_a_wait_tells_when_it_was_last_seen_not_ready():
    """``not_ready_at`` is on the event and survives pickling, and events are equal without it."""
    events, _ = events_of(returning(False, True), schedule=fixed(2))
    end = events[-1]
    assert end.not_ready_at == 0.0
    assert pickle.loads(pickle.dumps(end)).not_ready_at == 0.0
    assert end == Finished("db", "ready", 2, 2.0, True)
