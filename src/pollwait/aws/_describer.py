"""The public face of describing on threads: ``describer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.settings import Settings
from ._batches import batched
from ._questions import questions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from .._clock import Clock
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from ._batches import BatchedItems, BatchedResponses


def describer(
    client: Any,
    operation: str,
    /,
    *,
    by: str | None = None,
    max_delay: Duration = 0.05,
    max_size: int | None = None,
    clock: Clock | None = None,
    on_event: BatchHook | None = None,
    **params: Any,
) -> Describer:
    """Return a ``Describer``, through which many callers share the calls of one operation.

    Args:
        client: of boto3 or botocore, used as it is. Clients of boto3 serve any number of threads.
        operation: one that only reads, such as ``"describe_instances"`` or ``"DescribeInstances"``.
        by: the list of ids to ask by, where the operation takes more than one: ``"GroupNames"``, or
            ``"GroupIds"``, for describe_security_groups. By default by ids or ARNs, not by names.
        max_delay: seconds from the first question until the call goes out, with all who ask
            meanwhile.
        max_size: the most ids in a call; by default as many as the operation takes.
        clock: tells the time, as in ``Batcher``.
        on_event: called with a ``Batched`` event for each batch, which tells how many further calls
            it took to find ids that spoiled the first (``isolations``).
        params: further parameters of every call, such as ``cluster="main"``.

    Returns:
        A describer, for any number of threads. Those who ask the same one share calls.

    Raises:
        TypeError: the client has no service model or is one for asyncio, or the operation does not
            take such parameters.
        ValueError: the service has no such operation (the error names near ones), it changes
            something, streams or gives each caller something of its own (a random password, a task
            from a queue, credentials), or an argument is out of its range.

    Example:
        >>> from boto3 import client
        >>> from botocore.stub import Stubber
        >>> keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        >>> ec2 = client("ec2", region_name="us-east-1", **keys)
        >>> answer = {"Volumes": [{"VolumeId": "vol-1", "State": "available"}]}
        >>> stubber = Stubber(ec2)
        >>> stubber.add_response("describe_volumes", answer, {"VolumeIds": ["vol-1"]})
        >>> with stubber, describer(ec2, "describe_volumes") as volumes:
        ...     volumes.get("vol-1")["State"]
        'available'
    """
    asked = questions(client, operation, by, max_size, params)
    asked.bound.refuse_asynchronous()
    Settings(clock=clock, on_event=on_event)  # refuses what is none of these
    options: Any = {"max_delay": max_delay, "clock": clock, "on_event": on_event}
    return Describer(batched(asked, **options))


class Describer:
    """Describes things for many callers in few calls; made by ``aws.describer``.

    What it does depends on the operation. One that takes a list of ids is asked by ``get(id)``:
    different ids travel together, and each caller gets its own item. Any other is asked by
    ``get(**parameters)``: equal questions that are asked at about the same time are one call, whose
    whole response all get.

    All pages of an answer are read. Nothing is cached: an answer is that of a call that started
    after the question. Callers that asked the same share one object, so do not change it.

    Use it in a ``with`` statement, or ``close`` it.

    Timing:
        Any number of threads may share it. Calls are made in threads of its own. The retries that
        botocore makes are part of a call.
    """

    __slots__ = ("_asked",)

    def __init__(self, asked: BatchedItems | BatchedResponses) -> None:
        self._asked = asked

    def get(
        self, id_: str | None = None, /, *, timeout: Duration | None = None, **params: Any
    ) -> dict[str, Any]:
        """Describe one thing.

        Args:
            id_: what to describe, where the operation takes a list of ids; by id, name or ARN as
                that list has them.
            timeout: the most seconds to wait for the answer; None for as long as it takes.
            params: those of the call, where the operation takes no list of ids:
                ``get(DBInstanceIdentifier="db-1")``.

        Returns:
            The item as the service describes it; without an id, the whole response.

        Raises:
            NotDescribed: the service does not know the id, whether by an error or by leaving it
                out. It is a ``LookupError``. Those who asked for other ids are not concerned.
            ClientError: the service's error, one for each caller, with the original as the cause.
                One that is about some ids only (malformed, say) reaches only those who asked for
                these.
            TimeoutError: there was no answer in time.
            TypeError, ValueError: no id that the operation could take, or no such parameters; the
                error says what it takes. No call has been made.
            BatcherClosed, BatcherFull: as ``Batcher.load`` does.
        """
        return self._asked.get(id_, params, timeout)

    def get_many(
        self, ids: Iterable[str], *, timeout: Duration | None = None
    ) -> dict[str, dict[str, Any] | Exception]:
        """Describe many things, in as few calls as the operation allows.

        Args:
            ids: what to describe, in any number.
            timeout: the most seconds to wait for all of them.

        Returns:
            For each id its item or its error, as ``get`` returns or raises them, in the order of
            the ids. Nothing is called for no ids.

        Raises:
            TypeError, ValueError: the operation takes no list of ids, or these are none.
            BatcherClosed: the describer is closed.
        """
        return self._asked.get_many(ids, timeout)

    def close(self, drain: bool = True, timeout: Duration | None = None) -> None:
        """Refuse new questions, and answer those that there are; as ``Batcher.close`` does."""
        self._asked.calls.close(drain, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(drain=kind is None)

    def __repr__(self) -> str:
        return f"<Describer: {self._asked}>"
