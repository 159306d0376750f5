"""Token buckets: how many requests the service admits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from threading import Lock
from types import MappingProxyType

from ._request import Request


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: full at first, one token a request, ``refill`` tokens a second."""

    capacity: float
    _: KW_ONLY
    refill: float

    def __post_init__(self) -> None:
        for name, value in (("capacity", self.capacity), ("refill", self.refill)):
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise TypeError(f"{name} must be a number: got {name}={value!r}")
        if not self.capacity >= 0 or not self.refill >= 0:
            raise ValueError(
                "capacity and refill must be >= 0: "
                f"got capacity={self.capacity!r}, refill={self.refill!r}"
            )


_OWN_BUCKETS: Mapping[str, Bucket] = MappingProxyType(
    {
        "CreateSnapshot": Bucket(100, refill=5),
        "CreateSnapshots": Bucket(100, refill=5),
        "CreateTags": Bucket(100, refill=10),
        "CreateVolume": Bucket(100, refill=5),
        "DeleteSnapshot": Bucket(100, refill=5),
        "DeleteTags": Bucket(100, refill=10),
        "DeleteVolume": Bucket(100, refill=5),
        "RunInstances": Bucket(5, refill=2),
        "StartInstances": Bucket(5, refill=2),
        "TerminateInstances": Bucket(100, refill=5),
    }
)

_SMALLER_WHEN_UNFILTERED = frozenset(
    {
        "DescribeInstanceStatus",
        "DescribeInstances",
        "DescribeNetworkInterfaces",
        "DescribeSecurityGroups",
        "DescribeSnapshots",
        "DescribeSpotInstanceRequests",
        "DescribeVolumes",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The request limits of an account; the defaults are those that EC2 documents.

    Each operation has a bucket of its own, in each region. A list of ids is neither a filter nor a
    page: a call that carries just ids draws from the ``unfiltered`` bucket. Limits on resources
    (how many instances are started a second) are left out.

    Args:
        describe: for each operation that only reads.
        unfiltered: for those reads of which EC2 wants filters or pages, when they have neither.
        change: for each operation that changes something.
        operations: by name, for operations that are limited in their own way.

    Source:
        "Request throttling for the Amazon EC2 API" in the Amazon EC2 Developer Guide.
    """

    describe: Bucket = Bucket(100, refill=20)
    unfiltered: Bucket = Bucket(50, refill=10)
    change: Bucket = Bucket(50, refill=5)
    operations: Mapping[str, Bucket] = field(default_factory=lambda: _OWN_BUCKETS)

    def __post_init__(self) -> None:
        if not isinstance(self.operations, Mapping):
            raise TypeError(
                f"operations must be a mapping of buckets: got operations={self.operations!r}"
            )
        own = [(f"operations[{name!r}]", bucket) for name, bucket in self.operations.items()]
        for name, bucket in [
            ("describe", self.describe),
            ("unfiltered", self.unfiltered),
            ("change", self.change),
            *own,
        ]:
            if not isinstance(bucket, Bucket):
                raise TypeError(f"{name} must be a Bucket: got {name}={bucket!r}")

    def bucket(self, request: Request) -> Bucket:
        """Return the bucket from which a request takes its token."""
        own = self.operations.get(request.operation)
        if own is not None:
            return own
        if not request.is_read:
            return self.change
        if request.operation in _SMALLER_WHEN_UNFILTERED and not request.is_narrowed:
            return self.unfiltered
        return self.describe


class Throttle:
    """Counts the tokens. Without limits everything is admitted."""

    def __init__(self, limits: Limits | None) -> None:
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits must be Limits or None: got limits={limits!r}")
        self._limits = limits
        self._lock = Lock()
        self._levels: dict[tuple[str, str, Bucket], tuple[float, float]] = {}  # under _lock

    def admits(self, request: Request, now: float) -> bool:
        """Take a token for the request, if there is one, and tell so."""
        if self._limits is None:
            return True
        bucket = self._limits.bucket(request)
        key = (request.region, request.operation, bucket)
        with self._lock:
            tokens, since = self._levels.get(key, (bucket.capacity, now))
            tokens = min(bucket.capacity, tokens + bucket.refill * (now - since))
            admitted = tokens >= 1
            self._levels[key] = (tokens - admitted, now)
        return admitted
