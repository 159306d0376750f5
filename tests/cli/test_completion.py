"""What the shells offer to complete."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from pollwait.cli import main


@pytest.fixture
def offered(capsys):
    """Return a function that completes the last word of a line."""

    def offered(line):
        words = line.split(" ")
        assert main(["complete-words", str(len(words) - 1), *words]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out.splitlines()

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pollwait a", ["aws"]),
        ("pollwait --v", ["--version"]),
        ("pollwait complete-w", []),
        ("pollwait aws ec2", ["ec2"]),
        ("pollwait aws --region x --json ec2", ["ec2"]),
        ("pollwait aws s3a", ["s3api"]),
        ("pollwait aws ec2 volume-", ["volume-available", "volume-deleted", "volume-in-use"]),
        ("pollwait aws ec2 wait volume-a", ["volume-available"]),
        ("pollwait aws --reg", ["--region"]),
        ("pollwait aws ec2 --reg", ["--region"]),
        ("pollwait aws ec2 volume-available --vol", ["--volume-ids"]),
        ("pollwait aws ec2 volume-available --volume-ids a --tim", ["--timeout"]),
        ("pollwait aws ec2 volume-available --no-d", ["--no-dry-run"]),
        ("pollwait aws ec2 volume-available --volume-ids ", []),
        ("pollwait aws ec2 volume-available --region ", []),
        ("pollwait aws --model ", []),
        ("pollwait aws ecs services-stable --include ", ["TAGS"]),
        ("pollwait aws nope ", []),
        ("pollwait aws ec2 nope --", []),
        ("pollwait aws --timeout soon ", []),
        ("pollwait completion ", ["bash", "zsh", "fish"]),
        ("pollwait completion bash ", []),
        ("pollwait demo --vol", ["--volumes"]),
        ("pollwait demo ", []),
        ("pollwait nope --", []),
        ("pollwait until --tim", ["--timeout"]),
        ("pollwait until --js", ["--json"]),
        ("pollwait until -- curl --tim", []),
    ],
)
def test_words_that_fit_are_offered(offered, line, expected):
    """Commands, services, waiters, options, parameters and their values; else nothing."""
    assert offered(line) == expected


def test_waiters_of_a_model_are_offered(offered, tmp_path):
    """Those of a file of the user's, too."""
    waiter = {
        "operation": "DescribeVolumes",
        "delay": 1,
        "maxAttempts": 1,
        "acceptors": [{"state": "success", "matcher": "status", "expected": 200}],
    }
    model = tmp_path / "model.json"
    model.write_text(json.dumps({"version": 2, "waiters": {"VolumeThere": waiter}}))
    assert "volume-there" in offered(f"pollwait aws --model {model} ec2 vol")
    assert offered(f"pollwait aws --model {model}x ec2 vol") == []


def test_no_client_is_made(offered, monkeypatch):
    """Nor are credentials read: boto3 is not even imported."""
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert offered("pollwait aws ec2 volume-available --volume-i") == ["--volume-ids"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(capsys, shell):
    """It asks the command, so that it is never out of date."""
    assert main(["completion", shell]) == 0
    assert "complete-words" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["tcsh"]])
def test_other_shells_are_refused(words, capsys):
    """The error names those that there are."""
    with pytest.raises(SystemExit) as caught:
        main(["completion", *words])
    assert caught.value.code == 2
    assert "SHELL" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["x"], ["--help"]])
def test_words_are_completed_for_scripts_alone(words, capsys):
    """Whoever calls that by hand is told what it is for, and help does not list it."""
    assert main(["complete-words", *words]) == 2
    assert "pollwait completion" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "complete-words" not in capsys.readouterr().out


@pytest.fixture
def command(tmp_path):
    """Return the directory of an executable named pollwait."""
    script = tmp_path / "pollwait"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom pollwait.cli import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)
    return tmp_path


def asked(shell, command, script):
    """Return the lines that a shell prints."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    run = subprocess.run(
        [program, "-c", script],
        env={"PATH": f"{command}:/usr/bin:/bin", "HOME": str(command)},
        capture_output=True,
        check=True,
        text=True,
        timeout=50,
    )
    assert run.stderr == ""
    return run.stdout.splitlines()


def test_bash_completes(command):
    """Bash's own completion calls the function, with the words as bash splits them."""
    script = """
        eval "$(pollwait completion bash)"
        complete -p pollwait
        COMP_WORDS=(pollwait aws ec2 volume-) COMP_CWORD=3
        _pollwait pollwait volume- ec2
        printf '%s\\n' "${COMPREPLY[@]}"
        COMP_WORDS=(pollwait until -- '') COMP_CWORD=3
        _pollwait pollwait '' --
        echo "${#COMPREPLY[@]}"
    """
    assert asked("bash", command, script) == [
        "complete -o default -F _pollwait pollwait",
        "volume-available",
        "volume-deleted",
        "volume-in-use",
        "0",
    ]


def test_fish_completes(command):
    """Fish offers the same words, and files where there are none."""
    script = """
        pollwait completion fish | source
        complete -C "pollwait aws ec2 volume-"
        complete -C "pollwait aws --model $HOME/poll"
    """
    assert asked("fish", command, script) == [
        "volume-available",
        "volume-deleted",
        "volume-in-use",
        f"{command}/pollwait",
    ]


def test_zsh_accepts_the_script(command):
    """Zsh reads it, and its function is registered for the command."""
    script = """
        autoload -Uz compinit && compinit -u
        eval "$(pollwait completion zsh)"
        echo $_comps[pollwait]
    """
    assert asked("zsh", command, script) == ["_pollwait"]
