"""A Sphinx extension: the tables of all waiters, made from botocore's definitions.

They stand in the built page only, in place of two comments. The botocore that is installed decides
their rows, so tables that were kept with the sources would be out of date with each release of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from types import SimpleNamespace
from typing import Any, NamedTuple

import botocore
from botocore.loaders import Loader
from botocore.model import ServiceModel

from pollwait.aws._bound_operation import BoundOperation
from pollwait.aws._catalogue import definitions_of_service, services_with_waiters
from pollwait.aws._definition import Definition
from pollwait.aws._identifiers import IDENTIFIERS
from pollwait.aws._limits import swift
from pollwait.aws._sharing_rule import sharings_of

PAGE = "reference/aws-waiters"
FIRST_CHECKS = "<!-- table: the first checks -->"
WAITERS = "<!-- table: all waiters -->"

_SHOWN = 8  # checks, of those that come before the delay is reached


class Row(NamedTuple):
    """What the tables say of one waiter."""

    service: str
    name: str
    definition: Definition
    asks_by: str


class _Client:
    """Stands for a client of which no more is asked than the model of its service."""

    def __init__(self, service: ServiceModel) -> None:
        self.meta = SimpleNamespace(service_model=service)

    def can_paginate(self, method: str) -> bool:
        return False

    def __getattr__(self, method: str) -> None:
        """Have every method; none is called."""


def setup(app: Any) -> dict[str, Any]:
    """Fill the page whenever Sphinx builds, also where the page itself has not changed."""
    app.connect("env-get-outdated", lambda *_: [PAGE])
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill(app: Any, page: str, source: list[str]) -> None:
    if page == PAGE:
        source[0] = filled(source[0])


def filled(text: str) -> str:
    """Return the page's text with the tables in it."""
    waiters = list(rows())
    return text.replace(FIRST_CHECKS, first_checks(waiters)).replace(WAITERS, all_waiters(waiters))


def rows() -> Iterator[Row]:
    """Yield a row for each waiter of botocore, by service and name."""
    loader = Loader()
    for service in services_with_waiters():
        description = loader.load_service_model(service, "service-2")
        client = _Client(ServiceModel(description, service))
        for name, definition in sorted(definitions_of_service(service).items()):
            operation = BoundOperation(client, definition.operation)
            yield Row(service, name, definition, _parameters(operation))


def first_checks(waiters: list[Row]) -> str:
    """Return a table of when waiters look, by the delay of their definition."""
    lines = [
        "| delay | waiters | checks at first | the delay is reached after |",
        "|--:|--:|---|---|",
    ]
    counted = Counter(row.definition.delay for row in waiters)
    for delay, number in sorted(counted.items()):
        times = list(_growing(delay))
        shown = ", ".join(f"{time:.3g}" for time in times[:_SHOWN])
        more = ", …" if len(times) > _SHOWN else ""
        checks = f"{len(times)} checks, {times[-1]:.3g} s"
        lines.append(f"| {length(delay)} | {number} | {shown}{more} s | {checks} |")
    return "\n".join(lines)


def all_waiters(waiters: list[Row]) -> str:
    """Return a section with a table for each service, below a sentence that counts them all."""
    services = {row.service for row in waiters}
    lists = sum("(" in row.asks_by for row in waiters)
    gone = sum(row.definition.awaits == "absence" for row in waiters)
    parts = [
        f"botocore {botocore.__version__} has {len(waiters)} waiters for {len(services)} services."
        f" {lists} of them ask by lists of ids, and {gone} wait until something is gone."
    ]
    for service, its_rows in groupby(waiters, lambda row: row.service):
        parts += [f"## {service}", _table(list(its_rows))]
    return "\n\n".join(parts)


def _table(waiters: list[Row]) -> str:
    number = f"{len(waiters)} waiter{'s' if len(waiters) > 1 else ''}"
    lines = [
        f"| {number} | asks by | delay | attempts | in all | missing |",
        "|---|---|--:|--:|--:|---|",
    ]
    for _, name, definition, asks_by in waiters:
        delay, attempts = definition.delay, definition.max_attempts
        cells = [
            f"`{name}` <br> {definition.operation}",
            asks_by,
            length(delay),
            str(attempts),
            length(delay * attempts),
            "gone" if definition.awaits == "absence" else "not yet",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _parameters(operation: BoundOperation) -> str:
    """Say by which parameters an operation tells things apart, and how many go in a call."""
    service: Any = operation.service
    ways = sharings_of(service, operation.name)
    if ways:
        return " or ".join(f"`{way.parameter}` ({way.limit})" for way in ways)
    known = IDENTIFIERS.get(service.service_name, {}).get(operation.name)
    names = operation.required_texts() if known is None else [known]
    return " + ".join(f"`{name}`" for name in names)


def _growing(delay: float) -> Iterator[float]:
    """Yield the times of checks up to the first that comes a whole delay after the one before."""
    time = 0.0
    yield time
    for wait in swift(delay).delays():
        if wait == delay:
            return
        time += wait
        yield time


def length(seconds: float) -> str:
    """Return a length of time as people say it, exact."""
    minutes, rest = divmod(seconds, 60)
    parts = [(minutes // 60, "h"), (minutes % 60, "min"), (rest, "s")]
    return " ".join(f"{number:g} {unit}" for number, unit in parts if number)
