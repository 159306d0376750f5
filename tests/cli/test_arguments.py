"""The arguments that several commands take."""

from __future__ import annotations

import argparse

import pytest

from pollwait import exponential
from pollwait.cli import _arguments


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("45s", 45),
        ("2m", 120),
        ("1h30m", 5400),
        ("1h", 3600),
        ("1.5h0.5s", 5400.5),
    ],
)
def test_durations_are_seconds_or_have_units(text, seconds):
    """Hours, minutes and seconds, in that order."""
    assert _arguments.duration(text) == _arguments.timeout(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "soon", "-1", "1 s", "1m2", "30s1m", "1d", "nan", "inf", "1e9", "none", "9" * 400, "h"],
)
def test_other_durations_are_refused(text):
    """The error says what would do."""
    with pytest.raises(argparse.ArgumentTypeError, match=r"must be seconds, or such as 45s, 2m"):
        _arguments.duration(text)


def test_a_timeout_may_be_none():
    """Which is to wait for ever, and the error of another text says so."""
    assert _arguments.timeout("none") is None
    with pytest.raises(argparse.ArgumentTypeError, match="or 'none', to wait for ever"):
        _arguments.timeout("never")


def test_schedules_are_read():
    """As Schedule.parse reads them, and its error is passed on."""
    text = "exponential(0.5, factor=1.5).cap(15)"
    assert _arguments.schedule(text) == exponential(0.5, factor=1.5).cap(15)
    with pytest.raises(argparse.ArgumentTypeError, match="did you mean fixed"):
        _arguments.schedule("fixd(1)")


@pytest.mark.parametrize(
    ("name", "otherwise", "said"),
    [
        ("volum", "", "unknown fruit 'volum': did you mean 'volume' or 'volumes'?"),
        ("zzz", "there are two", "unknown fruit 'zzz': there are two"),
        ("zzz", "", "unknown fruit 'zzz'"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(name, otherwise, said):
    """Or with what else may help."""
    assert str(_arguments.unknown("fruit", name, ["volume", "volumes"], otherwise)) == said
