"""AWS: waiters for every operation that botocore has one for, and the parts that they are made of.

Clients are passed in. Nothing here builds one or reads credentials.

The predicates also work with plain ``pollwait.poll``::

    poll(
        lambda: ec2.describe_volumes(VolumeIds=[volume_id]),
        until=aws.path_all("Volumes[].State", "available"),
        fail=aws.path_any("Volumes[].State", "error"),
        retry_on=[aws.error_code("InvalidVolume.NotFound"), aws.is_transient],
        timeout=60,
    )

A volume that was just created may be unknown to EC2 for a moment, hence the error code.
"""

from __future__ import annotations

try:
    from ._define import define
    from ._definition import Definition
    from ._describer import Describer, describer
    from ._ebs import VolumeAvailableWaiter
    from ._error_predicates import error_code, is_throttle, is_transient
    from ._errors import (
        WaiterCancelled,
        WaiterError,
        WaiterExhausted,
        WaiterFailed,
        WaiterTimeout,
    )
    from ._not_described import NotDescribed
    from ._pages import pages
    from ._response_predicates import path, path_all, path_any, status
    from ._volume import Volume
    from ._waiter import Waiter, waiter
except ModuleNotFoundError as missing:
    package = (missing.name or "").partition(".")[0]
    if package not in {"botocore", "jmespath"}:
        raise
    raise ImportError(
        f'pollwait.aws needs {package}, which is not installed: pip install "pollwait[aws]"',
        name=package,
    ) from missing

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
