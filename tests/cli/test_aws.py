"""``pollwait aws``, against an embedded EC2 over HTTP whose time moves when the command waits."""

from __future__ import annotations

import json
import sys
import time

import pytest

from pollwait import SystemClock, cli
from pollwait.aws import _waiter
from pollwait.cli import main
from pollwait.testing import FakeClock, ec2

MODEL = {
    "version": 2,
    "waiters": {
        "VolumeThere": {
            "operation": "DescribeVolumes",
            "delay": 5,
            "maxAttempts": 4,
            "description": "Wait until EC2 knows the volume.",
            "acceptors": [
                {"state": "success", "matcher": "status", "expected": 200},
                {"state": "retry", "matcher": "error", "expected": "InvalidVolume.NotFound"},
            ],
        }
    },
}


@pytest.fixture(autouse=True)
def nobody(monkeypatch, tmp_path):
    """Let no configuration of the user's be seen, and no network but loopback be asked."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that the system's clock shows, in threads of the command and of the server."""
    fake = FakeClock()
    monkeypatch.setattr(SystemClock, "monotonic", lambda self: fake.monotonic())
    monkeypatch.setattr(SystemClock, "wait", lambda self, event, s: fake.wait(event, s))
    return fake


@pytest.fixture
def server(clock):
    """Return an EC2 whose volumes are ready 3 s after they were created."""
    with ec2.EmbeddedEC2(ready=3, create_call=0, describe_call=0, clock=clock) as server:
        yield server


@pytest.fixture
def volumes(server):
    """Return the ids of two new volumes."""
    client = server.client("ec2")
    return [
        client.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"] for _ in range(2)
    ]


@pytest.fixture
def run(server):
    """Return a function that runs ``pollwait aws ec2`` against the server."""

    def run(*words):
        place = ["--region", "us-east-1", "--endpoint-url", server.endpoint_url]
        return main(["aws", *place, "ec2", *words])

    return run


def test_ready_is_0_with_nothing_on_standard_output(run, volumes, clock, capsys):
    """As ``aws ec2 wait``. Without a terminal, standard error has a line when the states change."""
    assert run("volume-available", "--volume-ids", *volumes) == 0
    assert 3 <= clock.monotonic() < 5
    out, err = capsys.readouterr()
    assert out == ""
    first, last = err.splitlines()
    assert first == "ec2 volume-available: 2 creating (0 s, 1 check)"
    assert last.startswith("ec2 volume-available: 2 available (")


def test_words_may_be_those_of_the_aws_command_line(run, volumes):
    """``wait`` stands before the waiter, and the waiter's name may have underscores."""
    assert run("wait", "volume_available", "--volume-ids", *volumes, "--quiet") == 0


def test_failed_is_1_with_one_sentence(run, volumes, server, capsys):
    """A volume in error cannot become available, and the error says what was seen."""
    server.set_state(volumes[0], "error")
    assert run("volume-available", "--volume-ids", volumes[0]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"pollwait: 'VolumeAvailable of {volumes[0]}' failed after 1 check")
    assert "'error'" in said


def test_refusal_by_the_service_is_1(run, capsys):
    """What never existed is a failure when the grace is over."""
    absent = "vol-0123456789abcdef0"
    code = run("volume-available", "--volume-ids", absent, "--missing-grace", "0")
    assert code == 1
    assert "not found" in capsys.readouterr().err


def test_not_ready_in_time_is_124(run, volumes, clock, capsys):
    """The timeout takes units, and the error names the limit."""
    assert run("volume-available", "--volume-ids", *volumes, "--timeout", "2s") == 124
    assert clock.monotonic() == 2
    assert "(timeout 2 s)" in capsys.readouterr().err


def test_schedule_that_ends_is_124(run, volumes, clock, capsys):
    """A schedule is obeyed to the letter, and its end ends the wait."""
    words = ["--volume-ids", *volumes, "--schedule", "fixed(0.25).times(2)"]
    assert run("volume-available", *words) == 124
    assert clock.monotonic() == 0.5
    assert "after 3 checks" in capsys.readouterr().err


