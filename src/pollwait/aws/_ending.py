"""The error of a waiter's wait that ended without a good answer, and what listeners are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .._core.failure import decimal, shorten
from .._core.history import History, Record
from .._core.try_again import TryAgain
from .._events import Checked, Finished
from ._absence import tells_absence
from ._answer import Answer
from ._document import elements, mapping, member
from ._error_predicates import code_of, message_of
from ._errors import failure
from ._reason import service_reason
from ._request import listed
from ._verdict import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .._core.wait import Wait
    from .._group_events import GroupHook
    from ._verdict import Verdict


def ended(wait: Wait, verdict: Verdict) -> Exception:
    """Return the error of a wait that is over.

    Args:
        wait: the wait.
        verdict: what it has learned.
    """
    culprit = _culprit(wait, verdict)
    item = _item(verdict, culprit)
    state = _state_of(verdict, culprit)
    error = _error_of(wait, culprit)
    seen = (
        _state(wait, verdict, culprit, state, error, item),
        _missing(wait, verdict),
        _unasked(verdict),
        "" if error is None or _only_says_missing(verdict, culprit, error) else _shown(error),
        _match(wait, verdict),
    )
    return failure(
        wait,
        ", ".join(filter(None, seen)),
        cause=error,
        waiter=verdict.terms.definition.name,
        id=culprit,
        ids=verdict.request.ids or ((culprit,) if culprit else ()),
        state=state,
        reason=service_reason(item) if error is None else _message(error),
        response=_response(verdict, error),
        last=verdict.response,
        last_error=error or verdict.error or wait.last_error,
        history=_history(wait.history()),
    )


def reporting(hook: Callable[[Any], object] | None) -> GroupHook | None:
    """Return a hook that tells another one of responses and errors in place of answers."""
    if hook is None:
        return None

    def tell(event: Any) -> object:
        if isinstance(event, (Checked, Finished)) and isinstance(event.value, Answer):
            answer = event.value.whole
            fields: dict[str, Any] = {name: getattr(event, name) for name in event.__match_args__}
            fields["value"] = answer.response
            if isinstance(event, Finished):
                return hook(Finished(**fields, not_ready_at=event.not_ready_at))
            fields["error"] = event.error or answer.error
            return hook(Checked(**fields))
        return hook(event)

    return tell


def _history(history: History) -> History:
    first, last = (tuple(map(_record, records)) for records in (history.first, history.last))
    return History(first, last, history.total)


def _record(record: Record) -> Record:
    if not isinstance(record.value, Answer):
        return record
    answer = record.value.whole
    error = record.error or answer.error
    return Record(record.attempt, record.elapsed, answer.response, error, record.where)


def _culprit(wait: Wait, verdict: Verdict) -> str:
    """Return the id by which the wait ended: of several, the first that was not good."""
    ids = verdict.request.ids
    if ids is None:
        return verdict.request.subject
    if verdict.blamed != WHOLE:
        return verdict.blamed
    wanted = {"failure"} if wait.reason == "failed" else {"retry", "failure", None}
    return next((one for one in ids if _says_of(verdict, one) in wanted), ids[0])


def _says_of(verdict: Verdict, one: str) -> str | None:
    """Return what the acceptors make of one id in the last answer; None if nothing."""
    shown = _shows(verdict, one)
    if shown is None:
        return "success" if verdict.terms.awaits_absence else None
    acceptor = verdict.terms.definition.match(shown)
    return None if acceptor is None else acceptor.state


def _shows(verdict: Verdict, one: str) -> Mapping[str, Any] | None:
    """Return what the last answer shows of one id; None if it does not show it."""
    answer, sharing = verdict.answer, verdict.request.sharing
    if answer is None or answer.response is None or sharing is None or one not in answer.present:
        return None
    return sharing.rebuilt(answer.response, (one,))


def _state_of(verdict: Verdict, culprit: str) -> str | None:
    """Return the state in which the culprit was seen last; of several things that of all."""
    shown = _shows(verdict, culprit)
    return verdict.state if shown is None else verdict.terms.state(shown) or verdict.state


def _error_of(wait: Wait, culprit: str) -> Exception | None:
    """Return the error of the last check; None if it had none that matters for the culprit."""
    newest = wait.newest()
    if newest is None or isinstance(newest.error, TryAgain):
        return None
    if not isinstance(newest.value, Answer):
        return newest.error
    answer = newest.value.whole
    return answer.errors.get(culprit, answer.error if answer.response is None else None)


def _response(verdict: Verdict, error: Exception | None) -> Mapping[str, Any]:
    if isinstance(error, ClientError):
        return error.response
    return verdict.response or {}


def _item(verdict: Verdict, culprit: str) -> Mapping[str, Any]:
    """Return what the last answer shows of the culprit; of something without an id, a guess."""
    answer, sharing = verdict.answer, verdict.request.sharing
    if answer is None or answer.response is None:
        return {}
    if sharing is not None:
        return mapping(sharing.found(answer.response).get(culprit))
    items = list(_structures(answer.response, 2))
    return next((item for item in items if service_reason(item)), mapping(None))


def _structures(document: object, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield a structure and those in it, from the outside in."""
    structure = mapping(document)
    if structure:
        yield structure
    if depth:
        for value in structure.values():
            for inner in elements(value) or [value]:
                yield from _structures(inner, depth - 1)


