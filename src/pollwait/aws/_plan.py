"""What a waiter makes of its own arguments and of those of its waits: all that needs no driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._clock import SYSTEM_CLOCK
from .._core.duration import INFINITY, seconds
from .._core.failure import shorten
from .._core.group_settings import MIN_GAP, distinct
from .._core.settings import UNSET, Settings
from ._ask import MOST_FAILURES, SharedAsk, SoleAsk
from ._bound_operation import BoundOperation
from ._ending import reporting
from ._error_predicates import is_throttle, is_transient
from ._identifiers import identifier
from ._limits import limits
from ._panel import Panel
from ._request import Request
from ._sharing_rule import sharings_of
from ._terms import MISSING_GRACE, Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._events import Hook
    from ._definition import Definition
    from ._sharing import Sharing


class Plan:
    """One waiter, but for the driver that makes its calls.

    Args:
        client: the client.
        definition: what is waited for.
        schedule: when to look; None to do as the definition says.
        missing_grace: for how long a thing may be missing.
        min_gap: seconds between two calls that share, at the least.
        until_stable: how many good answers in a row it takes.
        clock: tells the time; None for the system's.
        rng: draws jitter.
        on_event: the listener.
        ways: how calls are shared; by default as the rule and the table of operations say.
        explains: whether errors name the acceptor that matched.

    Raises:
        TypeError, ValueError: an argument is of no use.

    Attributes:
        operation: the operation of the client.
        definition: what is waited for.
        schedule: as given.
    """

    __slots__ = ("_group", "_min_gap", "_terms", "_ways", "definition", "operation", "schedule")

    def __init__(
        self,
        client: Any,
        definition: Definition,
        *,
        schedule: Schedule | None = None,
        missing_grace: Duration = MISSING_GRACE,
        min_gap: Duration = MIN_GAP,
        until_stable: int = 1,
        clock: Any = None,
        rng: Rng | None = None,
        on_event: Hook | None = None,
        ways: Sequence[Sharing] | None = None,
        explains: bool = True,
    ) -> None:
        self.definition = definition
        self.schedule = schedule
        self.operation = operation = BoundOperation(client, definition.operation)
        Settings(clock=clock, rng=rng, on_event=on_event)  # refuses what is none of these
        if schedule is not None:
            Settings(schedule=schedule)
        self._min_gap = seconds(min_gap, "min_gap")
        self._group = {"clock": clock, "rng": rng, "on_event": reporting(on_event)}
        self._terms = Terms(
            definition,
            missing_grace=missing_grace,
            until_stable=until_stable,
            monotonic=(SYSTEM_CLOCK if clock is None else clock).monotonic,
            explains=explains,
        )
        service = operation.service
        known = () if service is None else sharings_of(service, operation.name)
        self._ways = known if ways is None else tuple(ways)

    def request(self, params: Mapping[str, Any]) -> Request:
        """Return what a wait with these parameters asks for.

        Raises:
            TypeError: the operation takes no such parameters, or an id stands in place of a list.
            ValueError: a list of ids is empty: that would ask for all there is.
        """
        self.operation.check(params)
        for way in self._ways:
            _refuse_no_list(way, params)
        sharing = next((way for way in self._ways if way.parameter in params), None)
        return Request(params, sharing, self.definition.name)

    def requests(self, ids: Iterable[str], params: Mapping[str, Any]) -> dict[Request, str]:
        """Return what waits for these ids ask for, one for each, and the id of each.

        Raises:
            TypeError: an id is no str, or the operation does not tell things apart by one.
            ValueError: an id is empty.
        """
        requests: dict[Request, str] = {}
        for each in distinct(ids):
            if not isinstance(each, str):
                raise TypeError(f"ids must be str: got {shorten(each)}")
            if not each:
                raise ValueError("ids must not be empty: got ''")
            requests[self.request(self._params_for(each, params))] = each
        return requests

    def settings(
        self,
        requests: Iterable[Request],
        *,
        timeout: Duration | Unset | None = UNSET,
        schedule: Schedule | None = None,
        cancel: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return what the settings of waits are to say that begin together.

        Raises:
            TypeError, ValueError: an argument is of no use.
        """
        if schedule is not None:
            Settings(schedule=schedule)  # refuses what is none
        chosen, limit = limits(
            self.definition,
            schedule=self.schedule if schedule is None else schedule,
            timeout=timeout,
            config=config,
        )
        return self.judged(requests, schedule=chosen, timeout=limit, cancel=cancel)

    def judged(
        self,
        requests: Iterable[Request],
        *,
        schedule: Schedule,
        timeout: Duration | Unset | None,
        cancel: Any,
    ) -> dict[str, Any]:
        """Return what the settings of waits are to say whose limits are known."""
        panel = Panel(requests, self._terms)
        return {**panel.settings(), "schedule": schedule, "timeout": timeout, "cancel": cancel}

    def group(self, request: Request) -> dict[str, Any]:
        """Return the settings of the group in which such a request travels, all but the fetch."""
        sharing = request.sharing
        alone = {"max_size": 1, "min_gap": 0.0}
        together = {"max_size": sharing.limit, "min_gap": self._min_gap} if sharing else alone
        return {
            **self._group,
            **together,
            "retry_on": is_transient,
            "is_throttle": is_throttle,
        }

    def ask(self, requests: list[Request], suspects: dict[str, None]) -> SharedAsk | SoleAsk:
        """Return the calls that some requests of one group need.

        Where things are to be gone, each of them may spoil a call, and all have to be found.

        Args:
            requests: the requests.
            suspects: the group's memory of ids that spoil calls.
        """
        sharing = requests[0].sharing
        if sharing is None:
            return SoleAsk(requests)
        most = INFINITY if self._terms.awaits_absence else MOST_FAILURES
        return SharedAsk(requests, sharing, suspects, most)

    def _params_for(self, each: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._ways:
            way = self._ways[0]
            if way.parameter in params:
                raise TypeError(f"{way.parameter} must not be given beside ids")
            return way.with_ids(params, [each])
        return {**params, identifier(self.operation, self.definition.name, params): each}


def _refuse_no_list(way: Sharing, params: Mapping[str, Any]) -> None:
    if way.parameter not in params:
        return
    ids = params[way.parameter]
    if isinstance(ids, (str, bytes)):
        raise TypeError(f"{way.parameter} must be a list of ids: got {way.parameter}={ids!r}")
    if isinstance(ids, (list, tuple)) and not ids:
        raise ValueError(
            f"{way.parameter} must not be empty, which would ask for all there is:"
            f" got {way.parameter}={ids!r}"
        )
