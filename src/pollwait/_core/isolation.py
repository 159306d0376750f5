"""One round of calls for some keys, in which keys that poison a call are found (B9).

Theory of operation
-------------------
A driver makes the calls and reports how they ended. The first call carries all keys, and mostly it
is the only one::

    isolation = Isolation(isolate, keys)
    while (sent := isolation.next()) is not None:
        call with the keys in sent
        isolation.passed(), or errors = isolation.failed(error)
        deliver the answers or the errors

Of a call that failed, the user's ``isolate(error, keys)`` knows which keys it names. Those fail and
the rest is called again. Where the error says that some key is bad but not which, the keys are
halved, and a key that fails alone is the culprit. Where the error is no matter of keys, all that
the call carried fail with it. Every failure is judged anew, whatever the one before it was.

When the first half of a call that failed passes, the second must hold the culprit, so it is halved
without a call of its own, which would fail. That is a guess (a call may fail because it was too
large, or for a moment only), and so a key is never condemned by it: a lone key is always called.

Invariants
----------
- Each key is answered by a call that passed, or fails, exactly once.
- A key is in no more than one batch that is still to be called, and none of them is empty.
- Each step removes a key or halves a batch, so p bad keys among n cost at most p calls where errors
  name them one by one, and about 2 p log2(n) where they name none.
"""

from __future__ import annotations

from .._errors import chain
from .callables import close_coroutine, is_awaitable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any, TypeAlias

    Isolate: TypeAlias = Callable[[Exception, list[Any]], Collection[Any] | None]


class Isolation:
    """The state of one round.

    Args:
        isolate: the user's function: the keys that an error names, an empty collection for an error
            of some key that it does not name, None for an error that is no matter of keys; None for
            a user who has none, whose errors are never a matter of keys.
        keys: what the round is for, without duplicates.

    Attributes:
        calls: how many calls were handed out so far.
        poison: the keys that failed by themselves. What else failed was in a call that did.
    """

    __slots__ = ("_isolate", "_sent", "_sent_first_half", "_waiting", "calls", "poison")

    def __init__(self, isolate: Isolate | None, keys: Iterable[Any]) -> None:
        self.calls = 0
        self.poison: set[Any] = set()
        self._isolate = isolate
        self._sent: list[Any] = []
        self._sent_first_half = False
        # The next batch is the last one; right below a first half lies its other half.
        self._waiting: list[tuple[list[Any], bool]] = [(list(keys), False)]

    def next(self, wanted: Callable[[Any], bool] | None = None) -> list[Any] | None:
        """Return the keys of the next call, or None when the round is over.

        Args:
            wanted: tells whether anybody still waits for a key; the others are left out.

        Returns:
            A list that is the caller's to keep, never an empty one.
        """
        while self._waiting:
            keys, self._sent_first_half = self._waiting.pop()
            if wanted is not None:
                keys = [key for key in keys if wanted(key)]
            if keys:
                self._sent = keys
                self.calls += 1
                return [*keys]
        return None

    def passed(self) -> None:
        """Go on: the call returned, whatever it said of its keys."""
        if self._sent_first_half:
            keys, _ = self._waiting.pop()
            self._halve(keys)

    def failed(self, error: Exception) -> dict[Any, BaseException]:
        """Go on: the call raised an error.

        Returns:
            The keys that failed for good by it, with the error of each. What ``isolate`` itself
            raises is the error of all that the call carried.
        """
        sent = self._sent
        try:
            named = self._named(error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as bug:
            if bug is not error:
                chain(bug, "__context__", bug.__context__ or error)
            return dict.fromkeys(sent, bug)
        if named is None:
            return dict.fromkeys(sent, error)
        if not named and len(sent) > 1:
            self._halve(sent)
            return {}
        bad = named or set(sent)
        rest = [key for key in sent if key not in bad]
        if rest:
            self._waiting.append((rest, False))
        self.poison |= bad
        return {key: error for key in sent if key in bad}

    def _halve(self, keys: list[Any]) -> None:
        middle = len(keys) // 2
        self._waiting.append((keys[middle:], False))
        if middle:
            self._waiting.append((keys[:middle], True))

    def _named(self, error: Exception) -> set[Any] | None:
        """Return those keys of the call that an error names; None if it is no matter of keys."""
        if self._isolate is None:
            return None
        sent = set(self._sent)
        named: Any = self._isolate(error, [*self._sent])
        if named is None:
            return None
        if is_awaitable(named) or not hasattr(named, "__iter__"):
            close_coroutine(named)
            raise TypeError(f"isolate must return a collection of keys or None: got {named!r}")
        if _is_one_of(named, sent):
            return {named}
        return sent.intersection(named)


def _is_one_of(named: Any, keys: set[Any]) -> bool:
    """Tell whether someone returned a key, such as a string, in place of a collection of keys."""
    try:
        return named in keys
    except TypeError:  # unhashable: no key
        return False
