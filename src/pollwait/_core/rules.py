"""Delay rules: the parts that a schedule is made of.

Theory of operation. A rule is an immutable description; all that changes during a wait is a small
state of plain data, which the wait carries. ``begin()`` gives the first state and ``step(state,
now, started, rng)`` the next delay, counted from ``now``, together with the following state, or
None once the rule has ended. ``started`` is when the previous check started. So a rule may serve
any number of waits at once, and a wait can be written down and resumed.

Leaves (in ``leaves``) make delays, those in ``combined`` combine rules, and the wrappers here
change what one rule does. A cap belongs to the leaves: ``capped`` rebuilds the tree with lower
caps, which is why a cap acts before jitter, ``times`` and ``within`` wherever it is written, and
why the two ways of writing it are equal.

Invariants: a delay is >= 0 and above neither its leaf's cap nor ``MAX_DELAY``. A step costs the
same at any attempt. No number in a state grows without bound, and no state is None. A random delay
takes exactly one draw, and a larger draw never makes it longer.
"""

from __future__ import annotations

from .duration import ROUNDING
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeAlias

    # Floats, ints and tuples of them. Only the rule that made a state knows its shape.
    State: TypeAlias = Any
    Step: TypeAlias = tuple[float, State] | None

    class Rng(Protocol):
        """What a rule needs of a random number generator; ``random.Random`` has it."""

        def random(self) -> float:
            """Return a float in [0, 1)."""
            ...


MAX_DELAY = 1e9
"""The longest delay in seconds, some 32 years: growth stops here, far from infinity."""

UNCAPPED = float("inf")

# Each level costs a Python call in every step, so this stays well clear of the recursion limit.
_MAX_DEPTH = 100


class Exact(float):
    """A delay that is neither jittered nor shortened by ``from_start``."""

    __slots__ = ()


class Rule(Value):
    """What every rule can do; the answers given here are those of an endless leaf."""

    __slots__ = ()

    if TYPE_CHECKING:

        def begin(self) -> State:
            """Return the first state."""
            ...

        def step(self, state: State, now: float, started: float, rng: Rng) -> Step:
            """Return the next delay and state, or None at the end."""
            ...

        def capped(self, cap: float) -> Rule:
            """Return this rule with no leaf's cap above ``cap``."""
            ...

        @property
        def ceiling(self) -> float:
            """The longest delay that the caps allow."""
            ...

    def from_start(self) -> Rule:
        """Return this rule with its delays counted from the start of the previous check."""
        return FromStart(self)

    @property
    def ends(self) -> bool:
        """True if it is certain to end."""
        return False

    @property
    def adds_up(self) -> bool:
        """True if its delays are certain to reach any given total, unless it ends before."""
        return True

    @property
    def counts_from_start(self) -> bool:
        """True if some delay depends on when the previous check started."""
        return False

    @property
    def depth(self) -> int:
        """How many rules are nested in each other here."""
        return 1

    def operand(self) -> str:
        """Return its text as it stands before a method or between operators."""
        return str(self)

    def _kind(self) -> Callable[..., Rule]:
        return type(self)

    def __reduce__(self) -> tuple[object, ...]:
        return self._kind(), self._fields()


class Composite(Rule):
    """A rule over others; it knows how deep they are nested (no field: it follows from them)."""

    __slots__ = ("_depth",)
    _depth: int

    def _nest(self, parts: tuple[Rule, ...]) -> None:
        depth = 1 + max([part.depth for part in parts])
        if depth > _MAX_DEPTH:
            raise ValueError(
                "schedule must not be nested deeper than"
                f" {_MAX_DEPTH} levels of jitter, times, within, & and |: got {depth}"
            )
        object.__setattr__(self, "_depth", depth)

    @property
    def depth(self) -> int:
        return self._depth