def _state(
    wait: Wait,
    verdict: Verdict,
    culprit: str,
    state: str | None,
    error: Exception | None,
    item: Mapping[str, Any],
) -> str:
    if state is None:
        return ""
    grace = verdict.graces.get(verdict.blamed)
    if wait.reason != "failed" or error or (grace is not None and grace.since is not None):
        return f"last state {state!r}"
    whose = f" of {culprit}" if len(verdict.request.ids or ()) > 1 else ""
    return f"state {state!r}{whose}{_why(item)}"


def _why(item: Mapping[str, Any]) -> str:
    reason = service_reason(item)
    if reason is not None:
        return f": {shorten(reason)}"
    if member(item, "State") == "error" and member(item, "Encrypted"):
        return (
            ", for which EC2 gives no reason (an encrypted volume ends so when its KMS key"
            " cannot be used)"
        )
    return ""


def _missing(wait: Wait, verdict: Verdict) -> str:
    """Say what is missing, and since when."""
    missing = {one: grace for one, grace in verdict.graces.items() if grace.since is not None}
    if not missing:
        return _absent(verdict)
    since = decimal(min(grace.since or 0.0 for grace in missing.values()) - wait.began)
    alone = WHOLE in missing or len(verdict.request.ids or ()) == 1
    which = "" if alone else f"{listed(list(missing))} "
    grace = decimal(verdict.terms.missing_grace)
    return f"{which}not found since {since} s (missing_grace {grace} s)"


def _absent(verdict: Verdict) -> str:
    """Say what the last answer left out, where that is not for ever a reason to fail."""
    answer, sharing = verdict.answer, verdict.request.sharing
    if answer is None or sharing is None or not answer.absent:
        return ""
    why = ""
    if verdict.terms.awaits_absence:
        if sharing.shows_all(verdict.request.params):
            return ""
        why = ", which need not show all there is"
    return f"{listed(answer.absent)} not in the last answer{why}"


def _unasked(verdict: Verdict) -> str:
    """Say for how many ids there was no time; they may take more calls than fit in a wait."""
    unasked, ids = verdict.unasked, verdict.request.ids or ()
    if not unasked or len(unasked) == len(ids):
        return ""
    return f"{len(unasked)} of {len(ids)} ids not asked for in time"


def _match(wait: Wait, verdict: Verdict) -> str:
    """Name the acceptor that matched last; of a failure the one that brought it about."""
    acceptor = verdict.matched
    if acceptor is None or not verdict.terms.explains:
        return ""
    if wait.reason != "failed":
        return f"last matched {acceptor.state} acceptor: {acceptor}"
    if not verdict.matches or acceptor.state != "failure":
        return ""
    return f"matched failure acceptor: {acceptor}"


def _only_says_missing(verdict: Verdict, culprit: str, error: Exception) -> bool:
    """Tell whether an error says no more than that what is waited for is not there.

    What is not there may as well be what holds it, such as a cluster.
    """
    missing = any(grace.since is not None for grace in verdict.graces.values())
    if not missing or not isinstance(error, ClientError) or not tells_absence(error):
        return False
    sharing = verdict.request.sharing
    if sharing is None:
        return bool(culprit)
    return sharing.names_missing(error, culprit)


def _shown(error: Exception) -> str:
    if not isinstance(error, ClientError) or not code_of(error):
        return f"last error {shorten(error)}"
    message = message_of(error)
    return f"last error {code_of(error)}{f': {shorten(message)}' if message else ''}"


def _message(error: Exception) -> str | None:
    return (message_of(error) or None) if isinstance(error, ClientError) else None
