"""An environment without the user's AWS settings, for as long as moto reads it."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

_FILES = ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")


@contextmanager
def without_aws_settings() -> Generator[None, None, None]:
    """Hide all AWS settings from what runs in this block.

    moto makes boto3 sessions, just for lists of regions, when it is imported and first used. They
    would read the user's configuration, and fail if ``AWS_PROFILE`` names no profile. Other threads
    see the change too, so this is for import time.
    """
    hidden = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    for name in hidden:
        del os.environ[name]
    for name in _FILES:
        os.environ[name] = os.devnull
    try:
        yield
    finally:
        for name in _FILES:
            del os.environ[name]
        os.environ.update(hidden)
