"""Who may import whom, what the core may not do, and what ``import pollwait`` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pollwait

SOURCE = Path(pollwait.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = (".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in FILES)
PLAIN = (name.removesuffix("__init__").rstrip(".") for name in NAMES)
MODULES = dict(zip(PLAIN, FILES, strict=True))

# A layer is a part of the package by its first name; "" is the public face, `pollwait/__init__`.
_BASE = {"_core", "_errors", "_clock", "_events", "_group_events"}
_LOG = {"_latency_log", "_sample_files"}
_DRIVERS = {"", "aio", "_sync", "_aio"}
LAYERS = {
    "_errors": set[str](),
    "_core": {"_errors"},
    "_clock": {"_core", "_errors"},
    "_events": {"_core", "_errors"},
    "_group_events": {"_core", "_errors", "_events"},
    "_sync": _BASE,
    "_aio": _BASE,
    "_sample_files": {"_core"},
    "_latency_log": {"_core", "_events", "_sample_files"},
    "": _BASE | {"_sync", "_latency_log"},
    "aio": _BASE | {"_aio"},
    "testing": _BASE | _DRIVERS,
    "_simulate": _BASE | _DRIVERS | {"testing"},
    "simulate": {"_core", "_simulate"},
    "aws": _BASE | _DRIVERS,
    "cli": _BASE | _DRIVERS | _LOG | {"aws", "simulate", "testing"},
}

# What is not of the standard library, by the longest prefix of a module's name that is listed.
THIRD_PARTY = {
    "aws": {"botocore", "jmespath"},
    "cli": {"boto3", "botocore", "rich"},
    "cli.schedules.plot": {"matplotlib"},
    "testing": {"freezegun", "pytest"},
    "testing.ec2": {"boto3", "botocore", "moto", "werkzeug"},
}

# Parts of the standard library that compute and do nothing else.
PURE = {
    "__future__",
    "_thread.RLock",  # for a model that many groups teach; nothing starts by it
    "ast",
    "bisect",
    "collections",
    "contextvars",
    "copy",
    "datetime",
    "difflib",
    "email.utils",
    "functools",
    "heapq",
    "itertools",
    "json",
    "math",
    "numbers",
    "operator",
    "sys",
    "types",
}

# These read a clock, do input or output, or run text as code.
IMPURE_CALLS = {"__import__", "compile", "eval", "exec", "input", "open", "print"}
IMPURE_METHODS = {"now", "today", "utcnow"}

MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTABLE_CALLS = {
    "Counter", "OrderedDict", "bytearray", "defaultdict", "deque", "dict", "list", "set",
}  # fmt: skip
MUTATING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
    "remove", "reverse", "setdefault", "sort", "update",
}  # fmt: skip


def layer(module: str) -> str:
    """Return the layer of a module, named as seen from within the package."""
    return module.partition(".")[0]


def run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over a tree, save what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from run_time(other)
        else:
            yield node
            yield from run_time(node)


def imports(module: str, tree: ast.AST, *, is_package: bool) -> Iterator[str]:
    """Yield the absolute name of everything that is imported at run time, anywhere in a module."""
    here = ["pollwait", *filter(None, module.split("."))]
    package = here if is_package else here[:-1]
    for node in run_time(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def within(name: str, modules: set[str]) -> bool:
    """Tell whether a name is one of some modules, or lies in one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def forbidden_imports(module: str, tree: ast.AST, *, is_package: bool) -> Iterator[str]:
    """Yield what a module imports and may not."""
    mine = layer(module)
    listed = [prefix for prefix in THIRD_PARTY if within(module, {prefix})]
    foreign = THIRD_PARTY[max(listed, key=len)] if listed else set()
    for name in imports(module, tree, is_package=is_package):
        top, _, rest = name.partition(".")
        if top == "pollwait":
            target = layer(rest) if rest in MODULES or layer(rest) in LAYERS else ""
            allowed = target == mine or target in LAYERS[mine]
        elif mine == "_core":
            allowed = within(name, PURE) or name == "random.Random"  # never the shared generator
        else:
            allowed = top in sys.stdlib_module_names | foreign
        if not allowed:
            yield name


