"""``pollwait demo``, with quick volumes and ways that hardly wait."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest

from pollwait import fixed, sequence
from pollwait.aws import VolumeAvailableWaiter
from pollwait.cli import demo, main, race
from pollwait.testing import FakeClock, ec2


@pytest.fixture
def quick(monkeypatch):
    """Make volumes ready after 30 ms and let every way look every 10 ms."""
    embedded = ec2.EmbeddedEC2

    def make(seed):
        return embedded(seed=seed, ready=0.03, create_call=0, describe_call=0)

    def ways(server):
        made = []
        for name in ("botocore's waiter", "pollwait", "naive 1 s loop"):
            client = server.client("ec2")
            schedule = sequence(0) + fixed(0.01)
            waiter = VolumeAvailableWaiter(client, schedule=schedule)
            made.append(
                race.Way(name, lambda volume, waiter=waiter: waiter.wait(volume, timeout=9))
            )
            made[-1].count(client)
        return made

    monkeypatch.setattr(ec2, "EmbeddedEC2", make)
    monkeypatch.setattr(race, "ways", ways)
    monkeypatch.setattr(race, "SPACING", 0.01)


def test_demo_prints_a_table_and_a_sentence(quick, capsys):
    """Without a terminal it prints plain lines, the table, and what it means."""
    assert main(["demo", "--volumes", "4"]) == 0
    out = capsys.readouterr().out
    assert "noticed of 4: botocore's waiter 4, pollwait 4, naive 1 s loop 4" in out
    for word in ("p10", "p50", "p90", "p99", "overshoot", "calls", "On average pollwait noticed"):
        assert word in out


def test_demo_prints_one_json_object(quick, capsys):
    """With --json the output is one object: every volume was created, awaited and counted."""
    assert main(["demo", "--volumes", "3", "--seed", "7", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["volumes"], report["seed"], len(report["ways"])) == (3, 7, 3)
    for way in report["ways"]:
        assert 0.03 <= way["p10"] <= way["p50"] <= way["p90"] <= way["p99"]
        assert way["describe_calls"] >= 3
        assert way["mean_overshoot"] > 0


def test_demo_shows_bars_on_a_terminal(quick, monkeypatch, capsys):
    """On a terminal each way has a bar and its count of calls."""
    from rich.console import Console

    console = Console(force_terminal=True, width=120)
    monkeypatch.setattr(demo, "_console", lambda quiet: console)
    assert main(["demo", "--volumes", "2"]) == 0
    assert "2/2" in capsys.readouterr().out


def test_ways_are_the_three_that_are_compared(monkeypatch):
    """The demo compares botocore's waiter, pollwait's and a naive loop, each counted by itself."""
    monkeypatch.setattr(
        race, "VolumeAvailableWaiter", partial(VolumeAvailableWaiter, clock=FakeClock())
    )
    with ec2.EmbeddedEC2(ready=0, create_call=0, describe_call=0) as server:
        contestants = race.ways(server)
        volume = server.client("ec2").create_volume(AvailabilityZone="us-east-1a", Size=1)
        for way in contestants:
            way.wait(volume["VolumeId"])
        assert [(way.name, way.calls) for way in contestants] == [
            ("botocore's waiter", 1),
            ("pollwait", 1),
            ("naive 1 s loop", 1),
        ]


def test_requests_are_spread_over_the_demo():
    """Volumes are requested one by one, at times that a seed replays."""
    times = race.arrivals(50, seed=1)
    assert times == race.arrivals(50, seed=1) != race.arrivals(50, seed=2)
    assert len(set(times)) == 50
    assert max(gap for gap in map(float.__sub__, times[1:], times)) < 2
    assert 0 <= times[0] < 1 < 9 < times[-1] <= 50 * race.SPACING


def test_error_in_a_thread_ends_the_demo(quick, monkeypatch):
    """What a way raises is raised by the command, and nothing waits for its notices."""

    def broken(volume):
        raise LookupError(volume)

    monkeypatch.setattr(race, "ways", lambda server: [race.Way("broken", broken)])
    with pytest.raises(LookupError, match="vol-"):
        main(["demo", "--volumes", "2"])


@pytest.mark.parametrize("volumes", ["0", "-1", "301", "many"])
def test_volumes_must_be_a_sensible_count(volumes, capsys):
    """A count that cannot be run is a usage error."""
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--volumes", volumes])
    assert caught.value.code == 2
    assert "--volumes" in capsys.readouterr().err


def test_interrupt_exits_with_130(monkeypatch):
    """Ctrl-C is no traceback."""

    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130


def test_missing_extra_is_named(monkeypatch, capsys):
    """Without the packages of the demo the command says which extra to install."""
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["demo", "--volumes", "1"]) == 2
    assert 'pip install "pollwait[demo]"' in capsys.readouterr().err


def test_no_command_is_a_usage_error(capsys):
    """The command line by itself says how it is used."""
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "usage: pollwait" in capsys.readouterr().err
