"""The documentation runs: every Python block and every example of a docstring.

The blocks of a page share one namespace and run in order, on virtual time: what a block sees as
``time`` moves when somebody sleeps. ``python`` blocks must not raise, and ``pycon`` blocks must
print what they show. A page that calls AWS says so in a comment, ``<!-- setup: aws -->``: then
``boto3.client`` makes real clients whose calls are answered here instead of by AWS.
"""

from __future__ import annotations

import doctest
import importlib
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

import pollwait
from pollwait import SystemClock
from pollwait.testing import FakeClock

ROOT = Path(__file__).parent.parent
SOURCE = Path(pollwait.__file__).parent
PUBLIC = [
    "pollwait",
    *(
        f"pollwait.{name}"
        for name in ("aio", "aws", "aws.aio", "simulate", "testing", "testing.ec2")
    ),
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>>" in path.read_text("utf-8")]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_SETUP = re.compile(r"^<!-- setup: (\w+) -->$", re.MULTILINE)

# The options by which Sphinx describes all that a module exports.
_WHOLE = "\n   :members:\n   :imported-members:"

# What is not run: commands and their output, files of other tools, Sphinx directives.
NOT_PYTHON = {"bash", "console", "text", "toml", "yaml"}


@dataclass(frozen=True)
class Block:
    """The code between two fences, and the number of its first line."""

    language: str
    code: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """Find the fenced blocks of a page."""
    fence, language, start = "", "", 0
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        found = _FENCE.match(line)
        if found and not fence:
            fence, language = found.groups()
            start = number
        elif found and found[1].startswith(fence) and not found[2]:
            code = dedent("\n".join(lines[start : number - 1]))
            yield Block(language, code + "\n", start + 1)
            fence = ""
    assert not fence, f"the block that starts at line {start} is not closed"


def run_page(text: str, filename: str) -> None:
    """Run the Python blocks of a page in one namespace."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(text):
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.code  # so that errors show the page's line
            exec(compile(code, filename, "exec"), namespace)
        elif block.language == "pycon":
            run_session(block, namespace, filename)


def run_session(block: Block, namespace: dict[str, Any], filename: str) -> None:
    """Run an interactive session and compare what it prints."""
    session = doctest.DocTestParser().get_doctest(
        block.code, namespace, Path(filename).name, filename, block.line - 1
    )
    assert session.examples, f"{filename}:{block.line}: a pycon block without >>>"
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(session, out=report.append, clear_globs=False)
    if report:
        pytest.fail("".join(report), pytrace=False)
    namespace.update(session.globs)


@pytest.fixture
def virtual_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClock]:
    """Let ``time`` and the system's clock show a time that moves when the example's thread sleeps.

    Other threads, such as those of a batcher, wait as they do in a program: they work while the
    example waits for them. Chance is the same in every run, too.
    """
    clock = FakeClock()
    tester, wait = threading.get_ident(), SystemClock.wait

    def wait_virtually(self: SystemClock, event: Any, seconds: float) -> bool:
        if threading.get_ident() == tester:
            return clock.wait(event, seconds)
        return wait(self, event, seconds)

    chance = random.getstate()
    random.seed(7)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    monkeypatch.setattr(SystemClock, "wait", wait_virtually)
    yield clock
    random.setstate(chance)


@pytest.fixture
def setups(
    monkeypatch: pytest.MonkeyPatch, virtual_time: FakeClock
) -> dict[str, Callable[[], None]]:
    """Return what a page may ask for, by name."""
    return {"aws": lambda: answer_aws(monkeypatch, virtual_time)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_run(page: Path, setups: dict[str, Callable[[], None]]) -> None:
    """Every Python block of a page does what the page says."""
    text = page.read_text("utf-8")
    for name in _SETUP.findall(text):
        setups[name]()
    run_page(text, str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_the_language_of_each_block(page: Path) -> None:
    """No Python hides in a block that nobody runs."""
    for block in blocks(page.read_text("utf-8")):
        known = block.language in NOT_PYTHON | {"python", "pycon"} or block.language[:1] == "{"
        assert known, f"line {block.line}: {block.language!r}"
        assert block.language in {"python", "pycon"} or ">>>" not in block.code, block.line


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_docstring_examples_run(path: Path, virtual_time: FakeClock) -> None:
    """Every example of a docstring prints what it shows."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    module = importlib.import_module(".".join(("pollwait", *parts)).removesuffix(".__init__"))
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder().find(module):
        runner.run(example, out=report.append)
    assert runner.tries, "no example was found"
    if report:
        pytest.fail("".join(report), pytrace=False)


def test_every_public_name_is_in_the_reference() -> None:
    """Each name that a public module exports has an entry in the reference."""
    reference = "".join(page.read_text("utf-8") for page in (ROOT / "docs/reference").glob("*.md"))
    entries = set(re.findall(r"^\.\. auto\w+:: ([\w.]+)$", reference, re.MULTILINE))
    whole = set(re.findall(rf"^\.\. automodule:: ([\w.]+){_WHOLE}$", reference, re.MULTILINE))
    for name in PUBLIC:
        module = importlib.import_module(name)
        parent = importlib.import_module(name.rpartition(".")[0] or name)
        own = [each for each in module.__all__ if not _is_of(each, parent, module)]
        missing = {f"{name}.{public}" for public in own} - entries
        assert name in whole or not missing, sorted(missing)


def _is_of(name: str, parent: ModuleType, module: ModuleType) -> bool:
    """Tell whether a public name is that of the parent, which lists it in its own reference."""
    is_same = getattr(parent, name, None) is getattr(module, name)
    return parent is not module and name in getattr(parent, "__all__", ()) and is_same


@pytest.mark.parametrize("marker", ["pollwait demo", "-m pytest"])
def test_readme_has_one_command_for_demo_and_tests(marker: str) -> None:
    """The README gives one line that runs the demo and one that runs the tests."""
    shell = "".join(
        block.code
        for block in blocks((ROOT / "README.md").read_text("utf-8"))
        if block.language == "bash"
    )
    commands = [line for line in shell.splitlines() if line.endswith(marker)]
    assert len(commands) == 1
    assert commands[0].startswith("python3 -m venv ")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nassert False\n```\n",
        "```python\nimport time\n```\n\n```python\nassert time.monotonic() > 0\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> undefined\n```\n",
        "```pycon\nno prompt\n```\n",
        "1. item\n\n   ```python\n   raise AssertionError\n   ```\n",
    ],
)
def test_a_broken_page_fails(text: str, virtual_time: FakeClock) -> None:
    """A block that raises, or prints something else than it shows, is noticed."""
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_page(text, "page.md")


def test_the_blocks_of_a_page_share_names(virtual_time: FakeClock) -> None:
    """What one block defines, those after it see, whether script or session."""
    run_page(
        "```python\na = 1\n```\n\n```pycon\n>>> b = a + 1\n```\n\n```python\nassert b == 2\n```\n",
        "page.md",
    )


def answer_aws(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    """Let ``boto3.client`` make clients whose calls are answered by ``VirtualEC2``."""
    import boto3

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    session = boto3.Session("testing", "testing", region_name="eu-central-1")
    session.events.register("before-call", VirtualEC2(clock).answer)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)


class VirtualEC2:
    """Answers the few calls that the documentation makes, on the time of a fake clock.

    A volume is available 1.625 s after it was created and an instance runs after 5 s.
    """

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._ready_at: dict[str, float] = {}

    def answer(self, model: Any, params: dict[str, Any], **_: object) -> tuple[Any, dict[str, Any]]:
        """Answer a call, as a handler of botocore's ``before-call`` event."""
        from botocore.awsrequest import AWSResponse

        body = params["body"]
        asked = [body[key] for key in body if re.fullmatch(r"(Volume|Instance)Id\.\d+", key)]
        unknown = [key for key in asked if key not in self._ready_at]
        if unknown:
            kind = "InvalidVolume.NotFound" if model.name.endswith("Volumes") else "InvalidInstance"
            return AWSResponse("", 400, {}, None), {
                "Error": {"Code": kind, "Message": f"{unknown[0]!r} does not exist."},
                "ResponseMetadata": {"HTTPStatusCode": 400},
            }
        answer = getattr(self, f"_{model.name}")(asked or list(self._ready_at))
        return AWSResponse("", 200, {}, None), {
            **answer,
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }

    def _start(self, kind: str, seconds: float) -> str:
        key = f"{kind}-{len(self._ready_at) + 1:017x}"
        self._ready_at[key] = self._clock.monotonic() + seconds
        return key

    def _state(self, key: str, before: str, after: str) -> str:
        return after if self._clock.monotonic() >= self._ready_at[key] else before

    def _CreateVolume(self, _: list[str]) -> dict[str, Any]:  # noqa: N802 - as AWS spells it
        return {"VolumeId": self._start("vol", 1.625), "State": "creating"}

    def _DescribeVolumes(self, keys: list[str]) -> dict[str, Any]:  # noqa: N802
        state = {key: self._state(key, "creating", "available") for key in keys}
        return {"Volumes": [{"VolumeId": key, "State": state[key]} for key in keys]}

    def _RunInstances(self, _: list[str]) -> dict[str, Any]:  # noqa: N802
        return {"Instances": [{"InstanceId": self._start("i", 5), "State": {"Name": "pending"}}]}

    def _DescribeInstances(self, keys: list[str]) -> dict[str, Any]:  # noqa: N802
        instances = [
            {"InstanceId": key, "State": {"Name": self._state(key, "pending", "running")}}
            for key in keys
        ]
        return {"Reservations": [{"Instances": instances}]}
