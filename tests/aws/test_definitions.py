"""Definitions: all that botocore brings along, a client's own, and those of documents."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from datetime import timedelta

import boto3
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from pollwait.aws import path
from pollwait.aws._absence import tells_absence
from pollwait.aws._acceptors import Acceptor
from pollwait.aws._catalogue import (
    definition_of,
    definitions_of_service,
    services_with_waiters,
    waiter_names,
)
from pollwait.aws._define import define
from pollwait.aws._definition import Definition

from .synthesis import (
    OTHER_TEXT,
    botocore_match,
    outcome_for,
    outcome_of,
    service_error,
)

# Reviewed one by one: waiters for which to be gone is to be ready. An id that is absent from a
# complete answer is gone to them.
AWAIT_ABSENCE = {
    "acm": "acme_domain_validation_deleted acme_endpoint_deleted",
    "amp": "anomaly_detector_deleted scraper_deleted workspace_deleted",
    "bedrock-agentcore-control": "policy_deleted policy_engine_deleted",
    "cloudformation": "stack_delete_complete",
    "deadline": "license_endpoint_deleted",
    "dms": "endpoint_deleted replication_instance_deleted replication_task_deleted",
    "docdb": "db_instance_deleted",
    "dsql": "cluster_not_exists stream_not_exists",
    "dynamodb": "table_not_exists",
    "ec2": "conversion_task_deleted nat_gateway_deleted"
    " security_group_vpc_association_disassociated volume_deleted"
    " vpn_connection_deleted vpc_peering_connection_deleted"
    " secondary_network_delete_complete secondary_subnet_delete_complete",
    "ecs": "daemon_task_definition_deleted",
    "eks": "cluster_deleted nodegroup_deleted addon_deleted fargate_profile_deleted",
    "elasticache": "cache_cluster_deleted replication_group_deleted",
    "elb": "instance_deregistered",
    "elbv2": "load_balancers_deleted target_deregistered",
    "elementalinference": "feed_deleted",
    "eventbridgev2": "event_bus_deleted",
    "gameliftstreams": "application_deleted stream_group_deleted",
    "glacier": "vault_not_exists",
    "healthlake": "fhir_datastore_deleted",
    "inspector2": "connector_deleted",
    "interconnect": "connection_deleted",
    "iotsitewise": "asset_model_not_exists asset_not_exists portal_not_exists",
    "kinesis": "stream_not_exists",
    "lambda-web": "web_function_deleted web_function_endpoint_deleted",
    "mediaconnect": "destination_endpoint_deregistered flow_deleted input_deleted output_deleted"
    " source_endpoint_deregistered",
    "medialive": "channel_deleted input_deleted multiplex_deleted signal_map_monitor_deleted"
    " cluster_deleted channel_placement_group_deleted",
    "neptune": "db_instance_deleted",
    "neptune-graph": "graph_deleted graph_snapshot_deleted private_graph_endpoint_deleted",
    "omics": "annotation_store_deleted annotation_store_version_deleted variant_store_deleted",
    "opensearchmemory": "space_deleted",
    "proton": "component_deleted service_deleted",
    "rds": "db_cluster_deleted db_cluster_snapshot_deleted db_instance_deleted"
    " db_snapshot_deleted tenant_database_deleted",
    "redshift": "cluster_deleted",
    "repostspace": "channel_deleted space_deleted",
    "route53": "health_check_source_deleted",
    "route53-recovery-control-config": "cluster_deleted control_panel_deleted"
    " routing_control_deleted",
    "rtbfabric": "certificate_disassociated inbound_external_link_deleted link_deleted"
    " link_routing_rule_deleted outbound_external_link_deleted"
    " requester_gateway_deleted responder_gateway_deleted",
    "s3": "bucket_not_exists object_not_exists",
    "sagemaker": "endpoint_deleted image_deleted image_version_deleted notebook_instance_deleted",
    "ssm-incidents": "wait_for_replication_set_deleted",
}

# Reviewed likewise: what these wait for stays to be seen, for an hour as a terminated instance does
# or for good, so that an absent id is one that is not there yet, or was never.
AWAIT_EXISTENCE = {
    "appstream": "fleet_stopped",
    "deadline": "queue_fleet_association_stopped queue_limit_association_stopped",
    "dms": "metadata_model_conversion_cancelled metadata_model_creation_cancelled"
    " replication_task_stopped",
    "ec2": "conversion_task_cancelled export_task_cancelled instance_stopped instance_terminated",
    "ecs": "daemon_deployment_stopped services_inactive tasks_stopped",
    "elasticbeanstalk": "environment_terminated",
    "emr": "cluster_terminated",
    "mediaconnect": "destination_endpoint_disconnected source_endpoint_disconnected"
    " source_endpoint_disconnecting",
    "medialive": "channel_stopped input_detached multiplex_stopped node_deregistered",
    "neptune-graph": "export_task_cancelled graph_stopped import_task_cancelled",
    "sagemaker": "notebook_instance_stopped processing_job_completed_or_stopped"
    " training_job_completed_or_stopped transform_job_completed_or_stopped",
    # An error is success to it, and so is a snapshot that is there.
    "rds": "db_snapshot_completed",
}
SOUNDS_LIKE_ABSENCE = re.compile(
    r"delet|_not_|_no_|terminat|stopp|remov|absent|inactive|cancel|dereg|detach|disassoc|disconn"
    r"|revok|expir|gone"
)

# What botocore's definitions look for and the services' own models have no place for: a length that
# is that of a text, and states that no service lists.
FIT_NO_SHAPE = {
    ("appconfig", "environment_ready_for_deployment"),
    ("ec2", "conversion_task_deleted"),
    ("ec2", "password_data_available"),
    ("omics", "annotation_store_deleted"),
    ("omics", "annotation_store_version_deleted"),
    ("omics", "variant_store_deleted"),
}

DONE = Acceptor("path", "Status", "DONE", "success")


@pytest.fixture(scope="module")
def definitions():
    """Return all definitions of the installed botocore, by service and name."""
    return {
        (service, name): definition
        for service in services_with_waiters()
        for name, definition in definitions_of_service(service).items()
    }


@pytest.fixture(scope="module")
def models(definitions):
    """Return the model of each service that has waiters."""
    loader = Loader()
    services = {service for service, _ in definitions}
    return {
        service: ServiceModel(loader.load_service_model(service, "service-2"), service)
        for service in services
    }


def client_of(service):
    """Return a client that calls nothing."""
    return boto3.client(
        service, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


@pytest.fixture(scope="module")
def ec2():
    """Return an EC2 client."""
    return client_of("ec2")


def test_every_definition_of_botocore_is_read(definitions):
    """All waiters of the installed botocore have a definition that holds what botocore's does."""
    loader = Loader()
    services = loader.list_available_services("waiters-2")
    files = [loader.load_service_model(service, "waiters-2")["waiters"] for service in services]
    documents = [{name: waiter} for waiters in files for name, waiter in waiters.items()]
    assert len(definitions) == len(documents) > 400
    services_read = {service for service, _ in definitions}
    assert sorted(services_read) == services_with_waiters()
    assert len(services_read) > 75
    for definition, document in zip(definitions.values(), documents, strict=True):
        assert definition.document()["waiters"] == document


