"""What a way of waiting would cost and how soon it would notice, before anybody waits for real.

``simulate`` lets the shipped drivers run on virtual time, against a service that takes as long to
get things ready as a latency model says; ``compare`` does so for several strategies, all of which
get the same waits. Nothing of the schedules, batches and groups is imitated: what is counted here
is what the same code would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict, cast

from ._core.schedule import Schedule
from ._simulate.draws import Bucket, Poisson
from ._simulate.play import play
from ._simulate.report import Comparison, Report, Run
from ._simulate.scenario import scenario
from ._simulate.strategies import Batched, Grouped, Single, strategy_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._core.duration import Duration
    from ._simulate.draws import Arrivals, Drawn, Latency
    from ._simulate.scenario import Scenario
    from ._simulate.strategies import Strategy

    class Options(TypedDict, total=False):
        """The keyword arguments of ``simulate``."""

        waits: int | None
        arrivals: Arrivals
        start_duration: Drawn
        call_duration: Drawn
        sees_at: float
        max_size: int
        bucket: Bucket | None
        timeout: Duration
        runs: int
        seed: int


__all__ = [
    "Batched",
    "Bucket",
    "Comparison",
    "Grouped",
    "Poisson",
    "Report",
    "Run",
    "Single",
    "compare",
    "simulate",
]


def simulate(
    latency: Latency,
    strategy: Strategy | Schedule,
    *,
    waits: int | None = None,
    arrivals: Arrivals = 0.0,
    start_duration: Drawn = 0.0,
    call_duration: Drawn = 0.0,
    sees_at: float = 0.5,
    max_size: int = 500,
    bucket: Bucket | None = None,
    timeout: Duration = 3600.0,
    runs: int = 1,
    seed: int = 0,
) -> Report:
    """Run waits on virtual time, and report how soon they noticed and what it took.

    A wait's request arrives; what it starts is ready some time after that; the wait begins when the
    request has returned. The same arguments give the same report, and the same seed the same waits
    whatever the strategy.

    Args:
        latency: seconds from a request's arrival until what it started is ready: samples, a
            ``LatencyModel`` or a ``Distribution``, all as ``evaluate`` takes them; one number for
            all; a function of a ``random.Random``; or an object with such a method ``draw``.
        strategy: ``Single``, ``Batched`` or ``Grouped``; a schedule alone is that of single waits.
        waits: how many, 100 unless ``arrivals`` lists their times.
        arrivals: when requests arrive: a number spreads them at random over so many seconds, 0 lets
            all arrive at once, ``Poisson(rate)`` lets so many arrive a second, and a collection
            gives the time of each.
        start_duration: seconds that the request itself takes; in any form of ``latency``. 0
            where waits begin with what they wait for.
        call_duration: seconds that a call to ask takes; in the same forms.
        sees_at: which part of a call is over when it sees the state, from 0 to 1.
        max_size: the most keys of a call that carries several.
        bucket: limits the rate of calls; None for no limit.
        timeout: seconds after which a wait gives up, as in ``poll``.
        runs: how often to do it all, with other chances; figures are averaged over the runs.
        seed: replays the chances.

    Returns:
        A ``Report``.

    Raises:
        TypeError, ValueError: an argument is not as above.
        ClockStalled: a wait checks again and again while no time passes: calls take no time, and
            its schedule has no delays.

    Timing:
        No time passes but that of the computation, some 0.1 ms for each wait. It may be called
        inside a running event loop, which it blocks.

    Example:
        >>> from pollwait import exponential
        >>> schedule = exponential(0.5, factor=1.5).after(1.25)
        >>> report = simulate([1.5, 1.625, 1.75, 5.0], schedule, waits=40, call_duration=0.125)
        >>> print(report)
        exponential(0.5, factor=1.5).after(1.25): 40 waits, 1 run
        latency    p10 2.00  p50 2.00  p90 5.94  p95 5.94  p99 5.94  mean 2.98
        overshoot  mean 0.519
        calls      110.0, 18.5 a second, 80 in the busiest
        checks     2.8 for each wait
        throttles  0.0
        timeouts   0.0
    """
    options: Options = {
        "waits": waits,
        "arrivals": arrivals,
        "start_duration": start_duration,
        "call_duration": call_duration,
        "sees_at": sees_at,
        "max_size": max_size,
        "bucket": bucket,
        "timeout": timeout,
        "runs": runs,
        "seed": seed,
    }
    chosen = strategy_of(strategy)
    return _report(scenario(latency, **options), chosen, str(chosen))


def compare(
    latency: Latency,
    strategies: Mapping[str, Strategy | Schedule] | Iterable[Strategy | Schedule],
    **options: Unpack[Options],
) -> Comparison:
    """Run the same waits with several strategies.

    Args:
        latency: as in ``simulate``.
        strategies: in a mapping by name, or in a list: each is then named by its text.
        options: the keyword arguments of ``simulate``.

    Returns:
        A ``Comparison``, which maps each name to a ``Report`` and is a table as text.

    Raises:
        TypeError, ValueError: an argument is not as above, there are no strategies, or two of the
            same name.

    Example:
        >>> from pollwait import fixed
        >>> found = compare(1.6, [fixed(1), Batched(fixed(1), max_delay=0.25)], waits=10)
        >>> [report.calls for report in found.values()]
        [30.0, 3.0]
    """
    chosen = _named(strategies)
    common = scenario(latency, **options)
    return Comparison(tuple(_report(common, each, name) for name, each in chosen.items()))


def _report(common: Scenario, strategy: Strategy, name: str) -> Report:
    return Report(name, tuple(play(common, strategy, run) for run in range(common.runs)))


def _named(
    strategies: Mapping[str, Strategy | Schedule] | Iterable[Strategy | Schedule],
) -> dict[str, Strategy]:
    if isinstance(strategies, Mapping):
        by_name = cast("Mapping[str, Strategy | Schedule]", strategies)
        named = {name: strategy_of(each) for name, each in by_name.items()}
    elif not isinstance(strategies, Iterable):
        raise TypeError(
            f"strategies must be a mapping or a collection of strategies: got {strategies!r}"
        )
    else:
        listed = [strategy_of(each) for each in strategies]
        named = {str(each): each for each in listed}
        if len(named) < len(listed):
            raise ValueError("strategies of the same text need names: give a mapping")
    if not named:
        raise ValueError("strategies must have at least one: got none")
    return named
