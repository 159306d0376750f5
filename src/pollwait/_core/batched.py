"""What a batcher tells those who listen: one event for each round of calls."""

from __future__ import annotations

from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from .batch import Reason

    BatchHook: TypeAlias = Callable[["Batched"], object]


class Batched(Value):
    """A batch was sent, and all its keys have been answered.

    Attributes:
        size: how many keys it carried.
        reason: why its window closed: ``"size"``, ``"delay"``, ``"idle"``, ``"flush"`` or
            ``"close"``.
        waited: seconds from the first key to the start of the call.
        duration: seconds from there until the last answer, further calls included.
        errors: how many keys were answered by an error.
        isolations: how many further calls it took to find the keys that poisoned the first.
        error: what the first call raised; None if it returned.
    """

    __slots__ = ("size", "reason", "waited", "duration", "errors", "isolations", "error")
    size: int
    reason: Reason
    waited: float
    duration: float
    errors: int
    isolations: int
    error: BaseException | None

    def __init__(
        self,
        size: int,
        reason: Reason,
        waited: float,
        duration: float,
        errors: int = 0,
        isolations: int = 0,
        error: BaseException | None = None,
    ) -> None:
        self._fill(size, reason, waited, duration, errors, isolations, error)
