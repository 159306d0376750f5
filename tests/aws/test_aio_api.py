"""The public interface of ``pollwait.aws.aio``: a mirror of ``pollwait.aws``."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

from pollwait import aws
from pollwait.aws import aio

AWAITED = {"Describer", "VolumeAvailableWaiter", "Waiter", "describer", "pages", "waiter"}


def options(function: Any) -> dict[str, Any]:
    """Return the arguments of a function, with their kinds and defaults."""
    arguments = inspect.signature(function).parameters.values()
    return {each.name: (each.kind, each.default) for each in arguments}


def methods(kind: type) -> dict[str, Any]:
    """Return what users call on a class; a block of ``async with`` is one of ``with``."""
    own = {name.replace("__a", "__"): value for name, value in vars(kind).items()}
    return {
        name: value
        for name, value in own.items()
        if inspect.isfunction(value) and (name in ("__enter__", "__exit__") or name[0] != "_")
    }


def test_aio_has_the_names_of_the_face_for_threads() -> None:
    """W7: ``from pollwait.aws import aio as aws`` is enough for all that ``pollwait.aws`` has."""
    assert aio.__all__ == aws.__all__


def test_only_what_waits_differs() -> None:
    """Predicates, definitions and errors are the same objects, so either import does."""
    differ = {name for name in aio.__all__ if getattr(aio, name) is not getattr(aws, name)}
    assert differ == AWAITED


@pytest.mark.parametrize("name", sorted(AWAITED))
def test_twins_take_the_same_arguments(name: str) -> None:
    """Functions, constructors and methods have equal parameters with equal defaults."""
    here, there = getattr(aio, name), getattr(aws, name)
    assert options(here) == options(there)
    if inspect.isclass(here):
        mine, other = methods(here), methods(there)
        assert mine.keys() == other.keys()
        assert {each: options(mine[each]) for each in mine} == {
            each: options(other[each]) for each in other
        }


def test_what_waits_is_awaited() -> None:
    """Methods that wait or call are coroutine functions; ``as_completed`` is iterated over."""
    plain = {
        f"{name}.{each}"
        for name in AWAITED
        if inspect.isclass(getattr(aio, name))
        for each, method in methods(getattr(aio, name)).items()
        if not inspect.iscoroutinefunction(method)
    }
    assert plain == {"VolumeAvailableWaiter.as_completed", "Waiter.as_completed"}
    assert inspect.iscoroutinefunction(aio.pages)


def test_aio_loads_no_client_library() -> None:
    """Clients are passed in, so neither aiobotocore nor boto3 is loaded; nor aio by ``aws``."""
    code = (
        "import sys, pollwait.aws; assert 'asyncio' not in sys.modules, 'asyncio';"
        "import pollwait.aws.aio; print(*{each.partition('.')[0] for each in sys.modules})"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=50
    )
    assert not {"aiobotocore", "aiohttp", "boto3"} & set(run.stdout.split())