@pytest.mark.parametrize("service", ["ec2", "ecs", "rds", "s3", "sts"])
def test_definition_of_a_client_is_the_one_in_botocores_files(service):
    """A client's own waiters are those of botocore's files."""
    client = client_of(service)
    from_files = definitions_of_service(service)
    assert waiter_names(client) == sorted(from_files) == sorted(client.waiter_names)
    for name, definition in from_files.items():
        assert definition_of(client, name) == definition


def test_every_acceptor_of_botocore_is_met_as_botocore_meets_it(definitions):
    """An outcome made for an acceptor gets the verdict that botocore's own matchers give."""
    counts = Counter()
    for definition in definitions.values():
        for state in {acceptor.state for acceptor in definition.acceptors}:
            outcome = outcome_for(definition, state)
            assert definition.match(outcome).state == state
            counts[f"outcomes for {state}"] += 1
        for acceptor in definition.acceptors:
            outcome = outcome_of(definition, acceptor)
            assert definition.match(outcome) is acceptor
            counts["acceptors met"] += 1
    services = {service for service, _ in definitions}
    print(f"{len(definitions)} definitions of {len(services)} services: {dict(counts)}")  # noqa: T201
    assert counts["outcomes for success"] == len(definitions)
    assert counts["outcomes for failure"] > 280
    assert counts["acceptors met"] > 1250


