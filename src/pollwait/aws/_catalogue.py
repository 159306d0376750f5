"""Where definitions come from: a client, a document, or the files that botocore brings along.

A client is asked for no more than it offers to all: the names of its waiters, and the waiter of a
name. That waiter is read, never run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from botocore.exceptions import UnknownServiceError

from ._acceptors import PATHS, Acceptor
from ._definition import Definition
from ._names import near, snake_case
from ._operations import operation_of, service_of
from ._waiter_model import at, botocores_own, read_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from botocore.loaders import Loader

    from ._waiter_model import Document


class _BotocoreWaiter(Protocol):
    name: str
    config: Any


class _Client(Protocol):
    def get_waiter(self, name: str, /) -> _BotocoreWaiter: ...


_FILES = "waiters-2"  # botocore's name for its files of waiters, by their format's version


def definition_of(
    client: object, name: str | Definition, model: Document | Definition | None = None
) -> Definition:
    """Return a waiter's definition, checked against the client that is to run it.

    Args:
        client: a client of botocore, boto3 or aiobotocore.
        name: the waiter's, as in ``"volume_available"``, ``"volume-available"`` or
            ``"VolumeAvailable"``. Or a definition itself.
        model: where the waiter is defined, if not by the client: a document in botocore's waiter
            format (a mapping, JSON text, or the path of a file), which may hold several, or a
            definition.

    Returns:
        The definition, its operation by the name that the API gives to it.

    Raises:
        TypeError: an argument is of none of these types.
        ValueError: there is no such waiter, its operation is none of the client's, or the document
            is faulty; the error names the near ones, or the place.
        OSError: the file cannot be read.
    """
    if isinstance(name, Definition):
        if model is not None:
            raise TypeError(f"model must be None beside a definition: got model={model!r}")
        return _checked(name, client)
    if not isinstance(name, str):
        raise TypeError(f"name must be a str or a definition: got name={name!r}")
    if model is None:
        return _clients_own(client, name)
    if isinstance(model, Definition):
        return _checked(_named(model, name), client)
    found = read_model(model, client)
    if snake_case(name) not in found:
        raise _unknown(name, found, "model", f"its waiters are {', '.join(found)}")
    return found[snake_case(name)]


def waiter_names(client: object, model: Document | Definition | None = None) -> list[str]:
    """Return the names of a client's waiters, or of a model's, in snake_case and sorted.

    Args:
        client: a client of botocore, boto3 or aiobotocore.
        model: as for ``definition_of``.
    """
    if model is None:
        return sorted(getattr(client, "waiter_names", ()))
    if isinstance(model, Definition):
        return [snake_case(model.name)]
    return sorted(read_model(model, client))


def services_with_waiters() -> list[str]:
    """Return the services that botocore has waiters for, by the names of their clients.

    Read from botocore's files, which takes neither a client nor credentials.
    """
    loader = _loader()
    services: list[str] = loader.list_available_services(_FILES)
    return [
        service for service in services if loader.load_service_model(service, _FILES)["waiters"]
    ]


def definitions_of_service(service: str) -> dict[str, Definition]:
    """Return all definitions that botocore has for a service, by their names in snake_case.

    Read from botocore's files, which takes neither a client nor credentials.

    Args:
        service: by the name of its client, such as ``"ec2"``.

    Returns:
        The definitions, in the order of botocore's file; none for a service without waiters.

    Raises:
        ValueError: botocore knows no such service; the error names the near ones.
    """
    loader = _loader()
    try:
        waiters = loader.load_service_model(service, _FILES)["waiters"]
    except UnknownServiceError:
        services = loader.list_available_services("service-2")
        if service in services:
            return {}
        raise ValueError(f"botocore has no service {service!r}{near(service, services)}") from None
    return {snake_case(name): botocores_own(name, waiter) for name, waiter in waiters.items()}


def _loader() -> Loader:
    from botocore.loaders import Loader  # loaded with any client, and of no use without these lists

    return Loader()


def _checked(definition: Definition, client: object) -> Definition:
    """Return a definition with its operation by the API's name."""
    with at(f"waiter {definition.name!r}"):
        return definition.replace(operation=operation_of(client, definition.operation))


def _named(definition: Definition, name: str) -> Definition:
    """Return a definition under the name that is asked for, if that is its own or it has none."""
    if snake_case(definition.name) == snake_case(name):
        return definition
    if definition.name == definition.operation:
        return definition.replace(name=name)
    own = snake_case(definition.name)
    raise _unknown(name, [own], "model", f"it is the definition of {own!r}")


def _clients_own(client: object, name: str) -> Definition:
    names = waiter_names(client)
    key, service = snake_case(name), service_of(client)
    if key not in names:
        raise _unknown(name, names, service, f"client.waiter_names lists all {len(names)}")
    waiter = cast("_Client", client).get_waiter(key)
    config = waiter.config
    with at(f"waiter {waiter.name!r} of {service}"):
        acceptors = [_acceptor(acceptor) for acceptor in config.acceptors]
        return Definition(
            waiter.name,
            operation_of(client, config.operation),
            config.delay,
            config.max_attempts,
            acceptors,
            config.description,
        )


def _acceptor(config: Any) -> Acceptor:
    """Return the acceptor that botocore made of its own."""
    argument = config.argument if config.matcher in PATHS else None
    return Acceptor(config.matcher, argument, config.expected, config.state)


def _unknown(name: str, names: Iterable[str], whose: str, all_of_them: str) -> ValueError:
    known = list(names)
    if not known:
        return ValueError(
            f"{whose} has no waiters: got name={name!r}; give one as model, or make it with"
            " aws.define"
        )
    meant = near(snake_case(name), known)
    return ValueError(f"{whose} has no waiter {name!r}{meant}; {all_of_them}")
