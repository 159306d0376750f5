"""What a shared call says to one of those for whom it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, PaginationError

from ._document import mapping
from ._error_predicates import is_transient

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import TypeIs

    from ._request import Request

    # What the service says instead of a response. Pages that lead nowhere are its doing too.
    Refusal: TypeAlias = ClientError | PaginationError

_REFUSALS = (ClientError, PaginationError)


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
        whole: all that is known of the request with this answer, where the answer itself is but the
            last part of that; itself otherwise.
    """

    __slots__ = ("_whole", "absent", "error", "errors", "present", "request", "response")
    request: Request
    response: dict[str, Any] | None
    error: Refusal | None
    present: tuple[str, ...]
    absent: tuple[str, ...]
    errors: dict[str, Refusal]

    def __init__(
        self,
        request: Request,
        response: object,
        error: Refusal | None = None,
        *,
        present: tuple[str, ...] = (),
        absent: tuple[str, ...] = (),
        errors: dict[str, Refusal] | None = None,
    ) -> None:
        self.request = request
        self.response = None if response is None and error is not None else {**mapping(response)}
        self.error = error
        self.present = present
        self.absent = absent
        self.errors = {} if errors is None else errors
        self._whole: Answer | None = None

    @property
    def whole(self) -> Answer:
        return self._whole or self

    @whole.setter
    def whole(self, whole: Answer) -> None:
        self._whole = None if whole is self else whole

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of which it says something."""
        return (*self.present, *self.absent, *self.errors)


def is_answer(error: object) -> TypeIs[Refusal]:
    """Tell whether an error is what the service says of what was asked for.

    It is not where the service is too busy, out of order or out of reach, or never was asked.
    """
    return isinstance(error, _REFUSALS) and not is_transient(error)
