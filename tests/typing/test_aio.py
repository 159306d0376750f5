"""Types of waits on an event loop, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import TypeIs, assert_type

    from pollwait import aio

    async def look() -> int | None:
        """Look for a number."""
        ...

    async def find(name: str, *, fresh: bool = False) -> int | None:
        """Look for a number by its name."""
        ...

    def look_plainly() -> int | None:
        """Look for a number at once."""
        ...

    def is_there(number: int | None) -> TypeIs[int]:
        """Tell whether there is one."""
        ...

    async def is_odd(number: int | None) -> bool:
        """Ask somebody whether it is odd."""
        ...

    async def returns(event: asyncio.Event) -> None:
        """A wait gives what its check gives, awaited or not, narrowed where a predicate does."""
        assert_type(await aio.poll(look, timeout=1), int | None)
        assert_type(await aio.poll(look, until=is_there, timeout=1), int)
        assert_type(await aio.poll(look, until=is_odd, timeout=1), int | None)
        assert_type(await aio.poll(look_plainly, timeout=1), int | None)
        assert_type(await aio.poll(look_plainly, until=is_there, timeout=1), int)
        assert_type(
            await aio.poll(look, timeout=1, attempt_timeout=0.5, cancel=event, retry_on=OSError),
            int | None,
        )

    async def pollers(poller: aio.Poller) -> None:
        """A Poller waits with the types of poll, and wraps functions without losing theirs."""
        assert_type(await poller.poll(look, until=is_there), int)
        assert_type(await poller.wrap(find)("a", fresh=True), int | None)
        assert_type(await poller.wrap(look_plainly)(), int | None)

        @poller.wrap(timeout=3)
        async def decorated(name: str) -> int | None:
            return await find(name)

        assert_type(await decorated("a"), int | None)
        await decorated(3)  # type: ignore[arg-type]  # pyright: ignore
