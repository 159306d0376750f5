"""Files of latency samples: read from several formats, and appended to by many processes."""

from __future__ import annotations

import sys

from ._core.duration import INFINITY
from ._core.samples import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike
    from typing import Any, TypeAlias

    from ._core.samples import Sample, Span

    Path: TypeAlias = str | PathLike[str]

    # The name of the wait, if it is told, and what was seen.
    Record: TypeAlias = tuple[str | None, Span]

# Beyond any length that such a file has, so that a lock there keeps nobody from reading.
_LOCKED_BYTE = 2**31 - 2

_EXACT = "seconds"
_FROM, _TO = "not_ready_at", "ready_at"
_NAME = "name"


def read_samples(path: Path, *, name: str | None = None) -> list[Sample]:
    """Return the samples in a file, in order; ``LatencyLog.load`` tells what it may hold.

    Args:
        path: the file.
        name: only samples of waits of this name; None for all.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is no sample; the message says which and why.
    """
    return [as_sample(seen) for seen in read_spans(path, name)]


def read_spans(path: Path, name: str | None = None) -> Iterator[Span]:
    """Yield the samples in a file as pairs of times."""
    reader, header = _Reader(), 0
    with open(path, encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(_to_the_end(lines), start=1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                record = reader.read(text)
            except (TypeError, ValueError, RecursionError) as error:
                torn = isinstance(error, _TornError) or not line.endswith("\n")
                if not torn:
                    raise ValueError(f"{path}, line {number}: {error}") from None
                _warn("%s, line %s is torn off and left out: %s", path, number, text)
                continue
            if record is None:
                header = number
                continue
            header = 0
            if name in (None, record[0]):
                yield record[1]
    if header:
        _warn("%s, line %s names columns, but no sample follows", path, header)


def _to_the_end(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines up to one without an end: another process may be about to write the rest of it.

    If that comes while the file is read, it would be taken for a line of its own.
    """
    for line in lines:
        yield line
        if not line.endswith("\n"):
            return


def as_sample(seen: Span) -> Sample:
    """Return a pair of times as ``fit`` and ``LatencyModel`` take it."""
    low, high = seen
    if low == high:
        return low
    return low, None if high == INFINITY else high


def append(path: Path, name: str, seen: Span) -> None:
    """Append a sample to a file as a line of JSON, or log a warning if that cannot be done."""
    import json

    low, high = seen
    record = {_NAME: name, _FROM: low, _TO: None if high == INFINITY else high}
    try:
        _append_line(path, json.dumps(record).encode())
    except OSError as error:
        _warn("cannot write a latency to %s: %s", path, error)


class _Reader:
    """Reads lines, the first of which may name the columns."""

    def __init__(self) -> None:
        self._columns: Sequence[str] | None = None

    def read(self, text: str) -> Record | None:
        """Return what a line says; None for one that names the columns."""
        if text[0] in "{[":
            return _from_json(text)
        cells = _cells(text)
        if self._columns is None:
            names = [cell.lower() for cell in cells]
            if _is_header(names):
                self._columns = _columns(names)
                return None
            self._columns = (_FROM, _TO) if len(cells) > 1 else (_EXACT,)
        if len(cells) != len(self._columns):
            raise ValueError(
                f"a line must have as many values as the first, {len(self._columns)}:"
                f" got {len(cells)}"
            )
        named = dict(zip(self._columns, cells, strict=True))
        numbers = {key: _number(named[key]) for key in (_EXACT, _FROM, _TO) if key in named}
        return _from_mapping({**named, **numbers})


class _TornError(ValueError):
    """A line of JSON has no end."""


def _columns(names: Sequence[str]) -> Sequence[str]:
    if _EXACT in names or {_FROM, _TO} <= set(names):
        return names
    if len(names) == 1:
        return (_EXACT,)
    if len(names) == 2:
        return (_FROM, _TO)
    raise ValueError(f"columns must be named {_FROM} and {_TO}, or {_EXACT}: got {names!r}")


def _cells(text: str) -> list[str]:
    import csv

    try:
        return [cell.strip() for cell in next(csv.reader([text]))]
    except csv.Error as error:  # which is no ValueError
        raise ValueError(str(error)) from None


def _from_json(text: str) -> Record:
    import json

    if text in ("{", "["):
        raise ValueError("each line must be a sample: got a document of several lines")
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise _TornError(str(error)) from None
    return (None, span(found)) if text[0] == "[" else _from_mapping(found)


def _from_mapping(found: Mapping[str, Any]) -> Record:
    name = found.get(_NAME)
    if _EXACT in found:
        return name, span(found[_EXACT])
    if _FROM in found and _TO in found:
        return name, span((found[_FROM], found[_TO]))
    raise ValueError(f"it must hold {_FROM} and {_TO}, or {_EXACT}: got {sorted(found)!r}")


def _is_header(names: Sequence[str]) -> bool:
    """Tell names of columns from values of which none is a number, as of another unit."""
    if any(map(_is_number, names)):
        return False
    if _EXACT in names or {_FROM, _TO} <= set(names):
        return True
    words = [name for name in names if name]
    return bool(words) and all(word.replace("-", "_").isidentifier() for word in words)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _append_line(path: Path, line: bytes) -> None:
    """Append a line in one piece, on a line of its own whatever a crash has left."""
    import os

    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o666)
    try:
        unlock = _lock(file)
        try:
            if os.lseek(file, 0, os.SEEK_END) > 0:
                os.lseek(file, -1, os.SEEK_END)
                if os.read(file, 1) != b"\n":
                    line = b"\n" + line
            left = line + b"\n"
            while left:
                left = left[os.write(file, left) :]
        finally:
            unlock()
    finally:
        os.close(file)


def _lock(file: int) -> Callable[[], None]:
    """Lock a file as soon as nobody else has it locked, and return what unlocks it."""
    if sys.platform == "win32":  # pragma: no cover  # tests run elsewhere
        import msvcrt
        import os

        def at_byte(mode: int) -> None:
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, mode, 1)

        at_byte(msvcrt.LK_LOCK)
        return lambda: at_byte(msvcrt.LK_UNLCK)
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)
    return lambda: fcntl.flock(file, fcntl.LOCK_UN)


def _warn(text: str, *details: object) -> None:
    import logging

    logging.getLogger("pollwait").warning(text, *details)
