"""``pollwait plan``: its table, its picture and its plot."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import pytest

from pollwait import Schedule
from pollwait._core.evaluate import Look, evaluate
from pollwait.cli import main
from pollwait.cli.schedules.picture import ASCII, draw
from pollwait.cli.schedules.quantiles import quantiles
from pollwait.cli.schedules.tables import percent, seconds
from pollwait.cli.schedules.timetable import Plan

PUBLISHED = "exponential(0.5, factor=1.5).after(1.25)"


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    """Let all output be 60 columns wide."""
    monkeypatch.setenv("COLUMNS", "60")


@pytest.fixture
def times(tmp_path):
    """Return a function that writes a file of samples and returns its path."""

    def write(*lines):
        path = tmp_path / "times.csv"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return str(path)

    return write


def planned(capsys, *arguments):
    """Return what the command says as JSON."""
    assert main(["plan", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_plan_prints_checks_and_a_picture(capsys):
    """Without latencies there is a table of times and delays, and the checks along an axis."""
    assert main(["plan", PUBLISHED, "--checks", "3"]) == 0
    assert capsys.readouterr().out == (
        "exponential(0.5, factor=1.5).after(1.25)\n"
        "\n"
        "check     at  delay\n"
        "    1  1.250  1.250\n"
        "    2  1.750  0.500\n"
        "    3  2.500  0.750\n"
        "  ...\n"
        "\n"
        "                            1          2               3\n"
        "                            ▼          ▼               ▼\n"
        "  ┴─────────┴──────────┴──────────┴─────────┴──────────┴──\n"
        "  0.0 s     0.5        1.0        1.5       2.0        2.5\n"
        "  ▼ checks\n"
    )


def test_plan_tells_what_is_ready_by_each_check(capsys, times):
    """With latencies there are shares, the samples, and a sentence with the expected figures."""
    file = times(1.5, 2, 3, "[2.5,3.5]")
    assert main(["plan", "fixed(1).after(1)", "--latency", file, "--checks", "4"]) == 0
    out = capsys.readouterr().out
    assert "ready by then" in out
    assert f"{file}: 4 samples (3 exact, 1 interval)" in out
    assert re.search(r"^    1  1\.000  1\.000 +\d", out, re.MULTILINE)
    assert re.search(r"^On average noticed 0\.\d+ s after ready, by \d\.\d\d checks", out, re.M)


def test_plan_expects_what_evaluate_does(capsys, times):
    """Exact latencies are taken at their word: of three waits each counts for a third."""
    file = times(1.5, 2, 3)
    found = planned(capsys, "fixed(1).after(1)", "--latency", file, "--checks", "3")
    assert [check["ready_by_latest"] for check in found["checks"]] == [0.0, 0.666667, 1.0]
    assert found["expected"] == {"overshoot": 0.166667, "checks": 2.333333, "noticed": 1.0}
    assert found["samples"] == {
        "source": file,
        "count": 3,
        "exact": 3,
        "intervals": 0,
        "never_ready": 0,
    }


def test_plan_shows_what_chance_may_do(capsys):
    """Random delays give an earliest and a latest time, and a range of delays."""
    assert main(["plan", "fixed(2).jitter(equal)", "--checks", "3"]) == 0
    out = capsys.readouterr().out
    assert (
        "check  earliest  latest           delay\n"
        "    1     0.000   0.000           0.000\n"
        "    2     1.000   2.000  1.000 to 2.000\n"
        "    3     2.000   4.000  1.000 to 2.000\n"
    ) in out
    numbers, marks = out.splitlines()[-5:-3]
    assert numbers.split() == ["1", "2", "3"]
    assert marks.count("▼") == 3
    assert re.fullmatch(r" +▼ +─+▼─+▼", marks)


def test_plan_looks_once_more_at_the_timeout(capsys):
    """The wait's own rule is applied: the last delay is clipped, and nothing comes after it."""
    found = planned(capsys, "fixed(1)", "--timeout", "2.5")
    assert [check["latest"] for check in found["checks"]] == [0.0, 1.0, 2.0, 2.5]
    assert found["checks"][-1]["longest_delay"] == 0.5
    assert found["ends"] == "timeout"
    assert main(["plan", "fixed(1)", "--timeout", "2.5"]) == 0
    assert "\nThe last one: the timeout is up.\n" in capsys.readouterr().out


def test_plan_holds_the_last_time_of_the_longest_delays(capsys):
    """Where short delays give more checks before the timeout, long ones end at it."""
    found = planned(capsys, "fixed(2).jitter(equal)", "--timeout", "3")
    ends = [(check["earliest"], check["latest"]) for check in found["checks"]]
    assert ends == [(0.0, 0.0), (1.0, 2.0), (2.0, 3.0), (3.0, 3.0)]


