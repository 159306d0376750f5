"""Files of latency samples, as commands read them: by a path, or from standard input."""

from __future__ import annotations

import logging
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..._core.latency import observed
from ..._sample_files import read_samples
from .._errors import UsageError

if TYPE_CHECKING:
    from ..._core.distribution import Distribution
    from ..._core.samples import Sample

STDIN = "-"
PERCENTILES = (10, 50, 90, 95, 99)

_HEAD = 4096  # bytes of a file that show whether it is text
_LONGEST = 160  # characters of a message, which may hold a line of the file


@dataclass(frozen=True)
class Samples:
    """What a file holds.

    Attributes:
        source: what messages call the file.
        listed: the samples in their order.
    """

    source: str
    listed: list[Sample]

    @property
    def exact(self) -> int:
        """How many samples tell the time itself."""
        return len(self.listed) - self.intervals - self.never_ready

    @property
    def intervals(self) -> int:
        """How many tell between which two times it was."""
        return sum(isinstance(sample, tuple) for sample in self.listed) - self.never_ready

    @property
    def never_ready(self) -> int:
        """How many tell only until when it was not."""
        return sum(isinstance(sample, tuple) and sample[1] is None for sample in self.listed)

    @cached_property
    def latency(self) -> Distribution:
        """What was seen, as ``evaluate`` goes by it."""
        return observed(self.listed)

    def as_json(self) -> dict[str, object]:
        """Return what is told of the file, as plain data."""
        return {
            "source": self.source,
            "count": len(self.listed),
            "exact": self.exact,
            "intervals": self.intervals,
            "never_ready": self.never_ready,
        }

    @property
    def counts(self) -> str:
        """How many there are of each kind, in words."""
        kinds = {
            "exact": self.exact,
            "interval" if self.intervals == 1 else "intervals": self.intervals,
            "never seen ready": self.never_ready,
        }
        told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        noun = "sample" if len(self.listed) == 1 else "samples"
        return f"{len(self.listed):,} {noun} ({told})"

    def __str__(self) -> str:
        return f"{self.source}: {self.counts}"


def read(path: str, name: str | None = None) -> Samples:
    """Return the samples in a file.

    Args:
        path: the file; ``-`` for standard input.
        name: only the samples of waits of this name; None for all.

    Raises:
        UsageError: it cannot be read, a line of it is no sample, or it holds none.
    """
    if path == STDIN:
        return _from_input(name)
    printable = path.encode("utf-8", "replace").decode()  # a name may hold any bytes
    return _from_file(Path(path), printable, name)


def _from_input(name: str | None) -> Samples:
    """Read standard input by way of a file: there is one reader of samples, which takes a path."""
    with TemporaryDirectory(prefix="pollwait-") as folder:
        copy = Path(folder, "samples")
        copy.write_bytes(sys.stdin.buffer.read() if sys.stdin else b"")
        return _from_file(copy, "stdin", name)


def _from_file(path: Path, source: str, name: str | None) -> Samples:
    listener = _Listener()
    logger = logging.getLogger("pollwait")
    logger.addHandler(listener)
    try:
        _refuse_binary(path, source)
        listed = read_samples(path, name=name)
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(_located(str(error), str(path), source)) from None
    finally:
        logger.removeHandler(listener)
    listener.tell(str(path), source)
    if not listed:
        raise UsageError(f"{source} holds no samples{f' of {name!r}' if name else ''}")
    return Samples(source, listed)


def _refuse_binary(path: Path, source: str) -> None:
    if not path.is_file():
        return  # what comes through a pipe can be read only once
    with path.open("rb") as file:
        if b"\0" in file.read(_HEAD):
            raise UsageError(f"{source} is no text")


def _located(text: str, path: str, source: str) -> str:
    """Return an error of the reader with the place in front, as compilers write it."""
    found = re.fullmatch(r", line (\d+): (.*)", text.removeprefix(path), re.DOTALL)
    where, what = (f"{source}:{found[1]}", found[2]) if found else (source, text)
    return f"{where}: {_short(what.replace('could not convert string to float', 'not a number'))}"


class _Listener(logging.Handler):
    """Keeps what the reader warns of, so that a file of the wrong kind makes one line of it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._warnings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self._warnings.append(record.getMessage())

    def tell(self, path: str, source: str) -> None:
        """Say on stderr what was kept."""
        if not self._warnings:
            return
        first = _short(source + self._warnings[0].removeprefix(path))
        others = len(self._warnings) - 1
        more = f", and {others:,} more" if others else ""
        print(f"pollwait: {first}{more}", file=sys.stderr)  # noqa: T201 - a command line talks


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
