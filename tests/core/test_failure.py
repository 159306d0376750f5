"""How an error puts figures and values for people."""

from __future__ import annotations

import pytest

from pollwait._core.failure import count, decimal, shorten


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.3, "0.3"),
        (30.25, "30.25"),
        (2.9999, "3"),
        (1e9, "1000000000"),
        (0.001, "0.001"),
        (0.0000929, "0.000093"),
        (1e-9, "0"),
        (-500.0, "-500"),
    ],
)
def test_decimal_has_no_idle_digits(number, text):
    """O7: seconds are shown without exponent and without zeros that say nothing."""
    assert decimal(number) == text


def test_shorten_keeps_both_ends():
    """O7: a long value keeps its beginning and its end."""
    text = shorten({"first": "x" * 1000, "last": "end"})
    assert text.startswith("{'first': 'xxx")
    assert text.endswith("'last': 'end'}")
    assert len(text) < 210


def test_count_speaks_english():
    """One check, two checks."""
    assert [count(number) for number in (0, 1, 2)] == ["0 checks", "1 check", "2 checks"]
