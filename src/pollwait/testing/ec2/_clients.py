"""boto3 clients that know nothing but one endpoint."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

import boto3.session
import botocore.session
from botocore.config import Config
from botocore.loaders import create_loader

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

_CONFIG = Config(
    connect_timeout=10,
    max_pool_connections=128,
    proxies={},
    retries={"total_max_attempts": 1, "mode": "standard"},
)

# The parsed description of EC2, which takes most of the time that a client takes to make.
_LOADER = create_loader()


class Clients:
    """Makes clients and closes them all in the end."""

    def __init__(self, endpoint_url: str, region: str) -> None:
        self._endpoint_url = endpoint_url
        self._lock = Lock()  # boto3 sessions are not safe to share between threads
        self._session = _session(region)
        self._made: list[EC2Client] = []  # under _lock, as the session

    def make(self, config: Config | None) -> EC2Client:
        """Make a client; ``config`` overrides the defaults here."""
        merged = _CONFIG if config is None else _CONFIG.merge(config)
        with self._lock:
            client = self._session.client(  # pyright: ignore[reportUnknownMemberType]
                "ec2", endpoint_url=self._endpoint_url, config=merged
            )
            self._made.append(client)
        return client

    def close(self) -> None:
        """Close the connections of all clients."""
        with self._lock:
            for client in self._made:
                client.close()


def _session(region: str) -> boto3.session.Session:
    """Return a session that reads neither the environment nor any file of the user's."""
    variables = {
        name: (None, None, default, conversion)
        for name, (_, _, default, conversion) in botocore.session.Session.SESSION_VARIABLES.items()
    }
    for file in ("config_file", "credentials_file"):
        variables[file] = (None, None, os.devnull, None)
    session = botocore.session.Session(session_vars=variables)
    session.register_component("data_loader", _LOADER)
    return boto3.session.Session(
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        botocore_session=session,
        region_name=region,
    )
