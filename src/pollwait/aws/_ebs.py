"""The waiter for EBS volumes that were just created."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .._core.failure import shorten
from .._core.group_settings import MIN_GAP
from .._core.schedule import exponential
from .._core.settings import UNSET, Settings
from ._acceptors import Acceptor
from ._definition import Definition
from ._document import elements, member
from ._groups import Groups
from ._hopeless import HOPELESS
from ._operations import refuse_resource
from ._plan import Plan
from ._request import Request, distinct_ids
from ._sharing import Sharing
from ._terms import MISSING_GRACE
from ._volume import Volume

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from .._clock import Clock, Event
    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._group_events import GroupHook

# Initial delay and backoff in seconds. Hardly any volume is available sooner than 1.25 s after its
# creation and most are soon after. Source: the AWS EBS CSI driver, which polled every 3 s before;
# for 100 volumes on 30 nodes this brought the median wait from 3.8 s to 2.0 s. The cap is the delay
# of botocore's own waiter: a volume that takes minutes is asked for as often as by that, no less.
SCHEDULE = exponential(0.5, factor=1.5).cap(15).after(1.25)

# The delay of botocore's waiter, and how often it looks.
_DELAY, _MAX_ATTEMPTS = 15.0, 40

_READY = {"ready": ("available", "in-use"), "wait": ("available",)}
_VOLUME_ID = re.compile(r"vol-[\w-]+", re.ASCII)

# That EC2 takes 500 ids in a call is what the AWS EBS CSI driver relies on.
_SHARING = Sharing(
    "DescribeVolumes",
    "VolumeIds",
    limit=500,
    results=(("Volumes",),),
    id_fields=("VolumeId",),
    not_found=("InvalidVolume.NotFound",),
)


class DescribesVolumes(Protocol):
    """An EC2 client, as far as waiting for volumes needs it."""

    def describe_volumes(self, *, VolumeIds: Sequence[str]) -> Any:  # noqa: N803 - EC2's name
        """Return one response of DescribeVolumes."""
        ...


class VolumeAvailableWaiter:
    """Waits until volumes that were just created can be used.

    A volume is ready when it is ``available``, or ``in-use`` because somebody attached it at once.
    The states ``error``, ``deleting`` and ``deleted`` fail the wait as soon as they are seen. A
    volume that EC2 does not know yet is not ready, for ``missing_grace`` from when it was first
    missing. Throttles, connection errors and EC2's own errors are retried until the deadline; any
    other error of the service fails the wait, with that error as the cause.

    Waits of any number of threads share calls, up to 500 volumes in each; an id that spoils a call
    is found at once and fails alone.

    To wait for a detach, say ``in_use="wait"``.

    Args:
        client: an EC2 client of boto3. It is used as it is: its credentials, region, timeouts and
            retries are the caller's matter.
        schedule: when to look. The default, ``exponential(0.5, factor=1.5).cap(15).after(1.25)``,
            looks after 1.25 s and then with delays that grow from 0.5 s by half each time, up to
            15 s.
        in_use: whether an ``in-use`` volume is ``"ready"`` or whether to ``"wait"`` on.
        missing_grace: seconds or a timedelta; with 0 the first "not found" fails the wait.
        min_gap: seconds between the starts of any two calls, at the least, whoever waits.
        clock: the time of the waits; the system's by default.
        rng: draws the jitter of a schedule that has any.
        on_event: called as for a ``PollGroup``: with a ``Called`` after each call, and with each
            ``Checked`` and ``Finished`` of a wait. The value of a check is EC2's response, as if
            its volume had been asked for alone.

    Raises:
        TypeError: the client cannot describe volumes, or an argument has a wrong type.
        ValueError: ``in_use`` is neither of the two, or a duration is negative or not finite.

    Timing:
        The attempts that botocore makes within one call, and the time between them, are part of one
        check, and the last check may run past the deadline by as much. A client that is used for
        waiting is best given few of them, since the wait retries anyway, and short timeouts:
        ``Config(retries={"mode": "standard", "total_max_attempts": 2}, read_timeout=10)``.

        One call comes some milliseconds later than its schedule says, when nobody waited before: so
        that those who begin together share it. The final check comes at the deadline, unless
        ``min_gap`` forbids a call just then; the one before it was the final one in that case.

        One waiter serves any number of threads; it keeps nothing of waits that are over.

    Example:
        >>> from types import SimpleNamespace
        >>> from pollwait.testing import FakeClock
        >>> answer = {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}
        >>> ec2 = SimpleNamespace(describe_volumes=lambda VolumeIds: answer)
        >>> VolumeAvailableWaiter(ec2, clock=FakeClock()).wait("vol-1", timeout=60)["State"]
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
        clock: Clock | None = None,
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
        )
        self._groups = Groups(self._plan)

    def wait(
        self,
        volume_id: str,
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
    ) -> Volume:
        """Wait until a volume is ready.

        Args:
            volume_id: such as ``"vol-049df61146c4d7901"``.
            timeout: seconds or a timedelta; None to wait for ever. Required, unless the schedule
                ends the wait.
            cancel: an event, such as a ``threading.Event``, that ends the wait when it is set.

        Returns:
            The volume as EC2 described it, so that nobody need ask again; the caller's own.

        Raises:
            TypeError: ``volume_id`` is no str, or no timeout is given. No call has been made.
            ValueError: ``volume_id`` is no volume's id. No call has been made.
            WaiterFailed: the volume is in a state that cannot lead to ready, or missing for longer
                than the grace period, or EC2 refused the call.
            WaiterTimeout: the volume was not ready by the deadline.
            WaiterExhausted: the schedule ended before.
            WaiterCancelled: ``cancel`` was set.
            ClockStalled: the clock does not move while the wait sleeps.

        The four whose names begin with Waiter are errors of botocore (``WaiterError``) and of
        pollwait (``PollError``). What is no answer of EC2's, such as missing credentials, passes as
        a copy for this wait, whose cause is what botocore raised.
        """
        request = volume_request(volume_id)
        settings = volume_waits(self._plan, [request], self._schedule, timeout, cancel)
        volume: Volume = volume_of(self._groups.of(request).wait_for(request, settings))
        return volume

    def wait_many(
        self,
        volume_ids: Iterable[str],
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
    ) -> dict[str, Volume | Exception]:
        """Wait for many volumes at once, in the calling thread, each on its own.

        Where one of them fails, the others go on.

        Args:
            volume_ids: None at all is fine, and of equal ones each counts once.
            timeout: as in ``wait``, for each of them.
            cancel: as in ``wait``; it ends those that are not over.

        Returns:
            For each id, in the order given, the volume or the error that ``wait`` would have
            raised.

        Raises:
            TypeError, ValueError: as ``wait`` does. No call has been made.
        """
        wanted = distinct_ids(volume_ids)
        results: dict[str, Any] = dict.fromkeys(wanted)
        results.update(self.as_completed(wanted, timeout=timeout, cancel=cancel))
        return results

    def as_completed(
        self,
        volume_ids: Iterable[str],
        *,
        timeout: Duration | Unset | None = UNSET,
        cancel: Event | None = None,
    ) -> Generator[tuple[str, Volume | Exception], None, None]:
        """Wait for many volumes, and give each as soon as it is ready.

        The waits begin with this call. Calls are made while somebody waits for the iterator's next
        result, or for another volume of this waiter.

        Args:
            volume_ids: as in ``wait_many``.
            timeout: as in ``wait_many``.
            cancel: as in ``wait_many``.

        Returns:
            An iterator over pairs of an id and its volume or error, in the order in which the waits
            ended. Closing or dropping it gives up those that are left.

        Raises:
            TypeError, ValueError: as ``wait`` does. No call has been made.
        """
        ids = {volume_request(each): each for each in distinct_ids(volume_ids)}
        settings = volume_waits(self._plan, ids, self._schedule, timeout, cancel)
        results = self._groups.all_of(ids, settings)
        return ((each, volume_of(result)) for each, result in results)

    def __repr__(self) -> str:
        return f"VolumeAvailableWaiter({self._client!r}, schedule={self._schedule!r})"


