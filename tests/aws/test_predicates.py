"""Predicates over responses and errors, held against botocore's own matchers and retry rules."""

from __future__ import annotations

import copy
import pickle
import re
from datetime import datetime
from decimal import Decimal
from functools import partial

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)
from botocore.parsers import ResponseParserError
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker
from botocore.stub import Stubber
from botocore.waiter import AcceptorConfig
from hypothesis import given
from hypothesis import strategies as st

from pollwait import PollFailed, PollTimeout, fixed, poll
from pollwait.aws import error_code, is_throttle, is_transient, path, path_all, path_any, status
from pollwait.testing import FakeClock

STATES = "Volumes[].State"
MATCHERS = {"path": path, "pathAll": path_all, "pathAny": path_any}
ENDPOINT = "https://ec2.us-east-1.amazonaws.com"


def volumes(*states):
    """Return a response with volumes in these states."""
    return {"Volumes": [{"State": state} for state in states]}


def service_error(code, http_status=400, message=""):
    """Return the error of a service."""
    response = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": http_status},
    }
    return ClientError(response, "DescribeVolumes")


@pytest.fixture(scope="module")
def ec2():
    """Return a client that nothing answers but a stub."""
    return boto3.client(
        "ec2", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


@pytest.mark.parametrize(
    ("predicate", "response", "matches"),
    [
        (path("Table.TableStatus", "ACTIVE"), {"Table": {"TableStatus": "ACTIVE"}}, True),
        (path("Table.TableStatus", "ACTIVE"), {"Table": {}}, False),
        (path("length(Volumes)", 2), volumes("available", "creating"), True),
        (path("length(Volumes)", 2), {}, False),
        (path("Volumes", None), {}, True),
        (path(STATES, ["a", "b"]), volumes("a", "b"), True),
        (path_all(STATES, "available"), volumes("available", "available"), True),
        (path_all(STATES, "available"), volumes("available", "creating"), False),
        (path_all(STATES, "available"), volumes(), False),
        (path_all(STATES, "available"), {}, False),
        (path_all("Volumes[0].State", "available"), volumes("available"), False),
        (path_all("sort(Volumes)", "available"), {}, False),
        (path_any(STATES, "error"), volumes("available", "error"), True),
        (path_any(STATES, "error"), volumes("available"), False),
        (path_any(STATES, "error"), volumes(), False),
        (path_any("Volumes[0].State", "e"), volumes("error"), False),
        (status(200), {"ResponseMetadata": {"HTTPStatusCode": 200}}, True),
        (status(200), {"ResponseMetadata": {"HTTPStatusCode": 202}}, False),
        (status(200), {}, False),
        (status(200), None, False),
    ],
)
def test_predicate_judges_a_response(predicate, response, matches):
    """A predicate matches what it names: what is found, all elements, or any of them."""
    assert predicate(response) is matches


leaves = st.sampled_from(["available", "error", "", 0, 1, True, None])
items = st.dictionaries(st.sampled_from(["State", "Tags"]), leaves | st.lists(leaves, max_size=2))
responses = st.dictionaries(
    st.sampled_from(["Volumes", "Error"]),
    st.lists(items, max_size=3) | items | leaves | st.just({"Code": "X"}),
)
expressions = st.sampled_from(
    [
        STATES,
        "Volumes",
        "Volumes[0].State",
        "Volumes[*].Tags[]",
        "Volumes.State",
        "Volumes[0:1].State",
    ]
)


@given(st.sampled_from(sorted(MATCHERS)), expressions, leaves, responses)
def test_path_predicates_agree_with_botocore(matcher, expression, expected, response):
    """On any response a predicate says what the acceptor of botocore says."""
    acceptor = AcceptorConfig(
        {"state": "success", "matcher": matcher, "argument": expression, "expected": expected}
    )
    predicate = MATCHERS[matcher](expression, expected)
    assert predicate(response) is bool(acceptor.matcher_func(response))


def test_path_ignores_a_response_that_reports_an_error():
    """What is no answer does not match, even where nothing is what is expected."""
    assert not path("Volumes", None)(service_error("Throttling").response)


@pytest.mark.parametrize("make", [path, path_all, path_any])
@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        (
            "Volumes[.State",
            r"got expression='Volumes\[.State', which fails at column 8: unexp",
        ),
        ("Volumes[", "is incomplete at column 8"),
        ("Volumes[].'State", r"fails at column 10: Unclosed ' delimiter"),
        ("Volumes #", "fails at column 8: Unknown token #"),
        ("", "is empty"),
        ("lenght(Volumes)", r"calls lenght\(\), which does not exist"),
        (
            "Volumes[?starts_with(Id, State, 'a')]",
            r"calls starts_with\(\) with 3 arguments",
        ),
        ("length()", r"calls length\(\) with 0 arguments: it takes 1"),
        ("contains(Id)", r"calls contains\(\) with 1 argument: it takes 2"),
        ("merge()", r"calls merge\(\) with 0 arguments: it takes at least 1"),
        ("Volumes[::0]", r"has a slice with step 0: \[::0\]$"),
        ("length(Volumes[?Size][1:-1:0].State)", r"has a slice with step 0: \[1:-1:0\]$"),
    ],
)
def test_path_refuses_an_expression_that_is_none(make, expression, fault):
    """What does not parse is an error when it is given, and the error says where."""
    with pytest.raises(ValueError, match=fault):
        make(expression, "available")


