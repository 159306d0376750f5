"""Clients for asyncio that are answered here, without aiobotocore and without a network."""

from __future__ import annotations

import asyncio

from .fakes import Service


class AsyncService(Service):
    """A service that a function plays; ``client`` is one whose methods must be awaited.

    Args:
        name: as for a ``Service``.
        play: as there; called when a call starts.
        takes: seconds of the loop's time from there to the answer, whatever that is.
    """

    def __init__(self, name, play=None, takes=0.0):
        super().__init__(name, play)
        self.takes = takes
        self.client = AsyncClient(self, self.client)

    async def later(self, call):
        """Call a function, and give what comes of it when that has had its time."""
        made = len(self.calls)
        try:
            return call()
        finally:
            if len(self.calls) > made:
                await asyncio.sleep(self.takes)


class AsyncClient:
    """A client like those of aiobotocore: what it says of itself is there, the rest is awaited."""

    def __init__(self, service, client):
        self._service = service
        self._client = client

    def __getattr__(self, name):
        """Return an operation as a function whose result must be awaited, all else as it is."""
        value = getattr(self._client, name)
        if name not in self._client.meta.method_to_api_mapping:
            return value

        def operation(**params):
            return self._service.later(lambda: value(**params))

        return operation

    def get_paginator(self, name):
        """Return a paginator whose pages come by ``async for``."""
        return AsyncPaginator(self._service, self._client.get_paginator(name))

    async def _make_api_call(self, operation, params):
        raise AssertionError("calls go through the methods")

    async def close(self):
        """Close the client."""
        self._client.close()


class AsyncPaginator:
    """A paginator like those of aiobotocore."""

    def __init__(self, service, paginator):
        self._service = service
        self._paginator = paginator
        self.result_keys = paginator.result_keys

    async def paginate(self, **params):
        """Yield the pages of an answer."""
        pages = iter(self._paginator.paginate(**params))
        while (page := await self._service.later(lambda: next(pages, None))) is not None:
            yield page