def impure_calls(tree: ast.AST) -> Iterator[str]:
    """Yield the calls by which code would read a clock or do input or output."""
    for node in run_time(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield node.func.id
        elif isinstance(node.func, ast.Attribute) and node.func.attr in IMPURE_METHODS:
            yield ast.unparse(node.func)


def mutable_state(tree: ast.Module) -> Iterator[str]:
    """Yield the names by which a module keeps state: collections that are no constants.

    A constant has a name in capitals (or is ``__all__``), and nothing in the module changes it.
    """
    constants: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _makes_collection(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {ast.unparse(target) for target in targets}
            constants |= names
            yield from (name for name in names if name != "__all__" and not name.isupper())
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
        elif (changed := _changed(node)) in constants:
            yield changed


def _makes_collection(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in MUTABLE_CALLS
    return isinstance(value, MUTABLE)


def _changed(node: ast.AST) -> str:
    """Return the name of the collection that a node changes, if it does."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return ast.unparse(node.value)
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value) if node.func.attr in MUTATING else ""
    return ""


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(MODULES[module].read_text("utf-8"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module or "pollwait")
def test_modules_import_what_their_layer_may(module: str) -> None:
    """Each module imports only from the layers below its own, and only the libraries of its own."""
    assert layer(module) in LAYERS
    is_package = MODULES[module].name == "__init__.py"
    assert not list(forbidden_imports(module, parsed(module), is_package=is_package))


@pytest.mark.parametrize("module", [module for module in MODULES if layer(module) == "_core"])
def test_core_neither_reads_a_clock_nor_does_input_or_output(module: str) -> None:
    """The core is told the time, and asks nobody but the functions that it was given."""
    assert not list(impure_calls(parsed(module)))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module or "pollwait")
def test_modules_keep_no_state(module: str) -> None:
    """No module keeps anything that changes."""
    assert not list(mutable_state(parsed(module)))


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("_core.wait", "from .._sync import drive"),
        ("_core.wait", "import time"),
        ("_core.wait", "def f():\n    from random import random"),
        ("_core.wait", "import random"),
        ("_core.wait", "from email import message"),
        ("_errors", "from ._core.history import History"),
        ("_clock", "from ._events import Hook"),
        ("_sync.drive", "from .._aio import drive"),
        ("_sync.drive", "from .. import poll"),
        ("_sync.drive", "import botocore.session"),
        ("", "from . import testing"),
        ("", "from .aio import poll"),
        ("aws.ebs", "from pollwait.testing import FakeClock"),
        ("aws.ebs", "import boto3"),
        ("aws.ebs", "from ..cli import main"),
        ("testing._fake_clock", "import moto"),
        ("testing.ec2.server", "from pollwait import aws"),
    ],
)
def test_a_forbidden_import_is_noticed(module: str, code: str) -> None:
    """An import across layers, anywhere in a module, is found."""
    assert list(forbidden_imports(module, ast.parse(code), is_package=module == ""))


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("_core.wait", "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import logging"),
        ("_core.wait", "from collections.abc import Iterator"),
        ("_core.wait", "from random import Random"),
        ("_core.settings", "from .._errors import PollError"),
        ("_sync.poller", "from .._core.schedule import DEFAULT\nimport threading"),
        ("aws.ebs", "from .. import poll\nfrom botocore.exceptions import ClientError"),
        ("testing.ec2.server", "import moto"),
        ("cli.demo", "from pollwait import aws"),
    ],
)
def test_an_allowed_import_is_no_finding(module: str, code: str) -> None:
    """Imports downwards, of pure parts, and for type checkers alone are nobody's business."""
    assert not list(forbidden_imports(module, ast.parse(code), is_package=False))


@pytest.mark.parametrize("code", ["datetime.now(utc)", "open('x')", "def f():\n    print()"])
def test_an_impure_call_is_noticed(code: str) -> None:
    """A call that reads a clock or does output is found."""
    assert list(impure_calls(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "cache = {}",
        "cache: dict[str, int] = dict()",
        "_seen = collections.deque()",
        "CACHE = {}\n\ndef f():\n    CACHE['x'] = 1",
        "SEEN = []\n\ndef f():\n    SEEN.append(1)",
        "COUNT = 0\n\ndef f():\n    global COUNT\n    COUNT += 1",
    ],
)
def test_module_state_is_noticed(code: str) -> None:
    """A collection without a constant's name, and a constant that changes, are found."""
    assert list(mutable_state(ast.parse(code)))


def test_constants_are_no_state() -> None:
    """A collection in capitals that nothing changes is a constant."""
    code = (
        "__all__ = ['f']\n_WORDS = ['a']\n\ndef f():\n    words = [*_WORDS]\n    words.append('b')"
    )
    assert not list(mutable_state(ast.parse(code)))


UNWANTED = {
    "asyncio", "boto3", "botocore", "dataclasses", "inspect", "logging", "moto", "random", "re",
    "typing", "pollwait.aio", "pollwait.aws", "pollwait.cli", "pollwait.testing",
}  # fmt: skip


@pytest.mark.parametrize("flag", ["-I", "-IS"])
def test_import_loads_little(flag: str) -> None:
    """``import pollwait`` loads neither slow nor optional modules."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); before = set(sys.modules);"
        "import pollwait; print(*set(sys.modules) - before)"
    )
    run = subprocess.run(
        [sys.executable, flag, "-c", code], capture_output=True, check=True, text=True, timeout=50
    )
    loaded = run.stdout.split()
    assert "pollwait" in loaded
    assert not [name for name in loaded if within(name, UNWANTED)]