def test_path_takes_functions_and_slices():
    """What the check of an expression must let through: nested calls, many arguments, slices."""
    assert path("sort_by(Volumes, &State)[0:1:1].State | [0]", "a")(volumes("b", "a"))
    assert path("not_null(X, Y, Volumes[0].State)", "a")(volumes("a"))
    assert path("merge(A, B).c", 1)({"A": {}, "B": {"c": 1}})


@pytest.mark.parametrize("make", [path, path_all, path_any])
@pytest.mark.parametrize("expected", ["available", None, False])
@pytest.mark.parametrize(
    "expression",
    [
        "contains(Volumes[0].State, `1`)",
        "Volumes[?Size > State]",
        "Volumes[?Price > `1`]",
        "floor(`1e400`)",
        "floor(Limit)",
        "length(Absent)",
        "sort_by(Volumes, &Tags)",
        "to_number(Created)",
    ],
)
def test_path_does_not_match_where_its_expression_fails(make, expected, expression):
    """An expression that fails on a response matches nothing, None included, and raises nothing."""
    shown = {"Size": 8, "State": "available", "Price": Decimal("NaN"), "Tags": []}
    response = {"Volumes": [shown], "Limit": float("nan"), "Created": datetime(2026, 1, 1)}
    assert make(expression, expected)(response) is False


@pytest.mark.parametrize("expression", [None, 3, b"Volumes", ["Volumes"]])
def test_path_takes_only_text(expression):
    """An expression is a str."""
    with pytest.raises(TypeError, match="expression must be a str: got expression="):
        path(expression, "available")


@pytest.mark.parametrize(
    ("code", "kind"), [("200", TypeError), (True, TypeError), (99, ValueError), (600, ValueError)]
)
def test_status_takes_only_http_statuses(code, kind):
    """A status is an int from 100 to 599."""
    with pytest.raises(kind, match="code must be an"):
        status(code)
    assert (status(100).code, status(599).code) == (100, 599)


PREDICATES = [
    (path("Table.TableStatus", "ACTIVE"), "path('Table.TableStatus', 'ACTIVE')"),
    (path_all(STATES, "available"), "path_all('Volumes[].State', 'available')"),
    (path_any(STATES, True), "path_any('Volumes[].State', True)"),
    (status(200), "status(200)"),
    (error_code("A", "B.C"), "error_code('A', 'B.C')"),
    (error_code("A"), "error_code('A')"),
]


