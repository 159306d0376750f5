"""AWS: what to wait for in boto3's responses and errors, and waiters that share its vocabulary.

Clients are passed in. Nothing here builds one or reads credentials.

The predicates work with plain ``pollwait.poll``::

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
    from ._ebs import VolumeAvailableWaiter
    from ._error_predicates import error_code, is_throttle, is_transient
    from ._errors import (
        WaiterCancelled,
        WaiterError,
        WaiterExhausted,
        WaiterFailed,
        WaiterTimeout,
    )
    from ._response_predicates import path, path_all, path_any, status
    from ._volume import Volume
except ModuleNotFoundError as missing:
    package = (missing.name or "").partition(".")[0]
    if package not in {"botocore", "jmespath"}:
        raise
    raise ImportError(
        f'pollwait.aws needs {package}, which is not installed: pip install "pollwait[aws]"',
        name=package,
    ) from missing

__all__ = [
    "Volume",
    "VolumeAvailableWaiter",
    "WaiterCancelled",
    "WaiterError",
    "WaiterExhausted",
    "WaiterFailed",
    "WaiterTimeout",
    "error_code",
    "is_throttle",
    "is_transient",
    "path",
    "path_all",
    "path_any",
    "status",
]
