"""The wait of ``pollwait aws``: what is shown meanwhile, and what is said in the end."""

from __future__ import annotations

import base64
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError

from ... import PollError, PollFailed, aws
from ..._core.failure import decimal
from .. import live
from .._exit_codes import FAILED, INTERRUPTED, READY, TIMED_OUT
from . import catalogue, connection
from .progress import Progress, checks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Mapping

    from ...aws._definition import Definition
    from .catalogue import Service

_OUTCOMES = {
    READY: "ready",
    FAILED: "failed",
    TIMED_OUT: "timed out",
    INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class End:
    """How a wait ended.

    Attributes:
        code: the exit code.
        response: the last that the service gave; None if it gave none.
        error: why it is not ready, in one sentence; None if it is.
    """

    code: int
    response: Mapping[str, Any] | None
    error: str | None = None


def wait(
    service: Service, definition: Definition, request: dict[str, Any], options: argparse.Namespace
) -> int:
    """Wait, tell how it goes and how it went, and return the exit code.

    Args:
        service: whose waiter it is.
        definition: of the waiter.
        request: the parameters of its operation.
        options: those of ``invocation.OPTIONS``.

    Raises:
        UsageError: it cannot be done: a parameter or the configuration is at fault.
    """
    waiter = catalogue.kebab_case(definition)
    client = connection.client(service, options)
    with _shown(f"{service.name} {waiter}", definition, quiet=options.quiet) as progress:
        end = _end(client, definition, request, options, progress)
    if options.json:
        report = {
            "service": service.name,
            "waiter": waiter,
            "outcome": _OUTCOMES[end.code],
            "elapsed": round(progress.elapsed, 3),
            "attempts": progress.attempts,
            "response": _without_metadata(end.response),
            "error": end.error,
        }
        print(json.dumps(report, default=_plain))  # noqa: T201 - a command line talks
    elif end.error is not None and not options.quiet:
        _say(f"pollwait: {end.error}")
    return end.code


def _end(
    client: Any,
    definition: Definition,
    request: dict[str, Any],
    options: argparse.Namespace,
    progress: Progress,
) -> End:
    settings: dict[str, Any] = {"until_stable": options.until_stable, "on_event": progress}
    if options.missing_grace is not None:
        settings["missing_grace"] = options.missing_grace
    if options.schedule is not None:  # obeyed to the letter: nobody else shares the calls
        settings |= {"schedule": options.schedule, "min_gap": 0}
    try:
        waiter = aws.waiter(client, definition, **settings)
        return End(READY, waiter.wait(timeout=options.timeout, **request))
    except PollError as error:
        code = FAILED if isinstance(error, PollFailed) else TIMED_OUT
        response = getattr(error, "response", None) or progress.response
        return End(code, response, connection.one_line(error))
    except KeyboardInterrupt:
        after = f"{checks(progress.attempts)} in {decimal(progress.elapsed)} s"
        return End(INTERRUPTED, progress.response, f"interrupted after {after}")
    except (BotoCoreError, TypeError, ValueError) as error:  # refused before any call, or no access
        raise connection.refused(error) from None


@contextmanager
def _shown(name: str, definition: Definition, *, quiet: bool) -> Generator[Progress]:
    """Show how a wait stands: on a terminal in a line that changes, else when what is seen does."""
    progress = Progress(definition)
    if quiet:
        yield progress
    elif live.is_terminal():
        with live.line(progress.line) as refresh:
            progress.changed = lambda news: refresh()
            yield progress
    else:

        def tell(news: bool) -> None:
            if news:
                after = f"{progress.elapsed:.0f} s, {checks(progress.attempts)}"
                _say(f"{name}: {progress.seen} ({after})")

        progress.changed = tell
        yield progress


def _without_metadata(response: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a response without what the HTTP answer brought along, as ``aws`` shows it."""
    if response is None:
        return None
    return {name: value for name, value in response.items() if name != "ResponseMetadata"}


def _plain(value: object) -> str:
    """Return what JSON lacks as text: times in ISO 8601, bytes in base64."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    return str(value)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