def test_plan_says_that_a_schedule_ends(capsys):
    """The last check of a schedule that ends is known to be the last."""
    assert planned(capsys, "fixed(1).times(2)")["ends"] == "schedule"
    assert planned(capsys, "fixed(1).times(2)", "--checks", "2")["ends"] is None
    assert main(["plan", "fixed(1).times(2)"]) == 0
    assert "\nThe last one: the schedule ends.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("schedule", "starts"),
    [("fixed(1)", [0.0, 1.5, 3.0]), ("fixed(1).from_start()", [0.0, 1.0, 2.0])],
)
def test_plan_counts_what_checks_take(capsys, schedule, starts):
    """A delay counts from the end of a check, or from its start where the schedule says so."""
    found = planned(capsys, schedule, "--check-duration", "0.5", "--checks", "3")
    assert [check["latest"] for check in found["checks"]] == starts


def test_plan_sees_where_it_is_told_to(capsys, times):
    """What becomes ready before a check looks is seen by it, and noticed when it ends."""
    look = ["--check-duration", "0.5", "--sees-at", "0.5", "--checks", "1"]
    for limits in ([], ["--timeout", "9"]):
        found = planned(capsys, "fixed(1).after(1)", "--latency", times(1.125), *look, *limits)
        assert found["checks"][0]["ready_by_latest"] == 1.0
        assert found["expected"] == {"overshoot": 0.375, "checks": 1.0, "noticed": 1.0}


def test_plan_counts_only_what_is_noticed_before_the_timeout(capsys, times):
    """Waits that the timeout cuts off have their checks counted, and no overshoot."""
    file = times(0.5, 9)
    found = planned(capsys, "fixed(1)", "--latency", file, "--timeout", "2")
    assert found["expected"] == {"overshoot": 0.5, "checks": 2.5, "noticed": 0.5}
    assert main(["plan", "fixed(1)", "--latency", file, "--timeout", "2"]) == 0
    assert "; 50.0% of the waits are noticed ready." in capsys.readouterr().out


def test_plan_that_notices_nothing_says_so(capsys, times):
    """If every wait is cut off, there is no overshoot to tell."""
    found = planned(capsys, "fixed(1)", "--latency", times(9), "--timeout", "2")
    assert found["expected"] == {"overshoot": None, "checks": 3.0, "noticed": 0.0}


@pytest.mark.parametrize(
    "text", [PUBLISHED, "fixed(0.75).jitter(full)", "decorrelated(0.25, cap=4)"]
)
def test_a_far_timeout_changes_no_figure(text):
    """What the timeout leaves to compute agrees with the formula where it cuts nothing off."""
    latency = quantiles("0=1,50=1.5,90=2,100=4")
    schedule, look = Schedule.parse(text), Look(0.25, 0.5)
    found = Plan(schedule, 1e6, look).expected(latency)
    exact = evaluate(schedule, latency, check_duration=0.25, sees_at=0.5)
    assert found.overshoot == pytest.approx(exact.overshoot, rel=0.03)
    assert found.checks == pytest.approx(exact.checks, rel=0.03)


def test_noticed_shares_leave_the_overshoot_between():
    """The area between what is ready and what is noticed is the mean overshoot."""
    latency = quantiles("0=1,100=3")
    plan = Plan(Schedule.parse("fixed(1)"), None, Look(0.5, 0.0))
    times = [step / 256 for step in range(256 * 6)]
    noticed = plan.noticed(latency, times)
    area = sum(latency.ready(time) - share for time, share in zip(times, noticed, strict=True))
    assert area / 256 == pytest.approx(plan.expected(latency).overshoot, abs=0.01)


