"""Waiters on an event loop: awaited waits, shared calls, cancelled tasks."""

from __future__ import annotations

import asyncio
import gc
import threading
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from pollwait import Called, Finished, fixed
from pollwait._core.group import LINGER
from pollwait.aws import aio as aws
from pollwait.testing import FakeClock, run

from .fake_async_client import AsyncService
from .fakes import error, instances, script

NO_VOLUME = error("InvalidVolume.NotFound", "The volume 'vol-0' does not exist.")
THROTTLED = error("RequestLimitExceeded", "Request limit exceeded.", 503)
DENIED = error("UnauthorizedOperation", "You are not authorized.", 403)


def now():
    """Return the time of the loop."""
    return asyncio.get_running_loop().time()


def ec2_with(ready, *, dead=(), takes=0.0):
    """Return EC2 with volumes that are available from some time on; dead ones it does not know."""

    def play(operation, params):
        asked = params["VolumeIds"]
        unknown = [each for each in asked if each in dead]
        if unknown:
            return error("InvalidVolume.NotFound", f"The volume '{unknown[0]}' does not exist.")
        return {"Volumes": [
            {"VolumeId": each, "State": "available" if now() >= ready.get(each, 0) else "creating"}
            for each in asked
        ]}  # fmt: skip

    return AsyncService("ec2", play, takes)


class ByName:
    """Volumes that are waited for by the waiter of botocore's name."""

    def __init__(self, client, **options):
        self.waiter = aws.waiter(client, "volume_available", **options)

    async def wait(self, volume_id, **options):
        """Wait for one volume."""
        response = await self.waiter.wait(VolumeIds=[volume_id], **options)
        (volume,) = response["Volumes"]
        return volume

    async def wait_many(self, ids, **options):
        """Wait for several volumes."""
        results = await self.waiter.wait_many(ids, **options)
        return {each: self._volume(result) for each, result in results.items()}

    async def as_completed(self, ids, **options):
        """Wait for several volumes, one after the other."""
        async for each, result in self.waiter.as_completed(ids, **options):
            yield each, self._volume(result)

    def _volume(self, result):
        return result if isinstance(result, Exception) else result["Volumes"][0]


@pytest.fixture(params=[ByName, aws.VolumeAvailableWaiter], ids=["by name", "for volumes"])
def made(request):
    """Return how to make a waiter for volumes: by name, and the one made for them."""
    return request.param