def test_every_acceptor_of_botocore_is_told_from_the_others(definitions):
    """What is made for one acceptor gets botocore's verdict from all waiters of its service."""
    for (service, _), definition in definitions.items():
        others = definitions_of_service(service).values()
        for acceptor in definition.acceptors:
            outcome = outcome_of(definition, acceptor)
            for other in others:
                assert other.match(outcome) is botocore_match(other, outcome)


def misfits(value, shape):
    """Give what a shape of a service's model has no place for."""
    if isinstance(value, dict) and shape.type_name == "structure":
        for name, member in value.items():
            if name in shape.members:
                yield from misfits(member, shape.members[name])
            else:
                yield name
    elif isinstance(value, dict) and shape.type_name == "map":
        for member in value.values():
            yield from misfits(member, shape.value)
    elif isinstance(value, list) and shape.type_name == "list":
        for element in value:
            yield from misfits(element, shape.member)
    elif isinstance(value, (dict, list)) or not named(value, shape):
        yield value


def named(value, shape):
    """Tell whether a shape that lists its values lists this one."""
    return not getattr(shape, "enum", ()) or value in (*shape.enum, OTHER_TEXT)


def test_synthesised_responses_fit_their_services(definitions, models):
    """What is made for an acceptor is what the service's model says that it may answer."""
    found = set()
    for (service, name), definition in definitions.items():
        shape = models[service].operation_model(definition.operation).output_shape
        for acceptor in definition.acceptors:
            outcome = outcome_of(definition, acceptor)
            if not isinstance(outcome, dict):
                continue
            members = {key: value for key, value in outcome.items() if key != "ResponseMetadata"}
            if members and list(misfits(members, shape)):
                found.add((service, name))
    assert found <= FIT_NO_SHAPE


def test_every_error_acceptor_knows_the_shape_of_its_error(definitions, models):
    """Where the model of a service has an error acceptor's error, the acceptor matches it."""
    from botocore.errorfactory import ClientExceptionsFactory

    modelled = 0
    for (service, _), definition in definitions.items():
        shapes = models[service].error_shapes
        errors = ClientExceptionsFactory().create_client_exceptions(models[service])
        for acceptor in definition.acceptors:
            if acceptor.matcher != "error" or isinstance(acceptor.expected, bool):
                continue
            for shape in shapes:
                if acceptor.expected in (shape.name, shape.error_code):
                    raised = errors.from_code(shape.error_code)
                    response = service_error(shape.error_code).response
                    assert acceptor.matches(raised(response, definition.operation))
                    modelled += 1
    assert modelled > 130


def test_what_a_definition_awaits_is_as_reviewed(definitions):
    """Waits for a deletion are told from waits for a state, for all waiters of botocore."""
    absent = {(s, name) for s, names in AWAIT_ABSENCE.items() for name in names.split()}
    present = {(s, name) for s, names in AWAIT_EXISTENCE.items() for name in names.split()}
    assert not absent & present
    for key, definition in definitions.items():
        if key in absent:
            assert definition.awaits == "absence", key
        else:
            assert definition.awaits == "existence", key
            assert key in present or not SOUNDS_LIKE_ABSENCE.search(key[1]), key


