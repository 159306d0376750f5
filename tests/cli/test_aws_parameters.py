"""The parameters of AWS operations, as words of the command line."""

from __future__ import annotations

import argparse
import json

import pytest
from botocore.model import ServiceModel
from hypothesis import given
from hypothesis import strategies as st

from pollwait.cli._errors import UsageError
from pollwait.cli.aws import invocation, parameters
from pollwait.cli.aws.catalogue import Service
from pollwait.cli.aws.parameters import Parameter

# Every kind of parameter that there is, the operations of today's waiters taking but a few.
KINDS = {
    "Ids": {"type": "list", "member": {"shape": "Text"}},
    "Counts": {"type": "list", "member": {"shape": "Whole"}},
    "Filters": {"type": "list", "member": {"shape": "Filter"}},
    "Filter": {
        "type": "structure",
        "members": {
            "Name": {"shape": "Text"},
            "Values": {"shape": "Ids"},
            "Most": {"shape": "Whole"},
            "Share": {"shape": "Real"},
            "Strict": {"shape": "YesNo"},
            "Since": {"shape": "Time"},
            "Key": {"shape": "Bytes"},
            "Within": {"shape": "Filter"},
            "Any": {"shape": "Document"},
        },
    },
    "Instances": {"type": "list", "member": {"shape": "Instance"}},
    "Instance": {"type": "structure", "members": {"InstanceId": {"shape": "Text"}}},
    "Tags": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Text"}},
    "Limits": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Whole"}},
    "Matrix": {"type": "list", "member": {"shape": "Counts"}},
    "Text": {"type": "string"},
    "Whole": {"type": "integer"},
    "Real": {"type": "double"},
    "YesNo": {"type": "boolean"},
    "Time": {"type": "timestamp"},
    "Bytes": {"type": "blob"},
    "Document": {"type": "structure", "members": {}, "document": True},
    "Mode": {"type": "string", "enum": ["FAST", "SLOW"]},
}


def operation(*required):
    """Return an operation with a parameter of each kind, named after it."""
    request = {
        "type": "structure",
        "members": {kind: {"shape": kind} for kind in KINDS},
        "required": list(required),
    }
    description = {
        "metadata": {"serviceId": "Test", "protocol": "json"},
        "operations": {
            "Look": {"name": "Look", "http": {"method": "POST"}, "input": {"shape": "Request"}},
            "Peek": {"name": "Peek", "http": {"method": "POST"}},
        },
        "shapes": {**KINDS, "Request": request},
    }
    return ServiceModel(description, "test").operation_model("Look")