def volume_plan(client: object, in_use: str, *, schedule: Schedule, **options: Any) -> Plan:
    """Return the plan of a waiter for volumes.

    Raises:
        TypeError, ValueError: an argument is of no use.
    """
    refuse_resource(client)
    if not callable(getattr(client, "describe_volumes", None)):
        raise TypeError(f"client must be an EC2 client with describe_volumes: got {client!r}")
    if in_use not in ("ready", "wait"):
        raise ValueError(f"in_use must be 'ready' or 'wait': got in_use={in_use!r}")
    where, hopeless = HOPELESS["VolumeAvailable"]
    bad = [Acceptor("pathAny", where, state, "failure") for state in hopeless]
    good = [Acceptor("pathAll", where, state, "success") for state in _READY[in_use]]
    definition = Definition(
        "VolumeAvailable", "DescribeVolumes", _DELAY, _MAX_ATTEMPTS, [*bad, *good]
    )
    options |= {"schedule": schedule, "ways": [_SHARING], "explains": False}
    return Plan(client, definition, **options)


def volume_request(volume_id: object) -> Request:
    """Return what a wait for a volume asks for.

    Raises:
        TypeError, ValueError: the id is none of a volume.
    """
    if not isinstance(volume_id, str):
        several = hasattr(volume_id, "__iter__")
        raise TypeError(
            f"volume_id must be a str: got volume_id={shorten(volume_id)}"
            f"{', and one wait is for one volume: see wait_many' if several else ''}"
        )
    if not _VOLUME_ID.fullmatch(volume_id):
        raise ValueError(
            "volume_id must be the id of a volume, such as 'vol-049df61146c4d7901':"
            f" got volume_id={volume_id!r}"
        )
    return Request({"VolumeIds": [volume_id]}, _SHARING, "", f"{volume_id} available")


def volume_waits(
    plan: Plan,
    requests: Iterable[Request],
    schedule: Schedule,
    timeout: Duration | Unset | None,
    cancel: Any,
) -> dict[str, Any]:
    """Return what the settings of waits for volumes are to say.

    Raises:
        TypeError: no timeout is given, and nothing else ends the waits.
    """
    Settings(schedule=schedule, timeout=timeout).limit()
    return plan.judged(requests, schedule=schedule, timeout=timeout, cancel=cancel)


def volume_of(result: Any) -> Any:
    """Return the volume of a response that shows one; an error as it is."""
    return result if isinstance(result, Exception) else elements(member(result, "Volumes"))[0]