@pytest.mark.parametrize(
    ("acceptors", "awaits"),
    [
        ([("path", "Status", "DELETED", "success")], "absence"),
        ([("path", "Status", "delete-complete", "success")], "absence"),
        ([("path", "Status", "TERMINATED", "success")], "existence"),
        (
            [
                ("path", "Status", "TERMINATED", "success"),
                ("error", None, "ThingNotFound", "success"),
            ],
            "absence",
        ),
        (
            [("path", "Status", "ACTIVE", "success"), ("error", None, "ThingNotFound", "success")],
            "existence",
        ),
        ([("error", None, True, "success")], "absence"),
        ([("error", None, False, "success")], "existence"),
        ([("status", None, 404, "success")], "absence"),
        ([("status", None, 200, "success")], "existence"),
        ([("path", "length(Things) == `0`", True, "success")], "absence"),
        ([("path", "length(Things[].Id) < `1`", True, "success")], "absence"),
        ([("path", "length(Things) > `0`", False, "success")], "absence"),
        ([("path", "length(Things) > `0`", True, "success")], "existence"),
        ([("path", "length(Things[?Bad]) == `0`", True, "success")], "existence"),
        ([("path", "length(Things[?Good]) == length(Things)", True, "success")], "existence"),
        ([("path", "Count == `0`", True, "success")], "existence"),
        ([("path", "Things", [], "success")], "existence"),
    ],
)
def test_definition_awaits_what_its_acceptors_for_success_say(acceptors, awaits):
    """Deleted states, errors and empty answers are absence, unless something else is success."""
    definition = Definition("Thing", "GetThing", 1, 1, [Acceptor(*each) for each in acceptors])
    assert definition.awaits == awaits


def test_definition_tells_which_acceptors_mean_not_found(definitions):
    """Codes, the status 404 and an answer of ECS say that a thing does not exist."""
    codes = {
        acceptor.expected: definition.is_not_found(acceptor)
        for definition in definitions.values()
        for acceptor in definition.acceptors
        if acceptor.matcher in ("error", "status") and acceptor.state != "success"
    }
    missing = {code for code, not_found in codes.items() if not_found}
    assert {"InvalidInstanceID.NotFound", "ResourceNotFoundException", 404} <= missing
    assert {"NoSuchEntity", "InvocationDoesNotExist", "LoadBalancerNotFound"} <= missing
    assert not missing & {"ValidationError", "AccessDeniedException", "TooManyRequestsException"}
    assert not missing & {200, 301, 403, 500, False}
    tasks = definitions["ecs", "tasks_running"]
    assert [tasks.is_not_found(acceptor) for acceptor in tasks.acceptors] == [False, True, False]


def test_definition_takes_any_error_for_not_found_that_a_deletion_takes_for_success(definitions):
    """The code that CloudFormation has for all that is invalid says gone in one waiter only."""
    for name, not_found in [("stack_delete_complete", True), ("stack_create_complete", False)]:
        definition = definitions["cloudformation", name]
        [acceptor] = [each for each in definition.acceptors if each.expected == "ValidationError"]
        assert definition.is_not_found(acceptor) is not_found


@pytest.mark.parametrize(
    ("error", "absent"),
    [
        (service_error("InvalidVolume.NotFound"), True),
        (service_error("NoSuchEntity"), True),
        (service_error("Whatever", status=404), True),
        (service_error("ValidationError"), False),
        (service_error("AccessDenied"), False),
    ],
)
def test_error_tells_absence_by_code_or_status(error, absent):
    """A service's error says that a thing does not exist by its code or by HTTP 404."""
    assert tells_absence(error) is absent


@pytest.mark.parametrize(
    ("code", "message", "absent"),
    [
        ("ValidationError", "Stack with id web does not exist", True),
        ("ValidationException", "Could not find requested job with name: j", True),
        ("ValidationError", "Template format error", False),
        ("AccessDenied", "role does not exist", False),
    ],
)
def test_error_with_a_vague_code_tells_absence_by_its_text(code, message, absent):
    """Where a code says only that a request will not do, the text says why."""
    error = service_error(code)
    error.response["Error"]["Message"] = message
    assert tells_absence(error) is absent


