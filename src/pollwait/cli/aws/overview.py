"""The lists of services and waiters, and the help of ``pollwait aws``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._exit_codes import READY
from . import catalogue
from .invocation import Parser, add_options, add_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...aws._definition import Definition
    from .catalogue import Service
    from .parameters import Parameter

_DESCRIPTION = """\
Wait as `aws SERVICE wait WAITER` does, with the same names and parameters, but sooner:

  pollwait aws ec2 volume-available --volume-ids vol-1 vol-2 --timeout 5m

`pollwait aws --list` lists all services and waiters, `pollwait aws ec2 --list` those of a service,
and `pollwait aws ec2 volume-available --help` shows the parameters of a waiter."""

_EXIT_CODES = """\
Exit codes: 0 ready; 1 failed; 2 the call is wrong, or lacks a region or credentials; 124 not ready
in time; 130 interrupted."""

_COLUMNS = {
    "service": "SERVICE",
    "waiter": "WAITER",
    "operation": "OPERATION",
    "delay": "DELAY",
    "max_attempts": "ATTEMPTS",
}
_NUMBERS = ("delay", "max_attempts")


def show_waiters(service: Service | None, *, as_json: bool) -> int:
    """Print a list of the waiters of a service, or of all."""
    services = [service] if service else map(catalogue.Service, catalogue.services())
    rows = [row for each in services for row in catalogue.rows(each)]
    _print(json.dumps(rows) if as_json else "\n".join(_aligned(rows)))
    return READY


def show_help() -> int:
    """Print the help of the command."""
    return _show("[options] SERVICE [wait] WAITER [options] [parameters]", _DESCRIPTION)


def show_help_of_service(service: Service) -> int:
    """Print the help of the command with the waiters of a service."""
    name = service.name
    waiters = "\n".join(f"  {waiter}" for waiter in service.waiters) or "  none"
    return _show(f"{name} WAITER [options] [parameters]", f"The waiters of {name}:\n\n{waiters}")


def show_help_of_waiter(service: Service, waiter: Definition, known: Sequence[Parameter]) -> int:
    """Print the help of a waiter: what it is and what parameters it takes."""
    name = catalogue.kebab_case(waiter)
    usage = f"{service.name} {name} [options] [parameters]"
    return _show(usage, "\n".join(_told(waiter)), known, f"parameters of {waiter.operation}")


def _show(
    usage: str, description: str, known: Sequence[Parameter] = (), title: str = "parameters"
) -> int:
    parser = Parser(usage=f"pollwait aws {usage}", description=description, epilog=_EXIT_CODES)
    if known:
        add_parameters(parser, known, title)
    add_options(parser)
    _print(parser.format_help().rstrip())
    return READY


def _told(waiter: Definition) -> Iterable[str]:
    """Yield lines that say what a definition means."""
    if waiter.description:
        yield f"{waiter.description}\n"
    total = waiter.delay * waiter.max_attempts
    yield (
        f"Calls {waiter.operation} at once and then ever more slowly, every {waiter.delay:g} s in"
        f" the end,\nfor {total:g} s unless --timeout says otherwise. It is\n"
    )
    for state, phrase in (("success", "ready"), ("failure", "failed"), ("retry", "not ready")):
        for acceptor in waiter.acceptors:
            if acceptor.state == state:
                yield f"  {phrase:9}  when {acceptor}"


def _aligned(rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Yield the lines of a table, numbers to the right."""
    texts = [_COLUMNS, *({name: _text(row[name]) for name in _COLUMNS} for row in rows)]
    widths = {name: max(len(row[name]) for row in texts) for name in _COLUMNS}
    for row in texts:
        cells = [
            row[name].rjust(widths[name]) if name in _NUMBERS else row[name].ljust(widths[name])
            for name in _COLUMNS
        ]
        yield "  ".join(cells).rstrip()


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _print(text: str) -> None:
    print(text)  # noqa: T201 - a command line talks
