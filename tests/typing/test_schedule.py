"""Types of schedules, checked by mypy and pyright."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta
    from random import Random

    from typing_extensions import assert_type

    from pollwait import (
        DEFAULT,
        MAX_DELAY,
        Planned,
        Schedule,
        decorrelated,
        exponential,
        fibonacci,
        fixed,
        linear,
        sequence,
    )

    def makers(length: timedelta) -> None:
        """Every maker takes seconds or a timedelta and makes a Schedule."""
        assert_type(fixed(3), Schedule)
        assert_type(fixed(length), Schedule)
        assert_type(linear(1, step=0.5), Schedule)
        assert_type(exponential(0.5, factor=1.5), Schedule)
        assert_type(fibonacci(1), Schedule)
        assert_type(decorrelated(1, cap=length), Schedule)
        assert_type(sequence(1, 0.25, length), Schedule)
        assert_type(DEFAULT, Schedule)
        assert_type(MAX_DELAY, float)

    def composition(one: Schedule, other: Schedule) -> None:
        """Every method and operator gives a Schedule."""
        assert_type(one.after(1.25).cap(30).times(5).within(60).from_start(), Schedule)
        assert_type(one.jitter("full").jitter("equal").jitter(0.1), Schedule)
        assert_type(one.then(other), Schedule)
        assert_type(one + other, Schedule)
        assert_type(one & other, Schedule)
        assert_type(one | other, Schedule)
        assert_type(Schedule.parse("fixed(3)"), Schedule)

    def misuse(one: Schedule) -> None:
        """Nothing but a schedule combines with one, and jitter has two names only."""
        one + 3  # type: ignore[operator]  # pyright: ignore
        one & 3  # type: ignore[operator]  # pyright: ignore
        one | None  # type: ignore[operator]  # pyright: ignore
        one.jitter("half")  # type: ignore[arg-type]  # pyright: ignore
        one.cap("3")  # type: ignore[arg-type]  # pyright: ignore
        exponential(1, 2)  # type: ignore[call-arg]  # pyright: ignore

    def inspection(one: Schedule, rng: Random) -> None:
        """What a schedule says of itself has plain types."""
        assert_type(one.delays(rng), Iterator[float])
        assert_type(one.preview(3), list[Planned])
        assert_type(one.preview(3)[0].attempt, int)
        assert_type(one.preview(3)[0].latest, float)
        assert_type(one.initial_delay, float)
        assert_type(one.ends, bool)
        assert_type(one.ceiling, float)
