"""How operations share calls (W5): the rule, the table of exceptions, and what a sharing does."""

from __future__ import annotations

import json
import pickle
from functools import lru_cache
from pathlib import Path
from typing import Any

import botocore
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ParamValidationError
from botocore.loaders import Loader
from botocore.model import ServiceModel

from pollwait.aws._sharing import PAGING, Sharing
from pollwait.aws._sharing_rule import sharing_of, sharings_of, treatment

REVIEW = json.loads(Path(__file__).with_name("reviewed_operations.json").read_text("utf-8"))
SHARED: dict[str, str] = REVIEW["shared"]
NOT_SHARED: dict[str, list[str]] = REVIEW["equal calls are shared"]

LOADER = Loader()


@lru_cache
def model(service: str) -> ServiceModel:
    """Return a service's model from botocore's data, without a client."""
    return ServiceModel(LOADER.load_service_model(service, "service-2"), service)


def sharing(service: str, operation: str, **params: Any) -> Sharing:
    """Return how an operation is shared, which it is."""
    found = sharing_of(model(service), operation, params)
    assert found is not None
    return found


def error(code: str, message: str = "", status: int = 400) -> ClientError:
    """Return a service's error."""
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "Describe")


def waited_on() -> set[tuple[str, str]]:
    """Return the services and operations of all waiters in the installed botocore."""
    return {
        (service, waiter["operation"])
        for service in LOADER.list_available_services("waiters-2")
        for waiter in LOADER.load_service_model(service, "waiters-2")["waiters"].values()
    }


def reviewed() -> dict[tuple[str, str], str]:
    """Return what the review says of each operation."""
    shared = {tuple(name.split(".")): f"shares calls by {by}" for name, by in SHARED.items()}
    others = {
        (service, operation): "equal calls are shared"
        for service, operations in NOT_SHARED.items()
        for operation in operations
    }
    return {**shared, **others}  # type: ignore[dict-item]


VOLUMES = sharing("ec2", "DescribeVolumes")
INSTANCES = sharing("ec2", "DescribeInstances")
SERVICES = sharing("ecs", "DescribeServices")
TASKS = sharing("ecs", "DescribeTasks")
TARGETS = sharing("elbv2", "DescribeTargetHealth")
HEALTH = sharing("elb", "DescribeInstanceHealth")
ALARMS = sharing("cloudwatch", "DescribeAlarms")
IDENTITIES = sharing("ses", "GetIdentityVerificationAttributes")
VERSIONS = sharing("rekognition", "DescribeProjectVersions")


class TestReview:
    """What becomes of all operations that have waiters."""

    def test_operations_are_treated_as_reviewed(self) -> None:
        """Each reviewed operation that botocore has is treated as the review says (W5)."""
        known = reviewed()
        present = waited_on() & set(known)
        assert len(present) > 100
        treated = {key: treatment(model(key[0]), key[1]) for key in present}
        assert treated == {key: known[key] for key in present}

    def test_review_is_complete(self) -> None:
        """No operation with a waiter is left to the rule alone; newer ones are reported."""
        unreviewed = sorted(waited_on() - set(reviewed()))
        said = [
            f"{service}.{operation}: {treatment(model(service), operation)}"
            for service, operation in unreviewed
        ]
        if unreviewed and botocore.__version__ != REVIEW["botocore"]:
            pytest.skip(f"not reviewed: {'; '.join(said)}")
        assert not said

    def test_sharing_is_found_in_the_shapes(self) -> None:
        """Parameters, results and fields exist in the service's model as the sharing names them."""
        for service, operation in sorted(waited_on()):
            shapes = model(service).operation_model(operation)
            inputs: Any = shapes.input_shape
            for way in sharings_of(model(service), operation):
                element = inputs.members[way.parameter].member
                assert way.member == "" or way.member in element.members, way
                assert way.limit >= 1
                for path in way.results:
                    shape: Any = shapes.output_shape
                    for name in path:
                        shape = shape.members[name]
                        shape = shape.value if way.keyed else shape.member
                    for field in (*way.id_fields, *way.arn_fields):
                        inner = shape
                        for part in field.split("."):
                            inner = inner.members[part]
                        assert inner.type_name == "string", way

    def test_limits_stay_within_those_of_the_models(self) -> None:
        """No limit of the table exceeds what the list's own shape allows."""
        for service, operation in sorted(waited_on()):
            inputs: Any = model(service).operation_model(operation).input_shape
            for way in sharings_of(model(service), operation):
                most = inputs.members[way.parameter].metadata.get("max")
                assert most is None or way.limit <= most, way