def test_definition_names_the_acceptor_that_matched():
    """The first acceptor that matches decides, and is the one that is returned."""
    busy = Acceptor("path", "Status", "BUSY", "retry")
    odd = Acceptor("path", "Status", "BUSY", "failure")
    definition = Definition("Thing", "GetThing", 1, 1, [busy, odd, DONE])
    assert definition.match({"Status": "BUSY"}) is busy
    assert definition.match({"Status": "DONE"}) is DONE
    assert definition.match({"Status": "LOST"}) is None
    assert definition.match(service_error("ThingNotFound")) is None


def test_definition_goes_on_where_an_expression_fails():
    """An expression that fails on a response does not match, and the next acceptor is asked."""
    counted = Acceptor("path", "length(Things) == `0`", True, "success")
    definition = Definition("Thing", "GetThing", 1, 1, [counted, DONE])
    assert definition.match({"Status": "DONE"}) is DONE
    assert definition.match({"Status": "BUSY"}) is None


def test_definition_is_a_value():
    """A definition is hashable, pickles, and reads back from its repr and its document."""
    definition = Definition("ThingDone", "GetThing", timedelta(seconds=5), 60, [DONE], "is done")
    assert definition.delay == 5.0
    assert definition.method == "get_thing"
    copied = pickle.loads(pickle.dumps(definition))
    assert copied == definition == eval(repr(definition))
    assert hash(copied) == hash(definition)
    assert copied.awaits == "existence"
    assert definition.replace(name="Thing").document()["waiters"]["Thing"]["description"]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"name": ""}, ValueError, "name must not be empty: got name=''"),
        ({"operation": 3}, TypeError, "operation must be a str: got operation=3"),
        ({"delay": 0}, ValueError, "delay must be > 0: got delay=0"),
        ({"delay": float("nan")}, ValueError, "delay must be finite and >= 0"),
        ({"max_attempts": 0}, ValueError, "max_attempts must be >= 1: got max_attempts=0"),
        ({"max_attempts": True}, TypeError, "max_attempts must be an int"),
        ({"acceptors": []}, ValueError, "acceptors must hold one for success at least: got none"),
    ],
)
def test_definition_refuses_what_could_not_run(change, error, text):
    """An empty name, a number that is not positive, or no way to succeed is refused."""
    whole = {
        "name": "ThingDone",
        "operation": "GetThing",
        "delay": 1,
        "max_attempts": 1,
        "acceptors": [DONE],
    }
    with pytest.raises(error, match=re.escape(text)):
        Definition(**{**whole, **change})


@pytest.mark.parametrize(
    "name", ["volume_available", "volume-available", "VolumeAvailable", "VOLUME_AVAILABLE"]
)
def test_definition_of_takes_a_name_in_each_of_its_spellings(ec2, name):
    """A waiter is found by boto3's name, the command line's, and that of botocore's file."""
    definition = definition_of(ec2, name)
    assert definition.name == "VolumeAvailable"
    assert definition.operation == "DescribeVolumes"


def test_definition_of_names_what_was_meant(ec2):
    """An unknown name is refused with the client, the near names and where to see them all."""
    with pytest.raises(ValueError, match="ec2 has no waiter 'volume-avalable'") as refused:
        definition_of(ec2, "volume-avalable")
    assert "did you mean 'volume_available'" in str(refused.value)
    assert f"client.waiter_names lists all {len(ec2.waiter_names)}" in str(refused.value)


def test_definition_of_a_client_without_waiters_says_so():
    """A service without waiters is no reason to look for the right name."""
    with pytest.raises(ValueError, match="sts has no waiters: got name='role_exists'"):
        definition_of(client_of("sts"), "role_exists")


@pytest.mark.parametrize(
    ("name", "model", "text"),
    [
        (7, None, "name must be a str or a definition: got name=7"),
        ("job_done", 7, "model must be a mapping in botocore's waiter format"),
        (definition_of, None, "name must be a str or a definition"),
    ],
)
def test_definition_of_refuses_other_types(ec2, name, model, text):
    """A name is a str or a definition, and a model one of its four kinds."""
    with pytest.raises(TypeError, match=re.escape(text)):
        definition_of(ec2, name, model)


