"""What a waiter makes of its own arguments and of those of its waits: all that needs no driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .._clock import SYSTEM_CLOCK
from .._core.duration import seconds
from .._core.failure import shorten
from .._core.group_settings import MIN_GAP
from .._core.settings import UNSET, Settings
from ._answer import is_answer
from ._ask import SharedAsk
from ._bound_operation import BoundOperation
from ._catalogue import definition_of
from ._definition import Definition
from ._ending import reporting
from ._error_predicates import is_throttle, is_transient
from ._hopeless import sharpened
from ._identifiers import identifier
from ._limits import limits
from ._names import alternatives
from ._operations import refuse_resource
from ._panel import Panel
from ._request import Request, distinct_ids, is_collection
from ._sharing_rule import sharings_of
from ._sole_ask import SoleAsk
from ._terms import MISSING_GRACE, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import TypeIs

    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Unset
    from .._events import Hook
    from ._answer import Refusal
    from ._memory import Memory
    from ._sharing import Sharing
    from ._waiter_model import Document


class Plan:
    """One waiter, but for the driver that makes its calls.

    Args:
        client: the client.
        definition: what is waited for.
        schedule: when to look; None to do as the definition says.
        missing_grace: for how long a thing may be missing.
        min_gap: seconds between two calls that share, at the least.
        until_stable: how many good answers in a row it takes.
        clock: tells the time; None for that of the driver.
        rng: draws jitter.
        on_event: the listener.
        ways: how calls are shared; by default as the rule and the table of operations say.
        explains: whether errors name the acceptor that matched.
        monotonic: the driver's own time.

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
        monotonic: Callable[[], float] = SYSTEM_CLOCK.monotonic,
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
            monotonic=monotonic if clock is None else clock.monotonic,
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
            if way.parameter in params:
                params = {**params, way.parameter: _list_of_ids(way.parameter, params)}
        sharing = next((way for way in self._ways if way.parameter in params), None)
        return Request(params, sharing, self.definition.name, ways=self._ways)

    def requests(
        self, ids: Iterable[str], params: Mapping[str, Any], by: str | None = None
    ) -> dict[Request, str]:
        """Return what waits for these ids ask for, one for each, and the id of each.

        Args:
            ids: the ids.
            params: what else each call says.
            by: the parameter that they belong to; None for the one that goes without saying.

        Raises:
            TypeError: an id is no str, or the operation does not tell things apart by one.
            ValueError: an id is empty, or ``by`` is no parameter for ids.
        """
        wanted = distinct_ids(ids)
        way, name = self._asked_by(by, params)
        if name in params:
            raise TypeError(f"{name} must not be given beside ids")
        self.operation.check([*params, name])
        requests: dict[Request, str] = {}
        for each in wanted:
            if not each:
                raise ValueError("ids must not be empty: got ''")
            asked = {**params, name: each} if way is None else way.with_ids(params, [each])
            requests[self.request(asked)] = each
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
        Settings(timeout=timeout, cancel=cancel)  # also where nothing is waited for
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

    def ask(self, requests: list[Request], memory: Memory) -> SharedAsk | SoleAsk:
        """Return the calls that some requests of one group need.

        Args:
            requests: the requests.
            memory: that of the group.
        """
        sharing = requests[0].sharing
        if sharing is None:
            return SoleAsk(requests, self._is_answer)
        return SharedAsk(requests, sharing, memory, self._is_answer)

    def _is_answer(self, error: object) -> TypeIs[Refusal]:
        """Tell whether an error is for the acceptors: of those that may pass, if one names it."""
        if is_answer(error):
            return True
        return isinstance(error, ClientError) and self.definition.decides(error)

    def _asked_by(self, by: str | None, params: Mapping[str, Any]) -> tuple[Sharing | None, str]:
        """Return how ids are asked for, by lists or one by one, and by which parameter."""
        ways = {way.parameter: way for way in self._ways}
        if by is None and not ways:
            return None, identifier(self.operation, self.definition.name, params)
        name = next(iter(ways)) if by is None else by
        texts = self.operation.texts()
        if name not in ways and texts is not None and name not in texts:
            raise ValueError(f"by must be {alternatives([*ways, *texts])}: got by={by!r}")
        return ways.get(name), name


def named_plan(
    client: Any, name: str | Definition, model: Document | Definition | None, **options: Any
) -> Plan:
    """Return the plan of a waiter that goes by a name, or by a definition.

    Raises:
        TypeError, ValueError: there is no such waiter, or an argument is of no use.
    """
    refuse_resource(client)
    definition = definition_of(client, name, model)
    if model is None and not isinstance(name, Definition):
        definition = sharpened(definition)
    return Plan(client, definition, **options)


def _list_of_ids(name: str, params: Mapping[str, Any]) -> Sequence[Any]:
    """Return the list of ids that a caller gave, whatever it came in."""
    ids: Any = params[name]
    if not is_collection(ids):
        raise TypeError(f"{name} must be a list of ids: got {name}={shorten(ids)}")
    several: Sequence[Any] = ids if type(ids) in (list, tuple) else list(ids)
    if not several:
        raise ValueError(
            f"{name} must not be empty, which would ask for all there is: got {name}={ids!r}"
        )
    if "" in several:
        raise ValueError(f"{name} must not hold an empty id: got {name}={shorten(ids)}")
    return several
