"""``pollwait aws``: the waiters of every AWS service, by the names that ``aws`` gives them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .._errors import UsageError
from . import invocation

if TYPE_CHECKING:
    from .catalogue import Service
    from .invocation import Invocation


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "aws",
        help="wait for things of AWS, as `aws SERVICE wait` does",
        add_help=False,
        prefix_chars="\0",  # no word is an option before it is known which waiter it is for
    )
    parser.add_argument("words", nargs=argparse.REMAINDER)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the waiters, show help, or wait; return the exit code."""
    asked = invocation.read(options.words)
    try:
        return _run(asked)
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in {"boto3", "botocore", "jmespath"}:
            raise
        raise ImportError(f'pollwait aws needs {package}: pip install "pollwait[aws]"') from None


def _run(asked: Invocation) -> int:
    from . import catalogue, overview

    service = None
    if asked.service is not None:
        service = catalogue.Service(asked.service, asked.options.model)
    if asked.options.list:
        return overview.show_waiters(service, as_json=asked.options.json)
    if service is None:
        if asked.options.help:
            return overview.show_help()
        raise UsageError("which service? `pollwait aws --list` lists them, with their waiters")
    if asked.waiter is None:
        if asked.options.help:
            return overview.show_help_of_service(service)
        raise UsageError(
            f"which waiter of {service.name}? `pollwait aws {service.name} --list` lists them"
        )
    return _run_waiter(service, asked.waiter, asked)


def _run_waiter(service: Service, name: str, asked: Invocation) -> int:
    from . import overview, parameters

    waiter = service.waiter(name)
    operation = service.operation(waiter)
    known = parameters.of(operation)
    if asked.options.help:
        return overview.show_help_of_waiter(service, waiter, known)
    given = invocation.parameters(asked.rest, known)
    request = parameters.request(operation, given, asked.options.cli_input_json)
    from . import waiting  # and with it boto3, which nothing before this needs

    return waiting.wait(service, waiter, request, asked.options)
