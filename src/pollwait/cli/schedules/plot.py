"""What all plots share: their style, and files that are the same whenever they are drawn.

matplotlib is loaded when something is drawn and not before, without its global state: no window
opens, whatever the environment says.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any, TypeAlias

    from ..._core.distribution import Distribution

    # What matplotlib says of its own types has gaps, at which a strict type checker stumbles.
    Figure: TypeAlias = Any
    Axes: TypeAlias = Any

# Colours that people who see few of them can tell apart.
# Source: Masataka Okabe and Kei Ito, "Color Universal Design", 2008.
BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"
INK, PALE = "#24292f", "#8c959f"

WIDTH, HEIGHT = 8.0, 4.5  # inches

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": PALE,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.dpi": 150,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "grid.color": "#e6e8eb",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.85,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",  # text stays text: it can be found, and read aloud
    "svg.hashsalt": "pollwait",
    "text.color": INK,
    "text.parse_math": False,  # what stands in names of files is no formula
    "xtick.color": INK,
    "ytick.color": INK,
}

# Neither the date nor the version of matplotlib, so that a plot differs only if what it shows does.
_METADATA = {
    "png": {"Software": None},
    "svg": {"Creator": "pollwait", "Date": None},
}

_POINTS = 600  # of a curve


def check() -> None:
    """Make sure that plots can be drawn, before anything is computed for them.

    Raises:
        ImportError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ImportError('plots need matplotlib: pip install "pollwait[plot]"')


@contextmanager
def drawn(path: str, *, height: float = HEIGHT) -> Generator[Figure]:
    """Give a figure to draw on, and write it to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    import matplotlib
    from matplotlib import figure

    mpl: Any = matplotlib
    kind = path.lower().rpartition(".")[2]
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks, say
        mpl.rcdefaults()  # what a user has set elsewhere changes nothing here
        mpl.rcParams.update(_STYLE)
        drawing: Figure = figure.Figure(figsize=(WIDTH, height), layout="constrained")
        yield drawing
        try:
            drawing.savefig(path, format=kind, metadata=_METADATA[kind])
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def ready_curve(axes: Axes, latency: Distribution, end: float) -> None:
    """Draw which share of the waits is ready by when."""
    times = curve(latency, end)
    axes.plot(times, [latency.ready(time) for time in times], color=BLUE, label="ready")


def curve(latency: Distribution, end: float, steps: Sequence[float] = ()) -> list[float]:
    """Return times from 0 to an end at which to draw a distribution.

    Its corners are among them, as far as that is not too many, and so are further steps; what
    steps is looked at just before as well.
    """
    corners = inside(latency.times, end)
    corners = [*corners[:: len(corners) // _POINTS + 1], *inside(steps, end)]
    even = [end * point / _POINTS for point in range(_POINTS + 1)]
    return sorted({*even, *corners, *(time * (1.0 - 1e-9) for time in corners)})


def share_axis(axes: Axes, what: str) -> None:
    """Let the vertical axis show shares from none to all."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel(what)


def log_axis(axes: Axes) -> None:
    """Let the horizontal axis show numbers by orders of magnitude, labelled in full."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")


def cut(text: str, most: int = 90) -> str:
    """Return a text as far as there is room for it."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def inside(times: Sequence[float], end: float) -> list[float]:
    """Return those times that an axis shows."""
    return [time for time in times if time <= end]
