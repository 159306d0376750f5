"""The rule by which operations share calls: what a service's model says of a list of ids.

An operation that reads takes a list of ids if a list of strings among its parameters is named after
the items of its answer: ``VolumeIds`` for ``Volumes[].VolumeId``, ``Names`` for ``Fleets[].Name``,
``services`` for ``services[]``, which are known by ``serviceName`` and by the parts of
``serviceArn``. Lists that only narrow the answer (``OwnerIds``, ``Filters``) are not named so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ._shared_operations import EC2_LIMIT, OPERATIONS, PRUDENT_LIMIT
from ._sharing import Sharing, says_not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.model import OperationModel, ServiceModel, Shape

# Operations that only read. Those named List take ids to narrow what they list, at most.
_READS = ("BatchDescribe", "BatchGet", "Describe", "Get")

_LIST_OF_IDS = re.compile(r"(?P<stem>\w*?)(?P<kind>arn|id|identifier|name)s", re.IGNORECASE)

# What a not-found code is about that does not say: the ids, unless the operation also requires the
# name of what holds them, such as a project, which may be what is not found.
_ANYTHING = {"entity", "resource", "thing"}

# Lists in an answer that tell of ids without an item.
_NOT_ITEMS = re.compile("error|fail|unprocessed|notfound", re.IGNORECASE)


def sharing_of(
    service_model: ServiceModel, operation: str, params: Mapping[str, Any] | None = None
) -> Sharing | None:
    """Return how calls of an operation are shared by ids.

    Args:
        service_model: of the client, ``client.meta.service_model``.
        operation: its name in the API, such as ``"DescribeVolumes"``.
        params: those of a call, for an operation with more than one list of ids: by group ids or by
            group names, say. Without them, or if they hold none, it is the first.

    Returns:
        How to ask for several ids at once; None if the operation takes no list of ids.
    """
    ways = sharings_of(service_model, operation)
    given = (way for way in ways if params and way.parameter in params)
    return next(given, ways[0] if ways else None)


def treatment(service_model: ServiceModel, operation: str) -> str:
    """Say in one phrase how calls of an operation are shared."""
    ways = sharings_of(service_model, operation)
    if not ways:
        return "equal calls are shared"
    return "shares calls by " + " or ".join(f"{way.parameter} ({way.limit})" for way in ways)


def sharings_of(service_model: ServiceModel, operation: str) -> tuple[Sharing, ...]:
    """Return all ways to ask an operation for a list of ids, the preferred one first."""
    model = service_model.operation_model(operation)
    if not operation.startswith(_READS):
        return ()
    lines = OPERATIONS.get((service_model.service_name, operation), {})
    lists = _lists(model.input_shape)
    names = [name for name in lines if name in lists]
    ruled = {name: found for name in lists if (found := _result(name, model))}
    names += sorted((name for name in ruled if name not in lines), key=_preference)
    return tuple(
        _sharing(service_model, model, name, names, {**ruled.get(name, {}), **lines.get(name, {})})
        for name in names
    )


def _sharing(
    service_model: ServiceModel,
    model: OperationModel,
    parameter: str,
    parameters: list[str],
    known: dict[str, Any],
) -> Sharing:
    known.setdefault("limit", _limit(service_model, _lists(model.input_shape)[parameter]))
    known.setdefault("not_found", _not_found(service_model, model, parameter))
    others = tuple(name for name in parameters if name != parameter)
    return Sharing(model.name, parameter, others=others, **known)


def _lists(shape: Shape | None) -> dict[str, Any]:
    """Return the members of a structure that are lists, by name."""
    members: Mapping[str, Any] = getattr(shape, "members", {})
    return {name: each for name, each in members.items() if each.type_name == "list"}


def _preference(name: str) -> int:
    """Put ids before names: names are not always unique."""
    return 1 if name.lower().endswith("names") else 0


def _limit(service_model: ServiceModel, ids: Any) -> int:
    stated = ids.metadata.get("max")
    default = EC2_LIMIT if service_model.service_name == "ec2" else PRUDENT_LIMIT
    return default if stated is None else int(stated)


def _result(parameter: str, model: OperationModel) -> dict[str, Any]:
    """Return where the items that a parameter names are, and how they are known; or nothing."""
    ids: Any = _lists(model.input_shape)[parameter]
    if ids.member.type_name != "string" or ids.member.metadata.get("enum"):
        return {}
    named = [(name, _fields(parameter, name, item)) for name, item in _items(model.output_shape)]
    results = [(name, fields) for name, fields in named if any(fields.values())]
    if not results:
        return {}
    _, fields = results[0]
    return {"results": tuple((name,) for name, others in results if others == fields), **fields}


def _items(shape: Shape | None) -> list[tuple[str, Any]]:
    """Return the lists of structures in an answer by name, save those that list failures."""
    return [
        (name, each.member)
        for name, each in _lists(shape).items()
        if each.member.type_name == "structure" and not _NOT_ITEMS.search(name)
    ]


def _fields(parameter: str, result: str, item: Any) -> dict[str, tuple[str, ...]]:
    """Return the members of an item whose values the parameter lists."""
    by_name = {
        name.lower(): name for name, each in item.members.items() if each.type_name == "string"
    }
    nouns = {singular(result).lower(), item.name.lower()}
    if parameter.lower() == result.lower():
        noun = singular(parameter).lower()
        by_kind = {kind: _first(by_name, [f"{noun}{kind}", kind]) for kind in ("arn", "id", "name")}
        return {"id_fields": by_kind["id"] or by_kind["name"], "arn_fields": by_kind["arn"]}
    match = _LIST_OF_IDS.fullmatch(parameter)
    if not match:
        return {"id_fields": ()}
    stem, kind = match["stem"].lower(), match["kind"].lower()
    if not any(noun.endswith(stem) for noun in nouns):
        return {"id_fields": ()}
    wanted = [f"{stem}{kind}"] if stem else [kind, *(f"{noun}{kind}" for noun in sorted(nouns))]
    return {"id_fields": _first(by_name, [*wanted, kind])}


def _first(by_name: Mapping[str, str], wanted: list[str]) -> tuple[str, ...]:
    """Return the first of some members that there is, or nothing."""
    return tuple(by_name[name] for name in wanted if name in by_name)[:1]


def _not_found(
    service_model: ServiceModel, model: OperationModel, parameter: str
) -> tuple[str, ...]:
    """Return the codes that say that an id does not exist."""
    match = _LIST_OF_IDS.fullmatch(parameter)
    stem = match["stem"] if match else singular(parameter)
    if service_model.service_name == "ec2":  # which models no errors, and is not of one mind
        return (
            f"Invalid{stem}.NotFound",
            f"Invalid{stem}ID.NotFound",
            f"Invalid{stem}Id.NotFound",
            f"{stem}NotFound",
        )
    errors: list[Any] = [*model.error_shapes]
    shape: Any = model.input_shape
    things = {stem.lower(), *(singular(name).lower() for name, _ in _items(model.output_shape))}
    if not set(shape.required_members) - {parameter}:
        things |= _ANYTHING
    return tuple(
        error.error_code
        for error in errors
        if says_not_found(error.name) and _thing(error.error_code) in things
    )


def _thing(code: str) -> str:
    """Return what an error code is about, ``"loadbalancer"`` for ``LoadBalancerNotFound``."""
    return re.split("NotFound|DoesNotExist", code)[0].lower() or "thing"


def singular(name: str) -> str:
    """Return the name of one element of a list."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name.removesuffix("s")
