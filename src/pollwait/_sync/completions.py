"""The iterator over the results of many waits in a poll group on threads."""

from __future__ import annotations

from .._core.generic import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from .callers import Caller
    from .lead import Lead

K = TypeVar("K")
V = TypeVar("V")


class Completions(Generic[K, V]):
    """An iterator over results in the order of completion.

    It ends when every wait is over. Between two steps of it nothing is asked on its behalf, save by
    other threads that wait on the same group. ``close`` gives up the waits that are left; so does
    dropping it.
    """

    __slots__ = ("_lead", "_caller")

    def __init__(self, lead: Lead, caller: Caller) -> None:
        self._lead = lead
        self._caller = caller

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[K, V | Exception]:
        caller = self._caller
        if not caller.left:
            raise StopIteration
        if not caller.done:
            self._lead.attend(caller)
        return caller.take()

    def close(self) -> None:
        """Give up the waits that are left; the iterator is then at its end."""
        self._caller.left = 0
        self._lead.leave(self._caller)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._caller.left:
            self._lead.abandon(self._caller)
