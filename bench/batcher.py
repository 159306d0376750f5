"""What a load through a batcher costs, beside the peers.

Run ``python bench/batcher.py [--loads 100000] [--rounds 7] [--json]``.

All batchers call a fetch that answers at once with the keys themselves, for at most 500 keys a
call, and every key is a new one. Measured are

- asyncio: so many loads at once in three ways: a task for each, a future for each, and all keys
  handed over together. CPU time, so that what else runs counts for little; the ratios compare with
  aiodataloader. It, dloader and strawberry remember every key for good, which pollwait does not;
  async-batcher has a way of its own for tasks only, and finds no duplicates.
- threads: 8 and 64 threads that each load one key after the other, for windows that as many keys
  fill and that close after 5 ms. Wall time, because a caller waits; the ratios compare with
  batched, which sleeps for these 5 ms whenever it finds too few keys.
- threads: 8 threads that each hand over 2,000 keys at once.
- latency: what a load adds to its call when nobody else asks: on threads and in asyncio, with no
  delay (pollwait, asyncio peers) or one of 5 ms less these 5 ms (batched has no less).
- bytes: what each of 10,000 keys weighs that are asked for and not sent, by ``tracemalloc``.

Of pollwait, ``max_pending`` is set out of the way, since the peers have no such bound.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import threading
import tracemalloc
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import count
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import aiodataloader
import batched
import dloader
from _common import interleave, ratios, table
from async_batcher.batcher import AsyncBatcher
from strawberry import dataloader as strawberry

from pollwait import Batcher, aio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from _common import Spread

SIZE = 500
LINGER = 0.005
MANY = 10**9  # more than will ever be pending
PACKAGES = (
    "pollwait",
    "aiodataloader",
    "dloader",
    "strawberry-graphql",
    "async-batcher",
    "batched",
)

fresh = count()  # keys that no loader has seen


@dataclass(frozen=True)
class Result:
    """The time of one load in microseconds, and its ratio to that of the basis."""

    microseconds: float
    ratio: Spread


async def fetch_dict(keys: list[int]) -> dict[int, int]:
    """Answer as pollwait wants it."""
    return dict(zip(keys, keys, strict=True))


async def fetch_list(keys: Sequence[int]) -> Sequence[int]:
    """Answer as the others want it."""
    return keys


def fetch_dict_on_threads(keys: list[int]) -> dict[int, int]:
    """Answer as pollwait wants it."""
    return dict(zip(keys, keys, strict=True))


def fetch_list_on_threads(keys: list[int]) -> list[int]:
    """Answer as the others want it."""
    return keys


class Echo(AsyncBatcher[int, int]):  # type: ignore[misc]
    """An async-batcher that answers at once."""

    async def process_batch(self, batch: list[int]) -> list[int]:
        """Answer."""
        return batch


def aio_batcher(**options: Any) -> aio.Batcher[int, int]:
    """Return the batcher that is measured in asyncio."""
    return aio.Batcher(fetch_dict, **{"max_size": SIZE, "max_pending": MANY, **options})


def keys(number: int) -> list[int]:
    """Return so many new keys."""
    return [next(fresh) for _ in range(number)]


# Each of these starts a batcher of its own, and loads.


async def pollwait_tasks(loads: int) -> None:
    """Load in a task for each key."""
    await asyncio.gather(*map(aio_batcher().load, keys(loads)))


async def pollwait_futures(loads: int) -> None:
    """Wait for a future for each key."""
    await asyncio.gather(*map(aio_batcher().submit, keys(loads)))


async def pollwait_many(loads: int) -> None:
    """Hand over all keys."""
    await aio_batcher().load_many(keys(loads))


async def in_tasks(load: Callable[[int], Awaitable[int]], loads: int) -> None:
    """Await a future for each key in a task of its own."""

    async def one(key: int) -> int:
        return await load(key)

    await asyncio.gather(*map(one, keys(loads)))


async def aiodataloader_tasks(loads: int) -> None:
    """Load in a task for each key."""
    await in_tasks(aiodataloader.DataLoader(fetch_list, max_batch_size=SIZE).load, loads)


async def aiodataloader_futures(loads: int) -> None:
    """Wait for a future for each key."""
    loader = aiodataloader.DataLoader(fetch_list, max_batch_size=SIZE)
    await asyncio.gather(*map(loader.load, keys(loads)))


async def aiodataloader_many(loads: int) -> None:
    """Hand over all keys."""
    loader = aiodataloader.DataLoader(fetch_list, max_batch_size=SIZE)
    await loader.load_many(keys(loads))


async def dloader_tasks(loads: int) -> None:
    """Load in a task for each key."""
    async with dloader.DataLoader(fetch_list, max_batch_size=SIZE) as loader:
        await in_tasks(loader.load, loads)


async def dloader_futures(loads: int) -> None:
    """Wait for a future for each key."""
    async with dloader.DataLoader(fetch_list, max_batch_size=SIZE) as loader:
        await asyncio.gather(*map(loader.load, keys(loads)))


async def dloader_many(loads: int) -> None:
    """Hand over all keys."""
    async with dloader.DataLoader(fetch_list, max_batch_size=SIZE) as loader:
        await loader.load_many(keys(loads))


async def strawberry_tasks(loads: int) -> None:
    """Load in a task for each key."""
    await in_tasks(strawberry.DataLoader(fetch_list, max_batch_size=SIZE).load, loads)


async def strawberry_futures(loads: int) -> None:
    """Wait for a future for each key."""
    loader = strawberry.DataLoader(fetch_list, max_batch_size=SIZE)
    await asyncio.gather(*map(loader.load, keys(loads)))


async def strawberry_many(loads: int) -> None:
    """Hand over all keys."""
    loader = strawberry.DataLoader(fetch_list, max_batch_size=SIZE)
    await loader.load_many(keys(loads))


async def async_batcher_tasks(loads: int) -> None:
    """Load in a task for each key."""
    batcher = Echo(max_batch_size=SIZE, max_queue_time=LINGER)
    await asyncio.gather(*map(batcher.process, keys(loads)))
    await batcher.stop()


IN_ASYNCIO: dict[str, dict[str, Callable[[int], Any]]] = {
    "a task for each load": {
        "aiodataloader": aiodataloader_tasks,
        "pollwait": pollwait_tasks,
        "dloader": dloader_tasks,
        "strawberry": strawberry_tasks,
        "async-batcher": async_batcher_tasks,
    },
    "a future for each load": {
        "aiodataloader": aiodataloader_futures,
        "pollwait": pollwait_futures,
        "dloader": dloader_futures,
        "strawberry": strawberry_futures,
    },
    "all keys handed over": {
        "aiodataloader": aiodataloader_many,
        "pollwait": pollwait_many,
        "dloader": dloader_many,
        "strawberry": strawberry_many,
    },
}


def cpu_time(run: Callable[[int], Any], loads: int) -> float:
    """Return the CPU microseconds of a load."""

    async def main() -> float:
        gc.collect()
        began = process_time()
        await run(loads)
        return process_time() - began

    return asyncio.run(main()) / loads * 1e6


def threaded(load: Callable[[Any], Any], work: Sequence[Iterable[Any]]) -> float:
    """Return the seconds until each thread has loaded all of its work."""

    def loads(mine: Iterable[Any]) -> None:
        for each in mine:
            load(each)

    threads = [threading.Thread(target=loads, args=(mine,)) for mine in work]
    gc.collect()
    began = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - began


def pollwait_on_threads(number: int, loads: int) -> float:
    """Load one key after the other in so many threads."""
    with Batcher(
        fetch_dict_on_threads, max_size=number, max_delay=LINGER, max_pending=MANY
    ) as batcher:
        return threaded(batcher.load, [keys(loads) for _ in range(number)]) / loads / number * 1e6


def batched_on_threads(number: int, loads: int) -> float:
    """Load one key after the other in so many threads."""
    load = batched.BatchProcessor(fetch_list_on_threads, number, LINGER * 1000)
    time = threaded(load, [keys(loads) for _ in range(number)])
    load.shutdown()
    return time / loads / number * 1e6


def pollwait_lists(loads: int) -> float:
    """Hand over all keys at once in 8 threads."""
    with Batcher(
        fetch_dict_on_threads, max_size=SIZE, max_delay=LINGER, max_pending=MANY
    ) as batcher:
        return threaded(batcher.load_many, [[keys(loads)] for _ in range(8)]) / loads / 8 * 1e6


def batched_lists(loads: int) -> float:
    """Hand over all keys at once in 8 threads."""
    load = batched.BatchProcessor(fetch_list_on_threads, SIZE, LINGER * 1000)
    time = threaded(load, [[keys(loads)] for _ in range(8)])
    load.shutdown()
    return time / loads / 8 * 1e6


def on_threads() -> dict[str, dict[str, Callable[[], float]]]:
    """Return what is measured on threads; the first candidate is the basis."""
    return {
        "8 threads": {
            "batched": lambda: batched_on_threads(8, 50),
            "pollwait": lambda: pollwait_on_threads(8, 500),
        },
        "64 threads": {
            "batched": lambda: batched_on_threads(64, 20),
            "pollwait": lambda: pollwait_on_threads(64, 100),
        },
        "8 threads with 2,000 keys each": {
            "batched": lambda: batched_lists(2000),
            "pollwait": lambda: pollwait_lists(2000),
        },
    }


def latencies(loads: int = 200) -> dict[str, Callable[[], float]]:
    """Return what measures the microseconds that a lone load adds to its call."""

    def pollwait_threads() -> float:
        with Batcher(fetch_dict_on_threads, max_size=SIZE, max_delay=0) as batcher:
            batcher.load(next(fresh))
            return added(batcher.load, loads)

    def batched_threads() -> float:
        load = batched.BatchProcessor(fetch_list_on_threads, SIZE, LINGER * 1000)
        microseconds = added(load, 20) - LINGER * 1e6
        load.shutdown()
        return microseconds

    async def alone(load: Callable[[int], Awaitable[int]]) -> float:
        began = perf_counter()
        for key in keys(loads):
            await load(key)
        return (perf_counter() - began) / loads * 1e6

    async def pollwait_asyncio() -> float:
        return await alone(aio_batcher(max_delay=0).load)

    async def aiodataloader_asyncio() -> float:
        return await alone(aiodataloader.DataLoader(fetch_list).load)

    return {
        "threads: batched, less its 5 ms": batched_threads,
        "threads: pollwait": pollwait_threads,
        "asyncio: aiodataloader": lambda: asyncio.run(aiodataloader_asyncio()),
        "asyncio: pollwait": lambda: asyncio.run(pollwait_asyncio()),
    }


def added(load: Callable[[int], Any], loads: int) -> float:
    """Return the microseconds of one load after the other."""
    began = perf_counter()
    for key in keys(loads):
        load(key)
    return (perf_counter() - began) / loads * 1e6


def weights(number: int = 10_000) -> dict[str, float]:
    """Return the bytes of each pending key, by the way in which it is asked for."""

    async def weigh(ask: Callable[[list[int]], object]) -> float:
        asked = keys(number)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        held = ask(asked)
        await asyncio.sleep(0)
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        del held
        return (after - before) / number

    async def in_asyncio() -> dict[str, float]:
        roomy = {"max_size": MANY, "max_delay": 60}
        loader = aiodataloader.DataLoader(fetch_list)
        return {
            "asyncio: aiodataloader, a future each": await weigh(
                lambda asked: [loader.load(key) for key in asked]
            ),
            "asyncio: pollwait, a future each": await weigh(
                lambda asked: [*map(aio_batcher(**roomy).submit, asked)]
            ),
            "asyncio: pollwait, a task each": await weigh(
                lambda asked: [
                    asyncio.ensure_future(load) for load in map(aio_batcher(**roomy).load, asked)
                ]
            ),
            "asyncio: pollwait, load_many": await weigh(
                lambda asked: asyncio.ensure_future(aio_batcher(**roomy).load_many(asked))
            ),
        }

    async def on_threads() -> float:
        batcher = Batcher(fetch_dict_on_threads, max_size=MANY, max_delay=60, max_pending=MANY)
        weight = await weigh(lambda asked: [*map(batcher.submit, asked)])
        batcher.close(drain=False)
        return weight

    def quiet() -> dict[str, float]:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)
        found = loop.run_until_complete(in_asyncio())
        found["threads: pollwait, a future each"] = loop.run_until_complete(on_threads())
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.close()
        return found

    return quiet()


def compare(candidates: dict[str, Callable[[], float]], rounds: int) -> dict[str, Result]:
    """Measure candidates in turn; the first is the basis."""
    figures = interleave(candidates, rounds)
    basis = next(iter(figures.values()))
    return {name: Result(median(each), ratios(each, basis)) for name, each in figures.items()}


def measure(loads: int, rounds: int) -> dict[str, dict[str, Result]]:
    """Return all comparisons."""
    results = {}
    for title, runs in IN_ASYNCIO.items():
        timed = {name: (lambda run=run: cpu_time(run, loads)) for name, run in runs.items()}
        results[f"asyncio: {title}"] = compare(timed, rounds)
    for title, candidates in on_threads().items():
        results[title] = compare(candidates, rounds)
    results["a lone load"] = compare(latencies(), rounds)
    return results


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--loads", type=int, default=100_000, help="loads at once in asyncio")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    results, bytes_each = measure(options.loads, options.rounds), weights()
    versions = {name: version(name) for name in PACKAGES}
    if options.json:
        plain = {
            title: {name: asdict(each) for name, each in rows.items()}
            for title, rows in results.items()
        }
        print(json.dumps({"setting": versions, **plain, "bytes": bytes_each}, indent=2))
        return
    print(", ".join(f"{name} {number}" for name, number in versions.items()))
    for title, rows in results.items():
        print(f"\n{title}\n")
        header = ("", "µs", "ratio: min", "median", "max")
        print(
            table(
                header,
                [
                    (name, f"{each.microseconds:.2f}", *each.ratio.cells())
                    for name, each in rows.items()
                ],
            )
        )
    print("\na pending key\n")
    print(table(("", "bytes"), [(name, f"{each:.0f}") for name, each in bytes_each.items()]))


if __name__ == "__main__":
    main()
