"""Answers that a service could give, made from what the acceptors of a waiter look for.

``outcome_for(definition, "success")`` walks the expression of an acceptor from its result back to
the response. What it returns was checked with botocore's own matchers, never with those under test.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import jmespath
from botocore.exceptions import ClientError
from botocore.waiter import AcceptorConfig
from jmespath.exceptions import JMESPathError

if TYPE_CHECKING:
    from pollwait.aws._acceptors import Acceptor, Outcome, State
    from pollwait.aws._definition import Definition

OTHER_TEXT = "something else"
FREE = object()
"""A part of a response of which nothing is asked."""

_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}
_NEGATED = {"eq": "ne", "ne": "eq", "lt": "gte", "gt": "lte", "lte": "gt", "gte": "lt"}


class NotSynthesisedError(Exception):
    """There is no way known here to make what an acceptor looks for."""


def outcome_for(definition: Definition, state: State) -> Outcome:
    """Return a response, or an error, that brings a waiter into a state by its first match.

    Raises:
        NotSynthesisedError: no acceptor for this state led to one.
    """
    for acceptor in definition.acceptors:
        if acceptor.state == state:
            try:
                return outcome_of(definition, acceptor)
            except NotSynthesisedError:
                continue
    raise NotSynthesisedError(f"{definition.name}: nothing leads to {state}")


def outcome_of(definition: Definition, acceptor: Acceptor) -> Outcome:
    """Return an outcome for which an acceptor is the first of its waiter's to match.

    Raises:
        NotSynthesisedError: there is none, or no way known to make it.
    """
    outcome = made_for(acceptor, definition.operation)
    if botocore_match(definition, outcome) is not acceptor:
        raise NotSynthesisedError(f"{definition.name}: another acceptor comes before {acceptor}")
    return outcome


def botocore_match(definition: Definition, outcome: Outcome) -> Acceptor | None:
    """Return the first acceptor that matches as botocore's own matchers have it.

    Where botocore lets an expression's failure out, the acceptor does not match.
    """
    response = outcome.response if isinstance(outcome, ClientError) else outcome
    configs = definition.document()["waiters"][definition.name]["acceptors"]
    for acceptor, config in zip(definition.acceptors, configs, strict=True):
        if _botocore_matches(config, response):
            return acceptor
    return None


def _botocore_matches(config: Any, response: Any) -> bool:
    try:
        return bool(AcceptorConfig(config).matcher_func(response))
    except JMESPathError:
        return False


def made_for(acceptor: Acceptor, operation: str = "Operation") -> Outcome:
    """Return an outcome that one acceptor looks for, whatever others make of it."""
    if acceptor.matcher == "error":
        if acceptor.expected is False:
            return answered({})
        code = "AnyError" if acceptor.expected is True else acceptor.expected
        return service_error(code, operation)
    if acceptor.matcher == "status":
        status = acceptor.expected
        if status >= 300:
            return service_error(str(status), operation, status)
        return answered({}, status)
    many = acceptor.matcher != "path"
    wanted = [acceptor.expected] if many else acceptor.expected
    return answered(_made(jmespath.compile(acceptor.argument).parsed, wanted))


def answered(members: Any, status: int = 200) -> dict[str, Any]:
    """Return a response with these members, as botocore hands it out."""
    return {**({} if members is FREE else members), "ResponseMetadata": {"HTTPStatusCode": status}}


def service_error(code: str, operation: str = "Operation", status: int = 400) -> ClientError:
    """Return a service's error, as a client of no known service raises it."""
    response = {
        "Error": {"Code": code, "Message": "as synthesised"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, operation)


def merged(*parts: Any) -> Any:
    """Return what has all that some parts have: mappings by name, lists element by element."""
    return reduce(_merged, parts, FREE)


def _merged(one: Any, other: Any) -> Any:
    if one is FREE or other is FREE:
        return other if one is FREE else one
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            name: _merged(one.get(name, FREE), other.get(name, FREE)) for name in {**one, **other}
        }
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_merged(*both) for both in zip(one, other, strict=True)]
    if one == other:
        return one
    raise NotSynthesisedError(f"{one!r} and {other!r} are asked for at once")


def _made(node: Any, wanted: Any) -> Any:
    """Return a value in which an expression finds what is wanted."""
    maker = _MAKERS.get(node["type"])
    if maker is None:
        raise NotSynthesisedError(f"no way back through {node['type']}")
    return maker(node, wanted)


def _field(node: Any, wanted: Any) -> Any:
    return {node["value"]: wanted}


def _identity(node: Any, wanted: Any) -> Any:
    return wanted