class TestWait:
    """One wait."""

    def test_wait_returns_the_last_response(self):
        """W7: the client's method is awaited until its answer is good, and that is returned."""
        ec2 = AsyncService("ec2", script(instances(i_1="pending"), instances(i_1="running")))

        async def main():
            response = await aws.waiter(ec2.client, "instance_running").wait(InstanceIds=["i_1"])
            return response, now()

        response, ended = run(main())
        assert response["Reservations"] == instances(i_1="running")["Reservations"]
        assert ended == LINGER + 0.5
        assert ec2.asked("InstanceIds") == [["i_1"], ["i_1"]]

    def test_volume_is_returned(self, made):
        """W7: the waiter made for volumes returns the volume."""
        ec2 = ec2_with({"vol-1": 2})

        async def main():
            return await made(ec2.client).wait("vol-1", timeout=60)

        assert run(main()) == {"VolumeId": "vol-1", "State": "available"}

    def test_all_pages_are_read(self):
        """W1: what is awaited may be on any page; they come by ``async for``."""
        first = {**instances(i_1="running"), "NextToken": "more"}
        ec2 = AsyncService("ec2", script(first, instances(i_2="running")))

        async def main():
            return await aws.waiter(ec2.client, "instance_running").wait()

        assert len(run(main())["Reservations"]) == 2
        assert ec2.asked("NextToken") == [None, "more"]

    def test_state_that_cannot_lead_to_ready_fails(self):
        """W2: a failure acceptor ends the wait, and its error says why."""
        ec2 = AsyncService("ec2", script(instances(i_1="terminated")))

        async def main():
            await aws.waiter(ec2.client, "instance_running").wait(InstanceIds=["i_1"])

        with pytest.raises(aws.WaiterFailed, match="'terminated'") as caught:
            run(main())
        assert (caught.value.id, caught.value.state) == ("i_1", "terminated")

    def test_error_of_the_service_is_judged(self):
        """W7: a ClientError is an answer here too: it fails the wait, and is the cause."""
        ec2 = AsyncService("ec2", script(DENIED))

        async def main():
            await aws.waiter(ec2.client, "instance_running").wait(InstanceIds=["i-1"])

        with pytest.raises(aws.WaiterFailed, match="UnauthorizedOperation") as caught:
            run(main())
        assert isinstance(caught.value.__cause__, ClientError)

    def test_error_acceptor_is_success(self):
        """W1: where the error is what is waited for, the wait ends well with its response."""
        gone = error("ValidationError", "Stack with id s does not exist")
        cloudformation = AsyncService("cloudformation", script(gone))

        async def main():
            return await aws.waiter(cloudformation.client, "stack_delete_complete").wait(
                StackName="s"
            )

        assert run(main())["Error"]["Code"] == "ValidationError"

    def test_throttles_slow_a_wait_and_do_not_end_it(self, made):
        """W4: a throttle is no failure."""
        ec2 = ec2_with({})
        play = ec2.play
        ec2.play = lambda *asked: THROTTLED if len(ec2.calls) == 1 else play(*asked)

        async def main():
            await made(ec2.client).wait("vol-1", timeout=60)

        run(main())
        assert len(ec2.calls) == 2

    def test_missing_volume_has_its_grace_on_the_loops_time(self, made):
        """W4: a volume may be unknown for 15 s of the loop's time, and then fails the wait."""
        ec2 = AsyncService("ec2", script(NO_VOLUME))

        async def main():
            with pytest.raises(aws.WaiterFailed, match=r"\(missing_grace 15 s\)"):
                await made(ec2.client).wait("vol-0", timeout=300)
            return now()

        assert 15 < run(main()) < 35

    def test_wait_ends_at_its_deadline(self, made):
        """T4: the last look comes at the deadline, and the error is a TimeoutError."""
        ec2 = ec2_with({"vol-1": 99})

        async def main():
            with pytest.raises(aws.WaiterTimeout, match="last state 'creating'") as caught:
                await made(ec2.client).wait("vol-1", timeout=10)
            assert isinstance(caught.value, TimeoutError)
            return now()

        assert run(main()) == 10

    def test_schedule_and_config_are_followed(self):
        """W1: a wait may bring its own schedule, and botocore's limits mean what they meant."""
        ec2 = AsyncService("ec2", script(instances(i_1="pending")))

        async def main():
            running = aws.waiter(ec2.client, "instance_running", schedule=fixed(2))
            with pytest.raises(aws.WaiterTimeout):
                await running.wait(InstanceIds=["i_1"], schedule=fixed(3), timeout=6)
            assert now() == 6
            with pytest.raises(aws.WaiterTimeout):
                await running.wait(InstanceIds=["i_1"], WaiterConfig={"Delay": 2, "MaxAttempts": 4})
            return now()

        assert run(main()) == 14

    def test_what_is_no_answer_passes_as_itself(self):
        """O2: an error that came before any answer of the service is the caller's to mend."""
        ec2 = AsyncService("ec2", script(NoCredentialsError()))

        async def main():
            await aws.waiter(ec2.client, "instance_running").wait(InstanceIds=["i-1"])

        with pytest.raises(NoCredentialsError):
            run(main())

    def test_listener_is_told_of_responses(self, made):
        """The value of an event is the response, and each call and each end is told."""
        ec2, events = ec2_with({}), []

        async def main():
            await made(ec2.client, on_event=events.append).wait("vol-1", timeout=60)

        run(main())
        assert [type(event) for event in events if isinstance(event, Called)] == [Called]
        (end,) = [event for event in events if isinstance(event, Finished)]
        assert (end.reason, end.value["Volumes"][0]["VolumeId"]) == ("ready", "vol-1")

    def test_waiter_says_what_it_is(self):
        """Name, definition and repr are those of a waiter on threads."""
        ec2 = AsyncService("ec2")
        running = aws.waiter(ec2.client, "instance-running")
        assert (running.name, running.definition.operation) == (
            "InstanceRunning",
            "DescribeInstances",
        )
        assert repr(running) == "<Waiter InstanceRunning>"
        assert repr(aws.VolumeAvailableWaiter(ec2.client)).endswith(
            "schedule=exponential(0.5, factor=1.5).cap(15).after(1.25))"
        )

    def test_until_stable_wants_good_answers_in_a_row(self):
        """A good answer counts only if as many as asked for come one after the other."""
        good, bad = instances(i_1="running"), instances(i_1="pending")
        ec2 = AsyncService("ec2", script(good, bad, good, good))

        async def main():
            running = aws.waiter(ec2.client, "instance_running", until_stable=2)
            await running.wait(InstanceIds=["i_1"])

        run(main())
        assert len(ec2.calls) == 4

    def test_calls_keep_their_gap(self, made):
        """No two calls start sooner after each other than ``min_gap`` says."""
        ec2 = ec2_with({"vol-1": 5})

        async def main():
            await made(ec2.client, schedule=fixed(0.5), min_gap=2).wait("vol-1", timeout=60)
            return len(ec2.calls), now()

        assert run(main()) == (4, 6 + LINGER)

    @pytest.mark.parametrize(("in_use", "calls"), [("ready", 1), ("wait", 2)])
    def test_volume_in_use_is_ready_or_waited_for(self, in_use, calls):
        """W6: a volume that somebody attached at once is ready, unless its detach is awaited."""
        states = [[{"VolumeId": "vol-1", "State": state}] for state in ("in-use", "available")]
        ec2 = AsyncService("ec2", script(*({"Volumes": volumes} for volumes in states)))

        async def main():
            await aws.VolumeAvailableWaiter(ec2.client, in_use=in_use).wait("vol-1", timeout=60)

        run(main())
        assert len(ec2.calls) == calls


