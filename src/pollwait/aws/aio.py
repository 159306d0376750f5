"""AWS on asyncio: all of ``pollwait.aws``, for clients of aiobotocore.

``from pollwait.aws import aio as aws`` is enough. What waits or calls is awaited here; the rest is
the same: predicates, definitions and errors::

    async with get_session().create_client("ec2") as ec2:
        running = aws.waiter(ec2, "instance_running")
        await running.wait(InstanceIds=["i-1"], timeout=300)

It loads no aiobotocore: clients are passed in.
"""

from __future__ import annotations

from ._aio_describer import Describer, describer
from ._aio_ebs import VolumeAvailableWaiter
from ._aio_pages import pages
from ._aio_waiter import Waiter, waiter
from ._define import define
from ._definition import Definition
from ._error_predicates import error_code, is_throttle, is_transient
from ._errors import (
    WaiterCancelled,
    WaiterError,
    WaiterExhausted,
    WaiterFailed,
    WaiterTimeout,
)
from ._not_described import NotDescribed
from ._response_predicates import path, path_all, path_any, status
from ._volume import Volume

__all__ = [
    "Definition",
    "Describer",
    "NotDescribed",
    "Volume",
    "VolumeAvailableWaiter",
    "Waiter",
    "WaiterCancelled",
    "WaiterError",
    "WaiterExhausted",
    "WaiterFailed",
    "WaiterTimeout",
    "define",
    "describer",
    "error_code",
    "is_throttle",
    "is_transient",
    "pages",
    "path",
    "path_all",
    "path_any",
    "status",
    "waiter",
]
