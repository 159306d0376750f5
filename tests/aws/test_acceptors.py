"""Acceptors, held against botocore's own."""

from __future__ import annotations

import pickle
import re

import pytest
from botocore.errorfactory import ClientExceptionsFactory
from botocore.exceptions import ClientError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.waiter import AcceptorConfig
from hypothesis import given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from pollwait.aws._acceptors import Acceptor

from .synthesis import answered, service_error

STATES = "Volumes[].State"


def volumes(*states, status=200):
    """Return a response with volumes in these states."""
    return answered({"Volumes": [{"State": state} for state in states]}, status)


def accepts(matcher, argument, expected, outcome):
    """Tell whether an acceptor matches an outcome."""
    return Acceptor(matcher, argument, expected, "success").matches(outcome)


@pytest.mark.parametrize(
    ("matcher", "argument", "expected", "response", "matches"),
    [
        ("path", "Table.Status", "ACTIVE", {"Table": {"Status": "ACTIVE"}}, True),
        ("path", "Table.Status", "ACTIVE", {"Table": {"Status": "CREATING"}}, False),
        ("path", "Table.Status", "ACTIVE", {}, False),
        ("path", "Table.Status", None, {}, True),
        ("path", "Count", 2, {"Count": 2}, True),
        ("path", "Count", "2", {"Count": 2}, False),
        ("path", "Enabled", True, {"Enabled": True}, True),
        ("path", "Enabled", False, {}, False),
        ("path", "length(Volumes) > `0`", True, volumes("a"), True),
        ("path", "length(Volumes) > `0`", True, volumes(), False),
        ("path", "length(Volumes) == `0`", True, {}, False),
        ("path", "length(Volumes) == `0`", False, {}, False),
        ("path", STATES, ["a"], volumes("a"), True),
        ("pathAll", STATES, "a", volumes("a", "a"), True),
        ("pathAll", STATES, "a", volumes("a", "b"), False),
        ("pathAll", STATES, "a", volumes(), False),
        ("pathAll", STATES, "a", {}, False),
        ("pathAll", "Status", "a", {"Status": "a"}, False),
        ("pathAll", "sort(Volumes)", "a", {}, False),
        ("pathAny", STATES, "a", volumes("b", "a"), True),
        ("pathAny", STATES, "a", volumes("b"), False),
        ("pathAny", STATES, "a", volumes(), False),
        ("pathAny", "Status", "a", {"Status": "a"}, False),
        ("pathAny", "Codes", 2, {"Codes": [1, 2]}, True),
        ("pathAny", "Codes", None, {"Codes": [None]}, True),
        ("status", None, 200, volumes(), True),
        ("status", None, 200, volumes(status=202), False),
        ("status", None, 200, {}, False),
        ("error", None, "NotFound", {}, False),
        ("error", None, True, {}, False),
        ("error", None, False, {}, True),
    ],
)
def test_acceptor_of_a_response(matcher, argument, expected, response, matches):
    """An acceptor matches the responses that the same acceptor of botocore's matches."""
    assert accepts(matcher, argument, expected, response) is matches


@pytest.mark.parametrize(
    ("matcher", "argument", "expected", "matches"),
    [
        ("path", "Error.Code", "NotFound", False),
        ("path", "Volumes", None, False),
        ("pathAll", "[Error.Code]", "NotFound", False),
        ("pathAny", "[Error.Code]", "NotFound", False),
        ("status", None, 404, True),
        ("status", None, 400, False),
        ("error", None, "NotFound", True),
        ("error", None, "NotFoundException", False),
        ("error", None, True, True),
        ("error", None, False, False),
    ],
)
def test_acceptor_of_an_error(matcher, argument, expected, matches):
    """An error is matched by its status and code, never by a path, raised or as its response."""
    error = service_error("NotFound", status=404)
    assert accepts(matcher, argument, expected, error) is matches
    assert accepts(matcher, argument, expected, error.response) is matches


@pytest.mark.parametrize(
    "code", ["DBInstanceNotFound", "DBInstanceNotFoundFault"], ids=["on the wire", "of the shape"]
)
def test_acceptor_knows_an_error_by_both_names(code):
    """An error acceptor matches the code on the wire, and the name of the error's shape."""
    model = ServiceModel(Loader().load_service_model("rds", "service-2"), "rds")
    errors = ClientExceptionsFactory().create_client_exceptions(model)
    response = service_error("DBInstanceNotFound").response
    error = errors.from_code("DBInstanceNotFound")(response, "DescribeTenantDatabases")
    assert accepts("error", None, code, error)


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"])
def test_acceptor_knows_the_code_of_a_query_compatible_service(code):
    """An error that carries the code of the query protocol as well is matched by either."""
    error = service_error("AWS.SimpleQueueService.NonExistentQueue")
    error.response["Error"]["QueryErrorCode"] = "QueueDoesNotExist"
    assert accepts("error", None, code, error)


def test_acceptor_of_no_code_matches_no_error_without_one():
    """An error without a code is an error, and matches no code."""
    error = ClientError({}, "DescribeVolumes")
    assert accepts("error", None, True, error)
    assert not accepts("error", None, "NotFound", error)
    assert not accepts("status", None, 200, error)


