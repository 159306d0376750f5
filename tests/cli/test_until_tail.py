"""The end of an output, kept within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait.cli.until.tail import LIMIT, Tail


@given(chunks=st.lists(st.binary(max_size=9)), limit=st.integers(1, 12))
def test_tail_keeps_the_last_bytes(chunks, limit):
    """Whatever the chunks, the last bytes are kept and those before them counted."""
    tail = Tail(limit)
    for chunk in chunks:
        tail.add(chunk)
    written = b"".join(chunks)
    assert tail.read() == written[-limit:]
    assert tail.lost == len(written) - len(tail.read())


def test_tail_goes_on_after_it_was_read():
    """Reading changes nothing of what is kept later."""
    tail = Tail(4)
    tail.add(b"abcdef")
    assert (tail.read(), tail.lost) == (b"cdef", 2)
    tail.add(b"gh")
    assert (tail.read(), tail.lost) == (b"efgh", 4)


@pytest.mark.parametrize("size", [1, 2**16])
def test_tail_does_not_grow(size):
    """However much is added, it holds no more than twice its limit."""
    import tracemalloc

    tail, chunk = Tail(2**12), bytes(size)
    tracemalloc.start()
    for _ in range(2**22 // max(size, 2**9)):
        tail.add(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * 2**12 + 3 * size + 2**12


def test_tail_keeps_a_mebibyte():
    """The default limit is what the help says."""
    assert LIMIT == 1024 * 1024
