"""Documents in the format of botocore's waiter files, checked in full when they are read.

Botocore finds the mistakes of such a document when it comes upon them, or never: a key that it does
not know it does not see. Here each is an error at once, which says where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .._core.duration import at_least_one
from ._acceptors import PATHS, Acceptor
from ._definition import FORMAT_VERSION, Definition
from ._names import near, snake_case
from ._operations import operation_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import TypeAlias

    Document: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]

_MODEL_KEYS = ("version", "waiters")
_WAITER_KEYS = ("operation", "delay", "maxAttempts", "acceptors")
_WAITER_EXTRAS = ("description", "type")  # old files of botocore's own name a type, "api"
_ACCEPTOR_KEYS = ("state", "matcher", "expected")


def read_model(model: Document, client: object) -> dict[str, Definition]:
    """Read a document, and check every waiter in it.

    Args:
        model: a mapping, a text in JSON, or the path of a file that holds one. A str that begins
            with a brace is taken for JSON.
        client: one that the waiters are to call; their operations must be its own.

    Returns:
        The definitions by their names in snake_case, in the document's order.

    Raises:
        TypeError: the model is none of these.
        ValueError: the document is faulty; the error says where.
        OSError: the file cannot be read.
    """
    place, document = _loaded(model)
    found: dict[str, Definition] = {}
    with at(place):
        members = _members(document, _MODEL_KEYS)
        _check_version(members["version"])
        for name, waiter in _object(members["waiters"], "waiters").items():
            with at(f"waiter {name!r}"):
                key = snake_case(name)
                if key in found:
                    raise ValueError(f"{found[key].name!r} would be the same name to boto3")
                found[key] = _definition(name, waiter, client)
    return found


def botocores_own(name: str, waiter: Mapping[str, Any]) -> Definition:
    """Return the definition in an entry of a file that botocore brings along.

    What botocore passes over is passed over: a later one may know more keys.
    """
    return Definition(
        name,
        waiter["operation"],
        waiter["delay"],
        waiter["maxAttempts"],
        [_botocores_acceptor(acceptor) for acceptor in waiter["acceptors"]],
        waiter.get("description", ""),
    )


@contextmanager
def at(place: str) -> Generator[None]:
    """Put a place before what an error within says, which becomes a ValueError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: {error}") from None


def _botocores_acceptor(acceptor: Mapping[str, Any]) -> Acceptor:
    matcher = acceptor["matcher"]
    argument = acceptor["argument"] if matcher in PATHS else None
    return Acceptor(matcher, argument, acceptor["expected"], acceptor["state"])


def _loaded(model: Document) -> tuple[str, object]:
    """Return what to call a document in an error, and the document."""
    if isinstance(model, Mapping):
        return "model", model
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            "model must be a mapping in botocore's waiter format, a text in JSON, or the path of a"
            f" file: got model={model!r}"
        )
    text = os.fspath(model)
    if text.lstrip().startswith("{"):
        return "model", _parsed("model", text)
    place = f"model {text!r}"
    return place, _parsed(place, Path(text).read_text(encoding="utf-8"))


def _parsed(place: str, text: str) -> object:
    with at(place):
        return cast("object", json.loads(text, object_pairs_hook=_without_repeats))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice in one object: JSON would keep the last and lose the rest."""
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"key {key!r} stands twice in one object")
        members[key] = value
    return members


def _definition(name: str, waiter: object, client: object) -> Definition:
    members = _members(waiter, _WAITER_KEYS, _WAITER_EXTRAS)
    at_least_one(members["maxAttempts"], "maxAttempts")
    return Definition(
        name,
        operation_of(client, members["operation"]),
        members["delay"],
        members["maxAttempts"],
        list(_acceptors(members["acceptors"])),
        members.get("description", ""),
    )


def _acceptors(acceptors: object) -> Iterator[Acceptor]:
    if not isinstance(acceptors, (list, tuple)):
        raise ValueError(f"acceptors must be a list: got acceptors={acceptors!r}")
    for index, acceptor in enumerate(cast("list[object]", acceptors)):
        with at(f"acceptors[{index}]"):
            given = _members(acceptor, _ACCEPTOR_KEYS, ("argument",))
            yield Acceptor(
                given["matcher"], given.get("argument"), given["expected"], given["state"]
            )


def _members(
    value: object, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """Return an object that holds all the keys it must and none that mean nothing."""
    members = _object(value, "it")
    known = (*required, *optional)
    for key in members:
        if key not in known:
            raise ValueError(f"key {key!r} is unknown{near(key, known)}")
    for key in required:
        if key not in members:
            raise ValueError(f"key {key!r} is missing")
    return members


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be an object with named members: got {value!r}")
    for key in cast("Mapping[object, object]", value):
        if not isinstance(key, str):
            raise ValueError(f"{what} must have names that are str: got {key!r}")
    return cast("Mapping[str, Any]", value)


def _check_version(version: object) -> None:
    if version != FORMAT_VERSION:
        raise ValueError(f"version must be {FORMAT_VERSION}: got version={version!r}")