@pytest.mark.parametrize("limits", [[], ["--timeout", "5"]])
def test_plan_refuses_a_schedule_in_which_no_time_passes(capsys, limits):
    """Delays of 0 and checks that take nothing have no end, which is said in a line."""
    assert main(["plan", "fixed(0)", "--quantiles", "50=1,90=2", *limits]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pollwait: no time passes: ")
    assert err.count("\n") == 1


def test_picture_shows_when_waits_become_ready():
    """The tallest column is where most waits become ready, and what is later is counted."""
    latency = quantiles("0=1,50=1.5,60=2,100=4")
    checks = Plan(Schedule.parse("fixed(2)"), None, Look(0, 0)).timetable(4).checks
    assert draw(checks, latency, columns=44, using=ASCII).splitlines() == [
        "  1                  2                  3",
        "  v                  v                  v",
        "            ####",
        "            ####",
        "            ####:",
        "           .#####",
        "           ######.......................",
        "           ##############################",
        "  +--------+---------+--------+---------+-",
        "  0 s      1         2        3         4",
        "  v checks over the share of waits that become ready at a time (1 check is later)",
    ]


def test_picture_marks_no_check_that_may_be_later():
    """Of a check that may start beyond the axis only the part within is shown."""
    plan = Plan(Schedule.parse("fixed(2).jitter(full)"), None, Look(0, 0))
    lines = draw(
        plan.timetable(2).checks, quantiles("0=0,100=1"), columns=24, using=ASCII
    ).splitlines()
    assert lines[0] == "  1"
    assert lines[1] == "  v" + "-" * 19
    assert lines[-1].endswith(" (1 check is later)")


def test_picture_leaves_out_numbers_for_which_there_is_no_room():
    """Crowded checks are all marked, and numbered so that the numbers can be told apart."""
    plan = Plan(Schedule.parse("fixed(1)"), None, Look(0, 0))
    lines = draw(plan.timetable(20).checks, None, columns=24, using=ASCII).splitlines()
    assert lines == [
        "  1 3 5 7 9 11 14 17",
        "  vvvvvvvvvvvvvvvvvvvv",
        "  +---------+---------",
        "  0 s       10",
        "  v checks",
    ]
    plan = Plan(Schedule.parse("fixed(200000000)"), None, Look(0, 0))
    lines = draw(plan.timetable(6).checks, None, columns=24, using=ASCII).splitlines()
    assert lines[-2] == "  0 s      500000000"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.0%"), (1e-9, "0.1%"), (0.5, "50.0%"), (1 - 1e-9, "99.9%"), (1.0, "100.0%")],
)
def test_percents_tell_little_from_nothing(share, text):
    """What is not all does not look like all, nor little like nothing."""
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (-1e-17, "0.000"),
        (0.00025, "0.00025"),
        (0.01, "0.010"),
        (3600.0, "3600.000"),
        (float("inf"), "never"),
    ],
)
def test_seconds_have_two_digits_at_least(value, text):
    """What is short is not rounded to nothing, but what rounding leaves of nothing is."""
    assert seconds(value) == text


