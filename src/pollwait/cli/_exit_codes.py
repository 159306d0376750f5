"""The exit codes of the commands, so that scripts can tell how a wait ended."""

from __future__ import annotations

READY = 0
FAILED = 1  # it is in a state from which it cannot become ready, or a service refused the call
USAGE = 2  # the command cannot be carried out as it was given
TIMED_OUT = 124  # as timeout(1) of the GNU coreutils exits
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE
