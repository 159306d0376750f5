"""What a group expects of a wait that it has asked for in vain."""

from __future__ import annotations

from math import log1p

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .distribution import Distribution

# How far a latency model is doubted: one wait in a thousand may take any time at all. So little
# costs next to nothing, and yet it has a group look now and then where the model sees no need.
_DOUBT = 1 / 1024

# Seconds; the smallest time that counts as typical, in case that everything was ready at once.
_SMALLEST = 1 / 1024


class Outlook:
    """A distribution of completion times, with a little doubt in it.

    The doubt is about the times at which the distribution leaves no chance: before the first time
    that was ever seen, and long after the last. Of the few waits to which the distribution does not
    apply, half are taken to be ready by its median ``m``, and the share ``t / (t + m)`` by a time
    ``t``. One of them that is not ready yet is expected to take about as long again as it has
    taken, so a wait that outlives all experience is asked for ever less often.

    Args:
        model: the distribution.

    Attributes:
        model: the distribution.
        typical: its median, in seconds.
        spread: the seconds within which the middle four fifths of all waits are ready, or the
            median if that is less.
    """

    __slots__ = ("_lost", "_ready", "model", "spread", "typical")

    def __init__(self, model: Distribution) -> None:
        self.model = model
        self.typical = max(model.quantile(0.5), _SMALLEST)
        middle = model.quantile(0.9) - model.quantile(0.1)
        self.spread = max(min(middle, self.typical), _SMALLEST)
        self._ready = model.ready
        self._lost = model.lost

    def ready(self, age: float) -> float:
        """Return the share of all waits that are ready at an age in seconds, from 0 up."""
        return (1.0 - _DOUBT) * self._ready(age) + _DOUBT * age / (age + self.typical)

    def lost(self, age: float) -> float:
        """Return for how long a wait has been ready at an age, on average, in seconds."""
        doubtful = age - self.typical * log1p(age / self.typical)
        return (1.0 - _DOUBT) * self._lost(age) + _DOUBT * doubtful
