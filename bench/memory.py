"""What a long wait keeps in memory: nothing that grows with its attempts.

Run ``python bench/memory.py [--attempts 1000000] [--peer-attempts 10000] [--json]``.

One wait is never ready until the last of its attempts, and each attempt makes a fresh kilobyte: as
the value that the check returns, or as the argument of the error that it raises and a local of the
frame that raises it. The table gives the kilobytes that ``tracemalloc`` counts after so many
attempts, less those before the wait. The peers stop earlier, because some keep every value and
would fill the machine.

Nobody sleeps, as in ``overhead``. ``pollwait.testing.FakeClock`` would not do here: it keeps a list
of all that was slept, which tests want and which grows.
"""

from __future__ import annotations

import argparse
import gc
import tracemalloc
from typing import TYPE_CHECKING

from _common import as_json, heading, table
from _no_sleep import no_sleep
from _threads import ON_ERRORS, ON_RESULTS, Candidate

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from _threads import Check

    # Kilobytes in use after so many attempts.
    Growth: TypeAlias = dict[int, float]

KILOBYTE = 1024

# One of each library: its other faces keep the same. opnieuw cannot make so many attempts.
WATCHED = (
    "loop by hand",
    "pollwait.poll",
    "tenacity.retry",
    "backoff.on_predicate",
    "backoff.on_exception",
    "stamina.retry",
    "polling2.poll",
)


class Pending(bytes):
    """A value that is not good yet, as long as it may be."""

    def __bool__(self) -> bool:
        return False


def returning(attempts: int, mark: Callable[[int], None]) -> Check:
    """Return a check that gives a fresh kilobyte until its last attempt."""
    attempt = 0

    def check() -> object:
        nonlocal attempt
        attempt += 1
        mark(attempt)
        return attempt >= attempts or Pending(KILOBYTE)

    return check


def raising(attempts: int, mark: Callable[[int], None]) -> Check:
    """Return a check that raises, and has its frame hold, a fresh kilobyte until its last call."""
    attempt = 0

    def check() -> bool:
        nonlocal attempt
        attempt += 1
        mark(attempt)
        if attempt < attempts:
            body = bytes(KILOBYTE)
            raise ConnectionError(body)
        return True

    return check


def growth(
    candidate: Candidate, make: Callable[[int, Callable[[int], None]], Check], attempts: int
) -> Growth:
    """Run one wait of that many attempts and count what is in use at every power of ten."""
    found: Growth = {}
    before = 0

    def mark(attempt: int) -> None:
        if attempt in marks:
            gc.collect()
            found[attempt] = (tracemalloc.get_traced_memory()[0] - before) / KILOBYTE

    marks = powers_of_ten(attempts)
    run = candidate.prepare(make(attempts, mark))
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        run()
    finally:
        tracemalloc.stop()
    return found


def powers_of_ten(highest: int) -> tuple[int, ...]:
    """Return 1,000, 10,000 and so on, up to and including ``highest``."""
    return tuple(10**n for n in range(3, len(str(highest))))


def measure(
    candidates: tuple[Candidate, ...],
    make: Callable[[int, Callable[[int], None]], Check],
    attempts: int,
    peer_attempts: int,
) -> dict[str, Growth]:
    """Watch the memory of one wait of each library."""
    with no_sleep():
        return {
            each.name: growth(
                each, make, attempts if each.name.startswith("pollwait") else peer_attempts
            )
            for each in candidates
            if each.name in WATCHED
        }


def show(title: str, results: dict[str, Growth], attempts: int) -> str:
    """Return results as text."""
    marks = powers_of_ten(attempts)
    rows = (
        (name, *(f"{found[mark]:.1f}" if mark in found else "" for mark in marks))
        for name, found in results.items()
    )
    return f"\n{table((title, *(f'{mark:,}' for mark in marks)), rows)}"


def main() -> None:
    """Run the waits and print what they kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=1_000_000, help="attempts of pollwait")
    parser.add_argument("--peer-attempts", type=int, default=10_000, help="attempts of the others")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    found = {
        title: measure(candidates, make, options.attempts, options.peer_attempts)
        for title, candidates, make in (
            ("kB in use, checks that return", ON_RESULTS, returning),
            ("kB in use, checks that raise", ON_ERRORS, raising),
        )
    }
    if options.json:
        print(as_json({"results": found}))
        return
    print(heading())
    for title, results in found.items():
        print(show(title, results, options.attempts))


if __name__ == "__main__":
    main()