class TestRule:
    """Which lists of ids the rule sees."""

    def test_list_named_after_the_items_is_one_of_ids(self) -> None:
        """``VolumeIds`` asks for ``Volumes[].VolumeId``, 500 at a time."""
        assert (VOLUMES.parameter, VOLUMES.limit) == ("VolumeIds", 500)
        assert (VOLUMES.results, VOLUMES.id_fields) == ((("Volumes",),), ("VolumeId",))

    @pytest.mark.parametrize(
        ("service", "operation", "parameters"),
        [
            ("ec2", "DescribeSnapshots", ["SnapshotIds"]),
            ("ec2", "DescribeImages", ["ImageIds"]),
            ("ec2", "DescribeImageUsageReports", ["ReportIds"]),
            ("redshift", "DescribeClusters", []),
            ("omics", "GetRun", []),
            ("ecr", "GetLifecyclePolicyPreview", []),
            ("dms", "DescribeReplicationTasks", []),
            ("rds", "DescribeDBInstances", []),
            ("ec2", "StartInstances", []),
            ("ec2", "TerminateInstances", []),
            ("license-manager", "ListLicenses", []),
        ],
    )
    def test_lists_that_narrow_are_none_of_ids(
        self, service: str, operation: str, parameters: list[str]
    ) -> None:
        """Owners, tags, states and filters are no ids, and operations that act share nothing."""
        ways = sharings_of(model(service), operation)
        assert [way.parameter for way in ways] == parameters

    def test_ids_come_before_names(self) -> None:
        """Where an operation takes ids and names, ids are the default."""
        ways = sharings_of(model("ec2"), "DescribeSecurityGroups")
        assert [way.parameter for way in ways] == ["GroupIds", "GroupNames"]
        assert sharing("ec2", "DescribeSecurityGroups").parameter == "GroupIds"
        images = model("appstream").operation_model("DescribeImages").input_shape
        assert list(images.members)[:2] == ["Names", "Arns"]  # the model has them in this order
        assert sharing("appstream", "DescribeImages").parameter == "Arns"

    def test_parameters_choose_among_several_lists(self) -> None:
        """A call by names is shared by names."""
        by_name = sharing("ec2", "DescribeSecurityGroups", GroupNames=["web"])
        assert (by_name.parameter, by_name.id_fields) == ("GroupNames", ("GroupName",))
        other = sharing("ec2", "DescribeSecurityGroups", Filters=[{"Name": "a", "Values": ["b"]}])
        assert other.parameter == "GroupIds"

    def test_lists_of_one_name_are_known_by_id_or_else_by_name(self) -> None:
        """Jobs are known by their ids, not by their names, which several may have."""
        jobs = sharing("batch", "DescribeJobs")
        assert (jobs.id_fields, jobs.arn_fields) == (("jobId",), ("jobArn",))
        assert SERVICES.id_fields == ("serviceName",)

    def test_lists_of_failures_hold_no_items(self) -> None:
        """What could not be described is listed apart, and looks much like an item."""
        collections = sharing("opensearchserverless", "BatchGetCollection")
        assert collections.results == (("collectionDetails",),)

    def test_words_for_several_are_understood(self) -> None:
        """Policies are named after a policy."""
        policies = sharing("dlm", "GetLifecyclePolicies")
        assert (policies.parameter, policies.id_fields) == ("PolicyIds", ("PolicyId",))

    def test_lists_of_other_items_are_left_alone(self) -> None:
        """Of several lists in an answer, those whose items are known otherwise are no result."""
        text = {"shape": "Text"}
        shapes = {
            "Text": {"type": "string"},
            "Kind": {"type": "string", "enum": ["a"]},
            "Texts": {"type": "list", "member": text},
            "Kinds": {"type": "list", "member": {"shape": "Kind"}},
            "Job": {"type": "structure", "members": {"JobName": text, "Kind": text}},
            "Jobs": {"type": "list", "member": {"shape": "Job"}},
            "OldJob": {"type": "structure", "members": {"Name": text}},
            "OldJobs": {"type": "list", "member": {"shape": "OldJob"}},
            "In": {
                "type": "structure",
                "members": {"JobNames": {"shape": "Texts"}, "Kinds": {"shape": "Kinds"}},
            },
            "Out": {
                "type": "structure",
                "members": {"Jobs": {"shape": "Jobs"}, "OldJobs": {"shape": "OldJobs"}},
            },
        }
        made: Any = ServiceModel(
            {
                "metadata": {"serviceId": "made up"},
                "operations": {
                    "DescribeJobs": {
                        "name": "DescribeJobs",
                        "input": {"shape": "In"},
                        "output": {"shape": "Out"},
                    }
                },
                "shapes": shapes,
            },
            "made-up",
        )
        (way,) = sharings_of(made, "DescribeJobs")
        assert (way.parameter, way.results) == ("JobNames", (("Jobs",),))
        assert (way.id_fields, way.limit) == (("JobName",), 10)

    def test_operation_without_ids_has_no_sharing(self) -> None:
        """A single identifier is no list."""
        assert sharing_of(model("rds"), "DescribeDBInstances") is None
        assert treatment(model("rds"), "DescribeDBInstances") == "equal calls are shared"

    def test_treatment_names_each_list_and_its_limit(self) -> None:
        """The phrase for the docs says by what and how many at a time."""
        phrase = "shares calls by GroupIds (500) or GroupNames (500)"
        assert treatment(model("ec2"), "DescribeSecurityGroups") == phrase

    @pytest.mark.parametrize(
        ("service", "operation", "codes"),
        [
            ("ec2", "DescribeVolumes", {"InvalidVolume.NotFound"}),
            ("ec2", "DescribeInstances", {"InvalidInstanceID.NotFound"}),
            ("ec2", "DescribeSnapshots", {"InvalidSnapshot.NotFound"}),
            ("ec2", "DescribeSubnets", {"InvalidSubnetID.NotFound"}),
            ("ec2", "DescribeVpcs", {"InvalidVpcID.NotFound"}),
            ("ec2", "DescribeNatGateways", {"NatGatewayNotFound"}),
            ("ec2", "DescribeImages", {"InvalidAMIID.NotFound"}),
            ("ec2", "DescribeSecurityGroups", {"InvalidGroup.NotFound"}),
            ("elbv2", "DescribeLoadBalancers", {"LoadBalancerNotFound"}),
            ("elb", "DescribeInstanceHealth", {"InvalidInstance"}),
            ("appstream", "DescribeFleets", {"ResourceNotFoundException"}),
            ("gamelift", "DescribeGameSessionQueues", {"NotFoundException"}),
            ("ds", "DescribeTrusts", {"EntityDoesNotExistException"}),
            ("dax", "DescribeClusters", {"ClusterNotFoundFault"}),
        ],
    )
    def test_not_found_codes_are_known(self, service: str, operation: str, codes: set[str]) -> None:
        """The codes that the service uses are among those of the sharing."""
        assert codes <= set(sharing(service, operation).not_found)

    @pytest.mark.parametrize(
        ("service", "operation"),
        [("ecs", "DescribeServices"), ("elbv2", "DescribeTargetHealth")],
    )
    def test_not_found_of_the_holder_is_no_matter_of_ids(
        self, service: str, operation: str
    ) -> None:
        """That the cluster or the target group does not exist says nothing of single ids.

        Nor does a code that does not say what is not found, where there is something to hold ids.
        """
        assert VERSIONS.not_found == ()
        way = sharing(service, operation)
        for code in ("ClusterNotFoundException", "TargetGroupNotFound"):
            assert way.missing(error(code, "not found"), ["web", "i-1"]) is None

    def test_sharing_is_a_value(self) -> None:
        """It can be compared, hashed and pickled."""
        again = pickle.loads(pickle.dumps(VOLUMES))
        assert again == VOLUMES
        assert hash(again) == hash(VOLUMES)


