"""Waiters for any operation of AWS, on an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.group_settings import MIN_GAP
from .._core.settings import UNSET
from ._aio_groups import Groups
from ._aio_time import loop_time
from ._plan import named_plan
from ._request import distinct_ids
from ._terms import MISSING_GRACE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from .._clock import AsyncClock, AsyncEvent
    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._group_events import GroupHook
    from ._definition import Definition
    from ._plan import Plan
    from ._waiter_model import Document


class Waiter:
    """Waits for one kind of thing; made by ``waiter``, which documents how it behaves.

    It is ``pollwait.aws.Waiter`` for tasks, of which any number share its calls, on one event loop.

    Attributes:
        name: as botocore has it, such as ``"InstanceRunning"``.
        definition: what it looks for, and how often botocore would.
    """

    __slots__ = ("_groups", "_plan", "definition", "name")
    name: str
    definition: Definition

    def __init__(self, plan: Plan) -> None:
        self.name = plan.definition.name
        self.definition = plan.definition
        self._plan = plan
        self._groups = Groups(plan)

    async def wait(
        self,
        *,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: AsyncEvent | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> dict[str, Any]:
        """Wait until what the parameters ask for is as the waiter's name says.

        Args:
            timeout: as in ``pollwait.aws.Waiter.wait``.
            schedule: as there.
            cancel: an event such as ``asyncio.Event``, that ends the wait at once when it is set.
            WaiterConfig: as there.
            params: as there.

        Returns:
            The last response; the caller's own.

        Raises:
            Exception: as ``pollwait.aws.Waiter.wait`` does.
            RuntimeError: another event loop used the waiter first.
        """
        request = self._plan.request(params)
        settings = self._plan.settings(
            [request], timeout=timeout, schedule=schedule, cancel=cancel, config=WaiterConfig
        )
        response: dict[str, Any] = await self._groups.of(request).wait_for(request, settings)
        return response

    async def wait_many(
        self,
        ids: Iterable[str],
        *,
        by: str | None = None,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: AsyncEvent | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> dict[str, dict[str, Any] | Exception]:
        """Wait for many things at once, each on its own, without a task for each.

        Args:
            ids: as in ``pollwait.aws.Waiter.wait_many``.
            by: as there.
            timeout: as in ``wait``, for each of them.
            schedule: as in ``wait``.
            cancel: as in ``wait``; it ends those that are not over.
            WaiterConfig: as in ``wait``.
            params: as in ``pollwait.aws.Waiter.wait_many``.

        Returns:
            For each id, in the order given, its own last response, or the error that ``wait`` would
            have raised.

        Raises:
            TypeError, ValueError, RuntimeError: as ``wait`` and ``pollwait.aws.Waiter.wait_many``
                do. No call has been made.
        """
        wanted = distinct_ids(ids)
        results: dict[str, Any] = dict.fromkeys(wanted)
        completed = self.as_completed(
            wanted,
            by=by,
            timeout=timeout,
            schedule=schedule,
            cancel=cancel,
            WaiterConfig=WaiterConfig,
            **params,
        )
        results.update({each: result async for each, result in completed})
        return results

    def as_completed(
        self,
        ids: Iterable[str],
        *,
        by: str | None = None,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: AsyncEvent | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> AsyncGenerator[tuple[str, dict[str, Any] | Exception], None]:
        """Wait for many things, and give each result as soon as it is there.

        A plain method: the waits begin with this call, and go on while the user of the iterator is
        busy elsewhere.

        Args:
            ids: as in ``wait_many``.
            by: as in ``wait_many``.
            timeout: as in ``wait_many``.
            schedule: as in ``wait_many``.
            cancel: as in ``wait_many``.
            WaiterConfig: as in ``wait_many``.
            params: as in ``wait_many``.

        Returns:
            An asynchronous iterator over pairs of an id and its response or error, in the order in
            which the waits ended. Closing it (``aclose``) gives up those that are left, and
            dropping it does so soon.

        Raises:
            TypeError, ValueError, RuntimeError: as ``wait_many`` does.
        """
        requests = self._plan.requests(ids, params, by)
        settings = self._plan.settings(
            requests, timeout=timeout, schedule=schedule, cancel=cancel, config=WaiterConfig
        )
        return self._groups.all_of(requests, settings)

    def __repr__(self) -> str:
        return f"<Waiter {self.name}>"


def waiter(
    client: Any,
    name: str | Definition,
    *,
    model: Document | Definition | None = None,
    schedule: Schedule | None = None,
    missing_grace: Duration = MISSING_GRACE,
    min_gap: Duration = MIN_GAP,
    until_stable: int = 1,
    clock: AsyncClock | None = None,
    rng: Rng | None = None,
    on_event: GroupHook | None = None,
) -> Waiter:
    """Return a waiter of botocore, by its name, that is quicker, calls less and says more.

    It is ``pollwait.aws.waiter`` for asyncio: the same calls at the same times with the same end.

    Args:
        client: of aiobotocore. It is used as it is, and must be open while anybody waits.
        name: as in ``pollwait.aws.waiter``.
        model: as there. A file is read at once, in this call.
        schedule: as there.
        missing_grace: as there.
        min_gap: as there.
        until_stable: as there.
        clock: the time of the waits; by default that of the running loop.
        rng: as there.
        on_event: as there; a plain function.

    Raises:
        TypeError: the client is none for asyncio, or an argument has a wrong type.
        ValueError: there is no such waiter, or an argument is out of range.

    Timing:
        As ``pollwait.aws.waiter``, but that calls are made whoever waits. A task that is cancelled
        leaves at once, while its call goes on for the others.

    Example:
        >>> import asyncio
        >>> from types import SimpleNamespace
        >>> from pollwait.aws import define, path
        >>> from pollwait.testing import run
        >>> async def describe_job(Name):
        ...     done = asyncio.get_running_loop().time() > 2
        ...     return {"Name": Name, "Status": "DONE" if done else "RUNNING"}
        >>> job_done = define("describe_job", success=path("Status", "DONE"))
        >>> client = SimpleNamespace(describe_job=describe_job)
        >>> run(waiter(client, job_done).wait(Name="nightly", timeout=60))
        {'Name': 'nightly', 'Status': 'DONE'}
    """
    return Waiter(
        named_plan(
            client,
            name,
            model,
            schedule=schedule,
            missing_grace=missing_grace,
            min_gap=min_gap,
            until_stable=until_stable,
            clock=clock,
            rng=rng,
            on_event=on_event,
            monotonic=loop_time,
        )
    )
