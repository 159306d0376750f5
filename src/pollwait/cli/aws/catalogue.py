"""Which services and waiters there are, by the names that ``aws`` gives them.

All from botocore's files and a model of the user's: no client, credentials or network.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from botocore.loaders import create_loader
from botocore.model import ServiceModel

from ...aws._catalogue import definitions_of_service, services_with_waiters
from ...aws._hopeless import sharpened
from ...aws._names import snake_case
from ...aws._waiter_model import read_model
from .._arguments import unknown
from .._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.model import OperationModel

    from ...aws._definition import Definition

# Services that the AWS command line calls by other names than boto3 does, and that have waiters.
_BOTO3_NAMES = {"deploy": "codedeploy", "s3api": "s3"}
_AWS_NAMES = {ours: theirs for theirs, ours in _BOTO3_NAMES.items()}

_LIST = "pollwait aws --list shows all"


class Service:
    """A service and its waiters.

    Args:
        name: as ``aws`` or boto3 has it.
        model: the path of a file with waiters of the user's own, which come before botocore's.

    Attributes:
        name: as ``aws`` has it.
        client_name: as boto3 has it.
        loader: of botocore's files. It keeps what it has read, which of EC2 takes half a second, so
            a client should be made with it too.

    Raises:
        UsageError: there is no such service.
    """

    def __init__(self, name: str, model: str | None = None) -> None:
        self.client_name = _BOTO3_NAMES.get(name, name)
        self.name = _AWS_NAMES.get(name, name)
        self._own_model = model
        self.loader = create_loader(os.environ.get("AWS_DATA_PATH"))
        known: list[str] = self.loader.list_available_services("service-2")
        if self.client_name not in known:
            raise unknown("service", name, [*known, *_BOTO3_NAMES], _LIST)

    @cached_property
    def model(self) -> ServiceModel:
        """What botocore knows about the service's operations."""
        description = self.loader.load_service_model(self.client_name, "service-2")
        return ServiceModel(cast("dict[str, Any]", description), self.client_name)

    @cached_property
    def waiters(self) -> Mapping[str, Definition]:
        """Its definitions, by names such as ``volume-available``.

        Raises:
            UsageError: the user's model is faulty.
        """
        botocores = definitions_of_service(self.client_name)
        found = {name: sharpened(waiter) for name, waiter in botocores.items()}
        found |= self._own_waiters()
        return {name.replace("_", "-"): found[name] for name in sorted(found)}

    def waiter(self, name: str) -> Definition:
        """Return a waiter's definition.

        Raises:
            UsageError: there is no such waiter; the text names those that are near.
        """
        found = self.waiters.get(name.replace("_", "-"))
        if found is not None:
            return found
        lists = f"pollwait aws {self.name} --list shows all"
        raise unknown("waiter", name, self.waiters, lists if self.waiters else "there are none")

    def operation(self, waiter: Definition) -> OperationModel:
        """Return what botocore knows about the operation that a waiter calls."""
        return self.model.operation_model(waiter.operation)

    def _own_waiters(self) -> Mapping[str, Definition]:
        if self._own_model is None:
            return {}
        modelled = SimpleNamespace(meta=SimpleNamespace(service_model=self.model))
        try:
            return read_model(Path(self._own_model), modelled)
        except OSError as error:
            raise UsageError(f"--model: cannot read {self._own_model}: {error.strerror}") from None
        except ValueError as error:
            raise UsageError(f"--model: {error}") from None


def kebab_case(waiter: Definition) -> str:
    """Return a waiter's name as the command line has it."""
    return snake_case(waiter.name).replace("_", "-")


def services() -> list[str]:
    """Return the services that have waiters, by the names of ``aws``."""
    return sorted(_AWS_NAMES.get(name, name) for name in services_with_waiters())


def rows(service: Service) -> list[dict[str, Any]]:
    """Return what a list of waiters says of each waiter of a service.

    Returns:
        Dicts with ``service``, ``waiter``, ``operation``, ``delay`` and ``max_attempts``.
    """
    return [
        {
            "service": service.name,
            "waiter": name,
            "operation": definition.operation,
            "delay": definition.delay,
            "max_attempts": definition.max_attempts,
        }
        for name, definition in service.waiters.items()
    ]
