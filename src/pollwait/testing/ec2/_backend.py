"""moto as the keeper of all resources, one account of it for each server.

moto keeps its data in globals of the process, by account and region. A server that names an account
of its own in each request therefore shares nothing with others.
"""

from __future__ import annotations

import os
import re
from secrets import randbelow

from moto.backends import get_backend
from moto.ec2.models import EC2Backend, ec2_backends
from moto.moto_server.werkzeug_app import (  # pyright: ignore[reportMissingTypeStubs]
    create_backend_app,
)
from werkzeug.test import EnvironBuilder, run_wsgi_app

from ._answer import Answer
from ._request import Request

# Made at import, when moto finds no settings of the user's; it holds no data.
_APP = create_backend_app("ec2")

_ERROR_CODE = re.compile(rb"<Code>([^<]*)</Code>")


class MotoAccount:
    """One AWS account in moto."""

    def __init__(self) -> None:
        if "MOTO_ACCOUNT_ID" in os.environ:
            raise RuntimeError(
                "the environment variable MOTO_ACCOUNT_ID must not be set: "
                "it makes all servers share one account"
            )
        self.account_id = str(10**11 + randbelow(9 * 10**11))

    def region(self, name: str) -> EC2Backend:
        """Return what moto holds in a region."""
        return ec2_backends[self.account_id][name]

    def warm_up(self, region: str) -> None:
        """Have moto build what it builds at first use, for which no call should pay."""
        self.region(region)
        self.call(Request("GET", "/", "Action=DescribeVolumes", {}, b""))

    def call(self, request: Request) -> Answer:
        """Let moto answer a request."""
        builder = EnvironBuilder(
            method=request.method,
            path=request.path,
            query_string=request.query,
            headers=[*request.headers.items(), ("x-moto-account-id", self.account_id)],
            data=request.body,
        )
        chunks, status, headers = run_wsgi_app(_APP, builder.get_environ(), buffered=True)
        body = b"".join(chunks)
        code = int(status.partition(" ")[0])
        return Answer(body, code, _error_code(code, body), headers.get("Content-Type", "text/xml"))

    def forget(self) -> None:
        """Drop everything that the account holds."""
        ec2_backends.pop(self.account_id, None)
        get_backend("iam").pop(self.account_id, None)  # moto opens one for each caller it sees


def _error_code(status: int, body: bytes) -> str | None:
    if status < 400:
        return None
    found = _ERROR_CODE.search(body)
    return found.group(1).decode() if found else str(status)