class TestParameters:
    """Which ids a call asks for, and calls for other ids."""

    def test_ids_are_those_of_the_list(self) -> None:
        """They come in their order, each once."""
        params = {"VolumeIds": ["vol-2", "vol-1", "vol-2"], "DryRun": False}
        assert VOLUMES.ids(params) == ("vol-2", "vol-1")
        assert VOLUMES.ids({"VolumeIds": ("vol-1",)}) == ("vol-1",)

    def test_no_list_is_not_an_empty_list(self) -> None:
        """Without the parameter there is no sharing by ids; an empty list is one of no ids."""
        assert VOLUMES.ids({"Filters": []}) is None
        assert VOLUMES.ids({"VolumeIds": []}) == ()
        assert VOLUMES.ids({"VolumeIds": [""]}) == ("",)

    @pytest.mark.parametrize("odd", ["vol-1", None, 5, ["vol-1", 5]])
    def test_what_is_no_list_of_ids_is_left_to_botocore(self, odd: Any) -> None:
        """A call that botocore will refuse is not shared."""
        assert VOLUMES.ids({"VolumeIds": odd}) is None

    def test_two_lists_at_once_are_not_shared(self) -> None:
        """A call by ids and by names has an answer of its own."""
        params = {"GroupIds": ["sg-1"], "GroupNames": ["web"]}
        assert sharing("ec2", "DescribeSecurityGroups", **params).ids(params) is None
        assert sharing("ec2", "DescribeSecurityGroups").ids({"GroupIds": ["sg-1"]}) == ("sg-1",)

    def test_structures_that_are_but_ids_are_shared(self) -> None:
        """Targets named by their id alone share calls."""
        assert TARGETS.ids({"Targets": [{"Id": "i-1"}, {"Id": "i-2"}]}) == ("i-1", "i-2")

    def test_structures_that_say_more_have_names_of_their_own(self) -> None:
        """A target with a port goes by both, and is asked for as it was given."""
        targets = [
            {"Id": "i-1", "Port": 80},
            {"Id": "i-1", "Port": 81, "AvailabilityZone": "all"},
            {"Id": "i-2"},
        ]
        ids = TARGETS.ids({"Targets": targets})
        assert ids == ("i-1:80", "i-1:81", "i-2")
        assert TARGETS.with_ids({"TargetGroupArn": "a"}, ids) == {
            "TargetGroupArn": "a",
            "Targets": targets,
        }
        assert TARGETS.ids({"Targets": [{"Port": 80}]}) is None
        classic = {"Instances": [{"InstanceId": "i-1", "Port": 80}]}
        assert sharing("elb", "DescribeInstanceHealth").ids(classic) is None

    def test_error_names_what_has_a_name_of_its_own_by_its_id(self) -> None:
        """The service names a target by its id; where several have that one, it names none."""
        refused = error("InvalidTarget", "The targets 'i-1' are not registered.")
        ids = TARGETS.ids({"Targets": [{"Id": "i-1", "Port": 80}, {"Id": "i-2", "Port": 80}]})
        assert ids is not None
        assert TARGETS.blamed(refused, ids) == {"i-1:80"}
        two = TARGETS.ids({"Targets": [{"Id": "i-1", "Port": 80}, {"Id": "i-1", "Port": 81}]})
        assert two is not None
        assert TARGETS.blamed(refused, two) == frozenset()
        assert TARGETS.blamed(refused, [*two, "i-1"]) == {"i-1"}

    def test_with_ids_keeps_all_else(self) -> None:
        """Other parameters stay, and what was given is not changed."""
        params = {"cluster": "main", "services": ["web"], "include": ["TAGS"]}
        asked = SERVICES.with_ids(params, ("api", "db"))
        assert asked == {"cluster": "main", "services": ["api", "db"], "include": ["TAGS"]}
        assert params["services"] == ["web"]

    def test_with_ids_wraps_ids_where_the_list_has_structures(self) -> None:
        """Each id becomes a structure of the list's own kind."""
        assert HEALTH.with_ids({"LoadBalancerName": "lb"}, ["i-1"]) == {
            "LoadBalancerName": "lb",
            "Instances": [{"InstanceId": "i-1"}],
        }

    @pytest.mark.parametrize("name", ["MaxResults", "NextToken", "maxResults", "Marker", "Limit"])
    def test_paging_never_goes_with_ids(self, name: str) -> None:
        """No call carries ids together with a page size or a token."""
        assert VOLUMES.with_ids({name: 5}, ["vol-1"]) == {"VolumeIds": ["vol-1"]}

    def test_all_paging_parameters_of_shared_operations_are_known(self) -> None:
        """The paginators in botocore's data use no parameter that a shared call would keep."""
        for name in SHARED:
            service, operation = name.split(".")
            paginators = LOADER.load_service_model(service, "paginators-1")["pagination"]
            paginator = paginators.get(operation, {})
            names = [paginator.get("limit_key", "limit"), paginator.get("input_token", "marker")]
            assert {each.lower() for each in names} <= PAGING


