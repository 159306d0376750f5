"""A record of how long waits took, kept in memory and in a file that processes may share."""

from __future__ import annotations

from collections import deque

from ._core.duration import INFINITY, at_least_one
from ._core.latency import LatencyModel
from ._events import Finished
from ._sample_files import append, as_sample, read_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from ._core.samples import Sample, Span


class LatencyLog:
    """An ``on_event`` hook that notes how long waits took until they were ready.

    Each wait that was ready gives one sample: between its last check that did not find it ready
    and the one that did. A wait that timed out, was exhausted or was cancelled tells that it took
    longer than until its last check. One that failed tells nothing of when it would have been
    ready, and is left out, like one that an error ended.

    All times are those at which checks ended: with ``check_duration`` also give ``sees_at=1`` to
    ``fit`` and ``evaluate``. What a log can tell is no finer than the checks were: that of waits
    which all looked at the same three times knows little between these. Let waits differ, by
    jitter or otherwise, or look often while you measure.

    Args:
        path: a file to which each sample is appended as a line of JSON; what it holds already is
            read first. It is made if it does not exist. A relative path is taken from where the
            process is when the log is made. None to keep samples in memory only.
        name: note only waits of this name; None for all.
        memory: how many samples are kept in memory, the newest ones. The file keeps all.

    Raises:
        OSError: the file cannot be read or made.
        TypeError: ``memory`` is no int.
        ValueError: ``memory`` is below 1, or the file holds something else than samples.

    Timing:
        One log may serve any number of waits, threads and event loops at once. A sample with a file
        costs some 50 microseconds, in which an event loop stands still. Any number of processes may
        append to one file: no line is lost or torn. Where a sample cannot be written, as on a full
        disk, that is logged as a warning on the logger ``pollwait``, and no wait ends by it.

    Example:
        >>> from pollwait import LatencyLog, fixed, poll
        >>> from pollwait.testing import FakeClock
        >>> log, clock = LatencyLog(), FakeClock()
        >>> poll(lambda: clock.monotonic() >= 1.25, schedule=fixed(0.5), timeout=9,
        ...      clock=clock, on_event=log)
        True
        >>> log.samples
        [(1.0, 1.5)]
    """

    __slots__ = ("_name", "_path", "_samples")

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        name: str | None = None,
        memory: int = 10_000,
    ) -> None:
        self._path = None if path is None else _absolute(path)
        self._name = name
        self._samples: deque[Span] = deque(maxlen=at_least_one(memory, "memory"))
        if self._path is not None:
            with open(self._path, "ab"):
                pass  # better refused now than when the first wait is over
            self._samples.extend(read_spans(self._path, name))

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, name: str | None = None, memory: int = 10_000
    ) -> LatencyLog:
        """Return a log of what a file holds, without appending to that file.

        It may be the file of a log, or one that was written otherwise, with one sample a line: a
        number of seconds; or two numbers with a comma between, ``not_ready_at, ready_at``, of which
        the second is missing if nobody saw it ready. A line of JSON may hold the same as an array,
        with ``null`` for what is missing, or as an object with the keys ``not_ready_at`` and
        ``ready_at``, or ``seconds``. The first line may name the columns, in any order and among
        others, by these keys; one or two columns may have any other names that are words. Empty
        lines are ignored, and so are those that begin with #.

        A comma always parts two numbers: ``1,500`` is a pair, and no number of seconds.

        A line of JSON that was torn off by a crash is left out, with a warning on the logger
        ``pollwait``, and so is a last line that makes no sense. Of plain numbers no one can tell
        that their end is missing: ``1.`` that was ``1.75`` is read as 1.

        Args:
            path: the file.
            name: only samples of waits of this name, which stands in a column or under a key
                ``name``. None for all.
            memory: how many samples are kept, the newest ones.

        Raises:
            OSError: the file cannot be read.
            ValueError: a line is no sample; the message says which and why.
        """
        log = cls(name=name, memory=memory)
        log._samples.extend(read_spans(path, name))
        return log

    @property
    def samples(self) -> list[Sample]:
        """What was noted, oldest first, as ``fit`` and ``LatencyModel`` take it."""
        return [as_sample(seen) for seen in self._samples.copy()]

    def model(self, *, memory: float | None = 2000) -> LatencyModel:
        """Return a new model that has seen all samples.

        Args:
            memory: that of the model.
        """
        return LatencyModel(self.samples, memory=memory)

    def __call__(self, event: object) -> None:
        """Note a wait if it is over; other events are ignored."""
        if not isinstance(event, Finished) or self._name not in (None, event.name):
            return
        seen = _seen(event)
        if seen is None:
            return
        self._samples.append(seen)
        if self._path is not None:
            append(self._path, event.name, seen)

    def __len__(self) -> int:
        return len(self._samples)

    def __repr__(self) -> str:
        return f"<LatencyLog of {len(self)} samples, path={self._path!r}>"


def _absolute(path: str | PathLike[str]) -> str:
    """Return a path that stays the same wherever the process goes later."""
    import os

    return os.path.abspath(path)


def _seen(event: Finished) -> Span | None:
    """Return between which times a wait was ready, if it tells."""
    low = event.not_ready_at
    if event.reason == "ready":
        return min(low or 0.0, event.elapsed), event.elapsed
    if event.reason in ("timeout", "exhausted", "cancelled") and low is not None:
        return low, INFINITY
    return None
