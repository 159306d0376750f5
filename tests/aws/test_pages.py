"""Reading all pages of an answer, and merging them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from botocore.loaders import Loader

from pollwait.aws import pages
from pollwait.aws._merging import TOKEN, merged

from .fakes import Service, script


def page(*ids, token=None):
    """Return a page of DescribeVolumes."""
    more = {"NextToken": token} if token else {}
    return {"Volumes": [{"VolumeId": each} for each in ids], **more}


def test_pages_reads_all_of_them():
    """Every page is asked for by the token of the one before, and their items are one list."""
    ec2 = Service("ec2", script(page("vol-1", token="a"), page("vol-2", token="b"), page("vol-3")))
    response = pages(ec2.client, "describe_volumes", MaxResults=5)
    assert [each["VolumeId"] for each in response["Volumes"]] == ["vol-1", "vol-2", "vol-3"]
    assert ec2.asked("NextToken") == [None, "a", "b"]
    assert ec2.asked("MaxResults") == [5, 5, 5]


def test_pages_leave_no_token_behind():
    """The merged response says nothing of a next page, and has the status of a response."""
    ec2 = Service("ec2", script(page("vol-1", token="a"), page("vol-2")))
    response = pages(ec2.client, "DescribeVolumes")
    assert set(response) == {"Volumes", "ResponseMetadata"}
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_pages_of_one_page_are_that_page():
    """An answer that fits one page costs one call, and is returned as it is."""
    ec2 = Service("ec2", script(page("vol-1")))
    assert pages(ec2.client, "describe-volumes")["Volumes"] == [{"VolumeId": "vol-1"}]
    assert len(ec2.calls) == 1


def test_pages_of_an_operation_without_pages_are_one_call():
    """An operation that cannot paginate is called as it is."""
    ecs = Service("ecs", script({"tasks": [{"taskArn": "t-1"}], "failures": []}))
    assert pages(ecs.client, "describe_tasks", tasks=["t-1"])["tasks"] == [{"taskArn": "t-1"}]
    assert ecs.calls == [("DescribeTasks", {"tasks": ["t-1"]})]


def test_pages_merge_results_within_structures():
    """Lists that lie deeper are joined there; what lies beside them is that of the last page."""

    def distributions(*ids, **more):
        items = [{"Id": each} for each in ids]
        return {"DistributionList": {"Items": items, "Quantity": len(ids), **more}}

    first = distributions("a", "b", NextMarker="b", IsTruncated=True)
    second = distributions("c", IsTruncated=False)
    cloudfront = Service("cloudfront", script(first, second))
    response = pages(cloudfront.client, "list_distributions")["DistributionList"]
    assert [each["Id"] for each in response["Items"]] == ["a", "b", "c"]
    assert response["IsTruncated"] is False
    assert "NextMarker" not in response
    assert [each["Id"] for each in first["DistributionList"]["Items"]] == ["a", "b"]


def test_pages_add_up_counts():
    """Where a count is a result, as DynamoDB's, it is that of all pages."""
    first = {"Items": [{"k": {"S": "1"}}], "Count": 1, "LastEvaluatedKey": {"k": {"S": "1"}}}
    second = {"Items": [{"k": {"S": "2"}}], "Count": 1}
    dynamodb = Service("dynamodb", script(first, second))
    response = pages(dynamodb.client, "query", TableName="t", KeyConditionExpression="k = :k")
    assert response["Count"] == 2
    assert len(response["Items"]) == 2
    assert "LastEvaluatedKey" not in response


def test_pages_keep_what_only_an_early_page_has():
    """A member that the last page lacks is kept, save one that says where a page begins."""
    whole = merged([{"A": [1], "Owner": "me", "NextMarker": "x"}, {"A": [2]}], ["A"])
    assert whole == {"A": [1, 2], "Owner": "me"}


