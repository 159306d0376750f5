"""How operations share calls: for which ids a call asks, and which items answer which of them (W5).

A ``Sharing`` describes one way to ask one operation for a list of ids. It knows nothing of time and
makes no calls. ``sharing_of``, in ``_sharing_rule``, finds it for an operation, by a rule over the
service's model and a checked table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError, ParamValidationError

from .._core.value import Value
from ._document import elements, mapping, member
from ._element import Element, named
from ._error_predicates import code_of, error_code, is_transient, message_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

# Parameters for reading in pages, in lower case, since services differ in that. EC2 refuses a page
# size together with ids, as the documentation of MaxResults says, and an answer cut to fewer items
# than ids would take some of them for missing. Source: the paginators of botocore's data.
PAGING = frozenset(
    {
        "limit",
        "marker",
        "maxitems",
        "maxrecords",
        "maxresults",
        "nextmarker",
        "nexttoken",
        "pagesize",
        "pagetoken",
        "startingtoken",
    }
)

# Codes of errors that may be about one id without naming it; ECS, for one, refuses a task id of a
# wrong length so. Source: the error shapes of the operations in the table, and the errors common to
# all services of the JSON protocol.
MALFORMED = frozenset(
    {"InvalidParameterException", "InvalidTarget", "ValidationError", "ValidationException"}
)


class Sharing(Value):
    """One way to ask an operation for many things by their ids.

    Attributes:
        operation: the name of the operation in the API, ``"DescribeVolumes"``.
        parameter: the list of ids among its parameters, ``"VolumeIds"``.
        member: the member that holds the id where the list is one of structures, such as
            ``"InstanceId"``; empty where it is a list of strings.
        qualifier: another member of such structures, and of items beside their ids, which tells
            several things with one id apart: the ``"Port"`` of a target.
        limit: the most ids in a call.
        results: where the items are in an answer: names of lists within lists,
            ``("Reservations", "Instances")``. More than one where an answer has several kinds.
        keyed: whether the result is a mapping from ids to items, not a list of items.
        id_fields: the members of an item by which it is known, with dots for members of members.
        arn_fields: members that hold an ARN, by a part of which the item is known as well.
        arn_part: which part of it, between slashes; -1 is the last.
        not_found: codes of the errors that say that there is no such thing.
        others: the operation's other lists of ids, by which a call may ask instead.
        omits_unless: the parameter without which the operation leaves out some of what exists;
            empty where it shows all.
    """

    __slots__ = (
        "operation",
        "parameter",
        "member",
        "qualifier",
        "limit",
        "results",
        "keyed",
        "id_fields",
        "arn_fields",
        "arn_part",
        "not_found",
        "others",
        "omits_unless",
    )
    operation: str
    parameter: str
    member: str
    qualifier: str
    limit: int
    results: tuple[tuple[str, ...], ...]
    keyed: bool
    id_fields: tuple[str, ...]
    arn_fields: tuple[str, ...]
    arn_part: int
    not_found: tuple[str, ...]
    others: tuple[str, ...]
    omits_unless: str

    def __init__(
        self,
        operation: str,
        parameter: str,
        *,
        limit: int,
        results: tuple[tuple[str, ...], ...],
        member: str = "",
        qualifier: str = "",
        keyed: bool = False,
        id_fields: tuple[str, ...] = (),
        arn_fields: tuple[str, ...] = (),
        arn_part: int = -1,
        not_found: tuple[str, ...] = (),
        others: tuple[str, ...] = (),
        omits_unless: str = "",
    ) -> None:
        self._fill(
            operation,
            parameter,
            member,
            qualifier,
            limit,
            results,
            keyed,
            id_fields,
            arn_fields,
            arn_part,
            not_found,
            others,
            omits_unless,
        )

    def ids(self, params: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the ids for which a call with these parameters asks, each once.

        Returns:
            The ids, none at all for an empty list. None if the call does not ask by this list, or
            by another one too: such a call cannot be shared.
        """
        if any(params.get(name) for name in self.others):
            return None
        return self.listed(params)

    def listed(self, params: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the ids in this list, whatever else a call asks by; None if it is no such list.

        What is named by more than an id, as a target with a port, has a name such as ``"i-1:80"``.
        """
        asked: object = params.get(self.parameter)
        if not isinstance(asked, (list, tuple)):
            return None
        ids = [self._id_in(element) for element in elements(cast("object", asked))]
        return (
            None if None in ids else tuple(dict.fromkeys(each for each in ids if each is not None))
        )

    def with_ids(self, params: Mapping[str, Any], ids: Iterable[str]) -> dict[str, Any]:
        """Return the parameters of a call for these ids, all else as in ``params``.

        Parameters for reading in pages are left out: they do not go together with ids.
        """
        kept = {name: value for name, value in params.items() if name.lower() not in PAGING}
        kept[self.parameter] = [self._element(each) for each in ids]
        return kept

    def found(self, response: object) -> dict[str, Any]:
        """Return the items of a response by all names under which they can be asked for.

        Where several items have one name, the first has it. What an answer lists as a failure, as
        ECS does with ``MISSING``, is no item.
        """
        found: dict[str, Any] = {}
        for path in self.results:
            for key, item in self._items(response, path):
                for name in self._names(key, item):
                    found.setdefault(name, item)
        return found

    def rebuilt(self, response: Mapping[str, Any], ids: Collection[str]) -> dict[str, Any]:
        """Return a response as if it had been asked for these ids alone.

        Lists that hold the items of others only lose them: an EC2 reservation without an instance
        of these ids is left out as well, so that counts are true. Failures of others are left out,
        and everything else stays. The parts of the response are shared, not copied.
        """
        wanted = {form for each in ids for form in self._forms(each)}
        rebuilt = {**response}
        for path in self.results:
            if path[0] in rebuilt:
                rebuilt[path[0]] = self._kept(rebuilt[path[0]], path[1:], wanted)
        if self.arn_fields and "failures" in rebuilt:
            failures = elements(rebuilt["failures"])
            rebuilt["failures"] = [each for each in failures if self._concerns(each, wanted)]
        return rebuilt

    def failures(self, response: object) -> dict[str, str]:
        """Return why a response shows no item for some ids, by all names of each.

        ECS says so in its answer (``MISSING``); most services do not, and then it is empty.
        """
        return {
            form: str(member(failure, "reason"))
            for failure in elements(member(response, "failures"))
            if isinstance(arn := member(failure, "arn"), str)
            for form in self._forms(arn)
        }

    def shows_all(self, params: Mapping[str, Any]) -> bool:
        """Tell whether an answer to such a call shows every id that exists.

        It does not where a filter is given as well, and where the operation leaves out some, as
        DescribeInstanceStatus does with instances that do not run. Then absence is no "not found".
        """
        filtered = any(
            value and name.lower().startswith("filter") for name, value in params.items()
        )
        return not filtered and (not self.omits_unless or bool(params.get(self.omits_unless)))

    def missing(self, error: BaseException, ids: Collection[str]) -> frozenset[str] | None:
        """Return those of the ids that an error says do not exist.

        Returns:
            The ids; empty if the error says that some id does not exist but not which; None if it
            says nothing of the kind.
        """
        return self.blamed(error, ids) if self.is_missing(error) else None

    def blamed(self, error: BaseException, ids: Collection[str]) -> frozenset[str] | None:
        """Return those of the ids that spoil a call: missing, malformed or not for this caller.

        Without them the call may well succeed. It is what the ``isolate`` of a batcher needs.

        Returns:
            The ids; empty if the error is about some id but does not say which; None if it is no
            matter of ids, as throttling and all that may pass by itself.
        """
        if isinstance(error, ParamValidationError):
            return frozenset()  # botocore's own, before any call: halving costs nothing
        if not isinstance(error, ClientError) or is_transient(error):
            return None
        culprits = named(message_of(error), ids)
        return culprits if culprits or self._is_about_some_id(error) else None

    def names_missing(self, error: BaseException, one: str) -> bool:
        """Tell whether an error says that it is this id which does not exist, and nothing else."""
        return bool(self.missing(error, (one,))) or (
            isinstance(error, ClientError) and self._is_not_found(error)
        )

    def is_missing(self, error: BaseException) -> bool:
        """Tell whether an error says that something does not exist, of whatever kind that is."""
        if not isinstance(error, ClientError):
            return False
        return self._is_not_found(error) or says_not_found(code_of(error))

    def _is_not_found(self, error: ClientError) -> bool:
        return bool(self.not_found) and error_code(*self.not_found)(error)

    def _is_about_some_id(self, error: ClientError) -> bool:
        code = code_of(error)
        return self._is_not_found(error) or code in MALFORMED or code.endswith(".Malformed")

    def _id_in(self, element: object) -> str | None:
        """Return the id of one element of the list of ids; None if it is more than an id."""
        if not self.member:
            return element if isinstance(element, str) else None
        one = member(element, self.member)
        more = [name for name in mapping(element) if name != self.member]
        if not isinstance(one, str) or (more and not self.qualifier):
            return None
        name = self._qualified(one, element)
        return Element(name, one, mapping(element)) if more else one

    def _element(self, one: str) -> object:
        """Return what stands for an id in the list of a call."""
        if isinstance(one, Element):
            return {**one.element}
        return {self.member: one} if self.member else one

    def _qualified(self, one: str, holder: object) -> str:
        """Return an id with what tells it from others with the same one, if it is there."""
        more = member(holder, self.qualifier)
        return one if more is None else f"{one}:{more}"

    def _items(self, response: object, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        """Yield each item below a response with its key, which is empty where items have none."""
        inner = member(response, path[0])
        if len(path) > 1:
            for each in elements(inner):
                yield from self._items(each, path[1:])
        elif self.keyed:
            yield from mapping(inner).items()
        else:
            for item in elements(inner):
                yield "", item

    def _names(self, key: str, item: object) -> Iterator[str]:
        """Yield all names under which an item can be asked for."""
        if self.keyed:
            yield key
        for field in (*self.id_fields, *self.arn_fields):
            holder: object = item
            *outer, last = field.split(".")
            for part in outer:
                holder = member(holder, part)
            name = member(holder, last)
            if isinstance(name, str):
                yield from self._forms(name) if field in self.arn_fields else [name]
                if self.qualifier:
                    yield self._qualified(name, holder)

    def _forms(self, name: str) -> Iterator[str]:
        """Yield a name, and what else stands for it if it is an ARN whose parts are known."""
        yield name
        if self.arn_fields and name.startswith("arn:") and "/" in name:
            parts = name.split("/")
            yield parts[self.arn_part]
            yield f"{parts[0]}/{parts[-1]}"  # as ECS wrote ARNs before they named the cluster

    def _kept(self, part: object, path: tuple[str, ...], wanted: set[str]) -> object:
        """Return a list or mapping of items, or a list of what holds them, without the others."""
        if self.keyed:
            return {key: item for key, item in mapping(part).items() if key in wanted}
        if not path:
            return [each for each in elements(part) if not wanted.isdisjoint(self._names("", each))]
        holders = (
            {**mapping(each), path[0]: self._kept(member(each, path[0]), path[1:], wanted)}
            for each in elements(part)
        )
        return [holder for holder in holders if holder[path[0]]]

    def _concerns(self, failure: object, wanted: set[str]) -> bool:
        """Tell whether a failure is about one of the wanted ids, or about the call as a whole."""
        arn = member(failure, "arn")
        return not isinstance(arn, str) or any(form in wanted for form in self._forms(arn))


def says_not_found(code: str) -> bool:
    """Tell whether an error code says, in the manner of AWS, that something does not exist."""
    stem = code.removesuffix("Exception").removesuffix("Fault").removesuffix("Error")
    return stem.endswith(("NotFound", "DoesNotExist"))
