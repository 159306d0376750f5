"""Describing things for many callers in few calls (W5): real clients, scripted answers."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, ParamValidationError
from botocore.loaders import Loader
from botocore.model import ServiceModel

from pollwait import BatcherClosed, MissingKey
from pollwait.aws._describer import describer
from pollwait.aws._not_described import NotDescribed
from pollwait.aws._personal import is_personal
from pollwait.testing import FakeClock
from pollwait.testing.ec2 import EmbeddedEC2

if TYPE_CHECKING:
    from collections.abc import Callable

    from pollwait._core.batched import Batched

# Reviewed: whoever asks is told the same, or as good as.
TELL_ALL_THE_SAME = {
    ("acm", "GetAcmeExternalAccountBindingCredentials"),
    ("amplifybackend", "GetToken"),
    ("codeartifact", "GetAuthorizationToken"),
    ("ec2", "GetPasswordData"),
    ("ecr", "GetAuthorizationToken"),
    ("ecr-public", "GetAuthorizationToken"),
    ("iam", "GetAccountPasswordPolicy"),
    ("lightsail", "GetRelationalDatabaseMasterUserPassword"),
    ("mturk", "GetFileUploadURL"),
    ("pca-connector-scep", "GetChallengePassword"),
    ("route53globalresolver", "GetAccessToken"),
}

ECS_ARN = "arn:aws:ecs:us-east-1:123456789012:service/main"


class Cloud:
    """The answers that a client gets instead of those of AWS, and the calls that it made.

    Args:
        service: of the client.
        answer: called with the parameters of a call; returns a response, or raises what ``error``
            makes.

    Attributes:
        client: a client of boto3 that reaches no network.
        calls: the parameters of each call, in the order in which they began.
    """

    def __init__(self, service: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.answer = answer
        self.calls: list[dict[str, Any]] = []
        self.client: Any = boto3.client(
            service,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.client.meta.events.register("before-parameter-build", self._note)
        self.client.meta.events.register("before-call", self._respond)

    def _note(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["asked"] = params

    def _respond(self, context: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        asked = context["asked"]
        self.calls.append(asked)
        try:
            parsed, status = self.answer(asked), 200
        except ClientError as refusal:
            parsed, status = copy.deepcopy(refusal.response), 400  # type: ignore[assignment]
        parsed.setdefault("ResponseMetadata", {"HTTPStatusCode": status})
        return AWSResponse("", status, {}, None), parsed


def error(code: str, message: str) -> ClientError:
    """Return what a service refuses a call with."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "Describe")


