"""Types of batchers and coalescers, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping
    from concurrent.futures import Future

    from typing_extensions import assert_type

    from pollwait import Batcher, Coalescer, aio

    def fetch(keys: list[str]) -> dict[str, int | Exception]:
        """Answer with numbers and errors."""
        ...

    def fetch_all(keys: list[str]) -> Mapping[str, int]:
        """Answer with numbers."""
        ...

    async def fetch_later(keys: list[str]) -> dict[str, int]:
        """Answer with numbers, in time."""
        ...

    def merge(pending: set[int] | None, request: int) -> set[int]:
        """Gather numbers."""
        ...

    def execute(key: str, merged: set[int]) -> bytes:
        """Do something with them."""
        ...

    async def execute_later(key: str, merged: set[int]) -> bytes:
        """Do something with them, in time."""
        ...

    def named(error: Exception, keys: list[str]) -> list[str] | None:
        """Tell which keys an error names."""
        ...

    def on_threads() -> None:
        """A batcher gives what its fetch gives, less the errors where one is raised."""
        batcher = Batcher(fetch, max_size=10, isolate=named)
        assert_type(batcher, Batcher[str, int])
        assert_type(batcher.load("a", timeout=1), int)
        assert_type(batcher.submit("a"), Future[int])
        assert_type(batcher.load_many(["a"]), dict[str, int | Exception])
        assert_type(Batcher(fetch_all, max_size=10).load("a"), int)
        with batcher as opened:
            assert_type(opened, Batcher[str, int])

    def merging_on_threads() -> None:
        """A coalescer takes what its merge takes and gives what its execute gives."""
        coalescer = Coalescer(merge, execute, max_delay=1)
        assert_type(coalescer.load("a", 1), bytes)
        assert_type(coalescer.submit("a", 1), Future[bytes])

    async def on_a_loop() -> None:
        """The same, with a fetch that may be awaited."""
        batcher = aio.Batcher(fetch_later, max_size=10)
        assert_type(batcher, aio.Batcher[str, int])
        assert_type(await batcher.load("a", timeout=1), int)
        assert_type(batcher.submit("a"), asyncio.Future[int])
        assert_type(await batcher.load_many(["a"]), dict[str, int | Exception])
        assert_type(await aio.Batcher(fetch, max_size=10).load("a"), int)
        await batcher.flush()
        async with batcher as opened:
            assert_type(opened, aio.Batcher[str, int])

    async def merging_on_a_loop() -> None:
        """The same, with an execute that may be awaited."""
        coalescer = aio.Coalescer(merge, execute_later, max_delay=1)
        assert_type(await coalescer.load("a", 1), bytes)
        assert_type(coalescer.submit("a", 1), asyncio.Future[bytes])
        assert_type(await aio.Coalescer(merge, execute, max_delay=1).load("a", 1), bytes)