@pytest.mark.parametrize(("predicate", "shown"), PREDICATES)
def test_predicate_is_a_value(predicate, shown):
    """A predicate shows how it was made, equals its like, and cannot be changed."""
    assert repr(predicate) == shown
    assert eval(shown) == predicate
    assert hash(eval(shown)) == hash(predicate)
    assert all(predicate != other for other, text in PREDICATES if text != shown)
    with pytest.raises(AttributeError, match="immutable"):
        predicate.expected = "x"


@pytest.mark.parametrize(
    "twin_of", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
@pytest.mark.parametrize(("predicate", "shown"), PREDICATES)
def test_predicate_travels(predicate, shown, twin_of):
    """A predicate that was copied or pickled is as good as the first."""
    twin = twin_of(predicate)
    subject = service_error("A") if shown.startswith("error_code") else volumes(True)
    assert twin == predicate
    assert twin(subject) is predicate(subject)


def test_path_keeps_what_was_expected():
    """A list that the caller changes afterwards changes no predicate."""
    expected = ["a"]
    predicate = path(STATES, expected)
    expected.append("b")
    assert predicate(volumes("a"))


def test_error_code_matches_only_the_named_codes_of_services():
    """True for a ClientError with one of the codes, and for nothing else."""
    not_found = error_code("InvalidVolume.NotFound", "InvalidSnapshot.NotFound")
    assert not_found(service_error("InvalidVolume.NotFound"))
    assert not_found(service_error("InvalidSnapshot.NotFound"))
    assert not not_found(service_error("InvalidVolume"))
    assert not not_found(ClientError({}, "DescribeVolumes"))
    assert not not_found(ValueError("InvalidVolume.NotFound"))
    assert not error_code("ClientError")(service_error("X"))


def test_error_code_matches_the_name_in_the_model():
    """An error that the model names otherwise than the wire matches by both names."""
    sqs = boto3.client(
        "sqs", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    error = sqs.exceptions.QueueDoesNotExist(
        service_error("AWS.SimpleQueueService.NonExistentQueue").response, "GetQueueUrl"
    )
    assert error_code("QueueDoesNotExist")(error)
    assert error_code("AWS.SimpleQueueService.NonExistentQueue")(error)
    assert not error_code("QueueDeletedRecently")(error)


@pytest.mark.parametrize(
    ("predicate", "shown"),
    [
        (error_code("A"), r"error_code\('A'\)"),
        (is_throttle, "is_throttle"),
        (is_transient, "is_transient"),
    ],
)
def test_predicate_over_errors_refuses_a_response(predicate, shown):
    """Given to ``until`` by mistake, it says where it belongs instead of never matching."""
    sentence = f"^{shown} judges errors, so it belongs in retry_on: got a value of type dict$"
    with pytest.raises(TypeError, match=sentence):
        poll(dict, until=predicate, timeout=1, clock=FakeClock())


@pytest.mark.parametrize(
    "predicate",
    [path("A", None), path_all(STATES, "a"), path_any(STATES, "a"), status(200)],
    ids=repr,
)
def test_predicate_over_responses_refuses_an_error(ec2, predicate):
    """Given to ``retry_on`` by mistake, it says where it belongs instead of retrying nothing."""
    sentence = re.escape(f"{predicate!r} judges responses, so it belongs in until or fail: got an")
    with Stubber(ec2) as stub:
        stub.add_client_error("describe_volumes", "InvalidVolume.NotFound")
        with pytest.raises(TypeError, match=f"^{sentence} error of type ClientError$"):
            poll(ec2.describe_volumes, retry_on=predicate, timeout=1, clock=FakeClock())


@pytest.mark.parametrize(
    ("codes", "kind"),
    [((), TypeError), ((404,), TypeError), ((["A"],), TypeError), (("",), ValueError)],
)
def test_error_code_takes_only_codes(codes, kind):
    """At least one code, each a str with something in it."""
    with pytest.raises(kind, match="codes must"):
        error_code(*codes)


@pytest.mark.parametrize("code", ThrottledRetryableChecker()._throttled_error_codes)
def test_is_throttle_knows_the_codes_of_botocore(code):
    """Whatever code botocore's standard mode takes for a throttle is one, and transient as well."""
    assert is_throttle(service_error(code))
    assert is_transient(service_error(code))


@pytest.mark.parametrize(
    "code",
    [
        *TransientRetryableChecker()._transient_error_codes,
        "InternalError",
        "InternalFailure",
        "ServiceUnavailable",
        "Unavailable",
    ],
)
def test_is_transient_knows_codes_under_any_status(code):
    """Transient are the codes of botocore's standard mode, and those of EC2's server errors."""
    assert is_transient(service_error(code))


@pytest.mark.parametrize(
    ("error", "throttle", "transient"),
    [
        (service_error("Unheard", 429), True, True),
        (service_error("RequestLimitExceeded", 503), True, True),
        (service_error("RequestTimeout"), False, True),
        (service_error("Unheard", 500), False, True),
        (service_error("Unheard", 599), False, True),
        (service_error("Unheard", 501), False, False),
        (service_error("Unheard", 499), False, False),
        (service_error("UnauthorizedOperation", 403), False, False),
        (service_error("InvalidVolume.NotFound"), False, False),
        (service_error("Unheard", "500"), False, False),
        (ClientError({}, "DescribeVolumes"), False, False),
        (EndpointConnectionError(endpoint_url=ENDPOINT), False, True),
        (ConnectTimeoutError(endpoint_url=ENDPOINT), False, True),
        (ReadTimeoutError(endpoint_url=ENDPOINT), False, True),
        (ConnectionClosedError(endpoint_url=ENDPOINT), False, True),
        (HTTPClientError(error="reset"), False, True),
        (SSLError(endpoint_url=ENDPOINT, error="UNEXPECTED_EOF_WHILE_READING"), False, True),
        (SSLError(endpoint_url=ENDPOINT, error="CERTIFICATE_VERIFY_FAILED"), False, False),
        (SSLError(endpoint_url=ENDPOINT, error="WRONG_VERSION_NUMBER"), False, False),
        (IncompleteReadError(actual_bytes=1, expected_bytes=2), False, True),
        (ResponseParserError("Further retries may succeed"), False, True),
        (NoCredentialsError(), False, False),
        (PollTimeout(), False, False),
        (ConnectionResetError(), False, False),
        (ValueError("Throttling"), False, False),
    ],
)
def test_is_transient_tells_what_may_pass(error, throttle, transient):
    """What broke on the way and the service's own errors pass; the rest must be mended."""
    assert is_throttle(error) is throttle
    assert is_transient(error) is transient


def test_predicates_serve_a_plain_poll(ec2):
    """With until, fail and retry_on a plain poll of a describe call is a waiter."""
    describe = partial(ec2.describe_volumes, VolumeIds=["vol-1"])
    clock = FakeClock()
    wait = partial(
        poll,
        describe,
        until=path_all(STATES, "available"),
        fail=path_any(STATES, "error"),
        retry_on=(is_transient, error_code("InvalidVolume.NotFound")),
        schedule=fixed(1),
        timeout=60,
        clock=clock,
    )
    with Stubber(ec2) as stub:
        stub.add_client_error("describe_volumes", "InvalidVolume.NotFound")
        stub.add_client_error("describe_volumes", "RequestLimitExceeded", http_status_code=503)
        stub.add_response("describe_volumes", volumes("creating"))
        stub.add_response("describe_volumes", volumes("available"))
        stub.add_response("describe_volumes", volumes("error"))
        assert wait()["Volumes"] == [{"State": "available"}]
        assert clock.sleeps == [1.0, 1.0, 1.0]
        with pytest.raises(PollFailed):
            wait()


def test_predicates_judge_one_page(ec2):
    """A plain describe call returns one page, and what is on the next is not judged."""
    page = {**volumes("available"), "NextToken": "more"}
    with Stubber(ec2) as stub:
        stub.add_response("describe_volumes", page)
        response = poll(ec2.describe_volumes, until=path_all(STATES, "available"), timeout=0)
    assert response["NextToken"] == "more"
