"""What the waits of one waiter have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.duration import at_least_one, seconds
from ._acceptors import PATHS
from ._document import elements
from ._expression import Expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.duration import Duration
    from ._definition import Definition

# Seconds. AWS asks for patience with what was just created and names no figure; missing for longer
# than this, a thing is taken not to exist.
MISSING_GRACE = 15.0


class Terms:
    """How answers are judged.

    Args:
        definition: what is waited for.
        missing_grace: for how long a thing may be missing that is to be there.
        until_stable: how many good answers in a row it takes.
        monotonic: tells the time of the waits.
        explains: whether errors name the acceptor that matched.

    Raises:
        TypeError, ValueError: a duration or a count is none.

    Attributes:
        awaits_absence: whether the thing is to be gone.
        awaits_appearance: whether to go on for as long as it is missing.
    """

    __slots__ = (
        "_states",
        "awaits_absence",
        "awaits_appearance",
        "definition",
        "explains",
        "missing_grace",
        "monotonic",
        "until_stable",
    )

    def __init__(
        self,
        definition: Definition,
        *,
        missing_grace: Duration = MISSING_GRACE,
        until_stable: int = 1,
        monotonic: Callable[[], float],
        explains: bool = True,
    ) -> None:
        self.definition = definition
        self.missing_grace = seconds(missing_grace, "missing_grace")
        self.until_stable = at_least_one(until_stable, "until_stable")
        self.monotonic = monotonic
        self.explains = explains
        self.awaits_absence = definition.awaits == "absence"
        self.awaits_appearance = _awaits_appearance(definition)
        acceptors = sorted(definition.acceptors, key=lambda each: each.state != "success")
        expressions = [
            acceptor.argument
            for acceptor in acceptors
            if acceptor.matcher in PATHS and isinstance(acceptor.expected, str)
        ]
        self._states = [Expression(each) for each in dict.fromkeys(expressions) if each]

    def state(self, response: object) -> str | None:
        """Return the state that a response shows, where the acceptors look for it.

        Of several things in different states it is all of these, with commas between.
        """
        for expression in self._states:
            found: Any = expression.search(response)
            states = [found] if isinstance(found, str) else elements(found)
            texts = dict.fromkeys(state for state in states if isinstance(state, str))
            if texts:
                return ", ".join(texts)
        return None


def _awaits_appearance(definition: Definition) -> bool:
    """Tell whether a definition, or its name, asks to go on while the thing does not exist."""
    states = {each.state for each in definition.acceptors if definition.is_not_found(each)}
    by_name = definition.awaits == "existence" and definition.name.endswith("Exists")
    return "retry" in states or (by_name and "failure" not in states)
