"""By which parameter an operation is asked for one thing, where it takes no list of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._bound_operation import BoundOperation

# Those that are not required, since without them the operation describes all there is. By service
# and operation; the services that share an API with another one have the same names.
_RELATIONAL = {
    "DescribeDBClusters": "DBClusterIdentifier",
    "DescribeDBClusterSnapshots": "DBClusterSnapshotIdentifier",
    "DescribeDBInstances": "DBInstanceIdentifier",
    "DescribeDBSnapshots": "DBSnapshotIdentifier",
    "DescribeIntegrations": "IntegrationIdentifier",
    "DescribeTenantDatabases": "TenantDBName",
}
IDENTIFIERS: dict[str, dict[str, str]] = {
    "cloudformation": {"DescribeStacks": "StackName"},
    "docdb": _RELATIONAL,
    "elasticache": {
        "DescribeCacheClusters": "CacheClusterId",
        "DescribeReplicationGroups": "ReplicationGroupId",
    },
    "iam": {"GetUser": "UserName"},
    "kinesis": {"DescribeStream": "StreamName"},
    "neptune": _RELATIONAL,
    "network-firewall": {"DescribeFirewallPolicy": "FirewallPolicyName"},
    "rds": _RELATIONAL,
    "redshift": {
        "DescribeClusters": "ClusterIdentifier",
        "DescribeClusterSnapshots": "SnapshotIdentifier",
    },
}


def identifier(operation: BoundOperation, waiter: str, params: Mapping[str, Any]) -> str:
    """Return the parameter that names what one wait is for.

    Raises:
        TypeError: several may, or none does.
    """
    service = operation.service
    name = None
    if service is not None:
        name = IDENTIFIERS.get(service.service_name, {}).get(operation.name)
    if name is None:
        required = [name for name in operation.required_texts() if name not in params]
        if len(required) != 1:
            raise TypeError(
                f"{waiter} does not say by which parameter of {operation.name} the ids are to be"
                f" given{_candidates(required)}: name it, as in by='Name', or call wait for each,"
                " in threads of your own"
            )
        (name,) = required
    return name


def _candidates(required: list[str]) -> str:
    return f" (required are {', '.join(required)}; give all but one)" if required else ""
