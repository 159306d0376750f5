"""The lives of volumes: what state each is in, and when that changes.

The state of a volume is a timeline, a list of (time, state); its last entry that lies in the past
holds. Times are those of the server's clock, and are passed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ..._core.duration import seconds as checked_seconds

if TYPE_CHECKING:
    from ..._core.duration import Duration

State: TypeAlias = Literal["creating", "available", "in-use", "deleting", "deleted", "error"]
_STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Fate:
    """What will become of a new volume, in seconds from the start of its CreateVolume call."""

    ready_after: float
    hidden_for: float
    state: State


class Fates:
    """Draws the fates of new volumes: the same seed gives the same ones in the same order."""

    def __init__(
        self,
        seed: int | str | None,
        *,
        ready: Callable[[Random], float],
        hidden: Callable[[Random], float],
        error_rate: float,
    ) -> None:
        self._ready = ready
        self._hidden = hidden
        self._error_rate = error_rate
        self._lock = Lock()
        self._failures = 0  # under _lock, as the generators
        self._ready_rng, self._hidden_rng, self._error_rng = (
            stream(seed, name) for name in ("ready", "hidden", "error")
        )

    def fail_next(self, count: int) -> None:
        """Let the next ``count`` volumes end in ``error``."""
        with self._lock:
            self._failures += count

    def draw(self) -> Fate:
        """Draw one fate."""
        with self._lock:
            fails = self._error_rng.random() < self._error_rate
            if self._failures:
                self._failures -= 1
                fails = True
            state: State = "error" if fails else "available"
            return Fate(self._ready(self._ready_rng), self._hidden(self._hidden_rng), state)


def stream(seed: int | str | None, name: str) -> Random:
    """Return a generator of its own for one purpose, so that no other use shifts its draws."""
    return Random() if seed is None else Random(f"{seed}/{name}")


@dataclass(slots=True)
class _Life:
    created_at: float
    visible_at: float
    timeline: list[tuple[float, State]]

    def state(self, now: float) -> State:
        return next(state for at, state in reversed(self.timeline) if at <= now)

    def ready_at(self) -> float:
        """Return when it last stops being ``creating``, or infinity."""
        at = -math.inf
        for since, state in self.timeline:
            if state == "creating":
                at = math.inf
            elif at == math.inf:
                at = since
        return at


class Volumes:
    """The lives of all volumes that were created through this server."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lives: dict[str, _Life] = {}  # under _lock, its values too

    def add(self, volume_id: str, fate: Fate, *, created_at: float, visible_at: float) -> None:
        """Begin the life of a volume."""
        ready_at = created_at + fate.ready_after
        timeline: list[tuple[float, State]] = [(-math.inf, "creating"), (ready_at, fate.state)]
        with self._lock:
            self._lives[volume_id] = _Life(created_at, visible_at, timeline)

    def script(self, volume_id: str, ready_after: Duration | None, state: State) -> None:
        """Rewrite a life: ``creating``, then ``state`` that many seconds after the creation."""
        with self._lock:
            life = self._life(volume_id)
            if ready_after is None:
                at = life.ready_at()
            else:
                at = life.created_at + checked_seconds(ready_after, "ready_after")
            life.timeline = [(-math.inf, "creating"), (at, _checked(state))]

    def set_state(self, volume_id: str, state: State, now: float) -> None:
        """Put a volume into a state from now on; what was planned is off."""
        with self._lock:
            life = self._life(volume_id)
            past = [entry for entry in life.timeline if entry[0] < now]
            life.timeline = [*past, (now, _checked(state))]

    def state(self, volume_id: str, now: float) -> State | None:
        """Return the state of a volume, or None if it was not created by CreateVolume."""
        with self._lock:
            life = self._lives.get(volume_id)
            return None if life is None else life.state(now)

    def is_visible(self, volume_id: str, now: float) -> bool:
        """Tell whether describe calls know the volume by now."""
        with self._lock:
            life = self._lives.get(volume_id)
            return life is None or now >= life.visible_at

    def created_at(self, volume_id: str) -> float:
        """Return when the CreateVolume call started."""
        with self._lock:
            return self._life(volume_id).created_at

    def ready_at(self, volume_id: str) -> float:
        """Return when the volume stops being ``creating``, maybe in the future; or infinity."""
        with self._lock:
            return self._life(volume_id).ready_at()

    def _life(self, volume_id: str) -> _Life:
        try:
            return self._lives[volume_id]
        except KeyError:
            raise LookupError(f"{volume_id!r} was not created by CreateVolume here") from None


def _checked(state: State) -> State:
    if state not in _STATES:
        raise ValueError(f"state must be one of {', '.join(_STATES)}: got state={state!r}")
    return state