def test_interrupt_is_130(run, volumes, clock, monkeypatch, capsys):
    """Ctrl-C ends the wait without a traceback; with --json there is an object as well."""

    def interrupted(self, event, seconds):
        if seconds > 0.25:  # beyond the moment for which a first call waits for others
            raise KeyboardInterrupt
        return clock.wait(event, seconds)

    monkeypatch.setattr(SystemClock, "wait", interrupted)
    assert run("volume-available", "--volume-ids", *volumes, "--json") == 130
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], report["attempts"]) == ("interrupted", 1)
    assert report["response"]["Volumes"][0]["State"] == "creating"


def test_json_is_one_object_about_success(run, volumes, capsys):
    """It holds the response, times as text, without what HTTP brought along."""
    assert run("volume-available", "--volume-ids", *volumes, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    response = report.pop("response")
    assert 3 <= report.pop("elapsed") < 5
    assert report.pop("attempts") > 3
    assert report == {
        "service": "ec2",
        "waiter": "volume-available",
        "outcome": "ready",
        "error": None,
    }
    assert list(response) == ["Volumes"]
    assert {each["VolumeId"]: each["State"] for each in response["Volumes"]} == dict.fromkeys(
        volumes, "available"
    )
    assert response["Volumes"][0]["CreateTime"].startswith("20")


def test_json_is_one_object_about_failure(run, volumes, server, capsys):
    """The error stands in it, and not on standard error too."""
    server.set_state(volumes[0], "error")
    assert run("volume-available", "--volume-ids", volumes[0], "--json") == 1
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["outcome"] == "failed"
    assert report["error"].startswith("'VolumeAvailable of ")
    assert report["response"]["Volumes"][0]["State"] == "error"
    assert "pollwait:" not in err


def test_json_tells_a_timeout(run, volumes, capsys):
    """The outcome is in words, and the last response is there."""
    assert run("volume-available", "--volume-ids", *volumes, "--json", "--timeout", "0") == 124
    report = json.loads(capsys.readouterr().out)
    assert report["outcome"] == "timed out"
    assert report["response"]["Volumes"][0]["State"] == "creating"


@pytest.mark.parametrize(("timeout", "code"), [("1", 124), ("9", 0)])
def test_quiet_says_nothing(run, volumes, capsys, timeout, code):
    """However it ends."""
    assert run("volume-available", "--volume-ids", *volumes, "-q", "--timeout", timeout) == code
    assert capsys.readouterr() == ("", "")


def test_no_timeout_waits_for_ever(run, volumes, server, clock):
    """``none`` is longer than the definition's 600 s."""
    for volume in volumes:
        server.script(volume, ready_after=700)
    assert run("volume-available", "--volume-ids", *volumes, "-q", "--timeout", "none") == 0
    assert clock.monotonic() >= 700


def test_until_stable_takes_several_good_answers(run, volumes, server, capsys):
    """One more good answer than is usual, and so one more check."""
    for volume in volumes:
        server.set_state(volume, "available")
    words = ["--volume-ids", *volumes, "--until-stable", "2", "--json"]
    assert run("volume-available", *words) == 0
    assert json.loads(capsys.readouterr().out)["attempts"] == 2


def test_filters_are_passed_on(run, volumes, server):
    """Parameters of any kind reach the service."""
    words = ["--filters", f"Name=volume-id,Values={volumes[0]}", "Name=size,Values=1,2"]
    assert run("volume-available", *words, "-q") == 0
    document = json.dumps({"VolumeIds": volumes})
    assert run("volume-available", "--cli-input-json", document, "-q") == 0


def test_own_definitions_are_run(run, volumes, clock, tmp_path, capsys):
    """W9: a waiter of a file by its name, and botocore's are still there."""
    model = tmp_path / "model.json"
    model.write_text(json.dumps(MODEL))
    words = ["--volume-ids", *volumes, "--model", str(model)]
    assert run("volume-there", *words) == 0
    assert clock.monotonic() < 0.25
    assert run("volume-available", *words) == 0
    assert main(["aws", "ec2", "--model", str(model), "volume-there", "--help"]) == 0
    assert "Wait until EC2 knows the volume." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "--model: cannot read {}: No such file or directory"),
        ("[", "--model: "),
        (json.dumps({**MODEL, "version": 3}), "--model: "),
        (json.dumps(MODEL).replace("DescribeVolumes", "DescribeVolumez"), "--model: "),
    ],
)
def test_faulty_models_are_refused(tmp_path, capsys, document, said):
    """A file that cannot be read or holds no such definitions is one line and 2."""
    model = tmp_path / "model.json"
    if document is not None:
        model.write_text(document)
    assert main(["aws", "--model", str(model), "ec2", "volume-there", "--volume-ids", "x"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pollwait: {said.format(model)}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "which service? `pollwait aws --list` lists them"),
        ("ec2", "which waiter of ec2? `pollwait aws ec2 --list` lists them"),
        ("ec2 wait", "which waiter of ec2?"),
        ("ecc2 x", "unknown service 'ecc2': did you mean 'ec2'"),
        ("qqqq x", "unknown service 'qqqq': pollwait aws --list shows all"),
        (
            "ec2 volume-availabel",
            "unknown waiter 'volume-availabel': did you mean 'volume-available'",
        ),
        ("ec2 qqqq", "unknown waiter 'qqqq': pollwait aws ec2 --list shows all"),
        ("sqs qqqq", "unknown waiter 'qqqq': there are none"),
        ("--lst", "unknown option '--lst': did you mean '--list'"),
        ("ec2 --lst", "unknown option '--lst': did you mean '--list'"),
        ("ec2 volume-available --volume-idz x", "unknown parameter '--volume-idz': did you mean"),
        ("ec2 volume-available --volume-ids", "--volume-ids has no value, which would mean"),
        ("ec2 volume-available --max-results x", "--max-results: must be a whole number: got 'x'"),
        ("ec2 volume-available --filters Name", "--filters: expected '=' after 'Name'"),
        ("ec2 volume-available --timeout soon", "argument --timeout: must be seconds, or such as"),
        ("ec2 volume-available --timeout -1", "argument --timeout: "),
        ("ec2 volume-available --timeout", "argument --timeout: expected one argument"),
        ("ec2 volume-available --schedule fixd(1)", "argument --schedule: cannot read schedule"),
        ("ec2 volume-available --until-stable x", "argument --until-stable: invalid int value"),
        ("ecs services-stable", "missing --services"),
    ],
)
def test_wrong_calls_are_2_and_say_what_is_wrong(capsys, words, said):
    """Before any client is made; and near names are offered."""
    assert main(["aws", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"pollwait: {said}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--volume-ids [] --region us-east-1", "VolumeIds must not be empty"),
        ("--volume-ids x --region us-east-1 --until-stable 0", "until_stable must be >= 1"),
        ("--volume-ids x", "no region: give --region, or set AWS_DEFAULT_REGION"),
        ("--volume-ids x --profile none", "The config profile (none) could not be found"),
        ("--volume-ids x --region us-east-1 --endpoint-url x", "Invalid endpoint: x"),
        ('--cli-input-json {"VolumeIds":[1]} --region us-east-1', ""),
    ],
)
def test_what_the_client_or_the_waiter_refuses_is_2(capsys, words, said):
    """One line, no traceback, and no call."""
    assert main(["aws", "ec2", "volume-available", *words.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pollwait: {said}")


def test_missing_credentials_are_2(run, volumes, monkeypatch, capsys):
    """They are no reason to wait; and requests need none if they are not signed."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert run("volume-available", "--volume-ids", *volumes) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pollwait: no credentials: ")
    assert run("volume-available", "--volume-ids", *volumes, "--no-sign-request", "-q") == 0


def test_region_and_credentials_come_from_the_profile(server, volumes, monkeypatch, tmp_path):
    """The usual configuration is used, and --profile chooses in it."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    config = tmp_path / "config"
    config.write_text(
        "[profile test]\nregion = us-east-1\naws_access_key_id = x\naws_secret_access_key = x\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    words = ["--profile", "test", "--endpoint-url", server.endpoint_url, "--volume-ids", *volumes]
    assert main(["aws", "ec2", "volume-available", *words, "-q"]) == 0


def test_connection_errors_slow_the_wait_and_are_shown(clock, monkeypatch, capsys):
    """W4: an endpoint where nobody listens is asked until the timeout."""
    monkeypatch.setattr(time, "sleep", clock.sleep)  # botocore's, between its own retries
    words = ["--endpoint-url", "http://127.0.0.1:9", "--region", "us-east-1", "--timeout", "1"]
    assert main(["aws", "ec2", "volume-available", "--volume-ids", "vol-1", *words]) == 124
    first, last = capsys.readouterr().err.splitlines()
    assert first == "ec2 volume-available: EndpointConnectionError (0 s, 1 check)"
    assert "EndpointConnectionError" in last
    assert (
        main(["aws", "ec2", "volume-available", "--volume-ids", "vol-1", *words, "--json"]) == 124
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["outcome"], report["response"]) == ("timed out", None)


def test_list_shows_all_waiters_without_credentials(monkeypatch, capsys):
    """A table of text, a line for each, with the names that ``aws`` gives to services."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert main(["aws", "--list"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["SERVICE", "WAITER", "OPERATION", "DELAY", "ATTEMPTS"]
    assert len(lines) > 300
    rows = [line.split() for line in lines]
    assert ["ec2", "volume-available", "DescribeVolumes", "15", "40"] in rows
    assert ["s3api", "bucket-exists", "HeadBucket", "5", "20"] in rows
    assert {len(row) for row in rows} == {5}


def test_list_of_a_service_shows_its_waiters(capsys):
    """In columns, numbers to the right."""
    assert main(["aws", "--list", "s3"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "SERVICE  WAITER             OPERATION   DELAY  ATTEMPTS",
        "s3api    bucket-exists      HeadBucket      5        20",
        "s3api    bucket-not-exists  HeadBucket      5        20",
        "s3api    object-exists      HeadObject      5        20",
        "s3api    object-not-exists  HeadObject      5        20",
    ]


def test_list_is_json_if_asked_for(capsys):
    """An array of objects."""
    assert main(["aws", "kinesis", "--list", "--json"]) == 0
    found = {each["waiter"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["stream-exists"] == {
        "service": "kinesis",
        "waiter": "stream-exists",
        "operation": "DescribeStream",
        "delay": 10,
        "max_attempts": 18,
    }


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("--help", ["usage: pollwait aws ", "--list", "Exit codes: 0 ready; 1 failed;"]),
        ("ec2 --help", ["usage: pollwait aws ec2 WAITER", "  volume-available\n", "--timeout"]),
        ("sqs -h", ["The waiters of sqs:\n\n  none"]),
        (
            "ec2 volume-available --help",
            [
                "usage: pollwait aws ec2 volume-available ",
                "Calls DescribeVolumes at once",
                "every 15 s",
                "for 600 s",
                "ready      when all of Volumes[].State == 'available'",
                "failed     when any of Volumes[].State == 'deleted'",
                "parameters of DescribeVolumes:",
                "--volume-ids [TEXT ...]",
                "--dry-run, --no-dry-run",
                "--schedule SCHEDULE",
            ],
        ),
        ("ecs services-stable --help", ["--services [TEXT ...]", "required"]),
    ],
)
def test_help_needs_no_credentials(monkeypatch, capsys, words, shown):
    """Of the command, of a service with its waiters, and of a waiter with its parameters."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert main(["aws", *words.split()]) == 0
    out = capsys.readouterr().out
    for text in shown:
        assert text in out


def forget(monkeypatch, *names):
    """Let modules of the command line be imported anew."""
    for name in names:
        monkeypatch.delitem(sys.modules, f"pollwait.cli.aws.{name}", raising=False)
        monkeypatch.delattr(cli.aws, name, raising=False)


@pytest.mark.parametrize("missing", ["boto3", "botocore.loaders"])
def test_missing_extra_is_named(monkeypatch, capsys, missing):
    """Without the packages of the extra the command says which to install."""
    forget(monkeypatch, "catalogue", "connection", "waiting", "overview")
    monkeypatch.setitem(sys.modules, missing, None)
    words = ["--volume-ids", "x", "--region", "us-east-1"]
    assert main(["aws", "ec2", "volume-available", *words]) == 2
    assert 'pip install "pollwait[aws]"' in capsys.readouterr().err


def test_other_missing_modules_are_no_matter_of_the_extra(monkeypatch, capsys):
    """A broken installation is not hidden behind advice that does not help."""
    forget(monkeypatch, "catalogue", "overview")
    monkeypatch.setitem(sys.modules, "pollwait.aws._catalogue", None)
    assert main(["aws", "--list"]) == 2
    assert "pollwait.aws._catalogue" in capsys.readouterr().err


def test_bug_is_no_usage_error(run, volumes, monkeypatch):
    """What is neither of the user's nor of the service's making passes."""

    def broken(*_, **__):
        raise AssertionError("a bug")

    monkeypatch.setattr(_waiter.Waiter, "wait", broken)
    with pytest.raises(AssertionError, match="a bug"):
        run("volume-available", "--volume-ids", *volumes)
