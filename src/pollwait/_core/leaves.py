"""Rules that make delays; ``rules`` tells how rules work."""

from __future__ import annotations

from math import ceil, floor

from .rules import MAX_DELAY, UNCAPPED, Rule, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rules import Rng, State, Step

# No clock tells shorter intervals apart; counting them could overflow.
_SHORTEST_GRID = 1e-9

# A check this near to its due time, as a share of the interval, is due: floats are inexact.
_DUE = 1e-9

# A check that starts before its time by no more than this share of the interval was meant for it:
# some clocks wake a sleeper a little early.
_EARLY = 0.01


class Leaf(Rule):
    """A rule that makes delays, none above its cap.

    ``limit`` is the cap that a delay is held at; no field, because it follows from the fields.
    """

    __slots__ = ("limit",)
    cap: float
    limit: float

    def _limit(self, cap: float) -> None:
        object.__setattr__(self, "limit", min(cap, MAX_DELAY))

    def capped(self, cap: float) -> Rule:
        return self._kind()(*self._fields()[:-1], cap) if cap < self.cap else self

    @property
    def ceiling(self) -> float:
        return self.cap

    def _shown(self, call: str) -> str:
        return call if self.cap == UNCAPPED else f"{call}.cap({number(self.cap)})"


class Fixed(Leaf):
    """The same delay again and again."""

    __slots__ = ("interval", "cap")
    interval: float
    cap: float

    def __init__(self, interval: float, cap: float = UNCAPPED) -> None:
        self._fill(interval, cap)
        self._limit(min(interval, cap))

    def begin(self) -> State:
        return 0

    def step(self, state: State, now: float, started: float, rng: Rng) -> Step:
        return self.limit, state

    def from_start(self) -> Rule:
        return Grid(self.interval, self.cap)

    @property
    def adds_up(self) -> bool:
        return self.limit > 0.0

    def __str__(self) -> str:
        return self._shown(f"fixed({number(self.interval)})")


class Grid(Leaf):
    """Checks at whole multiples of an interval, counted from the start of the first check under it.

    The state is that start, or None before the first step.
    """

    __slots__ = ("interval", "cap")
    interval: float
    cap: float

    def __init__(self, interval: float, cap: float = UNCAPPED) -> None:
        self._fill(interval, cap)
        self._limit(min(interval, cap))

    def begin(self) -> State:
        return (None,)

    def step(self, state: tuple[float | None], now: float, started: float, rng: Rng) -> Step:
        (anchor,) = state
        if anchor is None:
            anchor = started
        interval = self.limit
        if interval < _SHORTEST_GRID:
            return 0.0, (anchor,)
        # A time that has passed is skipped, and one that the last check was for is not due again.
        missed = ceil((now - anchor) / interval - _DUE)
        served = floor((started - anchor) / interval + _EARLY)
        delay = anchor + max(missed, served + 1) * interval - now
        longest = min(interval * (1 + _EARLY), self.cap, MAX_DELAY)  # were the clock to step back
        return min(max(0.0, delay), longest), (anchor,)

    def from_start(self) -> Rule:
        return self

    @property
    def adds_up(self) -> bool:
        return False  # each check may end just when the next one is due

    @property
    def counts_from_start(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"{Fixed(self.interval, self.cap)}.from_start()"


class Linear(Leaf):
    """Delays that grow by the same amount each time; the state is how often they have grown."""

    __slots__ = ("start", "increment", "cap")
    start: float
    increment: float
    cap: float

    def __init__(self, start: float, increment: float, cap: float = UNCAPPED) -> None:
        self._fill(start, increment, cap)
        self._limit(cap)

    def begin(self) -> State:
        return 0.0

    def step(self, state: float, now: float, started: float, rng: Rng) -> Step:
        # Multiplied, not summed: rounding must not pile up.
        delay = self.start + state * self.increment
        return (delay, state + 1.0) if delay < self.limit else (self.limit, state)

    @property
    def adds_up(self) -> bool:
        return self.limit > 0.0 and self.start + self.increment > 0.0

    def __str__(self) -> str:
        return self._shown(f"linear({number(self.start)}, step={number(self.increment)})")


class Exponential(Leaf):
    """Delays that grow by the same factor each time; the state is the next delay."""

    __slots__ = ("start", "factor", "cap")
    start: float
    factor: float
    cap: float

    def __init__(self, start: float, factor: float, cap: float = UNCAPPED) -> None:
        self._fill(start, factor, cap)
        self._limit(cap)

    def begin(self) -> State:
        return min(self.start, self.limit)

    def step(self, state: float, now: float, started: float, rng: Rng) -> Step:
        following = state * self.factor
        return state, following if following < self.limit else self.limit

    @property
    def adds_up(self) -> bool:
        return self.limit > 0.0

    def __str__(self) -> str:
        return self._shown(f"exponential({number(self.start)}, factor={number(self.factor)})")


class Fibonacci(Leaf):
    """Delays that are each the sum of the two before; the state is the next two."""

    __slots__ = ("start", "cap")
    start: float
    cap: float

    def __init__(self, start: float, cap: float = UNCAPPED) -> None:
        self._fill(start, cap)
        self._limit(cap)

    def begin(self) -> State:
        return self.start, self.start

    def step(self, state: tuple[float, float], now: float, started: float, rng: Rng) -> Step:
        delay, following = state
        if delay >= self.limit:
            return self.limit, state
        return delay, (following, delay + following)

    @property
    def adds_up(self) -> bool:
        return min(self.start, self.limit) > 0.0

    def __str__(self) -> str:
        return self._shown(f"fibonacci({number(self.start)})")


class Decorrelated(Leaf):
    """Delays drawn from between the base and three times the previous; the state is the previous.

    The cap bounds the range, not the drawn number, so that delays stay random at the cap.
    """

    __slots__ = ("base", "cap")
    base: float
    cap: float

    def __init__(self, base: float, cap: float) -> None:
        self._fill(base, cap)
        self._limit(cap)

    def begin(self) -> State:
        return self.base

    def step(self, state: float, now: float, started: float, rng: Rng) -> Step:
        longest = min(self.limit, 3.0 * state)
        shortest = min(self.base, longest)
        # Counted down from the longest, so that rounding cannot pass the cap.
        delay = longest - (longest - shortest) * rng.random()
        return delay, delay

    @property
    def adds_up(self) -> bool:
        return self.limit > 0.0

    def __str__(self) -> str:
        call = f"decorrelated({number(self.base)}, cap={number(max(self.cap, self.base))})"
        return call if self.cap >= self.base else f"{call}.cap({number(self.cap)})"


class Sequence(Leaf):
    """Given delays, then the end; the state is the next one's index."""

    __slots__ = ("delays", "cap")
    delays: tuple[float, ...]
    cap: float

    def __init__(self, delays: tuple[float, ...], cap: float = UNCAPPED) -> None:
        self._fill(delays, cap)
        self._limit(cap)

    def begin(self) -> State:
        return 0

    def step(self, state: int, now: float, started: float, rng: Rng) -> Step:
        if state == len(self.delays):
            return None
        return min(self.delays[state], self.limit), state + 1

    @property
    def ends(self) -> bool:
        return True

    def __str__(self) -> str:
        return self._shown(f"sequence({', '.join(map(number, self.delays))})")
