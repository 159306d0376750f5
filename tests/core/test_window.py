"""The windows of a batcher: which keys share a call, and when it is made."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pollwait._core.batch import Batch
from pollwait._core.limits import Limits
from pollwait._core.line import FILLED, FULL, JOINED, OPENED
from pollwait._core.window import Window


class Caller:
    """One who waits, for tests."""

    def __init__(self, name=""):
        self.name = name
        self.gone = False

    def done(self):
        return self.gone

    def __repr__(self):
        return f"Caller({self.name!r})"


def limits(**options):
    """Return limits that keep out of the way unless told otherwise."""
    roomy = {
        "max_size": 100,
        "max_delay": 0.5,
        "idle_delay": None,
        "max_in_flight": 4,
        "max_pending": 1000,
        "when_full": "block",
    }
    return Limits(**{**roomy, **options})


def window(**options):
    """Return a machine with such limits."""
    return Window(limits(**options))


def join(machine, keys, now=0.0):
    """Let a caller join for each key, and return the callers."""
    callers = [Caller(key) for key in keys]
    for caller in callers:
        machine.join(caller.name, caller, now)
    return callers


def taken(machine, now):
    """Return the keys and the reason of the next call, if one is due."""
    batch = machine.take(now)
    return None if batch is None else ("".join(batch.callers), batch.reason)


def test_window_closes_at_max_delay_after_its_first_key():
    """B2, C17: duplicates and further keys do not move the end of the window."""
    machine = window(max_delay=0.5)
    assert machine.join("a", Caller(), 1.0) == OPENED
    for now in (1.25, 1.375, 1.4375):
        assert machine.join("a", Caller(), now) == JOINED
    assert machine.join("b", Caller(), 1.46875) == JOINED
    assert machine.due() == 1.5
    assert taken(machine, 1.46875) is None
    assert taken(machine, 1.5) == ("ab", "delay")


def test_window_closes_at_max_size():
    """B2: the key that fills it closes it, and the next one opens another."""
    machine = window(max_size=2)
    assert machine.join("a", Caller(), 0.0) == OPENED
    assert machine.join("b", Caller(), 0.25) == FILLED
    assert machine.join("c", Caller(), 0.25) == OPENED
    assert machine.due() == 0.0
    assert taken(machine, 0.25) == ("ab", "size")
    assert machine.due() == 0.75
    assert taken(machine, 0.25) is None


def test_window_of_one_is_full_at_once():
    """B2: with max_size=1 each key is a call."""
    machine = window(max_size=1)
    assert machine.join("a", Caller(), 0.0) == FILLED
    assert taken(machine, 0.0) == ("a", "size")


def test_window_closes_when_no_further_key_comes():
    """B2: idle_delay counts from the last key, within max_delay; a duplicate is no further key."""
    machine = window(max_delay=1.0, idle_delay=0.25)
    machine.join("a", Caller(), 0.0)
    assert machine.due() == 0.25
    machine.join("b", Caller(), 0.125)
    machine.join("a", Caller(), 0.25)
    assert machine.due() == 0.375
    assert taken(machine, 0.375) == ("ab", "idle")
    for key, now in zip("abcde", (2.0, 2.2, 2.4, 2.6, 2.8), strict=True):
        machine.join(key, Caller(), now)
    assert machine.due() == 3.0
    assert taken(machine, 3.0) == ("abcde", "delay")


def test_window_without_delay_is_due_at_once():
    """With max_delay=0 what is there is sent."""
    machine = window(max_delay=0)
    machine.join("a", Caller(), 2.0)
    assert taken(machine, 2.0) == ("a", "delay")


def test_equal_keys_travel_once_and_have_all_their_callers():
    """B1: a batch has each key once, with everybody who waits for it."""
    machine = window(max_size=3)
    callers = join(machine, "abaac")
    batch = machine.take(0.0)
    assert list(batch.callers) == ["a", "b", "c"]
    assert batch.size == 3
    told = batch.settle({"a": 1, "b": 2, "c": 3, "z": 4})
    assert {id(caller): (key, value) for caller, key, value in told} == {
        id(caller): (caller.name, "_abc".index(caller.name)) for caller in callers
    }
    assert not batch.settle({"a": 5})


def test_key_asked_for_during_its_call_joins_the_next_one():
    """B3: a call answers only those who asked before it started."""
    machine = window(max_size=2)
    join(machine, "ab")
    first = machine.take(0.0)
    late = Caller()
    assert machine.join("a", late, 0.25) == OPENED
    assert not first.carries(late)
    assert machine.take(0.75).carries(late)


def test_window_grows_while_all_calls_are_out():
    """B7: past its time and past max_size, and is then sent in calls of max_size."""
    machine = window(max_size=3, max_in_flight=1, max_delay=0.5)
    join(machine, "a")
    first = machine.take(0.5)
    join(machine, "bcdefgh", 1.0)
    assert machine.due() is None
    assert taken(machine, 9.0) is None
    join(machine, "ci", 9.0)  # the one key is queued, the other joins the open window
    for keys, reason in (("bcd", "size"), ("efg", "size"), ("hi", "delay")):
        machine.finished(first)
        first = machine.take(9.0)
        assert ("".join(first.callers), first.reason) == (keys, reason)
    assert machine.take(9.0) is None
    machine.finished(first)
    assert machine.is_empty()


def test_remainder_of_a_full_window_has_its_own_time():
    """B2: the delay of a window counts from its own first key."""
    machine = window(max_size=2, max_in_flight=1, max_delay=1.0)
    join(machine, "ab", 0.0)
    first = machine.take(0.0)
    join(machine, "cd", 0.25)
    join(machine, "e", 0.75)
    machine.finished(first)
    second = machine.take(0.75)
    machine.finished(second)
    assert machine.due() == 1.75


def test_flush_sends_what_is_queued():
    """A flushed window is due at once; one that opens after it is not."""
    machine = window()
    machine.flush()
    join(machine, "ab", 1.0)
    assert machine.due() == 1.5
    machine.flush()
    assert taken(machine, 1.0) == ("ab", "flush")
    join(machine, "c", 2.0)
    assert machine.due() == 2.5


def test_flush_of_what_then_leaves_is_over():
    """The next window does not inherit the flush of one that has emptied."""
    machine = window()
    (caller,) = join(machine, "a")
    machine.flush()
    machine.leave("a", caller, 0.0)
    join(machine, "b", 1.0)
    assert machine.due() == 1.5


def test_flush_of_a_window_that_then_fills_is_over():
    """Nor does the one that opens after it."""
    machine = window(max_size=2, max_in_flight=1)
    join(machine, "xy")
    first = machine.take(0.0)
    join(machine, "a", 1.0)
    machine.flush()
    join(machine, "bc", 1.0)
    machine.finished(first)
    machine.finished(machine.take(1.0))
    assert machine.due() == 1.5


def test_closing_makes_everything_due():
    """B10: what is queued is sent at once."""
    machine = window()
    join(machine, "a", 1.0)
    machine.closing = True
    assert taken(machine, 1.0) == ("a", "close")


def test_key_whose_callers_have_all_left_is_dropped():
    """B5, B11, C4: it is not sent, and where nothing is left no call is made."""
    machine = window()
    a, b, other_a = join(machine, "aba")
    machine.leave("a", a, 0.0)
    machine.leave("b", b, 0.0)
    assert machine.pending == 1
    assert list(machine.queued()) == [("a", other_a)]
    machine.leave("a", other_a, 0.0)
    assert machine.due() is None
    assert machine.take(9.0) is None
    assert machine.is_empty()


def test_caller_that_leaves_disturbs_nobody():
    """B5: the others of the same key, however many, stay."""
    machine = window(max_size=1)
    callers = join(machine, "a") + [Caller("a") for _ in range(3)]
    machine = window()
    for caller in callers:
        machine.join("a", caller, 0.0)
    machine.leave("a", callers[1], 0.0)
    machine.leave("a", callers[3], 0.0)
    told = machine.take(0.5).settle({"a": 1})
    assert [caller for caller, _, _ in told] == [callers[0], callers[2]]


def test_dropped_key_leaves_room_in_its_window():
    """A window is full when max_size keys have callers, and no sooner."""
    machine = window(max_size=2)
    (caller,) = join(machine, "a")
    machine.leave("a", caller, 0.0)
    assert machine.join("b", Caller(), 0.0) == OPENED
    assert machine.join("c", Caller(), 0.0) == FILLED


def test_window_whose_first_key_left_keeps_its_time():
    """B2: the others have waited as long as it says."""
    machine = window()
    (first,) = join(machine, "a", 0.0)
    join(machine, "b", 0.25)
    machine.leave("a", first, 0.25)
    assert machine.due() == 0.5


def test_full_window_that_empties_is_no_call():
    """B11: nor does it stand in the way of those behind it."""
    machine = window(max_size=2, max_in_flight=1)
    join(machine, "xy")
    first = machine.take(0.0)
    a, b, _, _, e = join(machine, "abcde")
    machine.leave("a", a, 0.0)
    machine.leave("b", b, 0.0)
    machine.leave("e", e, 0.0)
    assert machine.pending == 2
    machine.finished(first)
    assert taken(machine, 0.0) == ("cd", "size")
    assert machine.pending == 0


def test_caller_that_is_not_queued_may_leave():
    """Who left, or is in a call, changes nothing by leaving again."""
    machine = window()
    stranger = Caller()
    machine.leave("a", stranger, 0.0)
    (caller,) = join(machine, "a")
    machine.leave("a", stranger, 0.0)
    assert machine.pending == 1
    batch = machine.take(0.5)
    machine.leave("a", caller, 0.5)
    assert batch.carries(caller)


def test_key_without_room_changes_nothing():
    """B8: max_pending bounds the distinct keys; a duplicate of a queued one needs no room."""
    machine = window(max_pending=2)
    assert machine.join("a", Caller(), 0.0) == OPENED
    assert machine.join("b", Caller(), 0.0) == JOINED
    assert machine.join("c", Caller(), 0.0) == FULL
    assert machine.join("a", Caller(), 0.0) == JOINED
    assert machine.pending == 2
    assert taken(machine, 0.5) == ("ab", "delay")
    assert machine.join("c", Caller(), 0.5) == OPENED


def test_those_without_room_are_let_in_by_order_of_arrival():
    """B8: whoever stands in line comes before whoever asks later, also where there is room."""
    machine = window(max_pending=2, max_size=2)
    join(machine, "ab", 0.0)
    waiting = [Caller(key) for key in "cdef"]
    for caller in waiting:
        assert machine.join(caller.name, caller, 0.0) == FULL
        machine.stand_in_line(caller.name, caller)
    assert taken(machine, 0.25) == ("ab", "size")
    assert machine.admitted == waiting[:2]
    assert machine.join("g", Caller(), 0.25) == FULL
    machine.admitted.clear()
    assert taken(machine, 0.25) == ("cd", "size")
    assert machine.admitted == waiting[2:]
    assert machine.due() == 0.25  # these two have filled the next window


def test_those_without_room_for_the_same_key_are_let_in_together():
    """B1, B8: more callers of a key need no more room, so the key travels once."""
    machine = window(max_pending=1, max_size=1)
    join(machine, "a", 0.0)
    c, d, other_c = waiting = [Caller(key) for key in "cdc"]
    for caller in waiting:
        machine.stand_in_line(caller.name, caller)
    machine.take(0.25)
    assert machine.admitted == [c, other_c]
    assert machine.take(0.25).settle({"c": 1}) == [(c, "c", 1), (other_c, "c", 1)]
    assert machine.admitted == [c, other_c, d]


def test_who_stands_in_line_may_leave():
    """B5, B8: nobody is let in for them, and those behind move up."""
    machine = window(max_pending=1)
    (first,) = join(machine, "a")
    b, c = Caller("b"), Caller("c")
    machine.stand_in_line("b", b)
    machine.stand_in_line("c", c)
    assert machine.has_queued(b)
    machine.leave("b", b, 0.0)
    assert not machine.has_queued(b)
    machine.leave("a", first, 0.25)
    assert machine.admitted == [c]
    assert list(machine.queued()) == [("c", c)]
    assert machine.due() == 0.75


def test_many_keys_join_while_there_is_room():
    """One caller joins for many keys, and learns at which one there is no room."""
    machine = window(max_size=3, max_pending=5)
    many, keys = Caller(), list("abcdefgh")
    assert machine.join_some(keys, 0, many, 0.0) == 5
    assert machine.join_some(keys, 5, many, 0.0) == 5
    assert machine.has_full()
    machine.take(0.0)
    assert not machine.has_full()
    assert machine.join_some(keys, 5, many, 0.0) == 8
    assert machine.join_some(list("hg"), 0, many, 0.0) == 2


def test_keys_of_one_caller_take_turns_with_others():
    """B8: who has more keys than there is room for stands in line again, behind the others."""
    machine = window(max_pending=2, max_size=1, max_in_flight=1)
    join(machine, "a")
    first = machine.take(0.0)
    many, single = Caller(), Caller()
    assert machine.join_some(list("bc"), 0, many, 0.0) == 2
    machine.stand_in_line("d", many, None, "efg")
    machine.stand_in_line("x", single)
    order = ""
    while not machine.is_empty():
        machine.finished(first)
        first = machine.take(0.0)
        order += "".join(first.callers) if first else ""
        if first is None:
            break
    assert order == "bcdxefg"


def test_keys_of_one_caller_do_not_overtake_others():
    """B8: where there is room for two, it is for the first two who stand in line."""
    machine = window(max_pending=2, max_size=2)
    join(machine, "ab")
    machine.stand_in_line("c", Caller(), None, "de")
    machine.stand_in_line("x", Caller())
    assert taken(machine, 0.0) == ("ab", "size")
    assert [key for key, _ in machine.queued()] == ["c", "x"]
    assert [*machine.overflow] == ["d"]


def test_keys_of_one_caller_come_in_together_where_nobody_else_waits():
    """B8: as many as there is room for, duplicates of queued ones besides."""
    machine = window(max_pending=3)
    join(machine, "a")
    many = Caller()
    machine.stand_in_line("b", many, None, "cbdef")
    machine.take(0.5)
    assert [key for key, _ in machine.queued()] == list("bcd")
    assert [*machine.overflow] == ["e"]
    machine.take(1.0)
    assert [key for key, _ in machine.queued()] == list("ef")


def test_keys_that_a_caller_has_not_come_to_are_left_with_it():
    """B5, B10: a caller that leaves the line takes its further keys along; closing names them."""
    machine = window(max_pending=1)
    join(machine, "a")
    many = Caller()
    machine.stand_in_line("b", many, None, "cd")
    assert machine.queued_keys(many) == ["b"]
    machine.leave("b", many, 0.0)
    assert not machine.overflow
    machine.stand_in_line("b", many, None, "cd")
    assert machine.give_up()[1:] == [(many, "b"), (many, "c"), (many, "d")]


def test_giving_up_forgets_everybody():
    """B10: queued, in line or in a call, each is named once with its key, and is then unknown."""
    machine = window(max_size=2, max_pending=3, max_in_flight=1)
    flying = join(machine, "ab")
    batch = machine.take(0.0)
    queued = join(machine, "cdecc")
    last = Caller("f")
    machine.stand_in_line("f", last)
    everybody = machine.give_up()
    assert sorted(key for _, key in everybody) == sorted("abcdeccf")
    assert {id(caller) for caller, _ in everybody} == {*map(id, [*flying, *queued, last])}
    assert not machine.give_up()
    assert not batch.settle({"a": 1})
    assert machine.pending == 0
    assert not machine.is_empty()
    machine.finished(batch)
    assert machine.is_empty()
    machine.flush()
    assert join(machine, "c", 1.0)
    assert machine.due() == 1.5
    assert taken(machine, 1.5) == ("c", "delay")


def test_machine_is_empty_when_nobody_waits_and_no_call_is_out():
    """B10: that is when a batcher has been drained."""
    machine = window()
    assert machine.is_empty()
    join(machine, "a")
    assert not machine.is_empty()
    batch = machine.take(0.5)
    assert not machine.is_empty()
    machine.finished(batch)
    assert machine.is_empty()
    machine.stand_in_line("b", Caller())
    assert not machine.is_empty()


def test_unhashable_key_changes_nothing():
    """Only its own caller hears of it."""
    machine = window(max_pending=1)
    for _ in range(2):
        with pytest.raises(TypeError, match="unhashable"):
            machine.join([], Caller(), 0.0)
        machine.join("a", Caller(), 0.0)
    assert taken(machine, 0.5) == ("a", "delay")


def test_batch_knows_who_still_waits():
    """B5: a key is wanted while one of its callers is not done."""
    machine = window()
    a, b, other_a = join(machine, "aba")
    batch = machine.take(0.5)
    assert batch.wanted() == ["a", "b"]
    a.gone = b.gone = True
    assert batch.wanted() == ["a"]
    assert batch.wants("a")
    assert not batch.wants("b")
    assert not batch.wants("z")
    other_a.gone = True
    assert batch.wanted() == []


def test_call_of_another_process_may_end():
    """A machine does not mind the end of a call that it knows nothing of."""
    machine = window()
    machine.finished(Batch({"a": Caller()}, 0.0, "size"))
    assert machine.is_empty()


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("max_size", 0, ValueError),
        ("max_size", 2.0, TypeError),
        ("max_size", True, TypeError),
        ("max_delay", -1, ValueError),
        ("max_delay", float("nan"), ValueError),
        ("max_delay", None, TypeError),
        ("idle_delay", float("inf"), ValueError),
        ("max_in_flight", 0, ValueError),
        ("max_pending", 0, ValueError),
        ("when_full", "wait", ValueError),
    ],
)
def test_limits_are_checked(option, value, error):
    """What is no limit is refused by name and value."""
    with pytest.raises(error, match=option):
        limits(**{option: value})


class AnyOrder(RuleBasedStateMachine):
    """Whatever happens in whatever order, nobody is lost and every bound holds."""

    def __init__(self):
        super().__init__()
        self.now = 0.0
        self.machine = window(
            max_size=3, max_in_flight=2, max_pending=5, max_delay=1.0, idle_delay=0.5
        )
        self.waiting = {}  # caller: when it asked
        self.flying = []
        self.started = {}

    @rule(key=st.sampled_from("abcdefgh"))
    def ask(self, key):
        caller = Caller(key)
        if self.machine.join(key, caller, self.now) == FULL:
            self.machine.stand_in_line(key, caller)
        self.waiting[caller] = self.now

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def leave(self, data):
        caller = data.draw(st.sampled_from(list(self.waiting)))
        self.machine.leave(caller.name, caller, self.now)
        caller.gone = True
        del self.waiting[caller]

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0]))
    def pass_time(self, seconds):
        self.now += seconds

    @rule()
    def flush(self):
        self.machine.flush()

    @rule()
    def take(self):
        while (batch := self.machine.take(self.now)) is not None:
            assert 1 <= batch.size <= 3
            assert all(held is not None for held in batch.callers.values())
            self.flying.append(batch)
        self.machine.admitted.clear()
        due = self.machine.due()
        assert due is None or due > self.now

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def finish(self, data):
        batch = self.flying.pop(data.draw(st.integers(0, len(self.flying) - 1)))
        self.machine.finished(batch)
        for caller, key, _ in batch.settle(dict.fromkeys(batch.callers)):
            assert caller.name == key
            if not caller.gone:
                del self.waiting[caller]

    @invariant()
    def bounds_hold(self):
        queued = list(self.machine.queued())
        keys = [key for key, _ in queued]
        assert len(keys) == len(set(keys)) == self.machine.pending <= 5
        assert len(self.machine.flying) <= 2
        assert not (self.machine.overflow and self.machine.pending < 5)

    @invariant()
    def nobody_is_lost(self):
        known = [
            caller
            for caller in self.waiting
            if self.machine.has_queued(caller) or any(b.carries(caller) for b in self.flying)
        ]
        assert known == list(self.waiting)

    def teardown(self):
        while self.waiting:
            self.machine.flush()
            self.take()
            for batch in self.flying:
                self.machine.finished(batch)
                for caller, _, _ in batch.settle(dict.fromkeys(batch.callers)):
                    self.waiting.pop(caller, None)
            self.flying.clear()
        self.take()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.__doc__ = AnyOrder.__doc__
