"""``pollwait fit``: what it reads, what it prints, and how it refuses."""

from __future__ import annotations

import io
import json
import logging
import re
import shlex
import sys

import pytest

from pollwait import DEFAULT, Schedule
from pollwait._core.evaluate import evaluate
from pollwait._core.fit import fit
from pollwait.cli import main

TIMES = [round(1.25 + index / 64, 3) for index in range(40)] + [3.0, 4.0]


@pytest.fixture
def times(tmp_path):
    """Return a function that writes a file of samples and returns its path."""

    def write(content, name="times.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


@pytest.fixture
def some(times):
    """Return the path of a file of exact times."""
    return times("".join(f"{time}\n" for time in TIMES))


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that sets what standard input holds."""

    def hold(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return hold


def fitted(capsys, *arguments):
    """Return what the command says as JSON."""
    assert main(["fit", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_fit_shows_several_budgets_beside_the_default_schedule(capsys, some):
    """Without any options there is one schedule each for 2, 3, 5 and 8 checks, and the default."""
    found = fitted(capsys, some)["schedules"]
    assert [each["name"] for each in found] == [
        "2 checks",
        "3 checks",
        "5 checks",
        "8 checks",
        "default",
    ]
    assert [each["fitted"] for each in found] == [True] * 4 + [False]
    assert found[-1]["schedule"] == str(DEFAULT)
    for each, most in zip(found, (2, 3, 5, 8), strict=False):
        assert each["checks"] <= most
        assert Schedule.parse(each["schedule"]) == fit(TIMES, max_checks=most).schedule


def test_fit_tells_what_to_expect(capsys, some):
    """The figures are those that ``evaluate`` gives for the schedule that is printed."""
    for each in fitted(capsys, some, "--max-checks", "2.5")["schedules"]:
        figures = evaluate(Schedule.parse(each["schedule"]), TIMES)
        assert each["overshoot"] == pytest.approx(figures.overshoot, abs=1e-6)
        assert each["checks"] == pytest.approx(figures.checks, abs=1e-6)


def test_fit_prints_a_table_and_schedules_to_copy(capsys, times):
    """The text has the samples, their percentiles, the figures, and each schedule on a line."""
    file = times("1\n2\n3\n4\n5\n")
    assert main(["fit", file, "--max-checks", "2", "--schedule", "fixed(1)"]) == 0
    best = fit([1, 2, 3, 4, 5], max_checks=2)
    parts = capsys.readouterr().out.split("\n\n")
    assert parts[0] == (
        f"{file}: 5 samples (5 exact)\n"
        "seconds until ready: p10 1.000, p50 3.000, p90 5.000, p95 5.000, p99 5.000, mean 3.000"
    )
    assert parts[1] == (
        "          overshoot  checks\n"
        f"2 checks      {best.overshoot:.3f}    {best.checks:.2f}\n"
        "fixed(1)      0.000    4.00"
    )
    assert parts[2].rstrip() == f"2 checks:\n  {best.schedule}\nfixed(1):\n  fixed(1)"
    assert len(parts) == 3  # nothing fitted is both better and no dearer


def test_fit_tells_when_waits_are_ready(capsys, times):
    """The JSON object has the same percentiles as the text."""
    found = fitted(capsys, times("1\n2\n3\n4\n5\n"), "--max-checks", "2")
    expected = {"p10": 1.0, "p50": 3.0, "p90": 5.0, "p95": 5.0, "p99": 5.0, "mean": 3.0}
    assert found["ready"] == expected


def test_fit_gives_lines_to_paste(capsys, some):
    """The advice holds the best schedule that costs no more, for Python and for a shell."""
    assert main(["fit", some]) == 0
    says, python, shell = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    found = {each["name"]: each for each in fitted(capsys, some)["schedules"]}
    best, basis = found["5 checks"], found["default"]
    assert says == (
        f"To notice {best['overshoot']:.3f} s after ready in place of {basis['overshoot']:.3f},"
        f" with {best['checks']:.2f} checks in place of {basis['checks']:.2f}:"
    )
    assert python == f"  poll(check, schedule=Schedule.parse({best['schedule']!r}), timeout=60)"
    words = shlex.split(shell)
    assert words[:3] == ["pollwait", "until", "--schedule"]
    assert words[3] == best["schedule"]


def test_fit_takes_costs_and_other_schedules(capsys, some):
    """Costs may stand alone or beside budgets, and any schedules may be compared with."""
    others = ["--schedule", "fixed(1)", "fixed(2)"]
    found = fitted(capsys, some, "--check-cost", "0.5", "2", *others)["schedules"]
    assert [each["name"] for each in found] == [
        "0.5 s a check",
        "2 s a check",
        "fixed(1)",
        "fixed(2)",
    ]
    assert Schedule.parse(found[0]["schedule"]) == fit(TIMES, check_cost=0.5).schedule
    found = fitted(capsys, some, "--check-cost=0.5", "--max-checks=2", "--max-checks=3")
    names = [each["name"] for each in found["schedules"]]
    assert names == ["2 checks", "3 checks", "0.5 s a check", "default"]


def test_fit_counts_what_checks_take(capsys, some):
    """The duration of a check, and when it sees, are those of the fit."""
    look = ["--check-duration", "0.25", "--sees-at", "1"]
    found = fitted(capsys, some, "--max-checks", "2", *look)["schedules"]
    best = fit(TIMES, max_checks=2, check_duration=0.25, sees_at=1)
    assert found[0]["schedule"] == str(best.schedule)
    assert found[0]["overshoot"] == pytest.approx(best.overshoot, abs=1e-6)
    default = evaluate(DEFAULT, TIMES, check_duration=0.25, sees_at=1)
    assert found[-1]["checks"] == pytest.approx(default.checks, abs=1e-6)


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        ("1.5\n2\n", (2, 2, 0, 0)),
        ("seconds\n1.5\n2\n", (2, 2, 0, 0)),
        ("\n# measured on Monday\n1.5\n\n2", (2, 2, 0, 0)),
        ("1,2\n1.5,\n2,2\n", (3, 1, 1, 1)),
        ("not_ready_at,ready_at\n1,2\n1,\n1,3\n", (3, 0, 2, 1)),
        ('[1, 2]\n[1, null]\n{"seconds": 2}\n{"not_ready_at": 1, "ready_at": 2}\n', (4, 1, 2, 1)),
        ("\ufeff1.5\r\n2\r\n", (2, 2, 0, 0)),
    ],
)
def test_fit_reads_every_form_of_sample(capsys, times, content, counts):
    """Numbers, pairs and lines of JSON are read, and told apart in the counts."""
    found = fitted(capsys, times(content), "--max-checks", "2")["samples"]
    kinds = ("count", "exact", "intervals", "never_ready")
    assert tuple(found[kind] for kind in kinds) == counts


def test_fit_says_how_many_samples_of_each_kind(capsys, times):
    """Kinds that do not occur are not mentioned."""
    file = times("1,2\n1.5,\n1,3\n2,2\n")
    assert main(["fit", file, "--max-checks", "2"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"{file}: 4 samples (1 exact, 2 intervals, 1 never seen ready)"


def test_fit_reads_standard_input(capsys, stdin):
    """A minus sign stands for what is piped in, also in messages."""
    stdin(b"1.5\n2\n")
    assert main(["fit", "-"]) == 0
    assert capsys.readouterr().out.startswith("stdin: 2 samples (2 exact)\n")
    stdin(b"1.5\nx\n")
    assert main(["fit", "-"]) == 2
    assert capsys.readouterr() == ("", "pollwait: stdin:2: not a number: 'x'\n")


def test_fit_needs_a_standard_input_to_read(capsys, monkeypatch):
    """Where there is none at all, it holds no samples."""
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["fit", "-"]) == 2
    assert capsys.readouterr().err == "pollwait: stdin holds no samples\n"


def test_fit_picks_waits_by_name(capsys, times):
    """Of a file with names, one name may be taken alone."""
    file = times("name,seconds\na,1\nb,2\na,3\n")
    assert fitted(capsys, file, "--name", "a")["samples"]["count"] == 2
    assert main(["fit", file, "--name", "c"]) == 2
    assert capsys.readouterr().err == f"pollwait: {file} holds no samples of 'c'\n"


def test_fit_reads_a_large_file(capsys, times):
    """A hundred thousand lines are ordinary."""
    file = times("".join(f"{1 + index % 1000 / 512}\n" for index in range(100_000)))
    found = fitted(capsys, file, "--max-checks", "2")
    assert found["samples"]["count"] == 100_000
    assert 1.5 < found["schedules"][0]["checks"] <= 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1.5\n2\nx\n", ":3: not a number: 'x'"),
        ("1.5\nnan\n", ":2: sample must be finite and >= 0 seconds: got sample=nan"),
        ("1.5\ninf\n", ":2: sample must be finite and >= 0 seconds: got sample=inf"),
        ("1.5\n-2\n", ":2: sample must be finite and >= 0 seconds: got sample=-2.0"),
        ("1,2\n3,2\n", ":2: ready_at must be >= not_ready_at: got sample=(3.0, 2.0)"),
        ("1,2\n1,2,3\n", ":2: "),
        ("a,b,c\n1,2,3\n", ":1: columns must be named "),
        ('{"time": 1}\n', ":1: it must hold not_ready_at and ready_at, or seconds: got ['time']"),
        ("[1, 2, 3]\n", ":1: "),
        ("1.5\n" + "x" * 10_000 + "\n", ":2: not a number: 'xxx"),
        ("", " holds no samples"),
        ("seconds\n", " holds no samples"),
        ("# nothing\n\n", " holds no samples"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", " is no text"),
        (b"1.5\n\xff\xfe\xfa\n", ":2: not a number: "),
        ("[" * 100_000 + "\n", ":1: "),
        ('"' + "1" * 200_000 + "\n", ":1: "),
    ],
)
def test_fit_refuses_what_is_no_sample(capsys, times, content, said):
    """A bad file is one line, with the file, the line and what is wrong there; exit code 2."""
    file = times(content)
    assert main(["fit", file]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(f"pollwait: {file}{said}")
    assert len(err) < 700


@pytest.mark.parametrize("command", ["fit", "plan", "simulate"])
def test_commands_tell_why_a_file_cannot_be_read(capsys, tmp_path, command):
    """A missing file and a folder are one line each, whichever command reads them."""
    before = {"fit": [], "plan": ["fixed(1)", "--latency"], "simulate": ["--latency"]}[command]
    missing = str(tmp_path / "missing.csv")
    assert main([command, *before, missing]) == 2
    assert capsys.readouterr().err == (
        f"pollwait: cannot read {missing}: No such file or directory\n"
    )
    assert main([command, *before, str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"pollwait: cannot read {tmp_path}: Is a directory\n"


def test_torn_lines_are_left_out_and_said_once(capsys, times):
    """What a crash has left of a line is no reason to refuse the others, nor for many lines."""
    file = times('{"seconds": 1.5}\n{"seco\n{"seconds": 2}\n{"s\n{"seconds')
    assert main(["fit", file, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["samples"]["count"] == 2
    assert err.startswith(f"pollwait: {file}, line 2 is torn off and left out: ")
    assert err.endswith(", and 2 more\n")
    assert err.count("\n") == 1
    assert not logging.getLogger("pollwait").handlers


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-checks", "0.5"], "argument --max-checks: must be a number from 1: got '0.5'"),
        (["--max-checks", "x"], "argument --max-checks: must be a number from 1: got 'x'"),
        (["--max-checks", "inf"], "argument --max-checks: must be a number from 1: got 'inf'"),
        (["--check-cost", "0"], "argument --check-cost: must be a number above 0: got '0'"),
        (["--check-cost", "nan"], "argument --check-cost: must be a number above 0: got 'nan'"),
        (["--schedule", "3"], "argument --schedule: cannot read schedule '3': "),
    ],
)
def test_fit_refuses_what_makes_no_sense(capsys, some, arguments, said):
    """A wrong argument is named, with what is allowed; the exit code is 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["fit", some, *arguments])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_fit_tells_what_a_schedule_that_ends_does_not_notice(capsys, times):
    """The share that is noticed stands beside the figures if it is not all."""
    file = times("0.5\n0.75\n1.5\n9\n")
    arguments = ["--max-checks", "2", "--schedule", "fixed(1).times(2)"]
    assert main(["fit", file, *arguments]) == 0
    table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert table[0].split() == ["overshoot", "checks", "noticed"]
    assert table[1].split()[-1] == "100.0%"
    assert table[2].split() == ["fixed(1).times(2)", "0.417", "2.50", "75.0%"]
    found = fitted(capsys, file, *arguments)["schedules"]
    assert [each["noticed"] for each in found] == [1.0, 0.75]


