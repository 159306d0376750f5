"""What tests of the command line share."""

from __future__ import annotations

import os
import select
from contextlib import suppress

import pytest

LONG = 30  # seconds that nothing takes unless it hangs


class Lifeline:
    """A pipe with a name: whoever opens it for writing is known to live, and later to be dead.

    An identifier would not tell, since a dead process keeps it until its parent has noticed.
    """

    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self.file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._read = b""

    def said(self):
        """Return the next line, or nothing if there is none yet."""
        with suppress(BlockingIOError):
            self._read += os.read(self.file, 4096)
        line, end, rest = self._read.partition(b"\n")
        if not end:
            return b""
        self._read = rest
        return line + end

    def line(self):
        """Return the next line; it waits until there is one."""
        while not (line := self.said()):
            assert select.select([self.file], [], [], LONG)[0]
        return line

    def rest(self):
        """Return what was written since the last line; it waits until all writers are gone."""
        while select.select([self.file], [], [], LONG)[0]:
            news = os.read(self.file, 4096)
            if not news:
                return self._read
            self._read += news
        raise AssertionError(f"somebody is alive, having written {self._read!r}")

    def is_held(self):
        """Tell whether somebody could write still."""
        try:
            return os.read(self.file, 4096) != b""
        except BlockingIOError:
            return True


@pytest.fixture
def lifeline(tmp_path):
    """Return a pipe by which to know whether processes live; a shell has it as its file 9."""
    line = Lifeline(tmp_path / "lifeline")
    yield line
    os.close(line.file)