class TestItems:
    """Which item answers which id."""

    def test_items_are_found_by_their_ids(self) -> None:
        """Items without an id, and what is no item, are passed over."""
        answer = {"Volumes": [{"VolumeId": "vol-1", "State": "available"}, {"State": "x"}, None]}
        assert VOLUMES.found(answer) == {"vol-1": {"VolumeId": "vol-1", "State": "available"}}
        assert VOLUMES.found({"Volumes": None}) == VOLUMES.found(None) == {}

    def test_nested_items_are_found(self) -> None:
        """Instances are found within their reservations."""
        one, two = {"InstanceId": "i-1"}, {"InstanceId": "i-2"}
        answer = {"Reservations": [{"Instances": [one]}, {"Instances": [two]}, {}]}
        assert INSTANCES.found(answer) == {"i-1": one, "i-2": two}

    def test_items_are_found_by_name_and_by_arn(self) -> None:
        """An ECS service answers to its name, its ARN and the ARN without the cluster."""
        arn = "arn:aws:ecs:us-east-1:123456789012:service/main/web"
        web = {"serviceArn": arn, "serviceName": "web"}
        old = "arn:aws:ecs:us-east-1:123456789012:service/web"
        assert SERVICES.found({"services": [web]}) == {arn: web, "web": web, old: web}

    def test_tasks_are_found_by_their_short_ids(self) -> None:
        """A task has no member for its short id, which is the end of its ARN."""
        task = {"taskArn": "arn:aws:ecs:us-east-1:123456789012:task/main/0cc43cdb"}
        assert TASKS.found({"tasks": [task]})["0cc43cdb"] is task

    def test_versions_are_found_by_the_name_in_the_arn(self) -> None:
        """The name of a Rekognition version is the part of the ARN before the time."""
        arn = "arn:aws:rekognition:us-east-1:123456789012:project/p/version/v.1/1234567890123"
        version = {"ProjectVersionArn": arn}
        assert VERSIONS.found({"ProjectVersionDescriptions": [version]})["v.1"] is version

    def test_items_of_several_kinds_are_found(self) -> None:
        """Alarms of all kinds are found; of two with one name, the first."""
        metric, composite = {"AlarmName": "a"}, {"AlarmName": "b"}
        answer = {"MetricAlarms": [metric], "CompositeAlarms": [composite, {"AlarmName": "b"}]}
        found = ALARMS.found(answer)
        assert found["a"] is metric
        assert found["b"] is composite

    def test_mappings_are_found_by_their_keys(self) -> None:
        """An answer that is a mapping from ids has its items there."""
        answer = {"VerificationAttributes": {"a@b.c": {"VerificationStatus": "Success"}}}
        assert IDENTITIES.found(answer) == {"a@b.c": {"VerificationStatus": "Success"}}

    def test_inner_ids_are_found(self) -> None:
        """A target's id lies one level below the item, and so does its port."""
        item = {"Target": {"Id": "i-1", "Port": 80}, "TargetHealth": {"State": "healthy"}}
        found = TARGETS.found({"TargetHealthDescriptions": [item]})
        assert found == {"i-1": item, "i-1:80": item}
        item = {"Target": {"Id": "lambda"}}
        assert TARGETS.found({"TargetHealthDescriptions": [item]}) == {"lambda": item}

    def test_failures_are_no_items(self) -> None:
        """What an answer lists as missing is not found, and its reason is told."""
        arn = "arn:aws:ecs:us-east-1:123456789012:service/web"
        answer = {"services": [], "failures": [{"arn": arn, "reason": "MISSING"}]}
        assert SERVICES.found(answer) == {}
        assert SERVICES.failures(answer) == {arn: "MISSING", "web": "MISSING"}
        assert VOLUMES.failures({"Volumes": []}) == {}


