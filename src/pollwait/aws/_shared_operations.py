"""Facts about operations that take lists of ids, where the service's model does not tell them.

Limits and codes are those of botocore's service models, whose texts are AWS's own API references: a
limit here is what the text of the parameter says, and one that the list's shape has is found by the
rule. What the rule in ``_sharing_rule`` finds by itself has no line here.
"""

from __future__ import annotations

from typing import Any

# Ids in a call where nobody states how many an operation takes, which is our own choice: the least
# that AWS states for any operation in this table. Calls too many are better than refused ones.
PRUDENT_LIMIT = 10

# EC2 states a limit for a few of its operations only. For the others this is prudent: a page holds
# up to 1,000 items (the most that ``MaxResults`` may be), and the AWS EBS CSI driver asks for 500
# volumes in a call (``newBatcherManager`` in its pkg/cloud/cloud.go).
EC2_LIMIT = 500

# By service and operation, one line for each list of ids: the first is the one that is used where
# the caller does not say. Each line replaces what the rule finds of these fields of a ``Sharing``.
OPERATIONS: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
    # 50 names where MaxRecords, which does not go with ids here, does not allow more.
    ("autoscaling", "DescribeAutoScalingGroups"): {"AutoScalingGroupNames": {"limit": 50}},
    ("batch", "DescribeComputeEnvironments"): {"computeEnvironments": {"limit": 100}},
    ("batch", "DescribeJobDefinitions"): {"jobDefinitions": {"limit": 100}},
    ("batch", "DescribeJobQueues"): {"jobQueues": {"limit": 100}},
    ("batch", "DescribeJobs"): {"jobs": {"limit": 100}},
    # Named in EC2's list of error codes, as are those of the images and the key pairs.
    ("ec2", "DescribeBundleTasks"): {
        "BundleIds": {
            "results": (("BundleTasks",),),
            "id_fields": ("BundleId",),
            "not_found": ("InvalidBundleID.NotFound",),
        }
    },
    ("ec2", "DescribeImages"): {
        "ImageIds": {"not_found": ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable")}
    },
    ("ec2", "DescribeImportSnapshotTasks"): {
        "ImportTaskIds": {"results": (("ImportSnapshotTasks",),), "id_fields": ("ImportTaskId",)}
    },
    # The one operation here whose items lie in lists within a list.
    ("ec2", "DescribeInstances"): {
        "InstanceIds": {"results": (("Reservations", "Instances"),), "id_fields": ("InstanceId",)}
    },
    # It shows running instances alone, unless it is asked to IncludeAllInstances.
    ("ec2", "DescribeInstanceStatus"): {
        "InstanceIds": {
            "results": (("InstanceStatuses",),),
            "id_fields": ("InstanceId",),
            "limit": 100,
            "omits_unless": "IncludeAllInstances",
        }
    },
    ("ec2", "DescribeKeyPairs"): {
        "KeyPairIds": {"not_found": ("InvalidKeyPair.NotFound",)},
        "KeyNames": {
            "results": (("KeyPairs",),),
            "id_fields": ("KeyName",),
            "not_found": ("InvalidKeyPair.NotFound",),
        },
    },
    ("ec2", "DescribeStoreImageTasks"): {
        "ImageIds": {
            "results": (("StoreImageTaskResults",),),
            "id_fields": ("AmiId",),
            "limit": 20,
            "not_found": ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable"),
        }
    },
    ("ecs", "DescribeDaemonDeployments"): {"daemonDeploymentArns": {"limit": 20}},
    ("ecs", "DescribeClusters"): {"clusters": {"limit": 100}},
    ("ecs", "DescribeContainerInstances"): {"containerInstances": {"limit": 100}},
    ("ecs", "DescribeServices"): {"services": {"limit": 10}},
    ("ecs", "DescribeTasks"): {"tasks": {"limit": 100}},
    ("elb", "DescribeInstanceHealth"): {
        "Instances": {
            "member": "InstanceId",
            "results": (("InstanceStates",),),
            "id_fields": ("InstanceId",),
            "not_found": ("InvalidInstance",),
        }
    },
    # The text of the ARNs says 20, that of the names nothing: it is the same call.
    ("elbv2", "DescribeLoadBalancers"): {
        "LoadBalancerArns": {"limit": 20},
        "Names": {"limit": 20},
    },
    # One instance may be a target several times, by different ports.
    ("elbv2", "DescribeTargetHealth"): {
        "Targets": {
            "member": "Id",
            "qualifier": "Port",
            "results": (("TargetHealthDescriptions",),),
            "id_fields": ("Target.Id",),
            "not_found": ("InvalidTarget",),
        }
    },
    # The name of a version stands in the ARN alone, before the time of its creation.
    ("rekognition", "DescribeProjectVersions"): {
        "VersionNames": {
            "results": (("ProjectVersionDescriptions",),),
            "arn_fields": ("ProjectVersionArn",),
            "arn_part": -2,
        }
    },
    # 100 in the text of the operation. The answer is a mapping, and leaves out who is unknown.
    ("ses", "GetIdentityVerificationAttributes"): {
        "Identities": {"results": (("VerificationAttributes",),), "keyed": True, "limit": 100}
    },
}