def test_definitions_of_service_names_what_was_meant():
    """An unknown service is refused with the near ones; one without waiters has none."""
    with pytest.raises(ValueError, match="botocore has no service 'ec3' .*'ec2'"):
        definitions_of_service("ec3")
    assert definitions_of_service("sts") == {}


# Documents of the caller's own (W9)


def document(**changes):
    """Return a document with one waiter, some of whose members are others."""
    acceptor = {"state": "success", "matcher": "path", "argument": "Volumes", "expected": []}
    waiter = {"operation": "DescribeVolumes", "delay": 5, "maxAttempts": 3, "acceptors": [acceptor]}
    return {"version": 2, "waiters": {"JobDone": {**waiter, **changes}}}


def acceptor(**changes):
    """Return a document with one waiter, whose second acceptor has some other members."""
    given = {"state": "success", "matcher": "path", "argument": "Volumes", "expected": []}
    changed = {key: value for key, value in {**given, **changes}.items() if value is not KEPT_OUT}
    return document(acceptors=[given, changed])


KEPT_OUT = object()


def without(model, key):
    """Return a document with one waiter, less one of its members."""
    waiter = {name: value for name, value in model["waiters"]["JobDone"].items() if name != key}
    return {**model, "waiters": {"JobDone": waiter}}


@pytest.mark.parametrize("kind", ["mapping", "text", "path", "path as str"])
def test_model_is_a_mapping_a_text_or_a_file(ec2, tmp_path, kind):
    """A document is read from each of its forms, and holds several waiters."""
    several = document()
    several["waiters"]["JobGone"] = {**several["waiters"]["JobDone"], "operation": "describe_vpcs"}
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(several), encoding="utf-8")
    model = {
        "mapping": several,
        "text": f"\n {json.dumps(several)}",
        "path": file,
        "path as str": str(file),
    }[kind]
    assert waiter_names(ec2, model) == ["job_done", "job_gone"]
    assert definition_of(ec2, "job-done", model).document()["waiters"] == document()["waiters"]
    assert definition_of(ec2, "JobGone", model).operation == "DescribeVpcs"


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ({}, "model: key 'version' is missing"),
        ({"version": 2}, "model: key 'waiters' is missing"),
        ({**document(), "version": 1}, "model: version must be 2: got version=1"),
        ({**document(), "version": "2"}, "model: version must be 2: got version='2'"),
        ({**document(), "waiter": {}}, "model: key 'waiter' is unknown (did you mean 'waiters'?)"),
        ({"version": 2, "waiters": []}, "model: waiters must be an object with named members"),
        ({"version": 2, "waiters": {7: {}}}, "model: waiters must have names that are str: got 7"),
        (
            {"version": 2, "waiters": {"JobDone": 7}},
            "model: waiter 'JobDone': it must be an object",
        ),
        ({"version": 2, "waiters": {}}, "model has no waiters: got name='job_done'"),
        (
            {"version": 2, "waiters": {**document()["waiters"], "job_done": {}}},
            "model: waiter 'job_done': 'JobDone' would be the same name to boto3",
        ),
        ("{", "model: Expecting property name enclosed in double quotes: line 1 column 2"),
        ('{"version": 2, "version": 2}', "model: key 'version' stands twice in one object"),
        (without(document(), "delay"), "waiter 'JobDone': key 'delay' is missing"),
        (document(maxattempts=3), "key 'maxattempts' is unknown (did you mean 'maxAttempts'?)"),
        (document(delay=0), "waiter 'JobDone': delay must be > 0: got delay=0"),
        (document(delay="5"), "waiter 'JobDone': delay must be seconds (a number)"),
        (document(maxAttempts=0), "waiter 'JobDone': maxAttempts must be >= 1: got maxAttempts=0"),
        (document(maxAttempts=2.5), "waiter 'JobDone': maxAttempts must be an int"),
        (
            document(operation="DescribeVolume"),
            "waiter 'JobDone': ec2 has no operation 'DescribeVolume' (did you mean"
            " 'DescribeVolumes'",
        ),
        (document(operation=None), "waiter 'JobDone': operation must be a str: got"),
        (document(acceptors={}), "waiter 'JobDone': acceptors must be a list"),
        (document(acceptors=[]), "waiter 'JobDone': acceptors must hold one for success"),
        (document(acceptors=[7]), "waiter 'JobDone': acceptors[0]: it must be an object"),
        (acceptor(matcher="pathall"), "acceptors[1]: matcher must be 'path', 'pathAll', 'pathAny'"),
        (acceptor(state="done"), "acceptors[1]: state must be 'success', 'failure' or 'retry'"),
        (acceptor(state=["done"]), "acceptors[1]: state must be"),
        (
            acceptor(argument="Volumes["),
            "waiter 'JobDone': acceptors[1]: expression must be JMESPath",
        ),
        (acceptor(argument=KEPT_OUT), "acceptors[1]: argument must be an expression for path"),
        (acceptor(expected=KEPT_OUT), "acceptors[1]: key 'expected' is missing"),
        (acceptor(expcted=1), "acceptors[1]: key 'expcted' is unknown (did you mean 'expected'?)"),
        (acceptor(matcher="error"), "acceptors[1]: argument must be None for error"),
        (acceptor(matcher="error", argument=KEPT_OUT), "acceptors[1]: expected must be a code"),
        (acceptor(matcher="status", argument=KEPT_OUT, expected=20), "acceptors[1]: code must be"),
    ],
)
def test_model_is_checked_in_full_and_says_where(ec2, model, text):
    """Each mistake in a document is refused when it is given, with the place."""
    with pytest.raises(ValueError, match=re.escape(text)):
        definition_of(ec2, "job_done", model)


