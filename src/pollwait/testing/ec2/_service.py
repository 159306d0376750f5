"""The layer around moto: what a call costs, and what becomes of volumes."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from threading import Lock
from typing import Protocol

from ._answer import Answer, RefusedError, success
from ._backend import MotoAccount
from ._bucket import Throttle
from ._counters import Call, Log
from ._describe import VolumeDescriber, not_found, volume_xml
from ._request import Request
from ._volumes import Fates, Volumes, stream

THROTTLED = "RequestLimitExceeded"

_VOLUME_ID = re.compile(rb"<volumeId>(vol-[0-9a-f]+)</volumeId>")
_log = logging.getLogger(__name__)


class Clock(Protocol):
    """The time of the server: any clock of this library is one."""

    def monotonic(self) -> float:
        """Return the time in seconds; it never steps back."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Block the calling thread."""
        ...


def checked_clock(clock: Clock) -> Clock:
    """Return the clock; TypeError if it is none."""
    for method in ("monotonic", "sleep"):
        if not callable(getattr(clock, method, None)):
            raise TypeError(f"clock must be a clock, with a method {method}: got clock={clock!r}")
    return clock


@dataclass(frozen=True, slots=True)
class _Course:
    """When a call started, when it looks at the state of things, and when it answers."""

    started: float
    looks: float
    ends: float


class Durations:
    """Draws how long calls take.

    Args:
        seed: as of the server.
        read: of calls that only read.
        change: of the others, which act as they start.
        sees_at: the fraction of a read's duration at which it sees the state of things.
    """

    def __init__(
        self,
        seed: int | str | None,
        *,
        read: Callable[[Random], float],
        change: Callable[[Random], float],
        sees_at: float,
    ) -> None:
        self._read = read
        self._change = change
        self._sees_at = sees_at
        self._lock = Lock()
        self._read_rng = stream(seed, "read")  # under _lock, as the next
        self._change_rng = stream(seed, "change")

    def course(self, request: Request, now: float) -> _Course:
        """Plan a call that starts now."""
        with self._lock:
            if request.is_read:
                duration = self._read(self._read_rng)
                return _Course(now, now + self._sees_at * duration, now + duration)
            return _Course(now, now, now + self._change(self._change_rng))


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """Answers requests, each in the thread that brings it."""

    account: MotoAccount
    clock: Clock
    durations: Durations
    fates: Fates
    throttle: Throttle
    volumes: Volumes
    describer: VolumeDescriber
    log: Log

    def answer(self, request: Request) -> Answer:
        """Answer a request. Nothing is raised: what goes wrong here is an InternalError."""
        started = self.clock.monotonic()
        try:
            answer = self._admitted(request, started)
        except RefusedError as refused:
            answer = refused.answer()
        except Exception as error:
            _log.debug("%s failed", request.operation, exc_info=True)
            text = f"{type(error).__name__}: {error}"
            answer = RefusedError("InternalError", text, status=500).answer()
        ended = self.clock.monotonic()
        ids = len(request.ids)
        self.log.add(Call(request.operation, started, ended, ids, answer.error))
        return answer

    def _admitted(self, request: Request, now: float) -> Answer:
        if not self.throttle.admits(request, now):
            raise RefusedError(THROTTLED, "Request limit exceeded.", status=503)
        course = self.durations.course(request, now)
        try:
            self._sleep_until(course.looks)
            return self._dispatch(request, course)
        finally:
            self._sleep_until(course.ends)

    def _dispatch(self, request: Request, course: _Course) -> Answer:
        if request.operation == "DescribeVolumes":
            backend = self.account.region(request.region)
            return self.describer.answer(request, backend, self.clock.monotonic())
        if request.operation == "CreateVolume":
            return self._create_volume(request, course)
        if request.operation == "AttachVolume":
            self._check_attachable(request.parameters.get("VolumeId", ""))
        return self.account.call(request)

    def _create_volume(self, request: Request, course: _Course) -> Answer:
        answer = self.account.call(request)
        created = _VOLUME_ID.search(answer.body)
        if created is None:
            return answer
        volume_id = created.group(1).decode()
        fate = self.fates.draw()
        visible_at = course.ends + fate.hidden_for if fate.hidden_for else course.started
        self.volumes.add(volume_id, fate, created_at=course.started, visible_at=visible_at)
        backend = self.account.region(request.region)
        return success("CreateVolume", volume_xml(backend.volumes[volume_id], "creating", backend))

    def _check_attachable(self, volume_id: str) -> None:
        now = self.clock.monotonic()
        if not self.volumes.is_visible(volume_id, now):
            raise not_found([volume_id])
        if self.volumes.state(volume_id, now) not in (None, "available", "in-use"):
            raise RefusedError("IncorrectState", f"{volume_id} is not 'available'.")

    def _sleep_until(self, deadline: float) -> None:
        left = deadline - self.clock.monotonic()
        if left > 0:
            self.clock.sleep(left)
