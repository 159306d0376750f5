"""AWS: waiters for every operation that botocore has one for, and the parts that they are made of.

Clients are passed in. Nothing here builds one or reads credentials.

The predicates also work with plain ``pollwait.poll``::

    poll(
        lambda: ec2.describe_volumes(VolumeIds=[volume_id]),
        until=aws.path_all("Volumes[].State", "available"),
        fail=aws.path_any("Volumes[].State", "error"),
        retry_on=[aws.error_code("InvalidVolume.NotFound"), aws.is_transient],
        timeout=60,
    )

A volume that was just created may be unknown to EC2 for a moment, hence the error code.

What lies where: the faces are ``_waiter``, ``_ebs``, ``_describer``, ``_pages`` and ``_define``,
each with its twin for event loops in ``_aio_…``. All but these and the drivers is pure. By subject:

- predicates: ``_response_predicates`` and ``_error_predicates``, over ``_expression`` and
  ``_document``;
- what a waiter looks for: ``_definition``, made of ``_acceptors``; ``_catalogue`` finds those of
  botocore and ``_waiter_model`` reads one's own; ``_absence``, ``_hopeless``, ``_operations`` and
  ``_names`` know what the definitions do not say;
- how an operation is asked for many ids: ``_sharing``, by ``_sharing_rule`` and the table in
  ``_shared_operations``; ``_element``, ``_named_ids`` and ``_identifiers``;
- one call: ``_request``, ``_ask`` with ``_turns`` and ``_memory`` or ``_sole_ask``, ``_answer``,
  ``_parts``, ``_merging`` and ``_bound_operation``;
- one wait: ``_plan``, ``_limits``, ``_terms``, ``_panel``, ``_verdict`` and ``_grace``;
  ``_ending``, ``_errors`` and ``_reason`` for its error; ``_volume`` for that of the EBS waiter;
- describing: ``_questions``, ``_personal`` (what is never shared) and ``_not_described``;
- drivers: ``_groups`` over ``_shelf``, and ``_batches``.
"""

from __future__ import annotations

try:
    from ._define import define
    from ._definition import Definition
    from ._describer import Describer, describer
    from ._ebs import VolumeAvailableWaiter
    from ._error_predicates import error_code, is_throttle, is_transient
    from ._errors import (
        WaiterCancelled,
        WaiterError,
        WaiterExhausted,
        WaiterFailed,
        WaiterTimeout,
    )
    from ._not_described import NotDescribed
    from ._pages import pages
    from ._response_predicates import path, path_all, path_any, status
    from ._volume import Volume
    from ._waiter import Waiter, waiter
except ModuleNotFoundError as missing:
    package = (missing.name or "").partition(".")[0]
    if package not in {"botocore", "jmespath"}:
        raise
    raise ImportError(
        f'pollwait.aws needs {package}, which is not installed: pip install "pollwait[aws]"',
        name=package,
    ) from missing

__all__ = [
    "Definition",
    "Describer",
    "NotDescribed",
    "Volume",
    "VolumeAvailableWaiter",
    "Waiter",
    "WaiterCancelled",
    "WaiterError",
    "WaiterExhausted",
    "WaiterFailed",
    "WaiterTimeout",
    "define",
    "describer",
    "error_code",
    "is_throttle",
    "is_transient",
    "pages",
    "path",
    "path_all",
    "path_any",
    "status",
    "waiter",
]