def test_fit_says_what_the_library_refuses(capsys, some):
    """A schedule that never lets time pass has no figures, which is said in a line."""
    assert main(["fit", some, "--schedule", "fixed(0)"]) == 2
    assert re.fullmatch(r"pollwait: no time passes: .*\n", capsys.readouterr().err)


def test_fit_of_waits_that_were_never_ready(capsys, times):
    """Where nothing was ever seen ready, what to expect is a guess, and no crash."""
    found = fitted(capsys, times("5,\n5,\n"), "--max-checks", "3")
    assert found["samples"]["never_ready"] == 2
    assert found["schedules"][0]["checks"] <= 3


def test_plot_has_a_row_for_each_schedule(capsys, some, tmp_path):
    """The plot shows what is ready by when, and below it when each schedule looks."""
    path = tmp_path / "fit.svg"
    assert main(["fit", some, "--plot", str(path), "--max-checks", "2", "3"]) == 0
    capsys.readouterr()
    drawn = path.read_text("utf-8")
    assert len(re.findall(r'id="schedule-\d+"', drawn)) == 3
    for each in fitted(capsys, some, "--max-checks", "2", "3")["schedules"]:
        label = f"{each['name']}: {each['overshoot']:.3f} s, {each['checks']:.2f} checks"
        assert label in drawn
    assert ">times.csv: 42 samples (42 exact)<" in drawn
    assert "seconds from the start of the wait" in drawn


def test_plot_takes_names_as_they_are(times, tmp_path):
    """No formula in a file's name, letter that the font lacks or byte that is none stops a plot."""
    path = tmp_path / "fit.png"
    for name in ("$\\frac{1$ 時間.csv", "\udcff.csv"):
        file = times("1.5\n2\n", name)
        assert main(["fit", file, "--plot", str(path), "--max-checks", "2"]) == 0
        assert path.read_bytes().startswith(b"\x89PNG")
        path.unlink()