def _chain(node: Any, wanted: Any) -> Any:
    """Go back through a.b, a[0] and a | b from the last to the first."""
    return reduce(lambda found, part: _made(part, found), reversed(node["children"]), wanted)


def _index(node: Any, wanted: Any) -> Any:
    position = node["value"]
    return [wanted] * (position + 1 if position >= 0 else -position)


def _flatten(node: Any, wanted: Any) -> Any:
    [base] = node["children"]
    # What a projection finds is a list per element, such as the instances of each reservation.
    nested = base["type"].endswith("projection") and wanted
    return _made(base, [wanted] if nested else _listed(wanted))


def _projection(node: Any, wanted: Any) -> Any:
    base, each = node["children"]
    return _made(base, [_made(each, item) for item in _listed(wanted)])


def _value_projection(node: Any, wanted: Any) -> Any:
    base, each = node["children"]
    values = {f"name{i}": _made(each, item) for i, item in enumerate(_listed(wanted))}
    return _made(base, values)


def _filter_projection(node: Any, wanted: Any) -> Any:
    base, each, condition = node["children"]
    if not _listed(wanted):  # there is something, and the filter leaves it out
        return _made(base, [_holding(condition, False)])
    kept = _holding(condition, True)
    return _made(base, [merged(_made(each, item), kept) for item in wanted])


def _function(node: Any, wanted: Any) -> Any:
    name, [subject, *others] = node["value"], node["children"]
    if name == "length":
        return _made(subject, [_filler(subject)] * wanted)
    if name == "contains" and isinstance(wanted, bool):
        [sought] = others
        return _made(subject, [_literal_of(sought)] if wanted else [])
    raise NotSynthesisedError(f"no way back through {name}()")


def _literal(node: Any, wanted: Any) -> Any:
    if node["value"] != wanted:
        raise NotSynthesisedError(f"{node['value']!r} is never {wanted!r}")
    return FREE


def _truth(node: Any, wanted: Any) -> Any:
    if not isinstance(wanted, bool):
        raise NotSynthesisedError(f"{node['type']} is never {wanted!r}")
    return _holding(node, wanted)


def _either(node: Any, wanted: Any) -> Any:
    return _truth(node, wanted) if isinstance(wanted, bool) else _made(node["children"][0], wanted)


def _holding(node: Any, truth: bool) -> Any:
    """Return a value of which an expression is true, or is not."""
    kind, children = node["type"], node["children"]
    if kind == "not_expression":
        return _holding(children[0], not truth)
    if kind in ("and_expression", "or_expression"):
        if truth is (kind == "and_expression"):
            return merged(*(_holding(child, truth) for child in children))
        return _holding(children[0], truth)
    if kind == "comparator":
        return _compared(node if truth else {**node, "value": _NEGATED[node["value"]]})
    if kind == "function_expression":
        return _made(node, truth)
    return _made(node, OTHER_TEXT if truth else None)


def _compared(node: Any) -> Any:
    left, right = node["children"]
    operator = node["value"]
    if left["type"] == "literal":
        left, right, operator = right, left, _SWAPPED[operator]
    if right["type"] == "literal":
        return _made(left, _apart(right["value"], operator))
    return merged(_made(left, _apart(1, operator)), _made(right, 1))


def _apart(value: Any, operator: str) -> Any:
    """Return what stands on the left of an operator for it to hold with a value on the right."""
    if operator in ("eq", "lte", "gte"):
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value - 1 if operator == "lt" else value + 1
    return OTHER_TEXT


def _filler(counted: Any) -> Any:
    """Return an element for a list of which only the length matters."""
    whole = counted["type"] == "field" or counted["children"][1:2] == [
        {"type": "identity", "children": []}
    ]
    return {} if whole else OTHER_TEXT


def _listed(wanted: Any) -> list[Any]:
    if not isinstance(wanted, list):
        raise NotSynthesisedError(f"a list is never {wanted!r}")
    return wanted


def _literal_of(node: Any) -> Any:
    if node["type"] != "literal":
        raise NotSynthesisedError(f"no constant: {node['type']}")
    return node["value"]


_MAKERS = {
    "field": _field,
    "identity": _identity,
    "current": _identity,
    "subexpression": _chain,
    "index_expression": _chain,
    "pipe": _chain,
    "index": _index,
    "flatten": _flatten,
    "projection": _projection,
    "value_projection": _value_projection,
    "filter_projection": _filter_projection,
    "function_expression": _function,
    "literal": _literal,
    "comparator": _truth,
    "and_expression": _truth,
    "not_expression": _truth,
    "or_expression": _either,
}
