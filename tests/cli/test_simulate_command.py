"""``pollwait simulate``: the ways that it compares, and what it says of them."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import threading

import pytest

from pollwait import DEFAULT, Schedule
from pollwait import simulate as simulation
from pollwait._core.fit import fit
from pollwait.cli import main
from pollwait.cli.schedules import bar
from pollwait.cli.schedules.scenario import arrivals, bucket
from pollwait.simulate import Bucket, Poisson

# Two waits that begin together and are ready after 1.5 s; a call takes a quarter of a second.
TINY = [
    *("--quantiles", "0=1.5,100=1.5", "--waits", "2", "--arrivals", "at-once"),
    *("--call-duration", "0.25", "--runs", "1"),
]
SHORT = ["--waits", "20", "--runs", "2"]
LATENCY = ["--quantiles", "0=1,50=1.5,90=2,100=4"]


def simulated(capsys, *arguments):
    """Return what the command says as JSON, with the strategies by name."""
    assert main(["simulate", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    found["strategies"] = {each["strategy"]: each for each in found["strategies"]}
    return found


def test_simulate_compares_single_batched_and_grouped_waits(capsys):
    """A single wait looks at 0, 1.25 and 2.5 s; two of them that share calls need half of these."""
    found = simulated(capsys, *TINY, "--schedule", "fixed(1)", "--max-delay", "0.5")["strategies"]
    single, batched, grouped = (
        found[f"{kind}, fixed(1)"] for kind in ("single", "batched", "grouped")
    )
    assert (single["p50"], single["overshoot"], single["calls"]) == (2.75, 1.25, 6.0)
    assert (batched["p50"], batched["overshoot"], batched["calls"]) == (2.5, 1.0, 2.0)
    assert (grouped["calls"], grouped["checks_per_wait"]) == (3.0, 3.0)
    assert 1.25 <= grouped["overshoot"] < 1.27  # its first call lingers a little


def test_simulate_lets_groups_go_by_latency(capsys):
    """Such groups are there for several costs of a call: the dearer, the fewer and the later."""
    found = simulated(capsys, *LATENCY, *SHORT)["strategies"]
    groups = [found[f"grouped, call cost {cost}"] for cost in ("0.25", "0.5", "1", "2")]
    calls = [group["calls"] for group in groups]
    overshoots = [group["overshoot"] for group in groups]
    assert calls == sorted(calls, reverse=True)
    assert overshoots == sorted(overshoots)
    assert calls[0] > calls[-1]
    names = list(simulated(capsys, *LATENCY, *SHORT, "--call-cost", "3", "4")["strategies"])
    assert names[-2:] == ["grouped, call cost 3", "grouped, call cost 4"]


def test_simulate_waits_by_the_default_and_by_a_fitted_schedule(capsys, tmp_path):
    """Where no schedule is given there are two: that of any wait, and one that is fitted."""
    file = tmp_path / "times.csv"
    times = [1 + index / 64 for index in range(64)]
    file.write_text("\n".join(map(str, times)), "utf-8")
    look = ["--call-duration", "0.25", "--sees-at", "1"]
    found = simulated(capsys, "--latency", str(file), *SHORT, *look)
    best = fit(times, max_checks=3, check_duration=0.25, sees_at=1).schedule
    assert found["schedules"] == {"default": str(DEFAULT), "fitted to 3 checks": str(best)}
    assert found["samples"]["count"] == 64
    kinds = [name.partition(", ")[0] for name in found["strategies"]]
    assert kinds == ["single", "batched", "grouped"] * 2 + ["grouped"] * 4


def test_simulate_prints_a_table(capsys):
    """The table has a line for each way, and says what its names stand for and how to replay it."""
    long = "fixed(1).times(3) + exponential(0.5, factor=1.5)"
    arguments = ["--schedule", "fixed(1)", long, "--call-cost", "1"]
    assert main(["simulate", *TINY, *arguments]) == 0
    table, names, end = capsys.readouterr().out.split("\n\n")
    header, single, *_ = lines = table.splitlines()
    columns = "p50 p90 p99 overshoot calls calls/s in 1 s throttles timeouts"
    assert " ".join(header.split()) == columns
    figures = "2.750 2.750 2.750 1.250 6.0 2.18 2 0.0 0.0"
    assert " ".join(single.split()) == f"single, fixed(1) {figures}"
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "single, fixed(1)",
        "batched, fixed(1)",
        "grouped, fixed(1)",
        "single, schedule 2",
        "batched, schedule 2",
        "grouped, schedule 2",
        "grouped, call cost 1",
    ]
    assert names == f"schedule 2:\n  {Schedule.parse(long)}"
    assert end == "1 run of 2 waits each; seed 0 replays them.\n"


def test_simulate_is_replayed_by_its_seed(capsys):
    """The same seed gives the same figures, and another one others."""
    arguments = [*LATENCY, *SHORT, "--schedule", "fixed(1).jitter(full)", "--seed"]
    one, again, other = (simulated(capsys, *arguments, seed) for seed in ("7", "7", "8"))
    assert one == again
    assert one["strategies"] != other["strategies"]
    assert one["seed"] == 7


def test_simulate_throttles_what_the_bucket_lacks(capsys):
    """Single waits that begin together meet the limit; a group keeps below it."""
    limits = ["--arrivals", "at-once", "--bucket", "2:5", "--schedule", "fixed(1)"]
    found = simulated(capsys, *LATENCY, *SHORT, *limits)["strategies"]
    assert found["single, fixed(1)"]["throttles"] > 0
    assert found["grouped, fixed(1)"]["throttles"] == 0


def test_simulate_splits_calls_at_the_most_they_carry(capsys):
    """Three calls for each check of 20 waits if one carries 8."""
    only = ["--arrivals", "at-once", "--schedule", "fixed(5).after(5)"]
    found = simulated(capsys, *LATENCY, *SHORT, *only, "--max-size", "8")["strategies"]
    assert found["batched, fixed(5).after(5)"]["calls"] == 3.0


def test_simulate_gives_up_at_the_timeout(capsys):
    """Waits that end unnoticed are counted, and have no overshoot."""
    arguments = ["--schedule", "fixed(1)", "--timeout", "1"]
    found = simulated(capsys, *TINY, *arguments)["strategies"]["single, fixed(1)"]
    assert (found["timeouts"], found["overshoot"], found["p50"]) == (2.0, None, None)
    assert main(["simulate", *TINY, *arguments]) == 0
    assert re.search(r"^single, fixed\(1\) +never +never", capsys.readouterr().out, re.MULTILINE)


def test_simulate_keeps_calls_of_a_group_apart(capsys):
    """The least gap is that of all groups."""
    arguments = [*LATENCY, *SHORT, "--schedule", "fixed(0.25)", "--call-cost", "0.01"]
    found = simulated(capsys, *arguments, "--min-gap", "2")["strategies"]
    assert found["grouped, fixed(0.25)"]["busiest_second"] == 1
    assert found["grouped, call cost 0.01"]["busiest_second"] == 1


def test_simulate_refuses_waits_that_let_no_time_pass(capsys):
    """Neither calls nor delays that take any time: said in a line."""
    arguments = ["--schedule", "fixed(0)", "--call-duration", "0"]
    assert main(["simulate", *LATENCY, *arguments, "--waits", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pollwait: ")
    assert err.count("\n") == 1


def test_simulate_is_interrupted_between_event_loops(capfd, monkeypatch):
    """Ctrl-C reaches the command and no event loop: exit code 130, and nothing is said."""

    def compare(*_, **__):
        assert threading.current_thread() is not threading.main_thread()
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(30)  # until the command is over

    released = threading.Event()
    monkeypatch.setattr(simulation, "compare", compare)
    assert main(["simulate", *LATENCY, "--schedule", "fixed(1)"]) == 130
    released.set()
    assert capfd.readouterr() == ("", "")


def test_plot_shows_overshoot_against_calls(tmp_path):
    """Each way has a point with its name, and each kind its place in the legend."""
    path = tmp_path / "ways.svg"
    arguments = ["--schedule", "fixed(1)", "fixed(2)", "--plot", str(path)]
    assert main(["simulate", *LATENCY, *SHORT, *arguments]) == 0
    drawn = path.read_text("utf-8")
    for text, count in {
        ">fixed(1)<": 3,
        ">fixed(2)<": 3,
        ">call cost 0.5<": 1,
        ">single<": 1,
        ">batched<": 1,
        ">group that goes by schedule<": 1,
        ">group that goes by latency<": 1,
        ">the best there are<": 1,
        ">calls in each run<": 1,
        ">mean overshoot in seconds<": 1,
    }.items():
        assert drawn.count(text) == count, text


def test_plot_writes_no_name_over_another(tmp_path):
    """Names of ways with the same figures stand one above the other."""
    path = tmp_path / "ways.svg"
    arguments = ["--schedule", "fixed(2)", "fixed(2).times(99)", "--plot", str(path)]
    assert main(["simulate", *TINY, *arguments]) == 0
    drawn = path.read_text("utf-8")
    places = re.findall(r'font-size: 7\.5px.*? x="([\d.]+)" y="([\d.]+)"', drawn)
    assert len(places) == 10
    assert len(set(places)) == 10


def test_plot_leaves_out_what_was_never_noticed(tmp_path):
    """A way that notices nothing has no overshoot to show, and stops no plot."""
    path = tmp_path / "ways.png"
    arguments = ["--schedule", "fixed(1)", "--timeout", "1", "--plot", str(path)]
    assert main(["simulate", *TINY, *arguments]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [("at-once", 0.0), ("over=20", 20.0), ("over=2m", 120.0), ("rate=0.5", Poisson(0.5))],
)
def test_arrivals_are_patterns(text, pattern):
    """Waits begin at once, over a time, or at a rate."""
    assert arrivals(text) == pattern


def test_buckets_are_a_rate_and_a_burst():
    """The rate stands before the colon."""
    assert bucket("20:100") == Bucket(100, refill=20)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of the arguments --latency --quantiles is required"),
        ([*LATENCY, "--arrivals", "soon"], "must be at-once, over=SECONDS or rate=NUMBER"),
        ([*LATENCY, "--arrivals", "over="], "argument --arrivals: "),
        ([*LATENCY, "--arrivals", "rate=0"], "argument --arrivals: must be a number above 0"),
        ([*LATENCY, "--bucket", "5"], "must be RATE:BURST, a rate from 0 and a burst from 1"),
        ([*LATENCY, "--bucket=-1:5"], "must be RATE:BURST, "),
        ([*LATENCY, "--bucket", "1:0"], "must be RATE:BURST, "),
        ([*LATENCY, "--bucket", "x:nan"], "must be RATE:BURST, "),
        ([*LATENCY, "--waits", "0"], "argument --waits: must be a whole number from 1 to 100000"),
        ([*LATENCY, "--runs", "1.5"], "argument --runs: must be a whole number from 1 to 10000"),
        ([*LATENCY, "--seed", "x"], "argument --seed: "),
        ([*LATENCY, "--call-cost", "0"], "argument --call-cost: must be a number above 0"),
    ],
)
def test_simulate_refuses_what_makes_no_sense(capsys, arguments, said):
    """A wrong argument is named, with what is allowed; the exit code is 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", *arguments])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        """Say so."""
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Return a function that runs the command on a terminal, and returns what that shows.

    Before a test starts, pytest sets standard error once more.
    """

    def run():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        assert main(["simulate", *TINY, "--schedule", "fixed(1)"]) == 0
        return stream.getvalue()

    return run


