"""How the wait of a waiter stands, in a few words, as its events tell it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from ..._clock import SYSTEM_CLOCK
from ..._events import Checked, Finished
from ...aws._acceptors import PATHS
from ...aws._answer import Answer
from ...aws._document import elements
from ...aws._expression import Expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..._group_events import Called
    from ...aws._definition import Definition


class Progress:
    """Listens to one wait (``on_event=progress``).

    Args:
        definition: the waiter's.

    Attributes:
        changed: called after each check; with True if what was seen differs from before.
        attempts: how many checks were made.
        elapsed: seconds that the wait has taken by its newest event.
        seen: what the newest check saw, such as ``3 available, 2 creating``; empty before.
        response: the newest response; None before the first.
    """

    changed: Callable[[bool], object]

    def __init__(self, definition: Definition) -> None:
        self.changed = bool
        self.attempts = 0
        self.elapsed = 0.0
        self.seen = ""
        self.response: Mapping[str, Any] | None = None
        self._states = list(_expressions(definition))
        self._began = SYSTEM_CLOCK.monotonic()

    def __call__(self, event: Checked | Finished | Called) -> None:
        """Take in what the wait tells."""
        if not isinstance(event, (Checked, Finished)):
            return  # of a call, which is told of by its checks
        self.elapsed = event.elapsed
        if isinstance(event, Finished):
            self.attempts = event.attempts
            return
        self.attempts = event.attempt
        if event.error is not None and event.next_delay is None:
            return  # the wait ends by it, and says so itself
        before, self.seen = self.seen, self._sight(event)
        self.changed(self.seen != before)

    def line(self) -> str:
        """Return how it stands by now, such as ``12 s · 5 checks · 3 available, 2 creating``."""
        parts = [f"{SYSTEM_CLOCK.monotonic() - self._began:.0f} s", checks(self.attempts)]
        return " · ".join([*parts, self.seen] if self.seen else parts)

    def _sight(self, event: Checked) -> str:
        answer, error = event.value, event.error
        parts: list[str] = []
        if isinstance(answer, Answer):
            error = answer.error or next(iter(answer.errors.values()), error)
            if answer.absent:
                parts = [f"{len(answer.absent)} not there"]
            answer = answer.response
        if answer is not None:
            self.response = answer
            parts = [*self._counts(answer), *parts]
        if error is not None:
            parts.append(_named(error))
        return ", ".join(parts)

    def _counts(self, response: object) -> Iterator[str]:
        """Yield how many things are in which state."""
        for expression in self._states:
            states = Counter(_texts(expression.search(response)))
            if len(states) == 1 and states.total() == 1:
                yield from states
                return
            if states:
                yield from (f"{count} {state}" for state, count in states.most_common())
                return


def checks(number: int) -> str:
    """Return a number of checks, in words."""
    return f"{number} check{'' if number == 1 else 's'}"


def _expressions(definition: Definition) -> Iterator[Expression]:
    """Yield where the acceptors look for states, those for success first."""
    acceptors = sorted(definition.acceptors, key=lambda each: each.state != "success")
    arguments = [
        each.argument
        for each in acceptors
        if each.argument and each.matcher in PATHS and isinstance(each.expected, str)
    ]
    return map(Expression, dict.fromkeys(arguments))


def _texts(found: Any) -> Iterator[str]:
    """Yield the texts that an expression found, itself or in lists."""
    if isinstance(found, str):
        yield found
    for item in elements(found):
        yield from _texts(item)


def _named(error: BaseException) -> str:
    """Return the code of a service's error, and the name of any other."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "an error"))
    return type(error).__name__
