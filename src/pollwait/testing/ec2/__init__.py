"""An EC2 on a loopback port, in this process, for tests and demonstrations.

moto answers the calls; a layer around it adds what the real service has and moto lacks: calls that
take time, volumes that are ``creating`` for a while or end in ``error``, throttling, eventual
consistency, pages, and counters of what was called::

    with EmbeddedEC2(seed=1) as ec2:
        client = ec2.client("ec2")
        volume = client.create_volume(AvailabilityZone="us-east-1a", Size=8)

Servers share nothing with each other, read no AWS configuration and use no network but loopback.
"""

from __future__ import annotations

from ._environment import without_aws_settings

try:
    with without_aws_settings():
        from ._server import EmbeddedEC2
except ModuleNotFoundError as missing:
    distribution = (missing.name or "pollwait").partition(".")[0]
    if distribution == "pollwait":
        raise
    raise ImportError(
        f'pollwait.testing.ec2 needs {distribution}: pip install "pollwait[demo]"'
    ) from missing
from ._bucket import Bucket, Limits
from ._counters import Call
from ._latency import (
    CREATE_CALL,
    DESCRIBE_CALL,
    EBS_READY,
    Model,
    Normal,
    Quantiles,
)
from ._volumes import State

__all__ = [
    "CREATE_CALL",
    "DESCRIBE_CALL",
    "EBS_READY",
    "Bucket",
    "Call",
    "EmbeddedEC2",
    "Limits",
    "Model",
    "Normal",
    "Quantiles",
    "State",
]
