"""``pollwait until``: run a command until it succeeds.

It ends by its timeout, as people expect of ``timeout 60 COMMAND``, and not when a command that
hangs lets it: a run that the deadline finds under way has ``LAST_RUN`` more, and one that then does
not end when it is asked to has ``KILL_AFTER`` until it is killed.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..._clock import SYSTEM_CLOCK
from ..._core.duration import INFINITY, at_least_one
from ..._core.schedule import exponential
from .. import _arguments
from .._errors import UsageError
from .._exit_codes import FAILED, READY, TIMED_OUT

if TYPE_CHECKING:
    from ..._clock import Clock
    from .child import Command, Ended, Output
    from .report import Display, Outcome, Watch
    from .signals import Signals

# A run costs a process or more, so the first delay is longer than that of a poll; and people who
# wait at a prompt, or pay for a machine in CI, are noticed late by 5 s at most.
SCHEDULE = exponential(0.25, factor=1.5).cap(5).jitter(0.1)

TIMEOUT = 60.0

# Seconds that a run has beyond the deadline: one that starts at the deadline needs some.
LAST_RUN = 1.0

MOST = 255  # the largest exit code

_EXIT_CODES: dict[Outcome, int] = {"ready": READY, "failed": FAILED, "timed out": TIMED_OUT}

_DESCRIPTION = (
    "Run a command again and again until it exits with 0: a health check, a look at a port, a"
    " migration. At the end the output of the last run is passed on. The command reads no input,"
    " and each run is a process group of its own."
)
_EPILOG = (
    "Exit codes: 0 ready; 1 the command exited with a --fail-on code; 2 the command cannot be run,"
    " or the call is wrong; 124 not ready within the timeout, the attempts or the schedule; 128 + N"
    " ended by signal N, 130 by Ctrl-C. A signal is passed on to the run under way. Durations are"
    " seconds, or such as 45s, 2m and 1h30m."
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "until",
        usage="pollwait until [options] [--] COMMAND [ARGUMENT ...]",
        help="run a command until it succeeds",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        allow_abbrev=False,  # options of the command may look like abbreviated ones
    )
    _add_limits(parser)
    _add_outputs(parser)
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs=argparse.REMAINDER,
        help="what to run, and its arguments",
    )
    parser.set_defaults(run=run)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        metavar="DURATION",
        type=_arguments.timeout,
        default=TIMEOUT,
        help="when to give up, or 'none' for never (default: 60 s); a run that is under way then,"
        f" or starts just then, gets {LAST_RUN:g} s more before it is ended",
    )
    parser.add_argument(
        "--attempt-timeout",
        metavar="DURATION",
        type=_above_zero,
        help="end a run that takes longer, with all it has started, by SIGTERM and 2 s later by"
        " SIGKILL; it counts as not ready (default: no limit but --timeout)",
    )
    parser.add_argument(
        "--attempts", metavar="N", type=_count, help="the most runs to make (default: no limit)"
    )
    parser.add_argument(
        "--schedule",
        metavar="SCHEDULE",
        type=_arguments.schedule,
        default=SCHEDULE,
        help="the delays between runs, such as 'fixed(2)' (default: %(default)s)",
    )
    parser.add_argument(
        "--fail-on",
        metavar="CODE",
        type=_codes,
        action="extend",
        default=[],
        help="exit codes after which waiting is no use, such as 3 or 3,4; may be repeated",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_mutually_exclusive_group()
    outputs.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="pass on the output of every run as it comes, and tell how each run ended",
    )
    outputs.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="pass on no output and say nothing: the exit code tells",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object on stdout, which holds the output of the last run",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command until it succeeds, and return the exit code."""
    from . import report
    from .child import Command
    from .signals import Signals

    arguments = _command(options)
    with report.Watch(_display(options), SYSTEM_CLOCK) as watch, Signals(watch.beat) as signals:
        command = Command(arguments, signals, _output(options))
        _wait(options, command, signals, watch)
    end = report.End.of(arguments, options, watch, signals.ended_by)
    if options.json:
        report.print_json(end, command)
    elif not options.quiet:
        report.pass_on(end, command)
    return _EXIT_CODES.get(end.outcome, 128 + (signals.ended_by or 0))


def _wait(options: argparse.Namespace, command: Command, signals: Signals, watch: Watch) -> None:
    """Run the command until the wait ends; the watch is told how."""
    from ... import PollError, poll

    clock: Clock = SYSTEM_CLOCK
    began = clock.monotonic()
    longest: float = options.attempt_timeout or INFINITY

    def check() -> Ended:
        if options.timeout is None:
            return command.run(longest)
        left = began + options.timeout - clock.monotonic()
        return command.run(min(longest, max(left, 0.0) + LAST_RUN))

    with suppress(PollError):
        poll(
            check,
            until=lambda ended: ended.code == 0,
            fail=lambda ended: ended.code in options.fail_on,
            schedule=options.schedule,
            timeout=options.timeout,
            max_attempts=options.attempts,
            cancel=signals,
            clock=clock,
            on_event=watch,
        )


def _command(options: argparse.Namespace) -> list[str]:
    command: list[str] = options.command[options.command[:1] == ["--"] :]
    if not command:
        raise UsageError("until needs a command, as in: pollwait until -- test -e /tmp/ready")
    if options.json and options.verbose:
        raise UsageError("--verbose writes where --json does: give one of them")
    return command


def _output(options: argparse.Namespace) -> Output:
    if options.verbose:
        return "pass"
    return "drop" if options.quiet and not options.json else "keep"


def _display(options: argparse.Namespace) -> Display:
    if options.verbose:
        return "lines"
    return "none" if options.quiet else "live"


def _above_zero(text: str) -> float:
    value = _arguments.duration(text)
    if not value:
        raise argparse.ArgumentTypeError(f"must be above 0 seconds: got {text!r}")
    return value


def _count(text: str) -> int:
    try:
        return at_least_one(int(text), "N")
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number from 1 up: got {text!r}") from None


def _codes(text: str) -> list[int]:
    try:
        codes = [int(code) for code in text.split(",")]
    except ValueError:
        codes = [0]
    if not all(0 < code <= MOST for code in codes):
        raise argparse.ArgumentTypeError(
            f"must be numbers from 1 to {MOST}, such as 3 or 3,4: got {text!r}"
        )
    return codes
