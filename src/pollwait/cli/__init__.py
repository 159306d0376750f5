"""The command line: ``pollwait COMMAND …``, a package for each command or family of them.

``_main`` reads the command and turns what it raises into an exit code; ``completion`` tells shells
what there is. All share ``_arguments``, ``_errors``, ``_exit_codes`` and ``live``, the line that is
shown while something lasts.
"""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