def test_model_in_a_file_is_named_in_its_errors(ec2, tmp_path):
    """An error in a file says which file; one that is not there is an OSError."""
    file = tmp_path / "jobs.json"
    with pytest.raises(FileNotFoundError):
        definition_of(ec2, "job_done", file)
    file.write_text(json.dumps(document(delay=-1)), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(f"model {str(file)!r}: waiter 'JobDone': ")):
        definition_of(ec2, "job_done", str(file))


def test_model_lists_its_waiters_for_an_unknown_name(ec2):
    """A name that a document does not hold is refused with those that it holds."""
    text = "model has no waiter 'job_dun' (did you mean 'job_done'?); its waiters are job_done"
    with pytest.raises(ValueError, match=re.escape(text)):
        definition_of(ec2, "job_dun", document())


def test_model_as_botocore_once_wrote_it_is_read(ec2):
    """The type that old files of botocore's give to each waiter is no unknown key."""
    assert definition_of(ec2, "job_done", document(type="api", description="is done")).description


class Jobs:
    """A client that was written by hand."""

    def describe_job(self):
        """Return a job."""

    version = 7


def test_client_without_a_model_is_known_by_its_methods():
    """Where no model says what a client can do, its methods do."""
    definition = define("DescribeJob", success=path("Status", "DONE"))
    assert definition_of(Jobs(), definition) == definition
    for name in ("describe_jobs", "Version"):
        with pytest.raises(ValueError, match=f"Jobs has no method '{name.lower()}'"):
            definition_of(Jobs(), define(name, success=path("Status", "DONE")))
    with pytest.raises(ValueError, match="Jobs has no waiters"):
        definition_of(Jobs(), "job_done")


def test_failure_response_that_came_with_success_and_shows_an_error_is_a_failure() -> None:
    """The error of a job, shown in a response that came with HTTP 200, hides nothing of it."""
    waiter = definitions_of_service("location")["job_completed"]
    failed = {
        "Status": "Failed",
        "Error": {"Code": "ValidationError"},
        "ResponseMetadata": {"HTTPStatusCode": 200},
    }
    found = waiter.match(failed)
    assert found is not None
    assert found.state == "failure"