class Wrapper(Composite):
    """A rule over one other; the answers given here are the other's."""

    __slots__ = ("rule",)
    rule: Rule

    def __init__(self, rule: Rule, *settings: float) -> None:
        self._fill(rule, *settings)
        self._nest((rule,))

    def _over(self, rule: Rule) -> Rule:
        return self._kind()(rule, *self._fields()[1:])

    def begin(self) -> State:
        return self.rule.begin()

    def capped(self, cap: float) -> Rule:
        return self._over(self.rule.capped(cap))

    def from_start(self) -> Rule:
        # No delay is counted twice: where some count from the start already, the others join them.
        if self.counts_from_start:
            return self._over(self.rule.from_start())
        return FromStart(self)

    @property
    def ceiling(self) -> float:
        return self.rule.ceiling

    @property
    def ends(self) -> bool:
        return self.rule.ends

    @property
    def adds_up(self) -> bool:
        return self.rule.adds_up

    @property
    def counts_from_start(self) -> bool:
        return self.rule.counts_from_start

    def _call(self, call: str) -> str:
        return f"{self.rule.operand()}.{call}"


class FromStart(Wrapper):
    """Delays less the time since the previous check started, or none where that has passed."""

    __slots__ = ("rule",)

    def step(self, state: State, now: float, started: float, rng: Rng) -> Step:
        found = self.rule.step(state, now, started, rng)
        if found is None or now <= started or type(found[0]) is Exact:
            return found
        return max(0.0, found[0] - (now - started)), found[1]

    def from_start(self) -> Rule:
        return self

    @property
    def adds_up(self) -> bool:
        return self.rule.ends  # slow checks leave no delay to add up

    @property
    def counts_from_start(self) -> bool:
        return True

    def __str__(self) -> str:
        return self._call("from_start()")


class Jitter(Wrapper):
    """Delays shortened at random, by at most a given fraction of each."""

    __slots__ = ("rule", "fraction")
    fraction: float

    def step(self, state: State, now: float, started: float, rng: Rng) -> Step:
        found = self.rule.step(state, now, started, rng)
        if found is None:
            return None
        delay, state = found
        if type(delay) is Exact:
            return found
        return delay - delay * self.fraction * rng.random(), state

    def __str__(self) -> str:
        words = {1.0: "'full'", 0.5: "'equal'"}
        return self._call(f"jitter({words.get(self.fraction) or number(self.fraction)})")


class Times(Wrapper):
    """The first delays, then the end; the state is how many are left and the rule's state."""

    __slots__ = ("rule", "count")
    count: int

    @staticmethod
    def of(rule: Rule, count: int) -> Rule:
        """Limit a rule; of two limits the smaller holds."""
        if isinstance(rule, Times):
            return Times(rule.rule, min(count, rule.count))
        return Times(rule, count)

    def begin(self) -> State:
        return self.count, self.rule.begin()

    def step(self, state: tuple[int, State], now: float, started: float, rng: Rng) -> Step:
        left, inner = state
        found = self.rule.step(inner, now, started, rng) if left else None
        return found and (found[0], (left - 1, found[1]))

    def from_start(self) -> Rule:
        return self._over(self.rule.from_start())

    @property
    def ends(self) -> bool:
        return True

    @property
    def adds_up(self) -> bool:
        return True

    def __str__(self) -> str:
        return self._call(f"times({self.count})")


class Within(Wrapper):
    """Delays up to a total, the last one clipped to it; the state is what has been spent already.

    The sum is kept as a caller would add the delays up, so that it comes out as the total.
    """

    __slots__ = ("rule", "total")
    total: float

    @staticmethod
    def of(rule: Rule, total: float) -> Rule:
        """Limit a rule's total; of two limits the smaller holds."""
        if isinstance(rule, Within):
            return Within(rule.rule, min(total, rule.total))
        return Within(rule, total)

    def begin(self) -> State:
        return 0.0, self.rule.begin()

    def step(self, state: tuple[float, State], now: float, started: float, rng: Rng) -> Step:
        spent, inner = state
        left = self.total - spent
        found = self.rule.step(inner, now, started, rng) if left > 0.0 else None
        if found is None:
            return None
        delay, inner = found
        if delay * ROUNDING < left:
            return delay, (spent + delay, inner)
        return type(delay)(left), (self.total, inner)

    @property
    def ends(self) -> bool:
        return self.total == 0.0 or self.rule.ends or self.rule.adds_up

    @property
    def adds_up(self) -> bool:
        return self.ends

    def __str__(self) -> str:
        return self._call(f"within({number(self.total)})")


def number(value: float) -> str:
    """Return a number as a person would write it; it reads back exactly."""
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)
