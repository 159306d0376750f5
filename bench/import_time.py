"""What ``import pollwait`` costs, beside its peers.

Run ``python bench/import_time.py [--rounds 31] [--json]`` (on Unix: it reads the CPU time of child
processes).

Every figure comes from a fresh interpreter, and the modules take turns. Two figures for each:

- ``importtime``: milliseconds as ``python -X importtime`` counts them, everything that the module
  imports included.
- ``process``: CPU milliseconds of ``python -c "import X"`` less those of an interpreter that
  imports nothing, in the same round. It includes what the import costs later on, at exit too, and
  of the two it suffers less where the machine is busy.

Each ratio says how many times as long as ``import pollwait`` another import takes; ``dataclasses``
and ``typing`` are there for orientation. The children ignore the environment (``-I``), so they may
write bytecode, and a first run of each, not timed, does so: an editable install has none before.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from _common import PEERS, Spread, as_json, heading, interleave, ratios, table

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = ("pollwait", *PEERS, "dataclasses", "typing")
NOTHING = "sys"  # every interpreter has it from the start

_LOADED = """
import sys
before = set(sys.modules)
import {}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""

_NOT_COMPILED = """
import os, sys
import {}
files = (getattr(module, "__cached__", None) for module in list(sys.modules.values()))
print(*(file for file in files if file and not os.path.exists(file)), sep="\\n")
"""


@dataclass(frozen=True)
class Result:
    """Milliseconds of one import, and their ratios to those of ``import pollwait``."""

    importtime: Spread
    importtime_ratio: Spread
    process: Spread
    process_ratio: Spread


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that ignores the environment and the user's packages."""
    command = [sys.executable, "-I", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True)


def printed_by(script: str, module: str) -> list[str]:
    """Run one of the scripts above for a module and return the lines that it prints."""
    return child("-c", script.format(module)).stdout.split()


def compile_bytecode(module: str) -> None:
    """Import a module once, which compiles it, and make sure that this was kept."""
    child("-c", f"import {module}")
    missing = printed_by(_NOT_COMPILED, module)
    if missing:
        raise SystemExit(f"import {module} would compile each time: cannot write {missing[0]}")


def importtime(module: str) -> float:
    """Return the milliseconds that ``-X importtime`` counts for a module and what it imports."""
    report = child("-X", "importtime", "-c", f"import {module}").stderr
    for line in reversed(report.splitlines()):
        _, cumulative, name = line.removeprefix("import time:").split("|")
        if name.strip() == module:
            return int(cumulative) / 1000
    raise SystemExit(f"{module} is loaded by every interpreter here: there is nothing to time")


def process(module: str) -> float:
    """Return the CPU milliseconds of an interpreter that imports a module and ends."""
    before = _children_seconds()
    child("-c", f"import {module}")
    return (_children_seconds() - before) * 1000


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(rounds: int) -> dict[str, Result]:
    """Time all imports in turn."""
    for module in MODULES:
        compile_bytecode(module)
    runs: dict[str, Callable[[], float]] = {NOTHING: partial(process, NOTHING)}
    for module in MODULES:
        runs[module] = partial(importtime, module)
        runs[f"process {module}"] = partial(process, module)
    figures = interleave(runs, rounds)
    empty = figures[NOTHING]
    cpu = {module: _less(figures[f"process {module}"], empty) for module in MODULES}
    return {
        module: Result(
            Spread.of(figures[module]),
            ratios(figures[module], figures["pollwait"]),
            Spread.of(cpu[module]),
            ratios(cpu[module], cpu["pollwait"]),
        )
        for module in MODULES
    }


def _less(figures: list[float], empty: list[float]) -> list[float]:
    return [figure - nothing for figure, nothing in zip(figures, empty, strict=True)]


def show(results: dict[str, Result]) -> str:
    """Return results as text."""
    header = ("import", "importtime ms", "min", "ratio", "max", "process ms", "min", "ratio", "max")
    rows = (
        (
            module,
            f"{result.importtime.median:.2f}",
            *result.importtime_ratio.cells(),
            f"{result.process.median:.2f}",
            *result.process_ratio.cells(),
        )
        for module, result in results.items()
    )
    return table(header, rows)


def main() -> None:
    """Time the imports and print what came out, and what ``import pollwait`` loads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=31, help="times each import is timed")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    options = parser.parse_args()
    results = measure(options.rounds)
    loaded = printed_by(_LOADED, "pollwait")
    if options.json:
        print(as_json({"rounds": options.rounds, "results": results, "loaded": loaded}))
        return
    print(f"{heading()}\n\n{show(results)}")
    print(f"\nimport pollwait loads {len(loaded)} modules:", *loaded, sep="\n  ")


if __name__ == "__main__":
    main()
