"""Every waiter of the installed botocore, run to its end on a client of its service."""

from __future__ import annotations

from collections import Counter

import pytest
from botocore.exceptions import ClientError

from pollwait.aws import WaiterFailed, waiter
from pollwait.aws._catalogue import definitions_of_service, services_with_waiters
from pollwait.aws._sharing_rule import sharings_of
from pollwait.testing import FakeClock

from .fakes import Service, script
from .synthesis import NotSynthesisedError, outcome_for

# What botocore looks into before it sends a call.
ARNS = {"ChannelARN": "arn:aws:kinesis:us-east-1:123456789012:channel/x"}


def smallest(shape):
    """Return a value that botocore sends for a shape, with as little in it as may be."""
    if shape.type_name == "structure":
        return {
            name: ARNS.get(name) or smallest(shape.members[name]) for name in shape.required_members
        }
    if shape.type_name == "list":
        return [smallest(shape.member)]
    if shape.type_name == "map":
        return {}
    if shape.type_name == "string":
        return (shape.enum or ["x"])[0].ljust(shape.metadata.get("min", 1), "x")
    return {"boolean": True, "timestamp": 0, "blob": b"x"}.get(shape.type_name, 1)


def parameters(client, operation):
    """Return the parameters that a call of an operation cannot do without."""
    shape = client.meta.service_model.operation_model(operation).input_shape
    return {} if shape is None else smallest(shape)


def showing(outcome, client, operation, params):
    """Return an answer that shows the ids which its call asks for, besides what it says."""
    if isinstance(outcome, ClientError):
        return outcome
    for sharing in sharings_of(client.meta.service_model, operation):
        ids = sharing.ids(params)
        for path in sharing.results if ids else ():
            if sharing.keyed:
                outcome[path[0]] = dict.fromkeys(ids, *outcome.get(path[0], {}).values() or [{}])
                continue
            label(outcome, path, [*sharing.id_fields, *sharing.arn_fields], ids[0])
    return outcome


def label(document, path, fields, name):
    """Give all items at a path a name, and make one item where there is none."""
    if not path:
        for field in fields[:1]:
            first, _, rest = field.partition(".")
            document[first] = {rest: name} if rest else name
        return
    for inner in document.setdefault(path[0], [{}]) or [{}]:
        label(inner, path[1:], fields, name)


def test_every_waiter_ends_as_its_acceptors_say():
    """W1: given what its acceptors take for success or failure, each waiter ends so, at once."""
    ends = Counter()
    for service in services_with_waiters():
        played = Service(service)
        for definition in definitions_of_service(service).values():
            ends.update(end(played, definition, state) for state in ("success", "failure"))
    assert ends["success"] == sum(len(definitions_of_service(s)) for s in services_with_waiters())
    assert ends["success"] >= 400
    assert ends["failure"] >= 250


def end(played, definition, state):
    """Run a waiter against an answer that leads to a state; return that, or None without one."""
    params = parameters(played.client, definition.operation)
    try:
        outcome = outcome_for(definition, state)
    except NotSynthesisedError:
        return None
    played.calls.clear()
    played.play = script(showing(outcome, played.client, definition.operation, params))
    known = waiter(played.client, definition.name, clock=FakeClock(), missing_grace=0)
    if state == "success":
        assert isinstance(known.wait(**params), dict), known.name
    else:
        with pytest.raises(WaiterFailed, match=known.name):
            known.wait(**params)
    assert len(played.calls) == 1, known.name
    return state
