"""The waiter for EBS volumes that were just created."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from botocore.exceptions import ClientError

from .._clock import SYSTEM_CLOCK
from .._core.duration import seconds
from .._core.failure import shorten
from .._core.schedule import exponential
from .._core.settings import UNSET, Settings
from .._sync.drive import drive
from ._volume import Volume, VolumeWait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._clock import Clock, Event
    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._events import Hook

# Initial delay and backoff in seconds. Hardly any volume is available sooner than 1.25 s after its
# creation and most are soon after. Source: the AWS EBS CSI driver, which polled every 3 s before;
# for 100 volumes on 30 nodes this brought the median wait from 3.8 s to 2.0 s. The cap is the delay
# of botocore's own waiter: a volume that takes minutes is asked for as often as by that, no less.
SCHEDULE = exponential(0.5, factor=1.5).cap(15).after(1.25)

# Seconds. EC2 asks for patience with ids that were just handed out, and names no figure; missing
# for longer than this, a volume is taken to be gone.
MISSING_GRACE = 15.0

_READY = {"ready": frozenset({"available", "in-use"}), "wait": frozenset({"available"})}
_VOLUME_ID = re.compile(r"vol-[\w-]+", re.ASCII)


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

    To wait for a detach, say ``in_use="wait"``.

    Args:
        client: an EC2 client of boto3. It is used as it is: its credentials, region, timeouts and
            retries are the caller's matter.
        schedule: when to look. The default, ``exponential(0.5, factor=1.5).cap(15).after(1.25)``,
            looks after 1.25 s and then with delays that grow from 0.5 s by half each time, up to
            15 s.
        in_use: whether an ``in-use`` volume is ``"ready"`` or whether to ``"wait"`` on.
        missing_grace: seconds or a timedelta; with 0 the first "not found" fails the wait.
        clock: the time of the waits; the system's by default.
        rng: draws the jitter of a schedule that has any.
        on_event: called with each ``Checked`` and ``Finished`` event. The value of a check is EC2's
            response.

    Raises:
        TypeError: the client cannot describe volumes, or an argument has a wrong type.
        ValueError: ``in_use`` is neither of the two, or a duration is negative or not finite.

    Timing:
        The attempts that botocore makes within one call, and the time between them, are part of one
        check, and the last check may run past the deadline by as much. A client that is used for
        waiting is best given few of them, since the wait retries anyway, and short timeouts:
        ``Config(retries={"mode": "standard", "total_max_attempts": 2}, read_timeout=10)``.

        One waiter serves any number of threads; it keeps nothing of its waits.

    Example:
        >>> from types import SimpleNamespace
        >>> from pollwait.testing import FakeClock
        >>> answer = {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}
        >>> ec2 = SimpleNamespace(describe_volumes=lambda VolumeIds: answer)
        >>> VolumeAvailableWaiter(ec2, clock=FakeClock()).wait("vol-1", timeout=60)["State"]
        'available'
    """

    __slots__ = ("_client", "_good", "_missing_grace", "_settings")

    def __init__(
        self,
        client: DescribesVolumes,
        *,
        schedule: Schedule = SCHEDULE,
        in_use: Literal["ready", "wait"] = "ready",
        missing_grace: Duration = MISSING_GRACE,
        clock: Clock | None = None,
        rng: Rng | None = None,
        on_event: Hook | None = None,
    ) -> None:
        if not callable(getattr(client, "describe_volumes", None)):
            raise TypeError(f"client must be an EC2 client with describe_volumes: got {client!r}")
        if in_use not in ("ready", "wait"):
            raise ValueError(f"in_use must be 'ready' or 'wait': got in_use={in_use!r}")
        self._client = client
        self._good = _READY[in_use]
        self._missing_grace = seconds(missing_grace, "missing_grace")
        self._settings = Settings(
            schedule=schedule, clock=clock, rng=rng, on_event=on_event, fail_on=ClientError
        )

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
            The volume as EC2 described it, so that nobody need ask again.

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
        botocore raises it.
        """
        _check_id(volume_id)
        settings = self._settings
        clock: Clock = SYSTEM_CLOCK if settings.clock is None else settings.clock
        wait = VolumeWait(volume_id, self._good, self._missing_grace, clock)
        settings = settings.replaced(
            {
                "until": wait.ready,
                "fail": wait.failed,
                "retry_on": wait.retried,
                "failure": wait.failure,
                "name": f"{volume_id} available",
                "timeout": timeout,
                "cancel": cancel,
            }
        )
        drive(settings, partial(self._client.describe_volumes, VolumeIds=[volume_id]))
        return cast("Volume", wait.volume)

    def __repr__(self) -> str:
        return f"VolumeAvailableWaiter({self._client!r}, schedule={self._settings.schedule!r})"


def _check_id(volume_id: object) -> None:
    if not isinstance(volume_id, str):
        several = hasattr(volume_id, "__iter__")
        raise TypeError(
            f"volume_id must be a str: got volume_id={shorten(volume_id)}"
            f"{', and one wait is for one volume' if several else ''}"
        )
    if not _VOLUME_ID.fullmatch(volume_id):
        raise ValueError(
            "volume_id must be the id of a volume, such as 'vol-049df61146c4d7901':"
            f" got volume_id={volume_id!r}"
        )
