"""Schedules as text: what is read, what is refused, and how the refusal helps."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.schedule import (
    Schedule,
    decorrelated,
    exponential,
    fibonacci,
    fixed,
    linear,
    sequence,
)

READ = [
    ("fixed(3)", fixed(3)),
    ("  fixed ( .5 )\n", fixed(0.5)),
    ("(fixed(1_000))", fixed(1000)),
    ("fixed(interval=3)", fixed(3)),
    ("linear(1, step=0.5)", linear(1, step=0.5)),
    ("exponential(1)", exponential(1)),
    ("exponential(1e-1, factor=1.5)", exponential(0.1, factor=1.5)),
    ("fibonacci(1).cap(20)", fibonacci(1).cap(20)),
    ("decorrelated(1, cap=20)", decorrelated(1, cap=20)),
    ("sequence(1, 0.2, 0.2)", sequence(1, 0.2, 0.2)),
    ("fixed(1).jitter(full)", fixed(1).jitter("full")),
    ('fixed(1).jitter("equal")', fixed(1).jitter("equal")),
    ("fixed(1).jitter(amount=0.1)", fixed(1).jitter(0.1)),
    ("fixed(1).after(1.25).times(3)", fixed(1).after(1.25).times(3)),
    ("fixed(1).within(60).from_start()", fixed(1).within(60).from_start()),
    ("fixed(1).then(fixed(2).after(3))", fixed(1) + fixed(2).after(3)),
    ("fixed(1) + fixed(2) & fixed(3) | fixed(4)", fixed(1) + fixed(2) & fixed(3) | fixed(4)),
    ("fixed(1) + (fixed(2) | fixed(3))", fixed(1) + (fixed(2) | fixed(3))),
    ("(fixed(1) +\n  fixed(2)).cap(3)", (fixed(1) + fixed(2)).cap(3)),
]


@pytest.mark.parametrize(("text", "schedule"), READ)
def test_parse_reads_what_python_would(text: str, schedule: Schedule) -> None:
    """Text means what the same code means; named jitter may go without quotes."""
    assert Schedule.parse(text) == schedule


FUNCTIONS = "decorrelated, exponential, fibonacci, fixed, linear, sequence"
METHODS = "after, cap, from_start, jitter, then, times, within"
REFUSED = [
    ("", "it is empty; fixed(3) would be one"),
    (" \n ", "it is empty; fixed(3) would be one"),
    (
        "fixd(3)",
        f"at column 1: there is no function fixd (did you mean fixed?); allowed are {FUNCTIONS}",
    ),
    ("  wait", f"at column 3: there is no function wait; allowed are {FUNCTIONS}"),
    ("wait", f"at column 1: there is no function wait; allowed are {FUNCTIONS}"),
    (
        "fixed(3).capp(2)",
        f"at column 10: there is no method capp (did you mean cap?); allowed are {METHODS}",
    ),
    ("fixed(3).parse(2)", f"at column 10: there is no method parse; allowed are {METHODS}"),
    ("fixed(3).__class__()", f"at column 10: there is no method __class__; allowed are {METHODS}"),
    ("__import__('os')", f"at column 1: there is no function __import__; allowed are {FUNCTIONS}"),
    ("fixed", "at column 1: fixed is no schedule; fixed(3) would be one"),
    ("3", "at column 1: 3 is no schedule; fixed(3) would be one"),
    ("fixed(1).cap", "at column 10: fixed(1).cap is no schedule; fixed(3) would be one"),
    ("fixed(1)(2)", "at column 1: fixed(1)(2) is no schedule; fixed(3) would be one"),
    ("[fixed(1)]", "at column 1: [fixed(1)] is no schedule; fixed(3) would be one"),
    ("lambda: fixed(1)", "at column 1: lambda: fixed(1) is no schedule; fixed(3) would be one"),
    ("fixed(1).then(3)", "at column 15: 3 is no schedule; fixed(3) would be one"),
    ("fixed(1) + 3", "at column 12: 3 is no schedule; fixed(3) would be one"),
    ("fixed(1) - fixed(2)", "at column 12: only +, & and | combine schedules"),
    ("fixed(-1)", "at column 1: interval must be finite and >= 0 seconds: got interval=-1"),
    ("fixed(1e999)", "at column 1: interval must be finite and >= 0 seconds: got interval=inf"),
    ("fixed(1).times(2.0)", "at column 10: n must be an int: got n=2.0"),
    ("fixed('x')", "interval must be seconds (a number) or a timedelta: got interval='x'"),
    ("fixed(x)", "at column 7: x is neither a number nor full nor equal"),
    ("fixed(True)", "at column 7: True is neither a number nor full nor equal"),
    ("fixed(1j)", "at column 7: 1j is neither a number nor full nor equal"),
    ("fixed(None)", "at column 7: None is neither a number nor full nor equal"),
    ("fixed(b'1')", "at column 7: b'1' is neither a number nor full nor equal"),
    ("fixed(1 + 1)", "at column 7: 1 + 1 is neither a number nor full nor equal"),
    ("fixed(--1)", "at column 7: --1 is neither a number nor full nor equal"),
    ("fixed(*[1])", "at column 7: *[1] is neither a number nor full nor equal"),
    ("fixed(fixed(1))", "at column 7: fixed(1) is neither a number nor full nor equal"),
    (
        "fixed(1).jitter(ful)",
        "at column 17: ful is neither a number nor full nor equal (did you mean full?)",
    ),
    ("fixed(**{})", "at column 9: arguments are given by their names, each once"),
    ("fixed(1).cap(longest=1, longest=2)", "arguments are given by their names, each once"),
    ("linear(1)", "at column 1: linear() missing 1 required keyword-only argument: 'step'"),
    ("exponential(1, base=2)", "exponential() got an unexpected keyword argument 'base'"),
    ("fixed(3", "at column 6: "),
    ("  fixed(3", "at column 8: "),
    ("fixed(3) fixed(4)", "at column "),
    ("x = fixed(3)", "at column "),
    ("fixed(1)\nfixed(2)", "at line 2, column 1: "),
    ("  (fixed(1)\n + fixd(2))", "at line 2, column 4: there is no function fixd"),
    ("(fixed(1)\n + fixd(2))", "at line 2, column 4: there is no function fixd"),
    ("(fixed('é') + fixd(2))", "interval must be seconds"),
    ("fixed(1).jitter('é').cap(1)", "at column 10: amount must be"),
    ("fixed(é) + fixd(2)", "at column 7: é is neither a number nor full nor equal"),
    ("fixed(1).after(é='x') + 1", "at column 10: "),
    ("fixed(1, é=2).cap(1)", "at column 1: "),
    ("fixed(1)\0", "null byte"),
    ("fixed('\ud800')", "surrogates not allowed"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_parse_refuses_and_says_where(text: str, why: str) -> None:
    """What is no schedule is a ValueError with the text, the place, and what is allowed."""
    with pytest.raises(ValueError, match="^cannot read schedule ") as caught:
        Schedule.parse(text)
    assert str(caught.value).startswith(f"cannot read schedule {text!r}: ")
    assert why in str(caught.value)


def test_parse_counts_columns_in_characters() -> None:
    """A column is counted as a person counts, also after letters beyond ASCII."""
    with pytest.raises(ValueError, match="at column 19: y is neither"):
        Schedule.parse("exponential('é' , y)")


@pytest.mark.parametrize("text", [None, 3, b"fixed(3)", fixed(3), ["fixed(3)"]])
def test_parse_takes_only_text(text: Any) -> None:
    """Anything but a str is a TypeError."""
    with pytest.raises(TypeError, match="text must be a str: got text="):
        Schedule.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_001,
        "(" * 10_000,
        "-" * 9_999 + "1",
        "fixed(" * 1_000,
        "fixed(" * 150 + "1" + ")" * 150,
        "fixed(1)" + ".jitter(full)" * 700,
        "x" + ".x" * 4_900,
        "not " * 2_400 + "1",
        "fixed(" + "9" * 9_000 + ")",
        "fixed(0x" + "f" * 9_000 + ")",
        "fixed(1)" + "(1)" * 3_000,
    ],
    ids=lambda text: f"{text[:12]}{len(text)}",
)
def test_parse_refuses_what_is_too_long_or_too_deep(text: str) -> None:
    """Hostile text is a short ValueError, never an exhausted stack or memory."""
    with pytest.raises(ValueError, match="cannot read schedule") as caught:
        Schedule.parse(text)
    assert len(str(caught.value)) < 500


def test_parse_bounds_length_alone() -> None:
    """A text of more than 10,000 characters is refused unread, with both numbers."""
    text = " + ".join(["fixed(1).times(1)"] * 600)
    with pytest.raises(ValueError, match=r"it must have at most 10,000 characters: got 11,997"):
        Schedule.parse(text)


def test_parse_reads_long_chains() -> None:
    """A long schedule is no deep one: hundreds of operators and methods are read."""
    text = " + ".join(["fixed(1).times(1)"] * 450)
    assert str(Schedule.parse(text)) == text
    assert Schedule.parse("fixed(1)" + ".cap(2)" * 400) == fixed(1).cap(2)


tokens = st.sampled_from(
    ["fixed", "linear", "cap", "(", ")", ".", ",", "+", "&", "|", "1", "2.5", "full", "step=", " "]
)
texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=string.printable, max_size=40),
    st.lists(tokens, max_size=20).map("".join),
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@given(texts)
def test_parse_reads_or_refuses_any_text(text: str) -> None:
    """Any text is either a schedule, whose own text reads back, or a ValueError."""
    try:
        schedule = Schedule.parse(text)
    except ValueError as error:
        assert str(error).startswith("cannot read schedule ")
    else:
        assert Schedule.parse(str(schedule)) == schedule
