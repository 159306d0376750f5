"""Many callers, each with a mind of its own, and a fetch that does what it can to confuse them."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from concurrent.futures import CancelledError
from itertools import count

import pytest

from pollwait._aio.batcher import Batcher as AioBatcher
from pollwait._errors import BatcherClosed, BatcherFull, BatchError, FetchError, MissingKey
from pollwait._sync.batcher import Batcher
from pollwait.testing import run

CALLERS = 32
ROUNDS = 60
KEYS = 40
PATIENCE = 20  # real seconds after which a test fails rather than hangs

# What may end a round; anything else is a bug.
EXPECTED = (TimeoutError, asyncio.TimeoutError, CancelledError, OSError, ValueError, TypeError)


class Hostile(BaseException):
    """What is no Exception."""


class Poisoned(Exception):
    """A call carried a bad key."""


def isolate(error, keys):
    """Find the bad keys, some of the time without naming them."""
    if not isinstance(error, Poisoned):
        return None
    return [key for key in keys if key % 20 == 7] if len(keys) % 2 else []


class Answers:
    """Answers with the key and the moment at which the call began, if at all.

    Moments are numbers that grow, so that a caller can tell whether its call began after it asked.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.moments = count()

    def answer(self, keys):
        """Return what a fetch returns, or raise."""
        moment = next(self.moments)
        assert len(keys) == len(set(keys))
        assert 1 <= len(keys) <= 8
        chance = self.random.random()
        if chance < 0.04:
            raise OSError("down")
        if chance < 0.08:
            raise Hostile
        if chance < 0.1:
            return keys
        if any(key % 20 == 7 for key in keys):
            raise Poisoned
        found = {key: (key, moment) for key in keys if key % 20 != 9}
        return {**found, **{key: ValueError(key) for key in keys if key % 20 == 11}, "other": 1}

    def check(self, key, asked, answer):
        """Check that an answer is that of the key, of a call that began after it was asked for."""
        if isinstance(answer, tuple):
            assert answer[0] == key
            assert answer[1] > asked
            assert key % 20 not in (7, 9, 11)
        elif isinstance(answer, MissingKey):
            assert answer.key == key
            assert key % 20 == 9
        elif isinstance(answer, ValueError):
            assert answer.args == (key,)
        elif isinstance(answer, Poisoned):
            assert key % 20 == 7
        else:
            assert isinstance(answer, (OSError, FetchError, TypeError, BatcherFull, BatcherClosed))


class Caller:
    """One who asks in all ways.

    Attributes:
        rounds: how many of its rounds have ended.
        closed: it found the batcher closed.
    """

    def __init__(self, batcher, answers, number):
        self.batcher = batcher
        self.answers = answers
        self.chance = random.Random(number)
        self.rounds = 0
        self.closed = False

    def run(self, rounds):
        """Ask so many times, or until the batcher is closed."""
        while self.rounds < rounds and not self.closed:
            self.turn()

    def turn(self):
        """Ask once."""
        key, asked = self.chance.randrange(KEYS), next(self.answers.moments)
        ask = self.chance.choice([self.load, self.load, self.submit, self.load_many])
        try:
            ask(key, asked)
        except BatcherClosed:
            self.closed = True
        except (*EXPECTED, Poisoned, BatchError):
            pass
        self.rounds += 1

    def load(self, key, asked):
        """Load, with or without patience."""
        answer = self.batcher.load(key, self.chance.choice([None, None, 0, 0.0005]))
        self.answers.check(key, asked, answer)

    def submit(self, key, asked):
        """Submit, and perhaps cancel."""
        future = self.batcher.submit(key)
        if self.chance.random() < 0.5:
            future.cancel()
        self.answers.check(key, asked, future.exception(PATIENCE) or future.result())

    def load_many(self, key, asked):
        """Load more keys than there may be room for."""
        timeout = self.chance.choice([None, None, 0.001])
        keys = [(key + step) % KEYS for step in range(0, 3 * KEYS, 5)]
        for one, answer in self.batcher.load_many(keys, timeout).items():
            self.answers.check(one, asked, answer)


def start(callers, rounds):
    """Let each caller run in a thread."""
    threads = [threading.Thread(target=caller.run, args=(rounds,)) for caller in callers]
    for thread in threads:
        thread.start()
    return threads


