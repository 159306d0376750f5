"""The error of a test in which everybody waits and nothing is left that could wake anybody."""

from __future__ import annotations


class Deadlock(RuntimeError):
    """All who wait would wait for ever. The text names them and says where they wait."""
