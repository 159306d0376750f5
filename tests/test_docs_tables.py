"""The tables of all waiters, which the documentation gets when it is built."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from pollwait.aws._catalogue import definitions_of_service, services_with_waiters
from pollwait.aws._identifiers import identifier
from pollwait.aws._limits import swift
from pollwait.aws._sharing_rule import sharings_of

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parent.parent / "docs"

# A line for each kind of row; the rest is counted.
LINES = [
    "| `image_available` <br> DescribeImages | `ImageIds` (500) | 15 s | 40 | 10 min | not yet |",
    "| `volume_deleted` <br> DescribeVolumes | `VolumeIds` (500) | 15 s | 40 | 10 min | gone |",
    "| `stack_create_complete` <br> DescribeStacks | `StackName` | 30 s | 120 | 1 h | not yet |",
    "| `nodegroup_active` <br> DescribeNodegroup | `clusterName` + `nodegroupName` | 30 s | 80"
    " | 40 min | not yet |",
    "| `load_balancer_available` <br> DescribeLoadBalancers | `LoadBalancerArns` (20) or `Names`"
    " (20) | 15 s | 40 | 10 min | not yet |",
    "| `endpoint_deleted` <br> DescribeEndpoints |  | 5 s | 60 | 5 min | gone |",
]


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    """Return the extension that makes the tables."""
    path = DOCS / "waiter_tables.py"
    spec: Any = importlib.util.spec_from_file_location("waiter_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(tables: ModuleType) -> list[Any]:
    """Return what the tables say of each waiter."""
    return list(tables.rows())


@pytest.fixture(scope="module")
def page(tables: ModuleType) -> str:
    """Return the page's text with the tables in it."""
    text = (DOCS / f"{tables.PAGE}.md").read_text("utf-8")
    assert [text.count(mark) for mark in (tables.FIRST_CHECKS, tables.WAITERS)] == [1, 1]
    return str(tables.filled(text))


def test_each_waiter_has_a_row_under_its_service(page: str) -> None:
    """All that botocore defines is in the tables, once."""
    _, _, text = page.partition(" something is gone.\n")
    sections = re.split("^## (.*)$", text, flags=re.MULTILINE)
    shown = {
        service: re.findall(r"^\| `(\w+)` <br>", table, re.MULTILINE)
        for service, table in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert list(shown) == services_with_waiters()
    assert shown == {service: sorted(definitions_of_service(service)) for service in shown}
    assert f" has {sum(map(len, shown.values()))} waiters for {len(shown)} services." in page
    assert len(shown) > 50


@pytest.mark.parametrize("line", LINES)
def test_row_says_what_a_waiter_does(page: str, line: str) -> None:
    """A row has the operation, the parameter to ask by, the times, and what absence means."""
    assert line in page.splitlines()


def test_rows_name_the_parameter_that_wait_many_fills(tables: ModuleType, rows: list[Any]) -> None:
    """What a row says to ask by is what ``wait_many`` gives the ids to."""
    loader = Loader()
    for service, name, definition, asks_by in rows:
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        names = re.findall(r"`(\w+)`", asks_by)
        ways = sharings_of(model, definition.operation)
        if ways:
            assert names == [way.parameter for way in ways], name
            continue
        client = SimpleNamespace(
            meta=SimpleNamespace(service_model=model),
            can_paginate=lambda _: False,
            **{definition.method: None},
        )
        operation = tables.BoundOperation(client, definition.operation)
        for each in names:
            others = dict.fromkeys(names, "x")
            del others[each]
            assert identifier(operation, name, others) == each
        if len(names) != 1:
            with pytest.raises(TypeError, match="by which parameter"):
                identifier(operation, name, {})


def test_first_checks_are_those_of_the_default_schedule(page: str) -> None:
    """The times are when a waiter looks, up to the last one before a whole delay."""
    times = [planned.earliest for planned in swift(5).preview(9)]
    assert times[6:] == [10.390625, 15.390625, 20.390625]
    assert re.search(
        r"^\| 5 s \| \d+ \| 0, 0.5, 1.25, 2.38, 4.06, 6.59, 10.4 s \| 7 checks, 10.4 s \|$",
        page,
        re.MULTILINE,
    )


def test_delays_of_all_waiters_are_counted(page: str, rows: list[Any]) -> None:
    """Every waiter counts in the row of its delay."""
    counts = re.findall(r"^\| [\w. ]+ \| (\d+) \| 0, .* checks, .*$", page, re.MULTILINE)
    assert sum(map(int, counts)) == len(rows)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "0.5 s"), (60, "1 min"), (90, "1 min 30 s"), (3600, "1 h"), (29970, "8 h 19 min 30 s")],
)
def test_lengths_are_said_in_full(tables: ModuleType, seconds: float, text: str) -> None:
    """A length of time is exact, in hours, minutes and seconds."""
    assert tables.length(seconds) == text


def test_sphinx_fills_that_page_and_no_other(tables: ModuleType) -> None:
    """The extension makes the page anew in each build and leaves the others alone."""
    hooks: dict[str, Any] = {}
    tables.setup(SimpleNamespace(connect=hooks.__setitem__))
    assert hooks["env-get-outdated"](None, None, set(), set(), set()) == [tables.PAGE]
    for page, changed in ((tables.PAGE, True), ("index", False)):
        source = [tables.FIRST_CHECKS]
        hooks["source-read"](None, page, source)
        assert (source[0] != tables.FIRST_CHECKS) is changed