def request(*words, document=None, required=()):
    """Return the request that some words of the command line make."""
    look = operation(*required)
    found = invocation.parameters(words, parameters.of(look))
    return parameters.request(look, found, document)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--ids a b", {"Ids": ["a", "b"]}),
        ("--ids=a", {"Ids": ["a"]}),
        ('--ids ["a","b"]', {"Ids": ["a", "b"]}),
        ("--ids a,b", {"Ids": ["a,b"]}),
        ("--counts 1 2", {"Counts": [1, 2]}),
        ("--counts -1", {"Counts": [-1]}),
        ("--counts [1,2]", {"Counts": [1, 2]}),
        ("--matrix [[1],[2]]", {"Matrix": [[1], [2]]}),
        ("--text x", {"Text": "x"}),
        ("--text {x}", {"Text": "{x}"}),
        ("--whole 5", {"Whole": 5}),
        ("--real 0.5", {"Real": 0.5}),
        ("--yes-no", {"YesNo": True}),
        ("--no-yes-no", {"YesNo": False}),
        ("--time 2026-01-31T12:00:00Z", {"Time": "2026-01-31T12:00:00Z"}),
        ("--time 1700000000", {"Time": "1700000000"}),
        ("--bytes aGk=", {"Bytes": b"hi"}),
        ("--mode SLOWER", {"Mode": "SLOWER"}),
        ("--filters Name=x,Values=a", {"Filters": [{"Name": "x", "Values": ["a"]}]}),
        ("--filters Name=x Name=y", {"Filters": [{"Name": "x"}, {"Name": "y"}]}),
        ('--filters {"Name":"x"}', {"Filters": [{"Name": "x"}]}),
        ('--filters {"Name":"x"} Name=y', {"Filters": [{"Name": "x"}, {"Name": "y"}]}),
        ('--filters [{"Name":"x"}]', {"Filters": [{"Name": "x"}]}),
        (
            "--filter Most=5,Share=.5,Strict=TRUE,Key=aGk=,Since=2026-01-31",
            {
                "Filter": {
                    "Most": 5,
                    "Share": 0.5,
                    "Strict": True,
                    "Key": b"hi",
                    "Since": "2026-01-31",
                }
            },
        ),
        (
            '--filter {"Most":5,"Strict":false,"Key":"aGk=","Values":[],"Any":{"x":[1]}}',
            {"Filter": {"Most": 5, "Strict": False, "Key": b"hi", "Values": [], "Any": {"x": [1]}}},
        ),
        ("--filter Within={Within={Name=x}}", {"Filter": {"Within": {"Within": {"Name": "x"}}}}),
        ("--instances i-1 i-2", {"Instances": [{"InstanceId": "i-1"}, {"InstanceId": "i-2"}]}),
        ("--instances InstanceId=i-1", {"Instances": [{"InstanceId": "i-1"}]}),
        ("--instance i-1", {"Instance": {"InstanceId": "i-1"}}),
        ("--tags a=b,c=d", {"Tags": {"a": "b", "c": "d"}}),
        ("--limits a=1", {"Limits": {"a": 1}}),
        ('--limits {"a":1}', {"Limits": {"a": 1}}),
        ('--document {"a":[1,null]}', {"Document": {"a": [1, None]}}),
        ("", {}),
    ],
)
def test_values_have_the_types_of_the_model(words, expected):
    """Lists, structures, maps, numbers, switches, bytes and times, in shorthand and in JSON."""
    assert request(*words.split()) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ids", "--ids has no value, which would mean everything there is"),
        ("--ids [a]", "--ids: no valid JSON: Expecting value"),
        ("--ids a --ids b", "argument --ids: may be given once"),
        ("--text", "argument --text: expected 1 argument"),
        ("--whole 5.5", "--whole: must be a whole number: got '5.5'"),
        ("--counts 1 x", "--counts: must be a whole number: got 'x'"),
        ("--counts [1,[2]]", "--counts: [1] must be one value"),
        ("--real x", "--real: must be a number: got 'x'"),
        ("--time soon", "--time: must be a time, such as 2026-01-31T12:00:00Z: got 'soon'"),
        ("--bytes x", "--bytes: must be base64, or fileb://path"),
        ("--bytes a!Gk=", "--bytes: must be base64"),
        ("--filter Nam=x", "--filter: unknown member 'Nam': did you mean 'Name'?"),
        ("--filter Q=x", "--filter: unknown member 'Q': there are Name, Values, Most"),
        (
            "--filter Within={Nam=x}",
            "--filter: unknown member of Within 'Nam': did you mean 'Name'",
        ),
        ("--filter Most=x", "--filter: Most must be a whole number: got 'x'"),
        ("--filter Strict=maybe", "--filter: Strict must be true or false: got 'maybe'"),
        ("--filter Name=x,y", "--filter: Name must be one value (quote a value that has a comma"),
        (
            "--filter Within=x",
            "--filter: Within must be several members, such as Name=x,Values=y,z",
        ),
        ("--filter [1]", "--filter: must be several members"),
        ("--filters Name", "--filters: expected '=' after 'Name', at position 5 of"),
        ('--filters [{"Name":"x"},{"Most":"y"}]', "--filters: [1].Most must be a whole number"),
        ('--filters {"Name":', "--filters: no valid JSON"),
        (f"--filters {'[' * 100_000}", "--filters: no valid JSON: it is nested too deeply"),
        ("--document x", "--document: no valid JSON"),
        ("--limits a=x", "--limits: a must be a whole number: got 'x'"),
        ("--idz a", "unknown parameter '--idz': did you mean '--ids'?"),
        ("--idz=a", "unknown parameter '--idz': did you mean '--ids'?"),
        ("--zzz", "unknown parameter '--zzz': there are --ids, --counts"),
        ("--text a b", "what is 'b'? It follows no parameter that takes it"),
        ("a", "what is 'a'?"),
        ("--yes-no=true", "argument --yes-no/--no-yes-no: ignored explicit argument 'true'"),
    ],
)
def test_values_that_do_not_fit_are_refused(words, said):
    """The error names the parameter, the place in it, and what would be right."""
    with pytest.raises(UsageError) as caught:
        request(*words.split())
    assert str(caught.value).startswith(said)