class TestMany:
    """Many waits in one task."""

    def test_dead_id_fails_alone(self, made):
        """W5: of several ids in one call a dead one is found, and the others are ready."""
        ec2 = ec2_with({"vol-2": 3}, dead=["vol-9"])

        async def main():
            known = made(ec2.client, missing_grace=0)
            return await known.wait_many(["vol-2", "vol-9", "vol-1", "vol-2"], timeout=60)

        results = run(main())
        assert list(results) == ["vol-2", "vol-9", "vol-1"]
        assert isinstance(results["vol-9"], aws.WaiterFailed)
        assert [results[each]["State"] for each in ("vol-1", "vol-2")] == ["available"] * 2

    def test_many_cost_as_many_calls_as_one(self, made):
        """W5: 501 volumes are two calls, since EC2 takes 500 ids in one."""
        ec2 = ec2_with({})

        async def main():
            await made(ec2.client).wait_many([f"vol-{n}" for n in range(501)], timeout=60)

        run(main())
        assert sorted(len(each) for each in ec2.asked("VolumeIds")) == [1, 500]

    def test_as_completed_gives_each_when_it_is_ready(self, made):
        """The first to be ready comes first."""
        ec2 = ec2_with({"vol-1": 9, "vol-2": 2, "vol-3": 5})

        async def main():
            completed = made(ec2.client).as_completed(["vol-1", "vol-2", "vol-3"], timeout=60)
            return [each async for each, _ in completed]

        assert run(main()) == ["vol-2", "vol-3", "vol-1"]

    def test_waits_begin_with_as_completed(self):
        """A plain call begins the waits, and they go on while nobody awaits a result."""
        ec2 = ec2_with({})

        async def main():
            completed = aws.VolumeAvailableWaiter(ec2.client).as_completed(["vol-1"], timeout=60)
            await asyncio.sleep(30)
            assert len(ec2.calls) == 1
            return [each async for each, _ in completed], now()

        assert run(main()) == (["vol-1"], 30.0)

    def test_closing_the_iterator_gives_up_the_rest(self):
        """After ``aclose`` nothing more is asked for, at once."""
        ec2 = ec2_with({"vol-1": 9})

        async def main():
            known = aws.VolumeAvailableWaiter(ec2.client)
            completed = known.as_completed(["vol-1", "vol-2"], timeout=60)
            assert (await anext(completed))[0] == "vol-2"
            await completed.aclose()
            with pytest.raises(StopAsyncIteration):
                await anext(completed)
            ec2.calls.clear()
            await known.wait("vol-4", timeout=60)

        run(main())
        assert ec2.asked("VolumeIds") == [["vol-4"]]

    @pytest.mark.parametrize("begun", [True, False])
    def test_dropping_the_iterator_gives_up_the_rest(self, begun):
        """So it is when the iterator is forgotten, begun or not."""
        ec2 = ec2_with({"vol-1": 9})

        async def main():
            known = aws.VolumeAvailableWaiter(ec2.client)
            completed = known.as_completed(["vol-1", "vol-2"], timeout=60)
            if begun:
                await anext(completed)
            del completed
            gc.collect()
            await asyncio.sleep(0.25)
            ec2.calls.clear()
            await known.wait("vol-4", timeout=60)

        run(main())
        assert ec2.asked("VolumeIds") == [["vol-4"]]

    def test_cancel_ends_those_that_are_left(self, made):
        """T7: an asyncio.Event ends the waits that are not over, at once."""
        ec2 = ec2_with({"vol-1": 9})

        async def main():
            stop = asyncio.Event()
            asyncio.get_running_loop().call_later(5, stop.set)
            results = await made(ec2.client).wait_many(["vol-1", "vol-2"], timeout=60, cancel=stop)
            return results, now()

        results, ended = run(main())
        assert ended == 5
        assert isinstance(results["vol-1"], aws.WaiterCancelled)
        assert results["vol-2"]["State"] == "available"

    def test_schedule_and_config_are_followed(self):
        """W1: what may be said of one wait may be said of many."""
        ec2 = AsyncService("ec2", script(instances(i_1="pending")))

        async def main():
            running = aws.waiter(ec2.client, "instance_running")
            results = await running.wait_many(["i_1"], schedule=fixed(3), timeout=7)
            assert results["i_1"].attempts == 4
            config = {"Delay": 2, "MaxAttempts": 4}
            results = await running.wait_many(["i_1"], WaiterConfig=config)
            assert "timeout 8 s" in str(results["i_1"])

        run(main())

    def test_no_ids_need_no_call(self, made):
        """W1: to wait for nothing is done at once."""
        ec2 = ec2_with({})

        async def main():
            known = made(ec2.client)
            assert await known.wait_many([], timeout=60) == {}
            assert [each async for each in known.as_completed(iter(()), timeout=60)] == []
            return now()

        assert run(main()) == 0
        assert ec2.calls == []

    def test_ids_name_things_where_the_operation_takes_no_list(self):
        """W5: without a list of ids they are the values of the one parameter, a call for each."""

        def play(operation, params):
            name = params["name"]
            return {"cluster": {"name": name, "status": "FAILED" if name == "b" else "ACTIVE"}}

        eks = AsyncService("eks", play)

        async def main():
            return await aws.waiter(eks.client, "cluster_active").wait_many(["a", "b"])

        results = run(main())
        assert results["a"]["cluster"]["name"] == "a"
        assert (results["b"].id, results["b"].state) == ("b", "FAILED")


