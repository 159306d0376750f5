"""Waiters for any operation of AWS, on threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.group_settings import MIN_GAP
from .._core.settings import UNSET
from ._groups import Groups
from ._plan import named_plan
from ._request import distinct_ids
from ._terms import MISSING_GRACE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from .._clock import Clock, Event
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

    It is the scope within which calls are shared, by any number of threads. It keeps nothing of
    waits that are over, and needs no closing.

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

    def wait(
        self,
        *,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: Event | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> dict[str, Any]:
        """Wait until what the parameters ask for is as the waiter's name says.

        Args:
            timeout: seconds or a timedelta; None to wait for ever. By default the definition's
                delay times its number of attempts, and no limit beside a schedule that ends.
            schedule: when to look, for this wait alone.
            cancel: an event, such as a ``threading.Event``, that ends the wait when it is set.
            WaiterConfig: botocore's: no delay between two looks is longer than its ``Delay``, in
                seconds (though ``min_gap`` may make it so), and its ``Delay`` times its
                ``MaxAttempts`` is the time that the wait may take. What it leaves out is the
                definition's. ``timeout`` goes before both.
            params: those of the operation, with botocore's names. Of a list of ids every one must
                be answered, and more than a call takes go in several.

        Returns:
            The last response, so that nobody need ask again; the caller's own. Where what was
            awaited is an error, such as that of a thing that is gone, it is the error's response.

        Raises:
            TypeError: a parameter is unknown, or a required one is missing, or a str is given in
                place of a list of ids. No call has been made.
            ValueError: a list of ids is empty, which would ask for all there is; or
                ``WaiterConfig`` has other keys. No call has been made.
            WaiterFailed: something is in a state that cannot lead to the awaited one, or missing
                for longer than the grace period, or the service refused the call.
            WaiterTimeout: it was not so by the deadline.
            WaiterExhausted: the schedule ended before.
            WaiterCancelled: ``cancel`` was set.
            ClockStalled: the clock does not move while the wait sleeps.
            Exception: a copy of what botocore raised before there was an answer of the service,
                such as a wrong parameter or missing credentials.
        """
        request = self._plan.request(params)
        settings = self._plan.settings(
            [request], timeout=timeout, schedule=schedule, cancel=cancel, config=WaiterConfig
        )
        response: dict[str, Any] = self._groups.of(request).wait_for(request, settings)
        return response

    def wait_many(
        self,
        ids: Iterable[str],
        *,
        by: str | None = None,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: Event | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> dict[str, dict[str, Any] | Exception]:
        """Wait for many things at once, in the calling thread, each on its own.

        Where one of them fails, the others go on.

        Args:
            ids: those of the things. None at all is fine, and of equal ones each counts once. Where
                the operation takes no list of ids, they are the values of the parameter that tells
                things apart, and each takes a call of its own.
            by: the parameter that takes them, where there is a choice: ``"Names"`` for load
                balancers, which are asked for by ARN otherwise.
            timeout: as in ``wait``, for each of them.
            schedule: as in ``wait``.
            cancel: as in ``wait``; it ends those that are not over.
            WaiterConfig: as in ``wait``.
            params: what else the operation takes, such as ``cluster`` for the tasks of ECS.

        Returns:
            For each id, in the order given, its own last response, or the error that ``wait`` would
            have raised.

        Raises:
            TypeError, ValueError: as ``wait`` does before any call; or an id is no str, or empty,
                or nothing says which parameter it belongs to; or ``by`` is none that takes ids.
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
        results.update(completed)
        return results

    def as_completed(
        self,
        ids: Iterable[str],
        *,
        by: str | None = None,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: Event | None = None,
        WaiterConfig: Mapping[str, Any] | None = None,  # noqa: N803 - botocore's name
        **params: Any,
    ) -> Generator[tuple[str, dict[str, Any] | Exception], None, None]:
        """Wait for many things, and give each result as soon as it is there.

        The waits begin with this call. Calls are made while somebody waits for the iterator's next
        result, or for something else of this waiter.

        Args:
            ids: as in ``wait_many``.
            by: as in ``wait_many``.
            timeout: as in ``wait_many``.
            schedule: as in ``wait_many``.
            cancel: as in ``wait_many``.
            WaiterConfig: as in ``wait_many``.
            params: as in ``wait_many``.

        Returns:
            An iterator over pairs of an id and its response or error, in the order in which the
            waits ended. Closing or dropping it gives up those that are left.

        Raises:
            TypeError, ValueError: as ``wait_many`` does.
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
    clock: Clock | None = None,
    rng: Rng | None = None,
    on_event: GroupHook | None = None,
) -> Waiter:
    """Return a waiter of botocore, by its name, that is quicker, calls less and says more.

    It means what botocore's own means, and looks sooner: at once, then after 0.5 s and after delays
    that grow by half up to the definition's, so that it is never later than botocore by more than
    that delay and the time of the calls. All pages of an answer are read. What is to be there may
    be missing for a while, since AWS may not know everywhere yet what was just created; an id that
    is to be gone is gone when the answer leaves it out. Throttles, connection errors and the
    service's own errors slow a wait down and do not end it, unless an acceptor for success or
    failure names just that error by its code or status.

    Waits for different ids share calls where the operation takes a list of ids, and equal waits do
    where it takes none. A wait for more ids than a call takes goes from call to call; a pass over
    all its ids is one check, in which no answer is lost to an error that may pass.

    Args:
        client: of boto3 or botocore. It is used as it is: its credentials, region, timeouts and
            retries are the caller's matter.
        name: such as ``"instance_running"``, ``"instance-running"`` or ``"InstanceRunning"``; or a
            definition, as ``aws.define`` makes them.
        model: definitions of your own, in botocore's waiter format: a mapping, JSON text or a file.
        schedule: when to look, in place of the one above.
        missing_grace: seconds, or a timedelta, for which something may be missing that is to be
            there, from its first absence on. Where the definition says itself to retry while it
            does not exist, it does so until the deadline.
        min_gap: seconds between the starts of two calls that share ids, whoever waits. Calls that
            look for an id that spoiled one are excepted, of which there are 20 at the most.
        until_stable: how many good answers in a row it takes.
        clock: the time of the waits; the system's by default.
        rng: draws the jitter of a schedule that has any.
        on_event: called as for a ``PollGroup``; the value of a check is the response.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: there is no such waiter, or an argument is out of range.

    Timing:
        The attempts that botocore makes within one call, and the time between them, are part of one
        check. A client that is used for waiting is best given few of them, and short timeouts:
        ``Config(retries={"mode": "standard", "total_max_attempts": 2}, read_timeout=10)``. A final
        check comes at the deadline, unless ``min_gap`` forbids a call just then. A wait that has
        not looked at all of its ids by then, for want of time, ends with a timeout. After throttles
        two looks may be further apart than the definition's delay, by up to 30 s.

        Ctrl-C in a call ends the waits of its own thread. Another thread makes the call for the
        others.

    Example:
        >>> import boto3
        >>> from botocore.stub import Stubber
        >>> from pollwait.testing import FakeClock
        >>> keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
        >>> ec2 = boto3.client("ec2", "eu-central-1", **keys)
        >>> answer = {"Snapshots": [{"SnapshotId": "snap-1", "State": "completed"}]}
        >>> with Stubber(ec2) as stub:
        ...     stub.add_response("describe_snapshots", answer)
        ...     completed = waiter(ec2, "snapshot_completed", clock=FakeClock())
        ...     completed.wait(SnapshotIds=["snap-1"])["Snapshots"]
        [{'SnapshotId': 'snap-1', 'State': 'completed'}]
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
        )
    )