def test_values_are_read_from_files(tmp_path, monkeypatch):
    """``file://`` for text and JSON, ``fileb://`` for bytes; ``~`` and variables in the path."""
    (tmp_path / "ids").write_text('["a", "b"]')
    (tmp_path / "filters").write_text('[{"Name": "x"}]')
    (tmp_path / "name").write_text("n\u00e9", encoding="utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PLACE", str(tmp_path))
    words = "--ids file://~/ids --filters file://$PLACE/filters --text file://~/name"
    assert request(*words.split(), "--bytes", f"fileb://{tmp_path}/bytes") == {
        "Ids": ["a", "b"],
        "Filters": [{"Name": "x"}],
        "Text": "n\u00e9",
        "Bytes": b"\xff",
    }
    assert request("--filter", "Name@=file://~/name,Values=file://~/name") == {
        "Filter": {"Name": "n\u00e9", "Values": ["file://~/name"]}
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--text file://nope", "--text: cannot read file://nope: No such file or directory"),
        ("--text fileb://bytes", "--text: must be text (file://, not fileb://): got b'\\xff'"),
        ("--filter fileb://bytes", "--filter: must be several members"),
        ("--text file://bytes", "--text: cannot read file://bytes: 'utf-8' codec can't decode"),
        ("--filter Name@=file://nope", "--filter: cannot read file://nope"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, monkeypatch, words, said):
    """A file that is missing or no text is an error of its parameter."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff")
    with pytest.raises(UsageError) as caught:
        request(*words.split())
    assert str(caught.value).startswith(said)


def test_cli_input_json_gives_all_parameters(tmp_path):
    """A JSON object, or a file with one, by the names of the API; options win over it."""
    document = '{"Ids": ["a"], "Whole": "5", "Filters": [{"Name": "x"}], "Text": null}'
    expected = {"Ids": ["a"], "Whole": 5, "Filters": [{"Name": "x"}], "Text": None}
    assert request(document=document) == expected
    (tmp_path / "input.json").write_text(document)
    assert request(document=f"file://{tmp_path}/input.json") == expected
    assert request("--ids", "b", document=document) == {**expected, "Ids": ["b"]}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("x", "--cli-input-json: no valid JSON"),
        ("[]", "--cli-input-json: must be a JSON object"),
        ('{"Idz": []}', "--cli-input-json: unknown member 'Idz': did you mean 'Ids'?"),
        ('{"Filters": [{"Q": 1}]}', "--cli-input-json: unknown member of Filters[0] 'Q'"),
        ("file://nope", "--cli-input-json: cannot read file://nope"),
    ],
)
def test_cli_input_json_is_checked(document, said):
    """What is no such object is an error that names the place."""
    with pytest.raises(UsageError) as caught:
        request(document=document)
    assert str(caught.value).startswith(said)


def test_required_parameters_are_asked_for():
    """All that are missing are named; a JSON document may give them."""
    with pytest.raises(UsageError, match=r"^missing --ids, --text$"):
        request("--whole", "5", required=["Ids", "Text"])
    assert request(document='{"Text": "x"}', required=["Text"]) == {"Text": "x"}


def test_an_operation_without_parameters_takes_none():
    """Not even a document gives any."""
    peek = operation().service_model.operation_model("Peek")
    assert parameters.of(peek) == ()
    assert parameters.request(peek, {}, "{}") == {}
    with pytest.raises(UsageError, match="unknown parameter '--x': the operation takes none"):
        invocation.parameters(["--x"], ())


def test_choices_are_those_of_the_model():
    """A text with an enumeration has choices, and only it."""
    choices = {each.member: each.choices for each in parameters.of(operation())}
    assert choices.pop("Mode") == ("FAST", "SLOW")
    assert not any(choices.values())


def test_parameters_have_the_names_that_aws_gives_them():
    """Words of the API's names, in lower case with dashes, runs of capitals kept together."""
    model = Service("rds").model
    (name,) = [
        each.option
        for each in parameters.of(model.operation_model("DescribeDBInstances"))
        if each.member == "DBInstanceIdentifier"
    ]
    assert name == "--db-instance-identifier"


def test_no_waiter_has_a_parameter_with_the_name_of_an_option():
    """So all parameters of all waiters of botocore can be given."""
    from pollwait.cli.aws import catalogue

    clashes = []
    for service in map(Service, catalogue.services()):
        for name, waiter in service.waiters.items():
            options = [each.options for each in parameters.of(service.operation(waiter))]
            names = {option for each in options for option in each}
            clashes += [(service.name, name, clash) for clash in names & set(invocation.NAMES)]
    assert not clashes


def test_a_parameter_with_the_name_of_an_option_is_given_in_json():
    """The option keeps its name, as operations of other waiters may have any parameters."""
    text = Parameter("Timeout", operation().input_shape.members["Text"])
    parser = argparse.ArgumentParser()
    invocation.add_parameters(parser, [text])
    assert parser.parse_known_args(["--timeout", "5"])[1] == ["--timeout", "5"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(JSON, st.sampled_from(sorted(KINDS)))
def test_any_json_is_a_value_or_refused(value, kind):
    """No document, however odd, gets an error of another kind."""
    words = [f"--{kind.lower()}", json.dumps(value)]
    known = {each.member: each for each in parameters.of(operation())}
    try:
        known[kind].value(words[1:])
    except UsageError as error:
        assert str(error).startswith(known[kind].option)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3))
