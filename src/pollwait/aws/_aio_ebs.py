"""The waiter for EBS volumes that were just created, on an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from .._core.group_settings import MIN_GAP
from .._core.settings import UNSET
from ._aio_groups import Groups
from ._aio_time import loop_time
from ._ebs import SCHEDULE, volume_of, volume_plan, volume_request, volume_waits
from ._request import distinct_ids
from ._terms import MISSING_GRACE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Iterable, Sequence

    from .._clock import AsyncClock, AsyncEvent
    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._group_events import GroupHook
    from ._volume import Volume


class DescribesVolumes(Protocol):
    """An EC2 client for asyncio, as far as waiting for volumes needs it."""

    def describe_volumes(self, *, VolumeIds: Sequence[str]) -> Awaitable[Any]:  # noqa: N803
        """Return one response of DescribeVolumes, awaited."""
        ...


class VolumeAvailableWaiter:
    """Waits until volumes that were just created can be used.

    It is ``pollwait.aws.VolumeAvailableWaiter`` for tasks, of which any number share its calls, on
    one event loop.

    Args:
        client: an EC2 client of aiobotocore. It is used as it is, and must be open while anybody
            waits.
        schedule: as in ``pollwait.aws.VolumeAvailableWaiter``.
        in_use: as there.
        missing_grace: as there.
        min_gap: as there.
        clock: the time of the waits; by default that of the running loop.
        rng: as there.
        on_event: as there; a plain function.

    Raises:
        TypeError: the client cannot describe volumes or is none for asyncio, or an argument has a
            wrong type.
        ValueError: as there.

    Timing:
        As there, but that calls are made whoever waits. A task that is cancelled leaves at once,
        while its call goes on for the others.

    Example:
        >>> from types import SimpleNamespace
        >>> from pollwait.testing import run
        >>> async def describe_volumes(VolumeIds):
        ...     return {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}
        >>> ec2 = SimpleNamespace(describe_volumes=describe_volumes)
        >>> run(VolumeAvailableWaiter(ec2).wait("vol-1", timeout=60))["State"]
        'available'
    """

    __slots__ = ("_client", "_groups", "_plan", "_schedule")

    def __init__(
        self,
        client: DescribesVolumes,
        *,
        schedule: Schedule = SCHEDULE,
        in_use: Literal["ready", "wait"] = "ready",
        missing_grace: Duration = MISSING_GRACE,
        min_gap: Duration = MIN_GAP,
        clock: AsyncClock | None = None,
        rng: Rng | None = None,
        on_event: GroupHook | None = None,
    ) -> None:
        self._client = client
        self._schedule = schedule
        self._plan = volume_plan(
            client,
            in_use,
            schedule=schedule,
            missing_grace=missing_grace,
            min_gap=min_gap,
            clock=clock,
            rng=rng,
            on_event=on_event,
            monotonic=loop_time,
        )
        self._groups = Groups(self._plan)

    async def wait(
        self,
        volume_id: str,
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
    ) -> Volume:
        """Wait until a volume is ready.

        Args:
            volume_id: such as ``"vol-049df61146c4d7901"``.
            timeout: seconds or a timedelta; None to wait for ever. Required, unless the schedule
                ends the wait.
            cancel: an event such as ``asyncio.Event``, that ends the wait at once when it is set.

        Returns:
            The volume as EC2 described it, so that nobody need ask again; the caller's own.

        Raises:
            Exception: as ``pollwait.aws.VolumeAvailableWaiter.wait`` does.
            RuntimeError: another event loop used the waiter first.
        """
        request = volume_request(volume_id)
        settings = volume_waits(self._plan, [request], self._schedule, timeout, cancel)
        volume: Volume = volume_of(await self._groups.of(request).wait_for(request, settings))
        return volume

    async def wait_many(
        self,
        volume_ids: Iterable[str],
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
    ) -> dict[str, Volume | Exception]:
        """Wait for many volumes at once, each on its own, without a task for each.

        Args:
            volume_ids: None at all is fine, and of equal ones each counts once.
            timeout: as in ``wait``, for each of them.
            cancel: as in ``wait``; it ends those that are not over.

        Returns:
            For each id, in the order given, the volume or the error that ``wait`` would have
            raised.

        Raises:
            TypeError, ValueError, RuntimeError: as ``wait`` does. No call has been made.
        """
        wanted = distinct_ids(volume_ids)
        results: dict[str, Any] = dict.fromkeys(wanted)
        completed = self.as_completed(wanted, timeout=timeout, cancel=cancel)
        results.update({each: result async for each, result in completed})
        return results

    def as_completed(
        self,
        volume_ids: Iterable[str],
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
    ) -> AsyncGenerator[tuple[str, Volume | Exception], None]:
        """Wait for many volumes, and give each as soon as it is ready.

        A plain method: the waits begin with this call, and go on while the user of the iterator is
        busy elsewhere.

        Args:
            volume_ids: as in ``wait_many``.
            timeout: as in ``wait_many``.
            cancel: as in ``wait_many``.

        Returns:
            An asynchronous iterator over pairs of an id and its volume or error, in the order in
            which the waits ended. Closing it (``aclose``) gives up those that are left, and
            dropping it does so soon.

        Raises:
            TypeError, ValueError, RuntimeError: as ``wait`` does. No call has been made.
        """
        ids = {volume_request(each): each for each in distinct_ids(volume_ids)}
        settings = volume_waits(self._plan, ids, self._schedule, timeout, cancel)
        return self._groups.all_of(ids, settings, volume_of)

    def __repr__(self) -> str:
        return f"VolumeAvailableWaiter({self._client!r}, schedule={self._schedule!r})"
