"""Rules that combine others, in turn or side by side; ``rules`` tells how rules work."""

from __future__ import annotations

from .rules import UNCAPPED, Composite, Exact, Rule, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rules import Rng, State, Step


class Joint(Rule):
    """The initial delay of a schedule that follows another: one delay, exact."""

    __slots__ = ("delay",)
    delay: float

    def __init__(self, delay: float) -> None:
        self._fill(delay)

    def begin(self) -> State:
        return True

    def step(self, state: bool, now: float, started: float, rng: Rng) -> Step:
        return (Exact(self.delay), False) if state else None

    def capped(self, cap: float) -> Rule:
        return self

    def from_start(self) -> Rule:
        return self

    @property
    def ceiling(self) -> float:
        return 0.0  # no cap of its own

    @property
    def ends(self) -> bool:
        return True


class Group(Composite):
    """A rule over several others.

    Groups of one kind merge, so that composing in a loop nests nothing.
    """

    __slots__ = ("parts",)
    parts: tuple[Rule, ...]

    def __init__(self, parts: tuple[Rule, ...]) -> None:
        self._fill(parts)
        self._nest(parts)

    @classmethod
    def of(cls, *rules: Rule) -> Rule:
        """Group rules, taking the parts of those that are groups of this kind."""
        parts: list[Rule] = []
        for rule in rules:
            parts.extend(rule.parts if isinstance(rule, cls) else (rule,))
        return cls(tuple(parts))

    def begin(self) -> State:
        return tuple([part.begin() for part in self.parts])

    def capped(self, cap: float) -> Rule:
        return type(self)(tuple([part.capped(cap) for part in self.parts]))

    def from_start(self) -> Rule:
        return type(self)(tuple([part.from_start() for part in self.parts]))

    @property
    def ceiling(self) -> float:
        return max([part.ceiling for part in self.parts])

    @property
    def ends(self) -> bool:
        return all(part.ends for part in self.parts)

    @property
    def adds_up(self) -> bool:
        return all(part.adds_up for part in self.parts)

    @property
    def counts_from_start(self) -> bool:
        return any(part.counts_from_start for part in self.parts)

    def operand(self) -> str:
        return f"({self})"

    def _joined(self, sign: str) -> str:
        return f" {sign} ".join([part.operand() for part in self.parts])


class Then(Group):
    """One rule after the other; the state is which one is at work, and its state."""

    __slots__ = ("parts",)
    parts: tuple[Rule, ...]

    def begin(self) -> State:
        return 0, self.parts[0].begin()

    def step(self, state: tuple[int, State], now: float, started: float, rng: Rng) -> Step:
        index, inner = state
        found = self.parts[index].step(inner, now, started, rng)
        while found is None:
            index += 1
            if index == len(self.parts):
                return None
            part = self.parts[index]
            found = part.step(part.begin(), now, started, rng)
        return found[0], (index, found[1])

    def __str__(self) -> str:
        shown: list[str] = []
        after = ""
        for part in self.parts:
            if isinstance(part, Joint):
                after = f".after({number(part.delay)})"
            else:
                shown.append(part.operand() + after)
                after = ""
        return " + ".join(shown)


class Longer(Group):
    """The longest of several delays, until one rule ends; the state is that of each."""

    __slots__ = ("parts",)

    def step(self, state: tuple[State, ...], now: float, started: float, rng: Rng) -> Step:
        longest = 0.0
        states: list[State] = []
        for part, inner in zip(self.parts, state, strict=True):
            found = part.step(inner, now, started, rng)
            if found is None:
                return None
            longest = max(found[0], longest)
            states.append(found[1])
        return longest, tuple(states)

    @property
    def ends(self) -> bool:
        return any(part.ends for part in self.parts)

    @property
    def adds_up(self) -> bool:
        return any(part.adds_up for part in self.parts)

    def __str__(self) -> str:
        return self._joined("&")


class Shorter(Group):
    """The shortest of several delays, until all rules have ended; the state is None for those."""

    __slots__ = ("parts",)

    def step(self, state: tuple[State, ...], now: float, started: float, rng: Rng) -> Step:
        shortest = UNCAPPED
        states: list[State] = []
        for part, inner in zip(self.parts, state, strict=True):
            found = None if inner is None else part.step(inner, now, started, rng)
            if found is not None:
                shortest = min(found[0], shortest)
            states.append(found and found[1])
        return None if shortest == UNCAPPED else (shortest, tuple(states))

    @property
    def ceiling(self) -> float:
        return min([part.ceiling for part in self.parts])

    def __str__(self) -> str:
        return self._joined("|")
