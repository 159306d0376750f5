"""Both faces of the waiters run the same machines: one script, the same calls, ends and texts."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError
from hypothesis import example, given
from hypothesis import strategies as st

from pollwait import aws, exponential, fixed
from pollwait.aws import aio
from pollwait.testing import FakeClock, VirtualTimeLoop

from .fake_async_client import AsyncService
from .fakes import Service, error, instances

IDS = ("vol-1", "vol-2", "vol-3")
NOT_FOUND = {"ec2": "InvalidVolume.NotFound", "cloudformation": "ValidationError"}

KINDS = {
    "volumes": ("ec2", lambda face, client, **o: face.VolumeAvailableWaiter(client, **o)),
    "available": ("ec2", lambda face, client, **o: face.waiter(client, "volume_available", **o)),
    "deleted": ("ec2", lambda face, client, **o: face.waiter(client, "volume_deleted", **o)),
    "running": ("ec2", lambda face, client, **o: face.waiter(client, "instance_running", **o)),
    "stack": (
        "cloudformation",
        lambda face, client, **o: face.waiter(client, "stack_create_complete", **o),
    ),
}

# What the calls come to, in their order; later ones answer. Things are ready by the number of the
# call, and dead ones are unknown to the service or, with ``absent``, left out of its answers.
OUTCOMES = st.lists(
    st.sampled_from(["answer", "busy", "down", "denied", "absent", "bug", "paged"]), max_size=8
)

SCRIPTS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(sorted(KINDS)),
        "outcomes": OUTCOMES,
        "ready": st.dictionaries(st.sampled_from(IDS), st.integers(1, 6)),
        "bad": st.sets(st.sampled_from(IDS), max_size=1),
        "dead": st.sets(st.sampled_from(IDS), max_size=2),
        "takes": st.sampled_from([0.0, 0.0078125, 0.125]),
        "missing_grace": st.sampled_from([0, 2, 15]),
        "schedule": st.sampled_from(
            [fixed(1), exponential(0.5, factor=2).cap(4).jitter("full"), fixed(1).times(3)]
        ),
    }
)

CALLERS = st.fixed_dictionaries(
    {
        "at": st.integers(0, 24).map(lambda quarters: quarters / 4 + 0.0625),
        "ids": st.lists(st.sampled_from(IDS), min_size=1, max_size=3),
        "timeout": st.integers(0, 24).map(lambda quarters: quarters / 4),
        "cancel_at": st.none() | st.integers(0, 24).map(lambda quarters: quarters / 4 + 0.09375),
        "way": st.sampled_from(["wait", "many", "completed"]),
    }
)

PLAIN_SCRIPT = {
    "kind": "available",
    "outcomes": [],
    "ready": {"vol-1": 3},
    "bad": set(),
    "dead": set(),
    "takes": 0.0,
    "missing_grace": 2,
    "schedule": fixed(1),
}
PLAIN_CALLER = {"at": 0.0625, "ids": ["vol-1"], "timeout": 5.0, "cancel_at": None, "way": "wait"}


class Script:
    """What a service does, and what came of the waits for it."""

    def __init__(self, plan):
        self.plan = plan
        self.calls = []
        self.events = []
        self.ends = []
        self.service, self.make = KINDS[plan["kind"]]

    def options(self):
        """Return the settings of a waiter."""
        return {
            "schedule": self.plan["schedule"],
            "missing_grace": self.plan["missing_grace"],
            "rng": random.Random(7),
            "on_event": lambda event: self.events.append(shown(event)),
        }

    def play(self, now, params):
        """Record a call, and return or raise what it comes to."""
        self.calls.append((now, params))
        number, outcomes = len(self.calls), self.plan["outcomes"]
        outcome = outcomes[number - 1] if number <= len(outcomes) else "answer"
        if outcome == "busy":
            return error("RequestLimitExceeded", "Slower.", 503)
        if outcome == "down":
            return EndpointConnectionError(endpoint_url="https://ec2")
        if outcome == "denied":
            return error("UnauthorizedOperation", "You may not.", 403)
        if outcome == "bug":
            return NoCredentialsError()
        return self._answer(number, outcome, self._asked(params), params)

    def _asked(self, params):
        (asked,) = (value for name, value in params.items() if name in (
            "VolumeIds", "InstanceIds", "StackName"
        ))  # fmt: skip
        return [asked] if isinstance(asked, str) else asked

    def _answer(self, number, outcome, asked, params):
        dead = [each for each in asked if each in self.plan["dead"]]
        if dead and outcome != "absent":
            text = f"The volume '{dead[0]}' does not exist."
            return error(NOT_FOUND[self.service], text)
        there = [each for each in asked if each not in dead]
        if outcome == "paged" and "NextToken" not in params and self.plan["kind"] == "available":
            return {**self._show(number, there[:1]), "NextToken": "more"}
        return self._show(number, there[1:] if "NextToken" in params else there)

    def _show(self, number, ids):
        good, slow, bad = {
            "running": ("running", "pending", "terminated"),
            "stack": ("CREATE_COMPLETE", "CREATE_IN_PROGRESS", "CREATE_FAILED"),
            "deleted": ("deleted", "deleting", "error"),
        }.get(self.plan["kind"], ("available", "creating", "error"))
        ready = self.plan["ready"]
        states = {
            each: bad if each in self.plan["bad"] else good if ready.get(each, 99) <= number
            else slow
            for each in ids
        }  # fmt: skip
        if self.plan["kind"] == "running":
            return instances(**states)
        if self.plan["kind"] == "stack":
            return {"Stacks": [
                {"StackName": each, "StackStatus": state} for each, state in states.items()
            ]}  # fmt: skip
        return {"Volumes": [{"VolumeId": each, "State": state} for each, state in states.items()]}

    def arguments(self, each):
        """Return the arguments of a wait for one thing."""
        if self.plan["kind"] == "volumes":
            return (each,), {}
        parameter = {"running": "InstanceIds", "stack": "StackName"}.get(
            self.plan["kind"], "VolumeIds"
        )
        return (), {parameter: each if parameter == "StackName" else [each]}

    def end(self, now, each, result):
        """Record what a wait came to."""
        # A thread that makes a call hears of other ends when the call is over, a task at once.
        self.ends.append((0.0 if self.plan["takes"] else now, each, shown(result)))

    def told(self):
        """Return all that was seen of a run; of several waits, events are told in any order."""
        return self.calls, self.ends, sorted(self.events, key=repr)


def shown(what):
    """Return a value, an error or an event in a form that can be compared."""
    if isinstance(what, aws.WaiterError):
        fields = (what.id, what.ids, what.state, what.reason, what.attempts, what.elapsed)
        return (type(what).__name__, str(what), fields, shown(what.response), repr(what.__cause__))
    if isinstance(what, Exception):
        return repr(what), repr(what.__cause__)
    if isinstance(what, dict):
        return repr({name: value for name, value in what.items() if name != "ResponseMetadata"})
    if hasattr(what, "__match_args__"):
        return (type(what).__name__, *(shown(getattr(what, name)) for name in what.__match_args__))
    return what


def on_threads(plan, caller):
    """Run a script in one thread, on a fake clock."""
    clock, script = FakeClock(), Script(plan)

    def play(operation, params):
        began = clock.monotonic()
        clock.advance(plan["takes"])
        return script.play(began, params)

    service = Service(script.service, play)
    waiter = script.make(aws, service.client, clock=clock, **script.options())
    cancel = None
    if caller["cancel_at"] is not None:
        cancel = threading.Event()
        clock.call_at(caller["cancel_at"], cancel.set)
    clock.advance(caller["at"])
    options = {"timeout": caller["timeout"], "cancel": cancel}
    if caller["way"] == "wait":
        for each in caller["ids"]:
            positional, named = script.arguments(each)
            try:
                result = waiter.wait(*positional, **named, **options)
            except Exception as raised:
                result = raised
            script.end(clock.monotonic(), each, result)
    elif caller["way"] == "many":
        for each, result in waiter.wait_many(caller["ids"], **options).items():
            script.end(clock.monotonic(), each, result)
    else:
        for each, result in waiter.as_completed(caller["ids"], **options):
            script.end(clock.monotonic(), each, result)
    return script.told()


def on_asyncio(plan, caller):
    """Run a script in one task, on virtual time."""
    loop, script = VirtualTimeLoop(), Script(plan)
    service = AsyncService(
        script.service, lambda _, params: script.play(loop.time(), params), plan["takes"]
    )

    async def main():
        waiter = script.make(aio, service.client, **script.options())
        cancel = None
        if caller["cancel_at"] is not None:
            cancel = asyncio.Event()
            loop.call_at(caller["cancel_at"], cancel.set)
        await asyncio.sleep(caller["at"])
        options = {"timeout": caller["timeout"], "cancel": cancel}
        if caller["way"] == "wait":
            for each in caller["ids"]:
                positional, named = script.arguments(each)
                try:
                    result = await waiter.wait(*positional, **named, **options)
                except Exception as raised:
                    result = raised
                script.end(loop.time(), each, result)
        elif caller["way"] == "many":
            for each, result in (await waiter.wait_many(caller["ids"], **options)).items():
                script.end(loop.time(), each, result)
        else:
            async for each, result in waiter.as_completed(caller["ids"], **options):
                script.end(loop.time(), each, result)

    loop.run_until_complete(main())
    loop.close()
    return script.told()


@given(plan=SCRIPTS, caller=CALLERS)
@example(
    plan={**PLAIN_SCRIPT, "outcomes": ["busy", "paged", "absent"], "dead": {"vol-2"}},
    caller={**PLAIN_CALLER, "ids": ["vol-1", "vol-2", "vol-3"], "way": "many"},
)
@example(
    plan={**PLAIN_SCRIPT, "kind": "deleted", "dead": {"vol-1", "vol-2"}, "takes": 0.125},
    caller={**PLAIN_CALLER, "ids": ["vol-1", "vol-2", "vol-3"], "way": "completed"},
)
def test_faces_agree(plan, caller):
    """W7: threads and asyncio make equal calls at the same times, with equal ends and events."""
    if caller["cancel_at"] is not None and plan["takes"]:
        # A thread cannot be woken from a call that it makes.
        caller = {**caller, "cancel_at": None}
    if plan["kind"] == "stack":
        # Nor does it make several calls at once, and each of several stacks needs its own.
        caller = {**caller, "ids": caller["ids"][:1]}
    assert on_threads(plan, caller) == on_asyncio(plan, caller)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ready": {"vol-1": 1}}, "vol-1"),
        ({"ready": {}}, "WaiterTimeout"),
        ({"ready": {}, "schedule": fixed(1).times(2)}, "WaiterExhausted"),
        ({"outcomes": ["denied"]}, "UnauthorizedOperation"),
        ({"outcomes": ["bug"]}, "NoCredentialsError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scripts_reach_every_end(kind, changes, text):
    """The property above is not vacuous: its scripts end in every way that there is."""
    for face in (on_threads, on_asyncio):
        _, ((_, _, end),), events = face({**PLAIN_SCRIPT, "kind": kind, **changes}, PLAIN_CALLER)
        assert text in str(end)
        assert events


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"deleted"}))
def test_scripts_reach_failures(kind):
    """So they do in states that cannot lead to ready, of which a deletion knows none."""
    for face in (on_threads, on_asyncio):
        _, ((_, _, end),), _ = face({**PLAIN_SCRIPT, "kind": kind, "bad": {"vol-1"}}, PLAIN_CALLER)
        assert end[0] == "WaiterFailed"


def test_scripts_can_be_cancelled():
    """So they do by an event, at its time."""
    for face in (on_threads, on_asyncio):
        plan = {**PLAIN_SCRIPT, "ready": {}}
        _, ((at, _, end),), _ = face(plan, {**PLAIN_CALLER, "cancel_at": 1.59375})
        assert at == 1.59375
        assert end[0] == "WaiterCancelled"
