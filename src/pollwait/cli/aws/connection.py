"""The client for a wait, made from the user's configuration as the AWS command line would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, NoCredentialsError, NoRegionError

from .._errors import UsageError

if TYPE_CHECKING:
    import argparse

    from .catalogue import Service

# A wait goes on after an error, on a slower schedule than botocore's own retries; so one of those
# is enough. Seconds, short beside the 60 s of botocore's defaults: no check hangs for long.
_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 2}, connect_timeout=5, read_timeout=10
)


def client(service: Service, options: argparse.Namespace) -> Any:
    """Return a client of boto3.

    Args:
        service: what it is for.
        options: with ``profile``, ``region``, ``endpoint_url`` and ``no_sign_request``.

    Raises:
        UsageError: there is no such profile, no region is set, or the endpoint is no URL.
    """
    unsigned = Config(signature_version=UNSIGNED) if options.no_sign_request else Config()
    core = botocore.session.Session()
    core.register_component("data_loader", service.loader)
    try:
        session: Any = boto3.Session(
            botocore_session=core, profile_name=options.profile, region_name=options.region
        )
        return session.client(
            service.client_name,
            endpoint_url=options.endpoint_url,
            config=_CONFIG.merge(unsigned),
        )
    except (BotoCoreError, ValueError) as error:
        raise refused(error) from None


def refused(error: Exception) -> UsageError:
    """Return the error for what botocore, or a waiter, says of the call or the configuration."""
    if isinstance(error, NoRegionError):
        return UsageError(
            "no region: give --region, or set AWS_DEFAULT_REGION or the region of your profile"
        )
    if isinstance(error, NoCredentialsError):
        return UsageError(
            "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, configure a profile,"
            " or give --no-sign-request where the service needs none"
        )
    return UsageError(one_line(error))


def one_line(error: BaseException) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())