class TestTasks:
    """Waits of many tasks."""

    def test_tasks_share_calls(self, made):
        """W5: 30 tasks that wait for 30 volumes cost as many calls as one."""

        def cost(number):
            ec2 = ec2_with({f"vol-{n}": 3 for n in range(number)})

            async def main():
                known = made(ec2.client)
                waits = [known.wait(f"vol-{n}", timeout=60) for n in range(number)]
                volumes = await asyncio.gather(*waits)
                assert [each["VolumeId"] for each in volumes] == [f"vol-{n}" for n in range(number)]

            run(main())
            return len(ec2.calls)

        assert cost(30) == cost(1)

    def test_response_is_the_callers_own(self):
        """A task may change its response without another one noticing."""
        answer = {"Stacks": [{"StackName": "s", "StackStatus": "CREATE_COMPLETE"}]}
        cloudformation = AsyncService("cloudformation", script(answer))

        async def main():
            done = aws.waiter(cloudformation.client, "stack_create_complete")
            one, two = await asyncio.gather(*[done.wait(StackName="s") for _ in range(2)])
            one["Stacks"][0]["StackName"] = "changed"
            return two["Stacks"]

        assert run(main()) == answer["Stacks"]
        assert len(cloudformation.calls) == 1

    def test_cancelled_task_disturbs_nobody(self, made):
        """T7, B5: a task that is cancelled during a call leaves at once; the call serves others."""
        ec2 = ec2_with({}, takes=2.0)

        async def main():
            known = made(ec2.client)
            leaver = asyncio.create_task(known.wait("vol-1", timeout=60))
            stayer = asyncio.create_task(known.wait("vol-2", timeout=60))
            await asyncio.sleep(1.5)
            assert len(ec2.calls) == 1
            leaver.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaver
            assert now() == 1.5
            return await stayer

        assert run(main()) == {"VolumeId": "vol-2", "State": "available"}
        assert len(ec2.calls) == 1

    def test_cancelled_task_is_told_as_such(self, made):
        """The end of each of its waits is told with the reason ``cancelled``."""
        ec2, events = ec2_with({"vol-1": 99, "vol-2": 99}), []

        async def main():
            known = made(ec2.client, on_event=events.append)
            one = asyncio.create_task(known.wait("vol-1", timeout=60))
            many = asyncio.create_task(known.wait_many(["vol-1", "vol-2"], timeout=60))
            await asyncio.sleep(3)
            for task in (one, many):
                task.cancel()
            await asyncio.gather(one, many, return_exceptions=True)

        run(main())
        ends = [event.reason for event in events if isinstance(event, Finished)]
        assert ends == ["cancelled"] * 3

    def test_group_is_quiet_when_nobody_waits(self):
        """When the last task has left, nothing is asked any more."""
        ec2 = ec2_with({"vol-1": 99})

        async def main():
            known = aws.VolumeAvailableWaiter(ec2.client)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(known.wait("vol-1", timeout=None), 5)
            made = len(ec2.calls)
            await asyncio.sleep(60)
            assert len(ec2.calls) == made

        run(main())

    def test_waiter_belongs_to_one_loop(self):
        """B13: from a second event loop a waiter says so, and does not hang."""
        ec2 = ec2_with({})
        known = aws.VolumeAvailableWaiter(ec2.client)
        run(known.wait("vol-1", timeout=60))
        with pytest.raises(RuntimeError, match="another one: make one for each loop"):
            run(known.wait("vol-1", timeout=60))

    def test_waiter_needs_asyncio(self):
        """Where no asyncio loop runs, as under trio, a wait is refused."""
        trio = pytest.importorskip("trio")
        ec2 = ec2_with({})
        with pytest.raises(RuntimeError, match="no asyncio event loop runs"):
            trio.run(lambda: aws.VolumeAvailableWaiter(ec2.client).wait("vol-1", timeout=60))