class TestRebuilt:
    """A response as if it had been asked for fewer ids."""

    def test_rebuilt_keeps_own_items_and_all_else(self) -> None:
        """The items of others go, everything else stays, and the response is not changed."""
        answer = {
            "Volumes": [{"VolumeId": "vol-1"}, {"VolumeId": "vol-2"}],
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }
        assert VOLUMES.rebuilt(answer, ["vol-2"]) == {
            "Volumes": [{"VolumeId": "vol-2"}],
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }
        assert len(answer["Volumes"]) == 2

    def test_rebuilt_counts_are_true(self) -> None:
        """A reservation without an instance of one's own is left out, so counts are right."""
        one, two, three = ({"InstanceId": f"i-{number}"} for number in (1, 2, 3))
        answer = {
            "Reservations": [
                {"ReservationId": "r-1", "Instances": [one, two]},
                {"ReservationId": "r-2", "Instances": [three]},
            ]
        }
        assert INSTANCES.rebuilt(answer, ["i-2"]) == {
            "Reservations": [{"ReservationId": "r-1", "Instances": [two]}]
        }
        assert INSTANCES.rebuilt(answer, ["i-9"]) == {"Reservations": []}
        assert len(answer["Reservations"][0]["Instances"]) == 2  # type: ignore[arg-type]

    def test_rebuilt_adds_no_lists(self) -> None:
        """A list that the response lacks is lacking afterwards."""
        assert VOLUMES.rebuilt({}, ["vol-1"]) == {}
        assert SERVICES.rebuilt({}, ["web"]) == {}

    def test_rebuilt_keeps_all_items_of_one_id(self) -> None:
        """Several items of one id, such as a target's ports, all stay."""
        items = [{"Target": {"Id": "i-1", "Port": port}} for port in (80, 443)]
        answer = {"TargetHealthDescriptions": [*items, {"Target": {"Id": "i-2"}}]}
        assert TARGETS.rebuilt(answer, ["i-1"]) == {"TargetHealthDescriptions": items}

    def test_rebuilt_filters_mappings(self) -> None:
        """Of a mapping from ids, one's own keys stay."""
        answer = {"VerificationAttributes": {"a": 1, "b": 2}}
        assert IDENTITIES.rebuilt(answer, {"a"}) == {"VerificationAttributes": {"a": 1}}

    def test_rebuilt_filters_every_kind(self) -> None:
        """All lists of items are filtered."""
        answer = {"MetricAlarms": [{"AlarmName": "a"}], "CompositeAlarms": [{"AlarmName": "b"}]}
        assert ALARMS.rebuilt(answer, ["b"]) == {
            "MetricAlarms": [],
            "CompositeAlarms": [{"AlarmName": "b"}],
        }

    @pytest.mark.parametrize(
        "asked",
        [
            "web",
            "arn:aws:ecs:us-east-1:123456789012:service/web",
            "arn:aws:ecs:us-east-1:123456789012:service/main/web",
        ],
    )
    def test_rebuilt_keeps_own_failures(self, asked: str) -> None:
        """A failure goes to those it concerns, in whichever form of ARN; a nameless one to all."""
        prefix = "arn:aws:ecs:us-east-1:123456789012:service"
        mine = {"arn": f"{prefix}/web", "reason": "MISSING"}
        other = {"arn": f"{prefix}/web-2", "reason": "MISSING"}
        nameless = {"reason": "odd"}
        answer = {"services": [], "failures": [mine, other, nameless]}
        assert SERVICES.rebuilt(answer, [asked])["failures"] == [mine, nameless]


