"""What happens to batchers when the process forks, or ends.

This module is imported when the first one is made. It keeps weak references only, and they are all
the state that there is: Python takes back no hook for forks, so there must be a single one.
"""

from __future__ import annotations

import os
from weakref import WeakSet, finalize, ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .crew import Crew

LIVING: WeakSet[Crew] = WeakSet()


def watch(crew: Crew) -> None:
    """Have a crew told of forks and of the end of the process, for as long as it lives."""
    LIVING.add(crew)
    finalize(crew, _end, ref(crew))


def _end(weak: ref[Crew]) -> None:
    crew = weak()
    if crew is not None:  # else it is garbage already, and so is whatever it had to do
        crew.close(drain=False)


def _start_clean() -> None:
    for crew in list(LIVING):
        crew.after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch - not on Windows
    os.register_at_fork(after_in_child=_start_clean)