def instances(params: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstances: an id that begins with ``i-dead`` does not exist."""
    dead = [each for each in params["InstanceIds"] if each.startswith("i-dead")]
    if dead:
        named = f"IDs '{', '.join(dead)}' do" if len(dead) > 1 else f"ID '{dead[0]}' does"
        raise error("InvalidInstanceID.NotFound", f"The instance {named} not exist")
    return {
        "Reservations": [
            {"ReservationId": "r-1", "Instances": [{"InstanceId": each}]}
            for each in params["InstanceIds"]
        ]
    }


def volumes(params: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeVolumes: all volumes exist."""
    return {"Volumes": [{"VolumeId": each} for each in params["VolumeIds"]]}


def databases(params: dict[str, Any]) -> dict[str, Any]:
    """Answer DescribeDBInstances with the one that is asked for."""
    return {"DBInstances": [{"DBInstanceIdentifier": params["DBInstanceIdentifier"]}]}


def unexpected(params: dict[str, Any]) -> dict[str, Any]:
    """Fail the test that makes a call."""
    pytest.fail(f"a call was made: {params}")


@pytest.fixture(scope="module")
def ec2() -> Any:
    """Return a client whose calls would fail the test."""
    return Cloud("ec2", unexpected).client


@pytest.fixture(scope="module")
def rds() -> Any:
    """Return a client of a service without lists of ids, whose calls would fail the test."""
    return Cloud("rds", unexpected).client


class TestItems:
    """Operations that take a list of ids."""

    def test_callers_share_a_call_and_only_the_dead_id_fails(self) -> None:
        """Thirty callers cost two calls though one id does not exist (W5).

        The first call fails for the id that its error names; the second carries the others.
        """
        cloud = Cloud("ec2", instances)
        clock = FakeClock()
        batches: list[Batched] = []
        ids = [f"i-{number}" for number in range(29)] + ["i-dead"]
        with describer(
            cloud.client, "describe_instances", clock=clock, on_event=batches.append
        ) as described:

            def ask(wanted: str) -> Callable[[], object]:
                def get() -> object:
                    try:
                        return described.get(wanted)
                    except NotDescribed as missing:
                        return missing

                return get

            *found, missing = clock.run(*map(ask, ids))
        assert found == [{"InstanceId": each} for each in ids[:-1]]
        assert isinstance(missing, NotDescribed)
        assert missing.key == "i-dead"
        assert [set(call["InstanceIds"]) for call in cloud.calls] == [set(ids), set(ids[:-1])]
        assert [(batch.size, batch.errors, batch.isolations) for batch in batches] == [(30, 1, 1)]

    def test_calls_carry_ids_and_nothing_of_paging(self) -> None:
        """No page size goes with the ids."""
        cloud = Cloud("ec2", volumes)
        with describer(cloud.client, "DescribeVolumes", clock=FakeClock()) as described:
            assert described.get("vol-1") == {"VolumeId": "vol-1"}
        assert cloud.calls == [{"VolumeIds": ["vol-1"]}]

    def test_fixed_parameters_go_with_every_call(self) -> None:
        """What was given once is part of each call, whatever becomes of the caller's copy."""
        tags = ["TAGS"]
        cloud = Cloud("ecs", lambda params: {"services": [{"serviceName": params["services"][0]}]})
        with describer(
            cloud.client, "describe_services", cluster="main", include=tags, clock=FakeClock()
        ) as described:
            tags.clear()
            described.get("web")
        assert cloud.calls == [{"cluster": "main", "include": ["TAGS"], "services": ["web"]}]

    def test_many_ids_are_split_by_the_limit(self) -> None:
        """Twelve services are two calls, since ECS takes ten."""
        cloud = Cloud(
            "ecs",
            lambda params: {"services": [{"serviceName": each} for each in params["services"]]},
        )
        names = [f"web-{number}" for number in range(12)]
        with describer(cloud.client, "describe_services", clock=FakeClock()) as described:
            answers = described.get_many(names)
        assert answers == {each: {"serviceName": each} for each in names}
        assert sorted(len(call["services"]) for call in cloud.calls) == [2, 10]

    def test_max_size_lowers_the_limit(self) -> None:
        """Fewer ids in a call than the operation takes, if asked to."""
        cloud = Cloud("ec2", volumes)
        with describer(
            cloud.client, "describe_volumes", max_size=1, clock=FakeClock()
        ) as described:
            described.get_many(["vol-1", "vol-2"])
        assert [len(call["VolumeIds"]) for call in cloud.calls] == [1, 1]

    def test_get_many_answers_each_id(self) -> None:
        """Items and errors come in the order of the ids, an id that is named twice once."""
        cloud = Cloud("ec2", instances)
        with describer(cloud.client, "describe_instances", clock=FakeClock()) as described:
            answers = described.get_many(["i-2", "i-dead", "i-1", "i-2"])
            assert described.get_many([]) == {}
        assert list(answers) == ["i-2", "i-dead", "i-1"]
        assert answers["i-1"] == {"InstanceId": "i-1"}
        assert isinstance(answers["i-dead"], NotDescribed)
        assert isinstance(answers["i-dead"].__cause__, ClientError)

    def test_pages_are_read_to_the_end(self) -> None:
        """An item on the second page is found, and the token goes with the same ids."""

        def paged(params: dict[str, Any]) -> dict[str, Any]:
            first, second = params["VolumeIds"]
            if "NextToken" in params:
                return {"Volumes": [{"VolumeId": second}]}
            return {"Volumes": [{"VolumeId": first}], "NextToken": "more"}

        cloud = Cloud("ec2", paged)
        with describer(cloud.client, "describe_volumes", clock=FakeClock()) as described:
            answers = described.get_many(["vol-1", "vol-2"])
        assert answers == {each: {"VolumeId": each} for each in ("vol-1", "vol-2")}
        assert len(cloud.calls) == 2

    def test_names_are_asked_for_by_name(self) -> None:
        """``by`` chooses among several lists of ids."""
        cloud = Cloud("ec2", lambda _: {"SecurityGroups": [{"GroupId": "sg", "GroupName": "web"}]})
        with describer(
            cloud.client, "describe_security_groups", by="GroupNames", clock=FakeClock()
        ) as groups:
            assert groups.get("web")["GroupId"] == "sg"
        assert cloud.calls == [{"GroupNames": ["web"]}]

    def test_structures_are_asked_for_by_their_id(self) -> None:
        """A list of structures is made from plain ids."""
        state = {"Target": {"Id": "i-1"}, "TargetHealth": {"State": "healthy"}}
        cloud = Cloud("elbv2", lambda _: {"TargetHealthDescriptions": [state]})
        with describer(
            cloud.client, "describe_target_health", TargetGroupArn="arn", clock=FakeClock()
        ) as targets:
            assert targets.get("i-1") == state
        assert cloud.calls == [{"TargetGroupArn": "arn", "Targets": [{"Id": "i-1"}]}]


class TestErrorsOfItems:
    """What callers are told of ids that have no item."""

    def test_not_found_is_a_lookup_error_with_its_cause(self) -> None:
        """The service's error is the cause, and its text is told."""
        cloud = Cloud("ec2", instances)
        with (
            describer(cloud.client, "describe_instances", clock=FakeClock()) as described,
            pytest.raises(LookupError) as caught,
        ):
            described.get("i-dead")
        missing = caught.value
        assert isinstance(missing, NotDescribed)
        assert isinstance(missing, MissingKey)
        assert str(missing) == (
            "DescribeInstances does not show 'i-dead': InvalidInstanceID.NotFound: The instance ID"
            " 'i-dead' does not exist"
        )
        assert isinstance(missing.__cause__, ClientError)
        assert missing.__cause__.response["Error"]["Code"] == "InvalidInstanceID.NotFound"

    def test_absence_is_the_same_kind_of_error(self) -> None:
        """An answer that leaves the id out has no cause and no reason."""
        cloud = Cloud("ec2", lambda _: {"Volumes": []})
        with (
            describer(cloud.client, "describe_volumes", clock=FakeClock()) as described,
            pytest.raises(NotDescribed, match=r"^DescribeVolumes does not show 'vol-1'$") as caught,
        ):
            described.get("vol-1")
        assert caught.value.__cause__ is None
        assert (caught.value.key, caught.value.reason) == ("vol-1", "")

    def test_failure_in_the_answer_is_the_same_kind_of_error(self) -> None:
        """ECS lists what it does not know, with a reason."""
        failure = {"arn": f"{ECS_ARN}/web", "reason": "MISSING"}
        cloud = Cloud("ecs", lambda _: {"services": [], "failures": [failure]})
        with (
            describer(cloud.client, "describe_services", clock=FakeClock()) as described,
            pytest.raises(NotDescribed) as caught,
        ):
            described.get("web")
        assert str(caught.value) == "DescribeServices does not show 'web': MISSING"
        assert caught.value.reason == "MISSING"

    def test_not_described_survives_copies_and_pickles(self) -> None:
        """The text and the fields stay."""
        missing = NotDescribed("vol-1", operation="DescribeVolumes", reason="why")
        for again in (copy.copy(missing), pickle.loads(pickle.dumps(missing))):
            assert str(again) == "DescribeVolumes does not show 'vol-1': why"
            assert (again.key, again.operation, again.reason) == ("vol-1", "DescribeVolumes", "why")

    def test_malformed_id_fails_alone_and_as_itself(self) -> None:
        """An id that can be none is no "not found", and the others are answered."""

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            if "nonsense" in params["VolumeIds"]:
                raise error("InvalidVolumeID.Malformed", "Invalid id: 'nonsense'")
            return volumes(params)

        cloud = Cloud("ec2", answer)
        with describer(cloud.client, "describe_volumes", clock=FakeClock()) as described:
            answers = described.get_many(["vol-1", "nonsense"])
        assert answers["vol-1"] == {"VolumeId": "vol-1"}
        assert isinstance(answers["nonsense"], ClientError)
        assert len(cloud.calls) == 2

    def test_error_that_names_nobody_is_found_by_halving(self) -> None:
        """Where the service does not say which id is bad, further calls do."""

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            if "bad" in params["tasks"]:
                raise error("InvalidParameterException", "taskId length should be one of [32,36]")
            return {"tasks": [{"taskArn": f"arn:aws:ecs:r:1:task/c/{e}"} for e in params["tasks"]]}

        cloud = Cloud("ecs", answer)
        with describer(cloud.client, "describe_tasks", clock=FakeClock()) as described:
            answers = described.get_many(["t1", "t2", "bad", "t3"])
        assert isinstance(answers.pop("bad"), ClientError)
        assert [each["taskArn"][-2:] for each in answers.values()] == ["t1", "t2", "t3"]  # type: ignore[index]

    def test_id_that_botocore_refuses_fails_alone(self) -> None:
        """A name that is too short never leaves the machine, and the others are answered."""
        cloud = Cloud(
            "elasticbeanstalk",
            lambda params: {
                "Environments": [{"EnvironmentName": e} for e in params["EnvironmentNames"]]
            },
        )
        with describer(
            cloud.client, "describe_environments", by="EnvironmentNames", clock=FakeClock()
        ) as described:
            answers = described.get_many(["blue", "abc"])
        assert answers["blue"] == {"EnvironmentName": "blue"}
        assert isinstance(answers["abc"], ParamValidationError)
        assert len(cloud.calls) == 1

    def test_error_of_the_whole_call_reaches_all_as_itself(self) -> None:
        """A refusal that is no matter of ids is not repeated for each of them."""

        def refuse(params: dict[str, Any]) -> dict[str, Any]:
            raise error("ClusterNotFoundException", "Cluster not found.")

        cloud = Cloud("ecs", refuse)
        with describer(cloud.client, "describe_services", clock=FakeClock()) as described:
            answers = described.get_many(["web", "api"])
        assert [type(answer).__name__ for answer in answers.values()] == [
            "ClusterNotFoundException"
        ] * 2
        assert not any(isinstance(answer, LookupError) for answer in answers.values())
        web, api = answers.values()
        assert web is not api
        assert isinstance(web, ClientError)
        assert web.__cause__ is api.__cause__  # type: ignore[union-attr]
        assert isinstance(web.__cause__, ClientError)
        assert len(cloud.calls) == 1

    def test_error_that_is_no_matter_of_ids_is_raised_as_itself(self) -> None:
        """The caller gets a copy of the service's own error, with that as the cause."""

        def refuse(params: dict[str, Any]) -> dict[str, Any]:
            raise error("UnauthorizedOperation", "You are not authorized")

        cloud = Cloud("ec2", refuse)
        with (
            describer(cloud.client, "describe_volumes", clock=FakeClock()) as described,
            pytest.raises(ClientError, match="not authorized") as caught,
        ):
            described.get("vol-1")
        assert isinstance(caught.value.__cause__, ClientError)

    def test_caller_that_cannot_wait_leaves(self) -> None:
        """A caller whose timeout ends first gets a TimeoutError, and later ones are answered."""
        clock = FakeClock()

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            clock.sleep(1.0)
            return volumes(params)

        cloud = Cloud("ec2", answer)
        with describer(cloud.client, "describe_volumes", clock=clock, max_delay=0.25) as described:

            def ask() -> object:
                with pytest.raises(TimeoutError):
                    described.get("vol-1", timeout=0.5)
                assert clock.monotonic() == 0.5
                return described.get("vol-2")

            assert clock.run(ask) == [{"VolumeId": "vol-2"}]


class TestResponses:
    """Operations that take no list of ids."""

    def test_equal_questions_are_one_call(self) -> None:
        """Ten callers with one question cost a call, another question is another one."""
        cloud = Cloud("rds", databases)
        clock = FakeClock()
        with describer(cloud.client, "describe_db_instances", clock=clock) as described:
            names = ["db-1"] * 10 + ["db-2"]
            answers = clock.run(
                *(lambda name=name: described.get(DBInstanceIdentifier=name) for name in names)  # type: ignore[misc]
            )
        found = [answer["DBInstances"][0]["DBInstanceIdentifier"] for answer in answers]
        assert found == names
        assert sorted(call["DBInstanceIdentifier"] for call in cloud.calls) == ["db-1", "db-2"]

    def test_fixed_parameters_are_part_of_the_question(self) -> None:
        """Parameters of all calls and those of one add up."""
        cloud = Cloud("rds", databases)
        with describer(
            cloud.client, "DescribeDBInstances", clock=FakeClock(), DBInstanceIdentifier="db-1"
        ) as described:
            described.get()
            described.get(DBInstanceIdentifier="db-2")
        asked = [call["DBInstanceIdentifier"] for call in cloud.calls]
        assert asked == ["db-1", "db-2"]

    def test_pages_are_read_to_the_end(self) -> None:
        """The response holds what all pages hold."""

        def paged(params: dict[str, Any]) -> dict[str, Any]:
            if "Marker" in params:
                return {"DBInstances": [{"DBInstanceIdentifier": "db-2"}]}
            return {"DBInstances": [{"DBInstanceIdentifier": "db-1"}], "Marker": "more"}

        cloud = Cloud("rds", paged)
        with describer(cloud.client, "describe_db_instances", clock=FakeClock()) as described:
            answer = described.get()
        assert [each["DBInstanceIdentifier"] for each in answer["DBInstances"]] == ["db-1", "db-2"]

    def test_error_reaches_all_who_asked(self) -> None:
        """Each caller gets the service's error."""

        def refuse(params: dict[str, Any]) -> dict[str, Any]:
            raise error("DBInstanceNotFound", "DBInstance db-1 not found.")

        cloud = Cloud("rds", refuse)
        with (
            describer(cloud.client, "describe_db_instances", clock=FakeClock()) as described,
            pytest.raises(ClientError, match="db-1 not found") as caught,
        ):
            described.get(DBInstanceIdentifier="db-1")
        assert isinstance(caught.value, cloud.client.exceptions.DBInstanceNotFoundFault)
        assert isinstance(caught.value.__cause__, ClientError)


class TestMisuse:
    """What a describer refuses before any call."""

    def test_unknown_operation_is_refused_with_near_names(self, ec2: Any) -> None:
        """A slip of the pen is named, and what was meant."""
        with pytest.raises(ValueError, match="did you mean 'describe_instances'"):
            describer(ec2, "describe_instnaces")

    def test_client_without_a_model_is_refused(self) -> None:
        """What an operation takes is read from the client's model, which a fake lacks."""

        class Fake:
            def describe_volumes(self) -> None: ...

        with pytest.raises(TypeError, match=r"client must be one of boto3 or botocore"):
            describer(Fake(), "describe_volumes")

    def test_client_for_asyncio_is_refused(self, ec2: Any) -> None:
        """A client whose calls must be awaited is none for threads."""

        class Asynchronous:
            meta = ec2.meta
            can_paginate = ec2.can_paginate
            get_paginator = ec2.get_paginator

            async def _make_api_call(self) -> None: ...

            async def describe_volumes(self) -> None: ...

        with pytest.raises(TypeError, match="must not be one for asyncio"):
            describer(Asynchronous(), "describe_volumes")

    @pytest.mark.parametrize("operation", ["run_instances", "terminate_instances"])
    def test_operation_that_acts_is_refused(self, ec2: Any, operation: str) -> None:
        """Two callers that start an instance each want two instances."""
        with pytest.raises(ValueError, match="may change something"):
            describer(ec2, operation)

    def test_operation_that_streams_is_refused(self) -> None:
        """A stream can be read once."""
        cloud = Cloud("s3", lambda _: {})
        with pytest.raises(ValueError, match="answers with a stream"):
            describer(cloud.client, "get_object")

    @pytest.mark.parametrize(
        ("service", "operation"),
        [
            ("secretsmanager", "get_random_password"),
            ("stepfunctions", "get_activity_task"),
            ("cognito-identity", "get_id"),
            ("sts", "get_session_token"),
            ("sts", "get_federation_token"),
            ("waf", "get_change_token"),
            ("emr-containers", "get_managed_endpoint_session_credentials"),
        ],
    )
    def test_operation_that_gives_each_something_of_its_own_is_refused(
        self, service: str, operation: str
    ) -> None:
        """Two callers that want a random password each want two, and a task is done once."""
        cloud = Cloud(service, lambda _: {})
        with pytest.raises(ValueError, match="gives each caller something of its own"):
            describer(cloud.client, operation)

    def test_operations_with_telling_names_are_reviewed(self) -> None:
        """Each operation of botocore whose name may say so is refused, or known to be harmless."""
        suspicious = re.compile(
            "Random|Tokens?(For|From|$)|Password|Poll|ActivityTask|NextMessage|Credentials|GetId$"
            "|(Embed|Upload|Session|Login|Presigned|Authentication)U(rl|RL)|VerificationCode"
        )
        loader = Loader()
        unknown = set()
        for service in loader.list_available_services("service-2"):
            model = ServiceModel(loader.load_service_model(service, "service-2"), service)
            for name in filter(suspicious.search, model.operation_names):
                harmless = (service, name) in TELL_ALL_THE_SAME or not name.startswith("Get")
                if not harmless and not is_personal(service, model.operation_model(name)):
                    unknown.add((service, name))
        assert unknown == set()

    def test_operation_by_which_all_are_told_the_same_is_shared(self) -> None:
        """Whatever its name, an operation that answers everybody alike shares its calls."""
        registry = Cloud("ecr", lambda _: {"authorizationData": []})
        with describer(registry.client, "get_authorization_token") as tokens:
            assert tokens.get()["authorizationData"] == []

    def test_clock_is_checked(self, ec2: Any) -> None:
        """What is no clock is refused when the describer is made."""
        with pytest.raises(TypeError, match="clock must be a clock"):
            describer(ec2, "describe_volumes", clock=cast("Any", 1))

    @pytest.mark.parametrize("ids", [None, 3, {"vol-1": 1}, "vol-1"])
    def test_several_ids_are_a_collection(self, ec2: Any, ids: Any) -> None:
        """What is none is refused in words that say so."""
        with (
            describer(ec2, "describe_volumes") as described,
            pytest.raises(TypeError, match="ids must be several, and one is for get"),
        ):
            described.get_many(ids)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"VolumeIds": ["vol-1"]}, "VolumeIds are what get"),
            ({"MaxResults": 5}, "MaxResults cannot be given together with VolumeIds"),
            ({"Filter": []}, "DescribeVolumes takes no parameter 'Filter'.*'Filters'"),
        ],
    )
    def test_fixed_parameters_that_do_not_fit_are_refused(
        self, ec2: Any, params: dict[str, Any], message: str
    ) -> None:
        """Nothing that would be left out of the calls is taken."""
        with pytest.raises(TypeError, match=message):
            describer(ec2, "describe_volumes", **params)

    def test_other_list_of_ids_is_refused(self, ec2: Any) -> None:
        """Ids and names do not go together; the error tells how to ask by names."""
        with pytest.raises(TypeError, match="say by='GroupNames'"):
            describer(ec2, "describe_security_groups", GroupNames=["web"])

    def test_required_parameters_are_asked_for(self) -> None:
        """Without its target group, the health of a target cannot be asked for."""
        cloud = Cloud("elbv2", lambda _: {})
        with pytest.raises(TypeError, match="requires TargetGroupArn"):
            describer(cloud.client, "describe_target_health")

    @pytest.mark.parametrize(
        ("operation", "by", "message"),
        [
            ("describe_key_pairs", "KeyName", "by must be 'KeyPairIds' or 'KeyNames': got"),
            ("describe_regions", "Ids", "by must be 'RegionNames': got by='Ids'"),
            ("describe_account_attributes", "Ids", "by has no place"),
        ],
    )
    def test_by_must_be_a_list_of_ids(
        self, ec2: Any, operation: str, by: str, message: str
    ) -> None:
        """The error says which lists there are."""
        with pytest.raises(ValueError, match=message):
            describer(ec2, operation, by=by)

    @pytest.mark.parametrize(
        ("size", "kind"), [(501, ValueError), (0, ValueError), (2.0, TypeError)]
    )
    def test_max_size_is_within_the_limit(self, ec2: Any, size: Any, kind: type[Exception]) -> None:
        """No more ids than the operation takes."""
        with pytest.raises(kind, match="max_size must be"):
            describer(ec2, "describe_volumes", max_size=size)

    def test_max_size_needs_ids(self, rds: Any) -> None:
        """Where there are no ids, there is no number of them."""
        with pytest.raises(TypeError, match="max_size is a number of ids"):
            describer(rds, "describe_db_instances", max_size=5)

    @pytest.mark.parametrize(
        ("wanted", "kind"),
        [(None, TypeError), (5, TypeError), (["vol-1"], TypeError), ("", ValueError)],
    )
    def test_get_takes_one_id(self, ec2: Any, wanted: Any, kind: type[Exception]) -> None:
        """Without an id, nobody asks for everything."""
        with (
            describer(ec2, "describe_volumes") as described,
            pytest.raises(kind, match="DescribeVolumes is asked for one of its VolumeIds"),
        ):
            described.get(wanted)

    def test_get_by_id_takes_no_parameters(self, ec2: Any) -> None:
        """Calls that differ in other parameters cannot be shared."""
        with (
            describer(ec2, "describe_volumes") as described,
            pytest.raises(TypeError, match="parameters of all calls are given to describer"),
        ):
            described.get("vol-1", Filters=[])

    def test_get_many_takes_several(self, ec2: Any) -> None:
        """A single id is not taken for a list of letters, and each must be an id."""
        with describer(ec2, "describe_volumes") as described:
            with pytest.raises(TypeError, match="ids must be several"):
                described.get_many("vol-1")
            with pytest.raises(TypeError, match="a str: got 5"):
                described.get_many(["vol-1", 5])  # type: ignore[list-item]

    def test_operation_without_ids_says_what_it_takes(self, rds: Any) -> None:
        """The error for an id names the parameters that there are, but for those of paging."""
        with describer(rds, "describe_db_instances") as described:
            with pytest.raises(TypeError, match="takes no list of ids") as caught:
                described.get("db-1")
            assert str(caught.value) == (
                "DescribeDBInstances takes no list of ids, and is asked by DBInstanceIdentifier,"
                " Filters: got 'db-1'"
            )
            with pytest.raises(TypeError, match=r"get_many\(\) is for ids"):
                described.get_many(["db-1"])

    def test_unknown_parameters_are_refused(self, rds: Any) -> None:
        """A parameter that the operation does not take is named."""
        with (
            describer(rds, "describe_db_instances") as described,
            pytest.raises(TypeError, match="takes no parameter 'DBInstanceId'"),
        ):
            described.get(DBInstanceId="db-1")

    def test_closed_describer_takes_no_questions(self, ec2: Any) -> None:
        """After close nothing is asked."""
        described = describer(ec2, "describe_volumes")
        described.close()
        described.close()
        with pytest.raises(BatcherClosed, match="batcher of 'DescribeVolumes by VolumeIds'"):
            described.get("vol-1")

    def test_failed_block_waits_for_nobody(self, ec2: Any) -> None:
        """When the block ends with an error, those who still wait are let go at once."""
        clock = FakeClock()
        described = describer(ec2, "describe_volumes", clock=clock, max_delay=60)

        def fail() -> None:
            with pytest.raises(KeyError), described:  # noqa: PT012 - the block is what is tested
                clock.sleep(1.0)
                raise KeyError

        def ask() -> None:
            with pytest.raises(BatcherClosed):
                described.get("vol-1")
            assert clock.monotonic() == 1.0

        clock.run(fail, ask)

    def test_describer_shows_what_it_asks(self, ec2: Any, rds: Any) -> None:
        """Its repr names the operation and the ids."""
        assert (
            repr(describer(ec2, "describe_volumes")) == "<Describer: DescribeVolumes by VolumeIds>"
        )
        assert repr(describer(rds, "describe_db_instances")) == "<Describer: DescribeDBInstances>"


def test_describer_works_against_an_ec2() -> None:
    """Threads ask a server for thirty volumes, one of which is gone, in two calls (W5)."""
    with EmbeddedEC2(seed=1, ready=0.0, create_call=0.0, describe_call=0.0) as ec2:
        client = ec2.client()
        ids = [
            client.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
            for _ in range(29)
        ]
        ids.append("vol-0123456789abcdef0")
        ec2.clear_log()
        answers: dict[str, object] = {}
        with describer(client, "describe_volumes", max_delay=60, max_size=30) as described:

            def ask(wanted: str) -> None:
                try:
                    answers[wanted] = described.get(wanted)["VolumeId"]
                except LookupError as missing:
                    answers[wanted] = missing

            threads = [threading.Thread(target=ask, args=(each,)) for each in ids]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert ec2.calls["DescribeVolumes"] == 2
        assert isinstance(answers.pop(ids[-1]), NotDescribed)
        assert answers == {each: each for each in ids[:-1]}
