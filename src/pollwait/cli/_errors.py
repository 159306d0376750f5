"""What commands raise for the command line to report."""

from __future__ import annotations


class UsageError(Exception):
    """The command cannot be carried out as it was given; the text says why, in one line."""
