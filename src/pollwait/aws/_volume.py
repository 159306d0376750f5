"""One wait for a volume: what each answer of DescribeVolumes means.

It is handed to a driver as predicates, and lives as long as the wait. The answer to a call is
either a response, which ``failed`` and then ``ready`` judge, or an error, which ``retried`` judges.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from botocore.exceptions import ClientError

from .._core.failure import decimal, shorten
from ._document import elements, mapping, member
from ._error_predicates import code_of, error_code, is_transient, message_of
from ._errors import failure
from ._grace import Grace
from ._reason import service_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._clock import Clock
    from .._core.wait import Wait

WAITER = "VolumeAvailable"
"""Botocore's name for this kind of waiter."""

HOPELESS = frozenset({"deleted", "deleting", "error"})
"""The states from which a volume never becomes available."""

NOT_FOUND = error_code("InvalidVolume.NotFound")


class _Named(TypedDict):
    VolumeId: str
    State: str


class Volume(_Named, total=False):
    """A volume as DescribeVolumes shows it; members that are not listed here may be there too."""

    Attachments: list[dict[str, Any]]
    AvailabilityZone: str
    AvailabilityZoneId: str
    CreateTime: datetime
    Encrypted: bool
    FastRestored: bool
    Iops: int
    KmsKeyId: str
    MultiAttachEnabled: bool
    OutpostArn: str
    Size: int
    SnapshotId: str
    SourceVolumeId: str
    Tags: list[dict[str, str]]
    Throughput: int
    VolumeType: str


class VolumeWait:
    """What one wait has learned of its volume.

    Args:
        volume_id: the volume.
        good: the states in which it is ready.
        missing_grace: how long it may be missing, in seconds.
        clock: the clock of the wait, which times the absence.

    Attributes:
        volume: the volume as the last answer showed it; None if that did not show it.
    """

    __slots__ = ("_clock", "_good", "_grace", "_id", "_reason", "_response", "_state", "volume")
    volume: Volume | None

    def __init__(
        self, volume_id: str, good: frozenset[str], missing_grace: float, clock: Clock
    ) -> None:
        self._id = volume_id
        self._good = good
        self._grace = Grace(missing_grace)
        self._clock = clock
        self._response: Mapping[str, Any] = {}
        self._state: str | None = None
        self._reason: str | None = None
        self.volume = None

    def failed(self, response: object) -> bool:
        """Take in a response, and tell whether it shows that the volume cannot become ready.

        A response of another shape than EC2's does not show the volume.
        """
        self._response = mapping(response)
        self.volume = volume = _find(response, self._id)
        if volume is None:
            self._reason = None
            return not self._grace.absent(self._clock.monotonic())
        self._grace.present()
        state: object = volume.get("State")
        self._state = state if isinstance(state, str) else None
        self._reason = service_reason(volume)
        return self._state in HOPELESS

    def ready(self, response: object) -> bool:
        """Tell whether the response that was just taken in shows the volume ready."""
        return self.volume is not None and self._state in self._good

    def retried(self, error: Exception) -> bool:
        """Take in an error, and tell whether the wait goes on in spite of it."""
        self.volume = None
        if not isinstance(error, ClientError):
            return is_transient(error)
        self._response = error.response
        self._reason = message_of(error) or None
        if NOT_FOUND(error):
            return self._grace.absent(self._clock.monotonic())
        return is_transient(error)

    def failure(self, wait: Wait) -> Exception:
        """Return the error of a wait that ended without the volume ready."""
        return failure(
            wait,
            ", ".join(filter(None, (self._seen(wait), self._missing(wait), _last_error(wait)))),
            waiter=WAITER,
            id=self._id,
            state=self._state,
            reason=self._reason,
            response=self._response,
        )

    def _seen(self, wait: Wait) -> str:
        if self._state is None:
            return ""
        if self.volume is None or wait.reason != "failed":
            return f"last state {self._state!r}"
        return f"state {self._state!r}{self._why(self.volume)}"

    def _why(self, volume: Volume) -> str:
        if self._reason is not None:
            return f": {shorten(self._reason)}"
        if self._state == "error" and volume.get("Encrypted"):
            return (
                ", for which EC2 gives no reason (an encrypted volume ends so when its KMS key"
                " cannot be used)"
            )
        return ""

    def _missing(self, wait: Wait) -> str:
        if self._grace.since is None:
            return ""
        since = decimal(self._grace.since - wait.began)
        return f"not found since {since} s (missing_grace {decimal(self._grace.length)} s)"


def _find(response: object, volume_id: str) -> Volume | None:
    volumes = elements(member(response, "Volumes"))
    return next((each for each in volumes if member(each, "VolumeId") == volume_id), None)


def _last_error(wait: Wait) -> str:
    """Name the error of the last check, unless it only says that the volume is not there."""
    newest = wait.newest()
    error = newest.error if newest else None
    if error is None or NOT_FOUND(error):
        return ""
    if not isinstance(error, ClientError) or not code_of(error):
        return f"last error {shorten(error)}"
    message = message_of(error)
    return f"last error {code_of(error)}{f': {shorten(message)}' if message else ''}"
