"""The service's own words on why something is in the state in which it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._document import member

if TYPE_CHECKING:
    from collections.abc import Mapping

# Ends of the names under which the describe operations give a reason, in lower case because
# services differ in that; the most telling first. Source: the structures with a state or status in
# the service models of botocore.
_NAMES = (
    "statereason",
    "statusreason",
    "failurereason",
    "statetransitionreason",
    "statechangereason",
    "statemessage",
    "statusmessage",
    "failuremessage",
    "errormessage",
)


def service_reason(item: Mapping[str, object]) -> str | None:
    """Return the reason that a described item gives for its state; None if it gives none."""
    members = {name.lower(): value for name, value in item.items() if isinstance(name, str)}
    texts = (_text(members[name]) for end in _NAMES for name in members if name.endswith(end))
    return next((text for text in texts if text), None)


def _text(reason: object) -> str:
    """Return a reason as text; some come as a code and a message."""
    if isinstance(reason, str):
        return reason
    code, message = (str(member(reason, name) or "") for name in ("Code", "Message"))
    if message.startswith(code):
        return message
    return f"{code}: {message}" if message else code