def test_merging_leaves_the_pages_alone():
    """Pages are read, not changed: somebody else may hold them."""
    one, two = {"A": {"B": [1], "C": "x"}}, {"A": {"B": [2], "C": "y"}}
    assert merged([one, two], ["A.B"]) == {"A": {"B": [1, 2], "C": "y"}}
    assert (one, two) == ({"A": {"B": [1], "C": "x"}}, {"A": {"B": [2], "C": "y"}})


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (({"R": {"a": 1}}, {"R": {"b": 2}}), {"R": {"a": 1, "b": 2}}),
        (({"R": "ab"}, {"R": "c"}), {"R": "abc"}),
        (({"R": 1}, {}), {"R": 1}),
        (({}, {"R": [1]}), {"R": [1]}),
        (({"R": b"a"}, {"R": b"b"}), {"R": b"a"}),
        (({}, {}), {}),
        ((None, {"R": [1]}), {"R": [1]}),
    ],
    ids=repr,
)
def test_results_are_joined_by_their_kind(parts, whole):
    """Mappings are united, texts joined, and pages without a share of the result add nothing."""
    assert merged(list(parts), ["R"]) == whole


def test_tokens_of_all_services_are_known():
    """Whatever botocore takes for a token on top of an answer is left out, and hardly more."""
    loader = Loader()
    tokens, others = set(), set()
    for service in loader.list_available_services("paginators-1"):
        operations = loader.load_service_model(service, "paginators-1")["pagination"]
        for config in operations.values():
            tokens.update(listed(config["output_token"]))
            others.update(listed(config["result_key"]))
            others.update(listed(config.get("non_aggregate_keys", [])))
    on_top = {token for token in tokens if token.replace("_", "").isalnum()}
    assert len(on_top) > 15
    assert {token for token in on_top if not TOKEN.search(token)} == set()
    mistaken = {name for name in others if TOKEN.search(name.split(".")[0])}
    assert len(mistaken) <= 5 < len(others) / 500


def listed(value):
    """Return what may be one or several as a list."""
    return value if isinstance(value, list) else [value]


def test_pages_know_near_operations():
    """An operation that the service does not have is refused with those that it has."""
    ec2 = Service("ec2")
    with pytest.raises(ValueError, match=r"no operation 'describe_volume' .*'describe_volumes'"):
        pages(ec2.client, "describe_volume")
    with pytest.raises(TypeError, match="operation must be a str: got operation=3"):
        pages(ec2.client, 3)
    assert ec2.calls == []


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"VolumeIDs": []}, r"^DescribeVolumes takes no parameter 'VolumeIDs' .*'VolumeIds'\?\)$"),
        ({"volume_ids": []}, r"no parameter 'volume_ids' \(did you mean 'VolumeIds'\?\)$"),
        ({"zzz": 1}, r"no parameter 'zzz': it takes VolumeIds, .*Filters"),
    ],
)
def test_pages_refuse_unknown_parameters(params, text):
    """A parameter that the operation does not take is refused before any call."""
    ec2 = Service("ec2")
    with pytest.raises(TypeError, match=text):
        pages(ec2.client, "describe_volumes", **params)
    assert ec2.calls == []


def test_pages_refuse_calls_without_required_parameters():
    """So is a call that lacks what the operation requires; what botocore fills in is not missed."""
    eks = Service("eks")
    with pytest.raises(TypeError, match="^DescribeCluster requires name: got none$"):
        pages(eks.client, "describe_cluster")
    glacier = Service("glacier", script({"VaultName": "v"}))
    assert pages(glacier.client, "describe_vault", vaultName="v")["VaultName"] == "v"


def test_pages_of_an_operation_without_parameters():
    """An operation that takes nothing needs nothing, and says so of what it is given."""
    iam = Service("iam", script({"SummaryMap": {"Users": 3}}))
    assert pages(iam.client, "get_account_summary")["SummaryMap"] == {"Users": 3}
    with pytest.raises(TypeError, match="^GetAccountSummary takes no parameter 'a'$"):
        pages(iam.client, "get_account_summary", a=1)


def test_pages_of_a_client_without_a_model_are_one_call():
    """Of a client that is none of botocore's no more is known than its method."""
    client = SimpleNamespace(describe_volumes=lambda **params: {"Volumes": [params]})
    assert pages(client, "describe_volumes", a=1) == {"Volumes": [{"a": 1}]}
