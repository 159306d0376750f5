"""What tells that a thing does not exist, and which waiters wait for just that.

A wait for a deletion takes an id that is absent from an answer for gone; any other takes it for not
there yet. The definitions do not say which they are, so their acceptors must.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ._document import http_status
from ._error_predicates import code_of, message_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from botocore.exceptions import ClientError

    from ._acceptors import Acceptor

_NOT_FOUND_STATUS = 404
_CODE = re.compile(r"NotFound|NoSuch|NotExist|DoesNotExist|UnknownResource")

# What a failure in an answer of ECS says of an id that names nothing.
_MISSING = "MISSING"

# Codes that say no more than that a request will not do; the text says why. CloudFormation and
# SageMaker answer with them to the name of what does not exist.
_VAGUE_CODES = frozenset(
    {
        "InvalidParameterException",
        "InvalidParameterValue",
        "InvalidRequestException",
        "ValidationError",
        "ValidationException",
    }
)
_TEXT = re.compile(
    r"(does not|doesn't|do not|not) exist|not found|(could not|cannot|unable to) find|no such",
    re.IGNORECASE,
)

# States of what is on its way out of the account or was taken out of something, by their letters
# alone. Those of the first kind say it by themselves; the others only beside an acceptor that takes
# an error or an empty answer for success, since what is terminated, say, may stay to be seen.
_DELETED = frozenset({"deleted", "deletecomplete", "deletecompleted"})
_LEFT = _DELETED | {
    "deregistered",
    "detached",
    "disassociated",
    "outofservice",
    "removed",
    "terminated",
    "unused",
}

# The list that an expression counts, as in ``length(DBInstances) == `0` ``, or its elements.
_COUNTED = re.compile(r"length\(\s*(\w+)[\w.\[\]]*\s*\)")


def awaits_absence(acceptors: Sequence[Acceptor]) -> bool:
    """Tell whether success means that something is gone.

    It does where every success is a state that says so, and also where one is an error or an empty
    answer, unless another asks for something that is there.
    """
    successes = [acceptor for acceptor in acceptors if acceptor.state == "success"]
    absent = [acceptor for acceptor in successes if _accepts_absence(acceptor)]
    states = [acceptor for acceptor in successes if acceptor not in absent]
    gone = _LEFT if absent else _DELETED
    return bool(successes) and all(_letters(acceptor.expected) in gone for acceptor in states)


def names_absence(acceptor: Acceptor) -> bool:
    """Tell whether what an acceptor looks for says by itself that a thing does not exist."""
    expected = acceptor.expected
    if acceptor.matcher == "status":
        return bool(expected == _NOT_FOUND_STATUS)
    if acceptor.matcher == "error":
        return isinstance(expected, str) and bool(_CODE.search(expected))
    return bool(expected == _MISSING)


def tells_absence(error: ClientError) -> bool:
    """Tell whether a service's error says that what was asked for does not exist.

    By its code, by HTTP 404, or by its text where the code is one that says nothing.
    """
    code = code_of(error)
    if _CODE.search(code) or http_status(error.response) == _NOT_FOUND_STATUS:
        return True
    return code in _VAGUE_CODES and bool(_TEXT.search(message_of(error)))


def _accepts_absence(acceptor: Acceptor) -> bool:
    """Tell whether an error, or an answer that holds nothing, matches."""
    if acceptor.matcher == "error":
        return acceptor.expected is not False
    if acceptor.matcher == "status":
        return bool(acceptor.expected == _NOT_FOUND_STATUS)
    return acceptor.matcher == "path" and _accepts_empty(acceptor)


def _accepts_empty(acceptor: Acceptor) -> bool:
    """Tell whether an expression that counts the elements of lists matches where they are empty.

    One that counts what a filter leaves says nothing of what was there before.
    """
    expression = acceptor.argument or ""
    counted = _COUNTED.findall(expression)
    if not counted or len(counted) != expression.count("length("):
        return False
    return acceptor.matches({name: [] for name in counted})


def _letters(state: object) -> str:
    """Return the letters of a state in lower case: services write ``DELETE_COMPLETE`` variously."""
    return "".join(filter(str.isalpha, state)).lower() if isinstance(state, str) else ""
