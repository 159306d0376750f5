"""What one shared call says to one of those for whom it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._document import mapping

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

    from ._request import Request


class Answer:
    """What the service says to one request.

    A service's error is an answer too: what it means depends on what is waited for.

    Attributes:
        request: whom it answers.
        response: what the service returned, with the items of this request only; None if it
            returned nothing to it but errors.
        error: its error, where it did not return; of several, the first.
        present: the ids that the response shows. Empty, as are the next two, for a request without
            ids.
        absent: the ids that it should show and does not.
        errors: the error of each id that was not let into a call.
        left: how many ids were not asked for this time.
    """

    __slots__ = ("absent", "error", "errors", "left", "present", "request", "response")
    request: Request
    response: dict[str, Any] | None
    error: ClientError | None
    present: tuple[str, ...]
    absent: tuple[str, ...]
    errors: dict[str, ClientError]
    left: int

    def __init__(
        self,
        request: Request,
        response: object,
        error: ClientError | None = None,
        *,
        present: tuple[str, ...] = (),
        absent: tuple[str, ...] = (),
        errors: dict[str, ClientError] | None = None,
        left: int = 0,
    ) -> None:
        self.request = request
        self.response = None if response is None and error is not None else {**mapping(response)}
        self.error = error
        self.present = present
        self.absent = absent
        self.errors = {} if errors is None else errors
        self.left = left