class TestMisuse:
    """What is refused before any call."""

    @pytest.mark.parametrize(
        ("ids", "kind", "text"),
        [
            ("vol-1", TypeError, "must be a collection of ids"),
            ([3], TypeError, "must be (a )?str"),
            ([""], ValueError, "must (not be empty|be the id of a volume)"),
        ],
    )
    def test_ids_are_checked(self, made, ids, kind, text):
        """What is no collection of ids is refused, before anything is awaited if it can be."""
        ec2 = ec2_with({})
        with pytest.raises(kind, match=text):
            run(made(ec2.client).wait_many(ids, timeout=60))
        for known in (
            aws.waiter(ec2.client, "volume_available"),
            aws.VolumeAvailableWaiter(ec2.client),
        ):
            with pytest.raises(kind, match=text):
                known.as_completed(ids, timeout=60)
        assert ec2.calls == []

    def test_parameters_are_checked(self):
        """So are parameters that the operation does not take, and empty lists of ids."""
        running = aws.waiter(AsyncService("ec2").client, "instance_running")
        with pytest.raises(TypeError, match="no parameter 'InstanceIDs'"):
            run(running.wait(InstanceIDs=["i-1"]))
        with pytest.raises(ValueError, match="InstanceIds must not be empty"):
            run(running.wait(InstanceIds=[]))

    def test_event_of_threads_is_refused(self, made):
        """An event that would block the loop is refused, and the error says what to pass."""
        ec2 = ec2_with({})
        with pytest.raises(TypeError, match="cancel must be for an event loop, .*asyncio.Event"):
            run(made(ec2.client).wait("vol-1", timeout=60, cancel=threading.Event()))
        assert ec2.calls == []

    def test_clock_of_threads_is_refused(self, made):
        """So is a clock that would, with what to use in its place."""
        ec2 = ec2_with({})
        with pytest.raises(TypeError, match=r"clock must be for an event loop, .*testing\.run"):
            run(made(ec2.client, clock=FakeClock()).wait("vol-1", timeout=60))
        assert ec2.calls == []

    def test_answer_at_once_is_refused(self, made):
        """A client without a model whose answers need not be awaited is one for threads."""
        answer = {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}
        plain = SimpleNamespace(describe_volumes=lambda **_: answer)
        known = aws.waiter(plain, aws.define("describe_volumes", success=aws.status(200)))
        for waiting in (known.wait(), aws.VolumeAvailableWaiter(plain).wait("vol-1", timeout=9)):
            with pytest.raises(TypeError, match=r"client is one for threads: use pollwait\.aws$"):
                run(waiting)
