"""Both batchers run the same machine: one script, the same calls, answers and times."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from pollwait._aio import batcher as aio_batcher
from pollwait._sync import batcher as sync_batcher
from pollwait.testing import AsyncRecordingFetch, FakeClock, RecordingFetch, run

# Who asks: each at a time of its own, odd multiples of a sixteenth, so that nothing else happens
# just then and both drivers see things in the same order.
KEYS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5)
ASKED = st.lists(
    st.tuples(
        st.sampled_from(["load", "load_many"]),
        KEYS,
        st.one_of(st.none(), st.integers(0, 12).map(lambda quarters: quarters / 4 + 0.125)),
    ),
    min_size=1,
    max_size=8,
)
GAPS = st.lists(st.integers(0, 6), min_size=8, max_size=8)
OPTIONS = st.fixed_dictionaries(
    {
        "max_size": st.integers(1, 4),
        "max_delay": st.sampled_from([0.25, 0.5, 1.0]),
        "idle_delay": st.sampled_from([None, 0.25]),
        "max_in_flight": st.integers(1, 3),
        "max_pending": st.integers(1, 5),
        "when_full": st.sampled_from(["block", "raise"]),
        "isolate": st.sampled_from([None, lambda error, keys: (), lambda error, keys: "h"]),
    }
)
ANSWERS = {"a": 1, "b": 2, "c": ValueError("c"), "d": 4, "e": 5, "h": 8}


class Poisonous:
    """Answers that are refused where a key is in the call."""

    def __call__(self, key):
        if key == "h":
            raise LookupError("h")
        return ANSWERS.get(key, 0)


def told(answer):
    """Return what can be compared of an answer."""
    if isinstance(answer, dict):
        return {key: told(one) for key, one in answer.items()}
    if isinstance(answer, Exception):
        return type(answer).__name__, str(answer).replace("Async", "")
    return answer


def times(asked, gaps):
    """Return when each one asks."""
    now, when = 0.0, []
    for number, _ in enumerate(asked):
        now += gaps[number] / 8
        when.append(now + (2 * number + 1) / 128)
    return when


def on_threads(asked, when, options):
    """Run the script on threads."""
    clock = FakeClock()
    fetch = RecordingFetch(Poisonous(), duration=0.75, clock=clock)
    events = []
    batcher = sync_batcher.Batcher(fetch, clock=clock, on_event=events.append, **options)

    def asking(how, keys, timeout, seconds):
        def ask():
            clock.sleep(seconds)
            try:
                answer = (
                    batcher.load(keys[0], timeout)
                    if how == "load"
                    else batcher.load_many(keys, timeout)
                )
            except Exception as error:
                answer = error
            return told(answer), clock.monotonic()

        return ask

    results = clock.run(*(asking(*one, at) for one, at in zip(asked, when, strict=True)))
    return results, calls_of(fetch), sorted(map(told_event, events), key=str)


def on_a_loop(asked, when, options):
    """Run the script on an event loop."""
    fetch = AsyncRecordingFetch(Poisonous(), duration=0.75)
    events = []

    async def ask(batcher, how, keys, timeout, seconds):
        await asyncio.sleep(seconds)
        try:
            answer = await (
                batcher.load(keys[0], timeout)
                if how == "load"
                else batcher.load_many(keys, timeout)
            )
        except Exception as error:
            answer = error
        return told(answer), asyncio.get_running_loop().time()

    async def main():
        batcher = aio_batcher.Batcher(fetch, on_event=events.append, **options)
        results = await asyncio.gather(
            *(ask(batcher, *one, at) for one, at in zip(asked, when, strict=True))
        )
        await batcher.close()
        return results

    results = run(main())
    return results, calls_of(fetch), sorted(map(told_event, events), key=str)


def calls_of(fetch):
    """Return the calls by time; those of the same instant come in any order."""
    return sorted(zip(fetch.times, fetch.calls, strict=True))


def told_event(event):
    """Return what can be compared of an event."""
    return (
        event.size,
        event.reason,
        event.waited,
        event.duration,
        event.errors,
        event.isolations,
        told(event.error),
    )


@given(ASKED, GAPS, OPTIONS)
def test_batchers_on_threads_and_on_a_loop_do_the_same(asked, gaps, options):
    """B1 to B9: the same keys travel at the same times, and all are told the same, and when."""
    when = times(asked, gaps)
    on_loop = on_a_loop(asked, when, options)
    assert on_threads(asked, when, options) == on_loop
