"""The numbered guarantees of the reference: each is held by a test, and none is made up."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import pollwait

TESTS = Path(__file__).parent
SOURCE = Path(pollwait.__file__).parent
REFERENCE = TESTS.parent / "docs/reference/promises.md"

_LISTED = re.compile(r"^- \*\*([A-Z]\d+)\*\* ", re.MULTILINE)
_NUMBER = re.compile(r"\b[STOBGW][1-9]\d?\b")


def listed() -> list[str]:
    """Return the numbers of the reference, in its order."""
    return _LISTED.findall(REFERENCE.read_text("utf-8"))


def cited(code: str) -> set[str]:
    """Return the numbers that docstrings and comments name.

    Other strings may hold anything: S3 is a service too.
    """
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        ast.get_docstring(node, clean=False) or ""
        for node in ast.walk(ast.parse(code))
        if isinstance(node, documented)
    ]
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    texts += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return set(_NUMBER.findall("\n".join(texts)))


@pytest.fixture(scope="module")
def cited_by_tests() -> set[str]:
    """The numbers that the tests name."""
    others = [path for path in TESTS.rglob("*.py") if path != Path(__file__)]
    return set().union(*(cited(path.read_text("utf-8")) for path in others))


def test_numbers_are_listed_once_and_in_order() -> None:
    """Each number stands once, after the smaller ones of its letter."""
    numbers = listed()
    assert numbers
    for letter in sorted({number[0] for number in numbers}):
        counts = [int(number[1:]) for number in numbers if number[0] == letter]
        assert counts == sorted(set(counts)), letter


@pytest.mark.parametrize("number", listed())
def test_each_promise_is_held_by_a_test(number: str, cited_by_tests: set[str]) -> None:
    """Some test names each guarantee in its docstring."""
    assert number in cited_by_tests


@pytest.mark.parametrize("folder", [TESTS, SOURCE], ids=["tests", "source"])
def test_no_unknown_number_is_cited(folder: Path) -> None:
    """What tests and code cite is in the reference."""
    unknown = {
        f"{path.relative_to(folder)} cites {number}"
        for path in folder.rglob("*.py")
        if path != Path(__file__)
        for number in cited(path.read_text("utf-8")) - set(listed())
    }
    assert not unknown, sorted(unknown)


def test_citations_are_read_from_docstrings_and_comments_alone() -> None:
    """A number in a string of the code is no citation."""
    code = '"""About T1."""\ndef f():\n    """Hold O2."""\n    # as S3 says\n    return "B4", T5'
    assert cited(code) == {"T1", "O2", "S3"}
