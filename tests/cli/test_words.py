"""What the command line says of words that it does not know."""

from __future__ import annotations

import pytest

from pollwait.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["utnil"], "unknown command 'utnil': did you mean 'until'?"),
        (["x"], "unknown command 'x': there are aws, until, plan, fit, simulate, demo, completion"),
        (
            ["plan", "fixed(1)", "--chekcs", "3"],
            "unknown option '--chekcs': did you mean '--checks'?",
        ),
        (["demo", "7"], "unknown argument '7': `pollwait demo --help` lists what it takes"),
        (
            ["plan", "fixed(1)", "--name", "x"],
            "--name is for the samples of a file: give --latency too",
        ),
    ],
)
def test_unknown_word_is_named_with_those_that_are_near(capsys, words, said):
    """One line, exit code 2, and a way on."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"pollwait: {said}\n"
