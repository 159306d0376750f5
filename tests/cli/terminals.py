"""What a pseudo-terminal shows of a process."""

from __future__ import annotations

import os
import select


def shown_until(terminal, end):
    """Return what a terminal shows, up to some bytes or until nobody writes to it any more."""
    shown = b""
    while end is None or end not in shown:
        assert select.select([terminal], [], [], 60)[0], shown
        try:
            news = os.read(terminal, 65536)
        except OSError:  # Linux: the other side is closed
            news = b""
        if not news:
            break
        shown += news
    return shown
