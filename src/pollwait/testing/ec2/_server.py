"""The embedded EC2: one server, its clients and its controls."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from ..._clock import SystemClock
from ..._core.duration import at_least_one
from ._backend import MotoAccount
from ._bucket import Limits, Throttle
from ._clients import Clients
from ._counters import Call, Log
from ._describe import VolumeDescriber
from ._latency import CREATE_CALL, DESCRIBE_CALL, EBS_READY, Seconds, drawer
from ._service import THROTTLED, Clock, Durations, Service, checked_clock
from ._transport import HttpServer
from ._volumes import Fates, State, Volumes

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_ec2 import EC2Client
    from typing_extensions import Self

    from ..._core.duration import Duration


class EmbeddedEC2:
    """An EC2 that runs in this process, in a ``with`` block.

    What takes time is given as seconds or a timedelta, as a function from a ``random.Random`` to
    seconds, or as an object with a method ``draw`` that is such a function (``Normal``,
    ``Quantiles``).

    What was called and when volumes were ready can be read before, in and after the block. What
    acts on the server or on a volume needs the block.

    It is no faithful copy: permissions, quotas and resource limits are not kept, and what moto does
    not know is an error. While a server runs, do not enter or leave moto's ``mock_aws``, which
    empties everything that moto holds.

    Args:
        seed: replays the draws: the same calls in the same order meet the same durations and fates.
        ready: seconds from the start of a CreateVolume call until its volume is ready.
        error_rate: the share of volumes, from 0 to 1, that go to ``error`` instead.
        create_call: seconds that CreateVolume takes, and every other call that changes something.
        describe_call: seconds that DescribeVolumes takes, and every other call that only reads.
        sees_at: the fraction of a read's duration, from 0 to 1, at which it sees the state.
        consistency_delay: seconds after a CreateVolume call for which other calls do not yet know
            the volume.
        limits: how many requests are admitted, as ``Limits()`` has them; None admits all.
        max_ids: the most ids that one DescribeVolumes request may name.
        region: of the clients.
        clock: what tells the time and sleeps. With a clock of your own, time moves as you say.

    Raises:
        RuntimeError: MOTO_ACCOUNT_ID is set, which would make all servers share their data.
        TypeError: an argument has a wrong type.
        ValueError: a number is out of its range.

    Timing:
        The server's own work counts towards the durations of calls: a call takes longer only if the
        machine is busy. Any thread may use the server, its clients and its controls.
    """

    def __init__(
        self,
        *,
        seed: int | str | None = None,
        ready: Seconds = EBS_READY,
        error_rate: float = 0.0,
        create_call: Seconds = CREATE_CALL,
        describe_call: Seconds = DESCRIBE_CALL,
        sees_at: float = 0.5,
        consistency_delay: Seconds = 0.0,
        limits: Limits | None = None,
        max_ids: int = 500,
        region: str = "us-east-1",
        clock: Clock | None = None,
    ) -> None:
        self._region = region
        self._clock = SystemClock() if clock is None else checked_clock(clock)
        self._log = Log()
        self._volumes = Volumes()
        self._fates = Fates(
            seed,
            ready=drawer(ready, "ready"),
            hidden=drawer(consistency_delay, "consistency_delay"),
            error_rate=_fraction(error_rate, "error_rate"),
        )
        self._account = MotoAccount()
        self._service = Service(
            account=self._account,
            clock=self._clock,
            durations=Durations(
                seed,
                read=drawer(describe_call, "describe_call"),
                change=drawer(create_call, "create_call"),
                sees_at=_fraction(sees_at, "sees_at"),
            ),
            fates=self._fates,
            throttle=Throttle(limits),
            volumes=self._volumes,
            describer=VolumeDescriber(self._volumes, max_ids=at_least_one(max_ids, "max_ids")),
            log=self._log,
        )
        self._running: tuple[HttpServer, Clients] | None = None

    def __enter__(self) -> Self:
        if self._running is not None:
            raise RuntimeError("the server runs already")
        self._account.warm_up(self._region)
        http = HttpServer(self._service.answer)
        self._running = http, Clients(f"http://127.0.0.1:{http.port}", self._region)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and close its clients. Idempotent.

        All resources are gone. The log, the counts and the times of volumes stay.
        """
        if self._running is None:
            return
        http, clients = self._running
        self._running = None
        clients.close()
        http.close()
        self._account.forget()

    @property
    def endpoint_url(self) -> str:
        """Where it listens. Any credentials and any region will do."""
        http, _ = self._require()
        return f"http://127.0.0.1:{http.port}"

    def client(self, service: Literal["ec2"] = "ec2", *, config: Config | None = None) -> EC2Client:
        """Return a new boto3 client of this server, which is closed with it.

        It reads no configuration of the user's, makes one attempt a call (so that the code under
        test sees every error) and keeps up to 128 connections; ``config`` overrides that.
        """
        if service != "ec2":
            raise ValueError(f"service must be 'ec2': got service={service!r}")
        _, clients = self._require()
        return clients.make(config)

    def fail_next(self, count: int = 1) -> None:
        """Let the next volumes that are created go to ``error`` instead of ``available``."""
        self._fates.fail_next(at_least_one(count, "count"))

    def script(
        self, volume_id: str, *, ready_after: Duration | None = None, state: State = "available"
    ) -> None:
        """Rewrite the life of a volume: ``creating``, then ``state``.

        Args:
            volume_id: of a volume that CreateVolume made here; LookupError otherwise.
            ready_after: seconds or a timedelta from the start of its CreateVolume call; None keeps
                the plan.
            state: what it then is.
        """
        self._require()
        self._volumes.script(volume_id, ready_after, state)

    def set_state(self, volume_id: str, state: State) -> None:
        """Put a volume into a state from now on.

        An attached volume that is ``available`` here shows as ``in-use``. DeleteVolume works in
        any state; what it deletes is no longer found.
        """
        self._require()
        self._volumes.set_state(volume_id, state, self._clock.monotonic())

    def created_at(self, volume_id: str) -> float:
        """Return when the CreateVolume call of a volume started, by the server's clock."""
        return self._volumes.created_at(volume_id)

    def ready_at(self, volume_id: str) -> float:
        """Return when a volume stops being ``creating``, by the server's clock.

        That may lie in the future, and is infinite for a volume that stays as it is.
        """
        return self._volumes.ready_at(volume_id)

    @property
    def calls(self) -> Counter[str]:
        """How often each operation was called, whatever came of it."""
        return self._log.count()

    @property
    def throttled(self) -> Counter[str]:
        """How often each operation was refused for its rate."""
        return self._log.count(THROTTLED)

    @property
    def errors(self) -> Counter[str]:
        """How often each operation was answered with another error."""
        return self._log.failed(but=THROTTLED)

    @property
    def log(self) -> tuple[Call, ...]:
        """Every call, in the order in which they ended."""
        return self._log.calls()

    def clear_log(self) -> None:
        """Forget the calls so far, and with them all counts."""
        self._log.clear()

    def _require(self) -> tuple[HttpServer, Clients]:
        if self._running is None:
            raise RuntimeError("the server does not run: use it in a with block")
        return self._running


def _fraction(value: float, what: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number: got {what}={value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{what} must be from 0 to 1: got {what}={value!r}")
    return value
