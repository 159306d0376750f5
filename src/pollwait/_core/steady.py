"""How long a schedule goes on with the same delay, and its state after that: time is not walked."""

from __future__ import annotations

from .combined import Then
from .duration import INFINITY
from .rules import Times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rules import Rule, State


def steady(rule: Rule, before: State, after: State) -> float:
    """Return how many further delays are like the last one, at least; infinity if all are.

    Args:
        rule: what made the last delay, without chance.
        before: its state before that delay.
        after: its state after that delay.
    """
    if before == after:
        return INFINITY
    if isinstance(rule, Times):
        left: int = after[0]
        return min(left, steady(rule.rule, before[1], after[1]))
    if isinstance(rule, Then) and before[0] == after[0]:
        at: int = after[0]
        return steady(rule.parts[at], before[1], after[1])
    return 0


def skipped(rule: Rule, state: State, count: int) -> State:
    """Return the state after so many steady delays."""
    if isinstance(rule, Times):
        return state[0] - count, skipped(rule.rule, state[1], count)
    if isinstance(rule, Then):
        at: int = state[0]
        return at, skipped(rule.parts[at], state[1], count)
    return state