def test_any_words_are_a_value_or_refused(words):
    """Whatever is written, for a list of structures there is a value or a usage error."""
    filters = {each.member: each for each in parameters.of(operation())}["Filters"]
    try:
        value = filters.value(words)
    except UsageError as error:
        assert str(error).startswith("--filters: ")
    else:
        assert all(isinstance(each, dict) for each in value)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"Name": st.text(max_size=5), "Values": st.lists(st.text(max_size=5), max_size=3)},
            optional={"Most": st.integers(), "Strict": st.booleans()},
        ),
        min_size=1,
        max_size=3,
    )
)
def test_structures_survive_as_json(structures):
    """What is written as JSON, whole or one by one, comes back as it was."""
    assert request("--filters", json.dumps(structures)) == {"Filters": structures}
    one_by_one = [json.dumps(each) for each in structures]
    assert request("--filters", *one_by_one) == {"Filters": structures}


def test_help_names_the_kinds():
    """Each parameter shows what it takes, and whether it must be given."""
    parser = argparse.ArgumentParser()
    invocation.add_parameters(parser, parameters.of(operation("Ids")))
    shown = parser.format_help()
    for text in ("--ids [TEXT ...]", "required", "--filters [KEY=VALUE ...]", "--whole NUMBER"):
        assert text in shown


@pytest.mark.parametrize("words", [["--ids", ""], ["--ids", "a", ""], ["--text", ""]])
def test_empty_value_is_refused(words):
    """A variable of the shell that is not set stops the command before any call."""
    with pytest.raises(UsageError, match=f"{words[0]} has an empty value"):
        request(*words)
