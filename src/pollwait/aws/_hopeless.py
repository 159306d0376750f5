"""States that can never become the awaited one, where botocore's definitions go on waiting."""

from __future__ import annotations

from ._acceptors import Acceptor
from ._definition import Definition

# By the waiter: where it looks for states, and those from which the awaited one is out of reach.
# Source: "Volume state" in the EBS user guide. A volume in error can only be deleted.
HOPELESS: dict[str, tuple[str, tuple[str, ...]]] = {
    "VolumeAvailable": ("Volumes[].State", ("error", "deleting", "deleted")),
    "VolumeInUse": ("Volumes[].State", ("error", "deleting", "deleted")),
}


def sharpened(definition: Definition) -> Definition:
    """Return one of botocore's definitions with these states among the failures."""
    if definition.operation != "DescribeVolumes" or definition.name not in HOPELESS:
        return definition
    expression, states = HOPELESS[definition.name]
    known = {acceptor.expected for acceptor in definition.acceptors}
    more = [
        Acceptor("pathAny", expression, state, "failure") for state in states if state not in known
    ]
    return Definition(
        definition.name,
        definition.operation,
        definition.delay,
        definition.max_attempts,
        [*definition.acceptors, *more],
        definition.description,
    )