def test_picture_fits_the_terminal(capsys, monkeypatch):
    """No line of the drawing is longer than the terminal is wide, nor than can be read."""
    for columns, widest in (("30", 30), ("5", 20), ("500", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["plan", PUBLISHED, "--quantiles", "0=1,50=1.5,99=4"]) == 0
        *_, drawing = capsys.readouterr().out.split("\n\n")
        assert max(map(len, drawing.splitlines()[:-1])) <= widest


def test_picture_is_drawn_in_ascii_where_it_must_be(monkeypatch):
    """An output that cannot encode blocks gets letters, and no question marks."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["plan", PUBLISHED, "--quantiles", "0=1,50=1.5,99=4"]) == 0
    text = raw.getvalue().decode("ascii")
    assert "?" not in text
    assert "###" in text
    assert "v checks over" in text


def test_plot_marks_every_check(capsys, tmp_path, times):
    """A plot has a title, units, a legend, and a mark for each check."""
    path = tmp_path / "plan.svg"
    file = times(1.5, 2, 3)
    arguments = ["--latency", file, "--checks", "3", "--plot", str(path)]
    assert main(["plan", "fixed(1).after(1)", *arguments]) == 0
    drawn = path.read_text("utf-8")
    assert len(re.findall(r'id="check-\d+"', drawn)) == 3
    for text in (
        "fixed(1).after(1)",
        "seconds from the start of the wait",
        "share of all waits",
        "overshoot, 0.167 s on average",
        ">ready<",
        ">noticed<",
        ">check<",
    ):
        assert text in drawn
    assert "On average" in capsys.readouterr().out  # the text is printed all the same


def test_plot_without_latencies_shows_delays(tmp_path):
    """What a schedule does can be drawn without knowing what it waits for."""
    path = tmp_path / "plan.svg"
    assert main(["plan", "fixed(1).jitter(equal)", "--checks", "5", "--plot", str(path)]) == 0
    drawn = path.read_text("utf-8")
    assert len(re.findall(r'id="check-\d+"', drawn)) == 5
    assert "delay in seconds" in drawn


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".SVG", b"<?xml")])
def test_plot_is_the_same_every_time(tmp_path, suffix, start):
    """A plot of the same is the same file, byte for byte, in the format that its name says."""
    paths = [tmp_path / f"{name}{suffix}" for name in ("one", "two")]
    for path in paths:
        assert main(["plan", PUBLISHED, "--quantiles", "0=1,90=2", "--plot", str(path)]) == 0
    one, two = (path.read_bytes() for path in paths)
    assert one.startswith(start)
    assert one == two


def test_plot_leaves_the_settings_of_matplotlib_alone(tmp_path):
    """What else a program draws looks as before."""
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    assert main(["plan", PUBLISHED, "--plot", str(tmp_path / "plan.png")]) == 0
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", PUBLISHED, "--latency", "nowhere"],
        ["fit", "nowhere"],
        ["simulate", "--latency", "nowhere"],
    ],
)
def test_plot_needs_matplotlib(capsys, monkeypatch, tmp_path, arguments):
    """Without the extra there is a line that says how to get it, before anything is read."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([*arguments, "--plot", str(tmp_path / "plan.png")]) == 2
    assert capsys.readouterr() == (
        "",
        'pollwait: plots need matplotlib: pip install "pollwait[plot]"\n',
    )


def test_plot_that_cannot_be_written_is_said_in_a_line(capsys, tmp_path):
    """A folder that is not there is the caller's mistake."""
    path = str(tmp_path / "nowhere" / "plan.png")
    assert main(["plan", PUBLISHED, "--plot", path]) == 2
    assert capsys.readouterr() == (
        "",
        f"pollwait: cannot write {path}: No such file or directory\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "fixed(1)"],
        ["fit", "-"],
        ["simulate", "--quantiles", "0=1,100=1", "--runs", "1", "--waits", "1"],
    ],
)
def test_matplotlib_is_loaded_only_to_plot(arguments):
    """A command that draws nothing does not pay for it."""
    code = (
        "import sys; from pollwait.cli import main; code = main(sys.argv[1:]);"
        "print('matplotlib' in sys.modules); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, input=b"1.5\n2\n", capture_output=True, check=True, timeout=50)
    assert run.stdout.splitlines()[-1] == b"False"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fixd(1)"], "argument SCHEDULE: cannot read schedule 'fixd(1)': "),
        (["fixed(1)", "--checks", "0"], "argument --checks: must be a whole number from 1 to 1000"),
        (["fixed(1)", "--checks", "x"], "argument --checks: must be a whole number from 1 to 1000"),
        (["fixed(1)", "--timeout", "-1"], "argument --timeout: "),
        (["fixed(1)", "--sees-at", "2"], "argument --sees-at: must be a number from 0 to 1"),
        (["fixed(1)", "--sees-at", "nan"], "argument --sees-at: must be a number from 0 to 1"),
        (["fixed(1)", "--plot", "x.gif"], "argument --plot: must end in .png or .svg: got 'x.gif'"),
        (["fixed(1)", "--latency", "x", "--quantiles", "50=1"], "not allowed with argument"),
    ],
)
def test_plan_refuses_what_makes_no_sense(capsys, arguments, said):
    """A wrong argument is named, with what is allowed; the exit code is 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["plan", *arguments])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "knots", "tail"),
    [
        ("0=1.5,100=1.5", ((1.5, 1.5), (0.0, 1.0)), 0.0),
        ("0=1, 50=2, 100=1m", ((1.0, 2.0, 60.0), (0.0, 0.5, 1.0)), 0.0),
        ("100=4", ((0.0, 4.0), (0.0, 1.0)), 0.0),
        ("0=1,50=2,75=3", ((1.0, 2.0, 3.0), (0.0, 0.5, 0.75)), 1 / 0.6931471805599453),
    ],
)
def test_quantiles_are_knots_of_a_distribution(text, knots, tail):
    """The share grows evenly between what is given, from 0 s if nothing else is said."""
    found = quantiles(text)
    assert (found.times, found.shares) == knots
    assert found.tail == pytest.approx(tail)


def test_quantiles_are_refused_by_what_is_wrong(capsys):
    """The error names the pair that does not rise, as it was given."""
    with pytest.raises(SystemExit):
        main(["plan", "fixed(1)", "--quantiles=50=2,40=3"])
    said = "argument --quantiles: percents and seconds must rise: got 40=3 after 50=2"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        *("", "50", "=1", "50=", "x=1", "50=x", "50=-1", "nan=1", "101=1", "-1=1", "0=1"),
        *("50=1,50=2", "50=2,40=3", "50=2,60=1", "0=1,50=2,60=2", "50=0", "50=1,,60=2"),
    ],
)
def test_quantiles_that_make_no_sense_are_refused(capsys, text):
    """They must be pairs that rise."""
    with pytest.raises(SystemExit) as stopped:
        main(["plan", "fixed(1)", f"--quantiles={text}"])
    assert stopped.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "argument --quantiles: " in last
    assert "Traceback" not in last
