"""A volume, as EC2 describes it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict


class _Named(TypedDict):
    VolumeId: str
    State: str


class Volume(_Named, total=False):
    """A volume as DescribeVolumes shows it; members that are not listed here may be there too."""

    Attachments: list[dict[str, Any]]
    AvailabilityZone: str
    AvailabilityZoneId: str
    CreateTime: datetime
    Encrypted: bool
    FastRestored: bool
    Iops: int
    KmsKeyId: str
    MultiAttachEnabled: bool
    OutpostArn: str
    Size: int
    SnapshotId: str
    SourceVolumeId: str
    Tags: list[dict[str, str]]
    Throughput: int
    VolumeType: str