@pytest.fixture
def timers(monkeypatch):
    """Let no time pass: a timer goes off as soon as it starts if it is patient for no more."""
    started = []

    class Timer:
        daemon = False
        patience = bar.MOMENT

        def __init__(self, seconds, action):
            self._seconds = seconds
            self._action = action

        def start(self):
            started.append(self._seconds)
            if self._seconds <= self.patience:
                self._action()

        def cancel(self):
            """It has gone off, or never will."""

        join = cancel

    monkeypatch.setattr(bar, "Timer", Timer)
    return Timer, started


def test_bar_shows_what_takes_longer_than_a_moment(on_terminal, timers):
    """On a terminal there is a bar with the name of the step, which is gone in the end."""
    shown = on_terminal()
    assert timers[1] == [1.0]
    assert "grouped, call cost 2" in shown
    assert shown.endswith("\x1b[2K")


def test_bar_does_not_show_for_a_moment(on_terminal, timers):
    """What is over within a second shows nothing."""
    timers[0].patience = 0.5
    assert on_terminal() == ""
    assert timers[1] == [1.0]


def test_bar_needs_a_terminal(capsys, timers):
    """Where standard error is a file, nothing is written to it."""
    assert main(["simulate", *TINY, "--schedule", "fixed(1)"]) == 0
    assert capsys.readouterr().err == ""
    assert timers[1] == []


def test_bar_needs_rich(on_terminal, timers, monkeypatch):
    """Without rich there is no bar, and all else works."""
    for name in ("rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)
    assert on_terminal() == ""
    assert timers[1] == []


def test_bar_leaves_no_thread_behind(on_terminal):
    """The timer of a bar that never showed is gone with it."""
    before = threading.active_count()
    assert on_terminal() == ""
    assert threading.active_count() == before
