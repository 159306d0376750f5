"""Reading all pages on an event loop, and which clients are for whom."""

from __future__ import annotations

import gc
import warnings
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, HTTPClientError

from pollwait import aws
from pollwait.aws import aio
from pollwait.testing import run

from .fake_async_client import AsyncService
from .fakes import Service, error, script


def page(*ids, token=None):
    """Return a page of DescribeVolumes."""
    more = {"NextToken": token} if token else {}
    return {"Volumes": [{"VolumeId": each} for each in ids], **more}


class TestPages:
    """``aio.pages``."""

    def test_pages_reads_all_of_them(self):
        """W7: every page is awaited, and their items are one list without a token beside it."""
        ec2 = AsyncService(
            "ec2", script(page("vol-1", token="a"), page("vol-2", token="b"), page("vol-3"))
        )
        response = run(aio.pages(ec2.client, "describe_volumes", MaxResults=5))
        assert [each["VolumeId"] for each in response["Volumes"]] == ["vol-1", "vol-2", "vol-3"]
        assert "NextToken" not in response
        assert ec2.asked("NextToken") == [None, "a", "b"]

    def test_pages_of_an_operation_without_pages_are_one_call(self):
        """An operation that cannot paginate is awaited once."""
        ecs = AsyncService("ecs", script({"tasks": [{"taskArn": "t-1"}], "failures": []}))
        response = run(aio.pages(ecs.client, "DescribeTasks", tasks=["t-1"]))
        assert response["tasks"] == [{"taskArn": "t-1"}]
        assert len(ecs.calls) == 1

    def test_pages_raise_what_the_client_raises(self):
        """An error of the service passes as it is, on whichever page it comes."""
        ec2 = AsyncService("ec2", script(page("vol-1", token="a"), error("Unavailable")))
        with pytest.raises(ClientError, match="Unavailable"):
            run(aio.pages(ec2.client, "describe_volumes"))

    def test_pages_check_what_they_are_given(self):
        """Operations and parameters that the service does not know are refused without a call."""
        ec2 = AsyncService("ec2")
        with pytest.raises(ValueError, match="no operation 'describe_volume'"):
            run(aio.pages(ec2.client, "describe_volume"))
        with pytest.raises(TypeError, match="no parameter 'VolumeIDs'"):
            run(aio.pages(ec2.client, "describe_volumes", VolumeIDs=[]))
        assert ec2.calls == []

    def test_pages_run_on_trio(self):
        """Nothing of asyncio is needed to read pages; the client says where it runs."""
        trio = pytest.importorskip("trio")

        async def describe_volumes(**params):
            await trio.lowlevel.checkpoint()
            return page("vol-1")

        client = SimpleNamespace(describe_volumes=describe_volumes)
        assert trio.run(aio.pages, client, "describe_volumes") == page("vol-1")


ON_THREADS = {
    "waiter": lambda client: aws.waiter(client, "volume_available"),
    "volumes": lambda client: aws.VolumeAvailableWaiter(client),
    "describer": lambda client: aws.describer(client, "describe_volumes"),
    "pages": lambda client: aws.pages(client, "describe_volumes"),
}

ON_ASYNCIO = {
    "waiter": lambda client: aio.waiter(client, "volume_available"),
    "volumes": lambda client: aio.VolumeAvailableWaiter(client),
    "describer": lambda client: aio.describer(client, "describe_volumes"),
    "pages": lambda client: run(aio.pages(client, "describe_volumes")),
}


class TestClients:
    """A client that is for the other module."""

    @pytest.mark.parametrize("face", ON_THREADS)
    def test_client_for_asyncio_is_refused_on_threads(self, face):
        """W7: the error names ``pollwait.aws.aio``, and nothing is called that nobody awaits."""
        ec2 = AsyncService("ec2", script(page("vol-1")))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(TypeError, match=r"for asyncio, which pollwait\.aws\.aio takes"):
                ON_THREADS[face](ec2.client)
            gc.collect()
        assert ec2.calls == []

    @pytest.mark.parametrize("face", ON_ASYNCIO)
    def test_client_for_threads_is_refused_on_asyncio(self, face):
        """W7: the error names ``pollwait.aws``, and nothing is called that blocks the loop."""
        ec2 = Service("ec2", script(page("vol-1")))
        with pytest.raises(TypeError, match=r"must be one for asyncio, and pollwait\.aws takes"):
            ON_ASYNCIO[face](ec2.client)
        assert ec2.calls == []

    def test_coroutine_functions_tell_for_whom_a_client_is(self):
        """A client without a model is known by its method, before that is called."""

        async def describe_volumes(**params):
            raise AssertionError("nobody awaits this")

        lazy = SimpleNamespace(describe_volumes=describe_volumes)
        for face in (aws.VolumeAvailableWaiter, lambda client: ON_THREADS["pages"](client)):
            with pytest.raises(TypeError, match=r"which pollwait\.aws\.aio takes"):
                face(lazy)

    def test_answers_tell_for_whom_a_client_is(self):
        """Where a method does not tell, its answer does; the coroutine is closed, not dropped."""

        async def answer():
            raise AssertionError("nobody awaits this")

        lazy = SimpleNamespace(describe_volumes=lambda **_: answer())
        with pytest.raises(TypeError, match=r"an awaitable .* use pollwait\.aws\.aio"):
            aws.pages(lazy, "describe_volumes")
        gc.collect()
        plain = SimpleNamespace(describe_volumes=lambda **_: page())
        with pytest.raises(TypeError, match=r"is one for threads: use pollwait\.aws$"):
            run(aio.pages(plain, "describe_volumes"))

    @pytest.mark.parametrize(
        ("raised", "transient"),
        [
            (HTTPClientError(error=AttributeError("None has no attribute 'get'")), False),
            (HTTPClientError(error=RuntimeError("Session is closed")), False),
            (HTTPClientError(error=OSError("broken pipe")), True),
            (HTTPClientError(error="reset"), True),
            (EndpointConnectionError(endpoint_url="https://ec2", error=TypeError()), True),
        ],
        ids=repr,
    )
    def test_client_that_was_closed_is_no_connection_error(self, raised, transient):
        """What botocore wraps for want of a name is no broken connection if it is a mistake."""
        assert aws.is_transient(raised) is transient