def join(threads):
    """Wait for threads, but not for ever."""
    for thread in threads:
        thread.join(PATIENCE)


@pytest.mark.parametrize("when_full", ["block", "raise"])
def test_everybody_on_threads_gets_their_own_answer(when_full):
    """B1 to B9, B13: whatever happens, each caller has its own value or error, and none hangs."""
    answers = Answers(1)

    def fetch(keys):
        time.sleep(answers.random.random() / 2000)
        return answers.answer(keys)

    batcher = Batcher(
        fetch,
        max_size=8,
        max_delay=0.001,
        idle_delay=0.0005,
        max_in_flight=3,
        max_pending=12,
        when_full=when_full,
        isolate=isolate,
    )
    callers = [Caller(batcher, answers, number) for number in range(CALLERS)]
    join(start(callers, ROUNDS))
    assert [caller.rounds for caller in callers] == [ROUNDS] * CALLERS
    batcher.close(timeout=PATIENCE)
    assert batcher._line.is_empty()


@pytest.mark.parametrize(("drain", "timeout"), [(True, PATIENCE), (True, 0.001), (False, None)])
def test_close_amid_callers_leaves_nobody_waiting(drain, timeout):
    """B10: close comes in the midst of it all, with callers in every place."""
    answers = Answers(2)

    def fetch(keys):
        time.sleep(0.001)
        return answers.answer(keys)

    batcher = Batcher(
        fetch, max_size=8, max_delay=0.001, max_in_flight=2, max_pending=10, isolate=isolate
    )
    callers = [Caller(batcher, answers, number) for number in range(CALLERS)]
    threads = start(callers, float("inf"))
    while callers[0].rounds < 10 and threads[0].is_alive():
        threads[0].join(0.001)
    batcher.close(drain, timeout)
    join(threads)
    assert all(caller.closed for caller in callers)


class AsyncCaller(Caller):
    """One who asks in all ways, as a task."""

    async def run(self, rounds):
        """Ask so many times."""
        while self.rounds < rounds:
            key, asked = self.chance.randrange(KEYS), next(self.answers.moments)
            ask = self.chance.choice([self.load, self.wait_for, self.submit, self.load_many])
            await self.one(ask(key, asked))

    async def one(self, asking):
        """Ask once."""
        try:
            await asking
        except (*EXPECTED, asyncio.CancelledError, Poisoned, BatchError):
            pass
        self.rounds += 1

    async def load(self, key, asked):
        """Load, with or without patience."""
        answer = await self.batcher.load(key, self.chance.choice([None, None, 0, 0.5]))
        self.answers.check(key, asked, answer)

    async def wait_for(self, key, asked):
        """Load, and perhaps be cancelled."""
        answer = await asyncio.wait_for(self.batcher.load(key), self.chance.choice([0, 0.25, 0.5]))
        self.answers.check(key, asked, answer)

    async def submit(self, key, asked):
        """Submit, and perhaps cancel."""
        future = self.batcher.submit(key)
        await asyncio.sleep(self.chance.choice([0, 0.25]))
        if self.chance.random() < 0.5:
            future.cancel()
        self.answers.check(key, asked, await future)

    async def load_many(self, key, asked):
        """Load more keys than there may be room for."""
        timeout = self.chance.choice([None, None, 1])
        keys = [(key + step) % KEYS for step in range(0, 3 * KEYS, 5)]
        for one, answer in (await self.batcher.load_many(keys, timeout)).items():
            self.answers.check(one, asked, answer)


def test_everybody_on_a_loop_gets_their_own_answer():
    """B1 to B9: the same with tasks, on virtual time."""
    answers = Answers(3)

    async def fetch(keys):
        await asyncio.sleep(answers.random.choice([0, 0.125, 0.5]))
        return answers.answer(keys)

    async def main():
        batcher = AioBatcher(
            fetch,
            max_size=8,
            max_delay=0.5,
            idle_delay=0.25,
            max_in_flight=3,
            max_pending=12,
            isolate=isolate,
        )
        callers = [AsyncCaller(batcher, answers, number) for number in range(CALLERS)]
        await asyncio.gather(*(caller.run(ROUNDS) for caller in callers))
        await batcher.close()
        assert [caller.rounds for caller in callers] == [ROUNDS] * CALLERS
        assert batcher._line.is_empty()

    run(main())