class TestAbsence:
    """What it means that an id is absent."""

    def test_absence_says_something_where_all_is_shown(self) -> None:
        """An answer to ids alone shows all that exist."""
        assert VOLUMES.shows_all({"VolumeIds": ["vol-1"]})

    @pytest.mark.parametrize("name", ["Filters", "Filter", "filters"])
    def test_absence_says_nothing_beside_a_filter(self, name: str) -> None:
        """An item may be filtered out."""
        assert not VOLUMES.shows_all({"VolumeIds": ["vol-1"], name: [{"Name": "status"}]})
        assert VOLUMES.shows_all({"VolumeIds": ["vol-1"], name: []})

    def test_absence_says_nothing_where_the_operation_omits(self) -> None:
        """DescribeInstanceStatus leaves out instances that do not run, unless told otherwise."""
        status = sharing("ec2", "DescribeInstanceStatus")
        assert not status.shows_all({"InstanceIds": ["i-1"]})
        assert status.shows_all({"InstanceIds": ["i-1"], "IncludeAllInstances": True})


class TestErrors:
    """Which ids an error is about."""

    @pytest.mark.parametrize(
        ("message", "named"),
        [
            ("The volume 'vol-1' does not exist.", {"vol-1"}),
            ("The volume IDs 'vol-1, vol-2' do not exist", {"vol-1", "vol-2"}),
            ("The volumes 'vol-1,vol-2' do not exist.", {"vol-1", "vol-2"}),
            ("The volume ID vol-1 does not exist.", {"vol-1"}),
            ("The volumes vol-2: not found", {"vol-2"}),
            ("Could not find [vol-1, vol-9].", {"vol-1"}),
            ('Invalid id: "vol-2" (expecting "vol-...")', {"vol-2"}),
            ("The volume 'vol-12' does not exist.", set()),
            ("The volume 'my-vol-1' does not exist.", set()),
            ("arn:aws:ec2:us-east-1:1:volume/vol-1 is not there", set()),
            ("", set()),
        ],
    )
    def test_missing_reads_the_ids_out_of_the_text(self, message: str, named: set[str]) -> None:
        """Ids are read as whole words; a not-found that names none of them names nobody."""
        failure = error("InvalidVolume.NotFound", message)
        assert VOLUMES.missing(failure, ["vol-1", "vol-2"]) == named
        assert VOLUMES.blamed(failure, ["vol-1", "vol-2"]) == named

    @pytest.mark.parametrize(
        ("message", "named"),
        [
            ("One or more load balancers not found", set()),
            ("Load balancers '[load]' not found", {"load"}),
            ("Load balancers 'load, not-1' not found", {"load", "not-1"}),
            ("Load balancer not-1 not found", {"not-1"}),
        ],
    )
    def test_names_that_are_plain_words_count_in_quotes_alone(
        self, message: str, named: set[str]
    ) -> None:
        """A load balancer called "load" is not blamed because the text speaks of load balancers."""
        names = sharing("elbv2", "DescribeLoadBalancers", Names=["load"])
        assert names.missing(error("LoadBalancerNotFound", message), ["load", "not-1"]) == named

    def test_names_may_hold_anything(self) -> None:
        """Spaces, dots and characters with a meaning in patterns are taken as they are."""
        ids = ["my key", "a.b", "c(", "a", "axb"]
        failure = error("InvalidKeyPair.NotFound", "The key pairs 'my key, a.b, c(' do not exist")
        names = sharing("ec2", "DescribeKeyPairs", KeyNames=ids)
        assert names.missing(failure, ids) == {"my key", "a.b", "c("}

    def test_arns_are_whole_words(self) -> None:
        """An ARN is not found within a longer one."""
        arn = "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/app/a"
        way = sharing("elbv2", "DescribeLoadBalancers")
        longer = error("LoadBalancerNotFound", f"Load balancers '[{arn}/50dc]' not found")
        assert way.missing(longer, [arn, f"{arn}/50dc"]) == {f"{arn}/50dc"}

    def test_malformed_ids_are_blamed_but_not_missing(self) -> None:
        """An id that can be none spoils the call, yet it is no "not found"."""
        failure = error("InvalidVolumeID.Malformed", "Invalid id: 'vol-x'")
        assert VOLUMES.blamed(failure, ["vol-x", "vol-1"]) == {"vol-x"}
        assert VOLUMES.missing(failure, ["vol-x", "vol-1"]) is None
        assert not VOLUMES.is_missing(failure)

    def test_malformed_without_a_name_is_about_some_id(self) -> None:
        """ECS does not say which task id has a wrong length."""
        failure = error("InvalidParameterException", "taskId length should be one of [32,36]")
        assert TASKS.blamed(failure, ["a", "b"]) == frozenset()
        assert TASKS.missing(failure, ["a", "b"]) is None
        assert VOLUMES.blamed(error("InvalidVolumeID.Malformed"), ["a", "b"]) == frozenset()

    def test_refusals_that_name_an_id_blame_it(self) -> None:
        """Whatever the service holds against one id, the others can do without it."""
        failure = error("UnauthorizedOperation", "You may not describe 'vol-2'", 403)
        assert VOLUMES.blamed(failure, ["vol-1", "vol-2"]) == {"vol-2"}
        assert VOLUMES.missing(failure, ["vol-1", "vol-2"]) is None

    @pytest.mark.parametrize(
        "failure",
        [
            error("RequestLimitExceeded", "Request limit exceeded for 'vol-1'", 503),
            error("InternalError", "vol-1", 500),
            error("UnauthorizedOperation", "You are not authorized", 403),
            error("InvalidParameterValue", "The filter 'stat' is invalid"),
            EndpointConnectionError(endpoint_url="https://vol-1"),
            ValueError("vol-1"),
        ],
        ids=lambda failure: type(failure).__name__,
    )
    def test_what_is_no_matter_of_ids_blames_nobody(self, failure: Exception) -> None:
        """Throttling, broken connections and refusals of everything never lead to more calls."""
        assert VOLUMES.blamed(failure, ["vol-1", "vol-2"]) is None
        assert VOLUMES.missing(failure, ["vol-1", "vol-2"]) is None

    def test_what_botocore_refuses_is_about_some_id(self) -> None:
        """An id that never left the machine is found without a call."""
        failure = ParamValidationError(report="Invalid length for parameter AlarmNames[1]")
        assert ALARMS.blamed(failure, ["a", "b" * 300]) == frozenset()
        assert ALARMS.missing(failure, ["a", "b" * 300]) is None

    def test_modelled_errors_count_by_the_name_of_their_shape(self) -> None:
        """An error class of the client's counts as well as the code on the wire."""

        class LoadBalancerNotFound(ClientError):
            pass

        failure = LoadBalancerNotFound({"Error": {"Code": "X", "Message": "web-1"}}, "Describe")
        way = sharing("elbv2", "DescribeLoadBalancers", Names=["web-1"])
        assert way.missing(failure, ["web-1", "api-1"]) == {"web-1"}

    def test_other_codes_of_the_kind_count_where_they_name_an_id(self) -> None:
        """A not-found code that may be about the project is about an id only where it names it."""
        listed = error("ResourceNotFoundException", "Version 'v.1' not found")
        assert VERSIONS.missing(listed, ["v.1", "v.2"]) == {"v.1"}
        assert VERSIONS.missing(error("ResourceNotFoundException", "gone"), ["v.1"]) is None

    @pytest.mark.parametrize(
        ("code", "answer"),
        [
            ("InvalidVolume.NotFound", True),
            ("ResourceNotFoundException", True),
            ("ClusterNotFoundFault", True),
            ("ModelNotFoundError", True),
            ("EntityDoesNotExistException", True),
            ("NotFoundIsNotTheEnd", False),
            ("AccessDenied", False),
            ("", False),
        ],
    )
    def test_codes_of_the_kind_are_recognised(self, code: str, answer: bool) -> None:
        """Services add a word for "error" to their codes, or do not."""
        assert VOLUMES.is_missing(error(code)) is answer
        assert not VOLUMES.is_missing(ValueError(code))
