"""The public interface: what is exported, described and shipped."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

import pollwait
from pollwait import aio

ROOT = Path(__file__).parent.parent
PUBLIC = [
    "pollwait",
    "pollwait.aio",
    "pollwait.aws",
    "pollwait.aws.aio",
    "pollwait.testing",
    "pollwait.testing.ec2",
]


@pytest.fixture(params=PUBLIC)
def module(request: pytest.FixtureRequest) -> ModuleType:
    """Each public module in turn."""
    return importlib.import_module(request.param)


def test_all_is_sorted(module: ModuleType) -> None:
    """``__all__`` lists constants, then classes, then functions, each by the alphabet, and once."""

    def kind(name: str) -> int:
        return 0 if name.isupper() else 1 if name[0].isupper() else 2

    assert module.__all__ == sorted(set(module.__all__), key=lambda name: (kind(name), name))


def exported(module: ModuleType) -> set[str]:
    """Return the names that a module imports and makes no use of: they are there for others."""
    tree = ast.parse(inspect.getsource(module))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return imported - used


def test_all_is_complete(module: ModuleType) -> None:
    """Every name of ``__all__`` exists, and every public name is in ``__all__``."""
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert set(module.__all__) == exported(module)


def test_aio_has_the_drivers_of_the_face_for_threads() -> None:
    """Each driver of ``pollwait`` has a twin of the same name in ``pollwait.aio``."""
    assert {"Poller", "poll"} <= set(aio.__all__)
    for name in set(aio.__all__) & set(pollwait.__all__):
        assert getattr(aio, name) is not getattr(pollwait, name)
        assert options(getattr(pollwait, name)) <= options(getattr(aio, name))


def options(value: Any) -> set[str]:
    """Return the names of what may be given to a function, or to the making of an object."""
    return set(inspect.signature(value).parameters)


def members(value: object) -> Iterator[tuple[str, object]]:
    """Yield what users call and read on a class."""
    if not inspect.isclass(value):
        return
    for base in value.__mro__:
        if base.__module__.partition(".")[0] == "pollwait":
            for name, member in vars(base).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                    yield f"{base.__name__}.{name}", member


def test_everything_public_is_described(module: ModuleType) -> None:
    """Every public class, function, method and property has a docstring."""
    assert module.__doc__
    for name in module.__all__:
        value = getattr(module, name)
        described = [(name, value)] if inspect.isclass(value) or inspect.isfunction(value) else []
        for what, member in [*described, *members(value)]:
            assert inspect.getdoc(member), f"{module.__name__}: {what}"


def test_types_are_shipped() -> None:
    """The package says that its annotations are meant to be read."""
    assert resources.files(pollwait).joinpath("py.typed").is_file()


@pytest.mark.parametrize("python", ["3.13", "3.14"])
def test_newer_python_needs_nothing_else(python: str) -> None:
    """From Python 3.13 on the core has no dependency."""
    requirements = [Requirement(line) for line in metadata.requires("pollwait") or ()]
    here = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    assert requirements
    assert not [each for each in requirements if not each.marker or each.marker.evaluate(here)]


def test_older_python_needs_types_alone() -> None:
    """On Python 3.10 the core needs the types that Python came to have later, and nothing else."""
    requirements = [Requirement(line) for line in metadata.requires("pollwait") or ()]
    here = {"python_version": "3.10", "python_full_version": "3.10.0", "extra": ""}
    needed = [each.name for each in requirements if not each.marker or each.marker.evaluate(here)]
    assert needed == ["typing-extensions"]


def test_versions_agree() -> None:
    """The installed version is that of the project file and of the changelog's newest entry."""
    project = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    newest = re.search(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert project
    assert newest
    assert metadata.version("pollwait") == project[1] == newest[1]