MEMBERS = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from(["a", "", "1", 0, 1, 2, 1.0, True, False, None])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=3),
    max_leaves=8,
)
EXPRESSIONS = st.sampled_from(
    [
        "a",
        "a.b",
        "a[].b",
        "a[].b[].c",
        "a[*].b",
        "a[?b == `1`].c",
        "a[0]",
        "a.*",
        "@",
        "a || b",
        "a && b",
        "!a",
        "length(a)",
        "length(a) > `0`",
        "length(a[?b]) == length(a)",
        "contains(a, b)",
        "a > b",
        "sort(a)",
        "max(a)",
    ]
)
PATHS = st.fixed_dictionaries(
    {
        "matcher": st.sampled_from(["path", "pathAll", "pathAny"]),
        "argument": EXPRESSIONS,
        "expected": VALUES,
    }
)
STATUSES = st.fixed_dictionaries(
    {"matcher": st.just("status"), "expected": st.sampled_from([200, 301, 404])}
)
ERRORS = st.fixed_dictionaries(
    {"matcher": st.just("error"), "expected": st.sampled_from(["a", "b", True, False])}
)
RESPONSES = st.dictionaries(MEMBERS, VALUES, max_size=3)
METADATA = st.fixed_dictionaries({}, optional={"HTTPStatusCode": st.sampled_from([200, 301, 404])})
SERVICE_ERRORS = st.fixed_dictionaries(
    {
        "Error": st.fixed_dictionaries({"Code": MEMBERS}),
        "ResponseMetadata": METADATA,
    }
)


def botocores_verdict(config, response):
    """Return what botocore's acceptor says, and False where its expression fails."""
    try:
        return bool(AcceptorConfig({"state": "success", **config}).matcher_func(response))
    except (JMESPathError, TypeError):
        return False


@given(PATHS | STATUSES | ERRORS, RESPONSES, METADATA)
def test_acceptor_judges_responses_as_botocore_does(config, members, metadata):
    """Whatever a response holds, an acceptor and botocore's agree on it."""
    response = {**members, "ResponseMetadata": metadata}
    mine = Acceptor(**{"argument": None, **config}, state="success")
    assert mine.matches(response) is botocores_verdict(config, response)


@given(PATHS | STATUSES | ERRORS, SERVICE_ERRORS)
def test_acceptor_judges_errors_as_botocore_does(config, response):
    """Whatever an error says, an acceptor and botocore's agree on it."""
    mine = Acceptor(**{"argument": None, **config}, state="success")
    assert mine.matches(ClientError(response, "Op")) is botocores_verdict(config, response)


@pytest.mark.parametrize(
    ("acceptor", "phrase"),
    [
        (Acceptor("path", "Status", "DONE", "success"), "Status == 'DONE'"),
        (Acceptor("path", "length(a) > `0`", True, "success"), "length(a) > `0` is True"),
        (Acceptor("path", "Count", 1, "success"), "Count == 1"),
        (Acceptor("pathAll", STATES, "a", "success"), "all of Volumes[].State == 'a'"),
        (Acceptor("pathAny", STATES, "a", "failure"), "any of Volumes[].State == 'a'"),
        (Acceptor("status", None, 404, "retry"), "HTTP status 404"),
        (Acceptor("error", None, "NotFound", "retry"), "error code 'NotFound'"),
        (Acceptor("error", None, True, "retry"), "any error"),
        (Acceptor("error", None, False, "retry"), "no error"),
    ],
    ids=str,
)
def test_acceptor_is_a_value(acceptor, phrase):
    """An acceptor says what it looks for, and equals its copies, pickled, shown or written down."""
    assert str(acceptor) == phrase
    assert pickle.loads(pickle.dumps(acceptor)) == acceptor
    assert eval(repr(acceptor)) == acceptor
    assert Acceptor(**{"argument": None, **acceptor.document()}) == acceptor
    assert len({acceptor, pickle.loads(pickle.dumps(acceptor))}) == 1


def test_acceptor_keeps_what_it_expects():
    """What the caller does to a list afterwards, or to a document, changes no acceptor."""
    expected = ["a"]
    acceptor = Acceptor("path", STATES, expected, "success")
    expected.append("b")
    acceptor.document()["expected"].append("b")
    assert acceptor.matches(volumes("a"))
    assert acceptor.expected == ["a"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            ("pathal", STATES, "a", "success"),
            ValueError,
            "matcher must be 'path', 'pathAll', 'pathAny', 'status' or 'error': got"
            " matcher='pathal' (did you mean 'path', 'pathAll' or 'pathAny'?)",
        ),
        ((["path"], STATES, "a", "success"), ValueError, "got matcher=['path']"),
        (
            ("path", STATES, "a", "sucess"),
            ValueError,
            "state must be 'success', 'failure' or 'retry': got state='sucess' (did you mean"
            " 'success'?)",
        ),
        (("path", None, "a", "success"), ValueError, "argument must be an expression for path"),
        (("path", 3, "a", "success"), TypeError, "expression must be a str: got expression=3"),
        (("path", "a[", "a", "success"), ValueError, "expression must be JMESPath"),
        (("path", "size(a)", "a", "success"), ValueError, "size(), which does not exist"),
        (("error", "a", "b", "success"), TypeError, "argument must be None for error"),
        (("error", None, 404, "success"), TypeError, "expected must be a code or a bool for error"),
        (("error", None, "", "success"), ValueError, "must not be empty"),
        (("status", None, "200", "success"), TypeError, "must be an int: got code='200'"),
        (("status", None, 20, "success"), ValueError, "from 100 to 599: got code=20"),
    ],
)
def test_acceptor_refuses_what_could_never_match(arguments, error, text):
    """A matcher, state, expression, status or code that can be none is refused when it is given."""
    with pytest.raises(error, match=re.escape(text)):
        Acceptor(*arguments)
