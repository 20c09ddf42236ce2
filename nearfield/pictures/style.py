"""The look of every picture: colours that colour-blind readers can tell apart, engineering units, titles, files.

Figures are made through matplotlib's object interface on the Agg canvas: no window, no global state, safe in threads.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry import wording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

ON_SCREEN: ContextVar[bool | None] = ContextVar("figures belong to pyplot; None: never", default=False)

# Okabe and Ito's palette, dark ones first: each differs from its neighbours also in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK = "#1F2933"
FAINT = "#6B7785"
RULE = "#D5DBE1"
METAL = "#A85B2A"  # copper
MAGNITUDE_MAP = "magma"
PATTERN_MAP = "viridis"
SIGNED_MAP = "RdBu_r"
SCREEN_DPI = 150

SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#9AA5B1",
    "axes.linewidth": 0.8,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.grid": True,
    "grid.color": "#E4E8EC",
    "grid.linewidth": 0.8,
    "axes.formatter.useoffset": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 3.5,
    "ytick.major.size": 3.5,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "path.simplify": True,
    "agg.path.chunksize": 20000,
    "text.parse_math": False,
}
MARKERS = ("o", "s", "^", "D", "v", "P")


def styled(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Run a drawing function under these settings, without touching the user's own."""

    @wraps(draw)
    def drawn(*arguments: Any, **options: Any) -> Any:
        import matplotlib

        if ON_SCREEN.get():
            from matplotlib import pyplot

            pyplot.draw_if_interactive()  # loads its backend; a notebook's one sets `interactive`, which is to stay
        with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a title in a script the font lacks
            return draw(*arguments, **options)

    return drawn


def shown(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Run a drawing function so that its figures are pyplot's: notebooks and `pyplot.show()` show them."""

    @wraps(draw)
    def drawn(*arguments: Any, **options: Any) -> Any:
        token = ON_SCREEN.set(None if ON_SCREEN.get() is None else True)
        try:
            return draw(*arguments, **options)
        finally:
            ON_SCREEN.reset(token)

    return drawn


def blank(width: float = 8.0, height: float = 4.8, beside: float = 0.08) -> Figure:
    """An empty figure (inches) which spaces its panels itself; `beside` them it leaves so much."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = canvas(width, height)
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=beside, h_pad=0.08, wspace=0.04, hspace=0.04))
    return figure


def canvas(width: float, height: float) -> Figure:
    """An empty figure (inches) whose panels are placed by hand, with `panel`; pyplot's within `shown` only."""
    if ON_SCREEN.get():
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height))
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def chart(width: float = 8.0, height: float = 4.8) -> tuple[Figure, Axes]:
    """An empty figure (inches) of one panel."""
    figure = blank(width, height)
    return figure, figure.subplots()


def panel_for(ax: Axes | None, width: float, height: float, title: str, note: str) -> Axes:
    """The axes that were given, or those of a figure of one panel (inches) under a title."""
    if ax is not None:
        return ax
    figure, axes = chart(width, height)
    headline(figure, title, note)
    return axes


def figure_of(axes: Any) -> Figure:
    """The figure of some axes, one or an array of them."""
    return np.ravel(axes)[0].figure


def line_style(number: int) -> dict[str, Any]:
    """Colour and dashes of a curve by its number."""
    return {"color": COLOURS[number % 6], "linestyle": DASHES[number % 6]}


def name_axes(axes: Axes, x: str, y: str, legend: Any = None, labelpad: float | None = None) -> None:
    """Labels of both axes, and a legend at a place such as "upper left"."""
    axes.set_xlabel(x, labelpad=labelpad)
    axes.set_ylabel(y, labelpad=labelpad)
    if legend:
        axes.legend(loc=legend)


def name_bars(axes: Axes, names: Sequence[str], y: str) -> None:
    """Names below groups of bars at 0, 1, 2, ... and the label of their heights."""
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(y)
    axes.grid(axis="x", visible=False)


def logarithmic(axes: Axes, base: int, across: Callable[[float], str], up: Callable[[float], str]) -> None:
    """Both axes logarithmic, the horizontal one with this base, their major ticks with these texts."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log", base=base)
    axes.set_yscale("log")
    for axis, text in ((axes.xaxis, across), (axes.yaxis, up)):
        axis.set_major_formatter(FuncFormatter(lambda value, _, text=text: text(value)))
        axis.set_minor_formatter(NullFormatter())


def beside(
    axes: Axes, place: tuple[float, float], text: str, offset: tuple[float, float], **options: Any
) -> Annotation:
    """A text so many points away from a place of the data."""
    options = {"fontsize": 8.5, "color": INK, **options}
    return axes.annotate(text, place, xytext=offset, textcoords="offset points", **options)


def panel(figure: Figure, left: float, top: float, width: float, height: float, **options: Any) -> Axes:
    """Axes at a place measured in inches from the upper left corner."""
    whole_width, whole_height = figure.get_size_inches()
    box = (left / whole_width, 1 - (top + height) / whole_height, width / whole_width, height / whole_height)
    return figure.add_axes(box, **options)


def headline(figure: Figure, title: str, subtitle: str = "") -> Figure:
    """The picture with a bold title and a line of facts, 0.7 inch high where panels are placed by hand."""
    width = figure.get_figwidth()
    title, subtitle = clipped(title, int(width * 9.5)), clipped(subtitle, int(width * 14))
    left = 0.12 / width
    height = figure.get_figheight()
    place = {} if figure.get_layout_engine() else {"y": 1 - 0.1 / height, "va": "top"}
    text = title + ("\n" if subtitle else "")
    figure.suptitle(text, x=left, ha="left", fontsize=12.5, fontweight="bold", color=INK, **place)
    if subtitle:
        top = 1 - 0.36 / height
        figure.text(left, top, subtitle, ha="left", va="top", fontsize=9.5, color=FAINT)
    return figure


def panel_title(axes: Axes, text: str, length: int = 60) -> None:
    """The title of one panel of several."""
    axes.set_title(clipped(text, length), loc="left", fontsize=10, fontweight="bold", color=INK)


def notice(axes: Axes, text: str) -> None:
    """A sentence in place of curves that do not exist."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=FAINT, fontsize=11)


def clipped(text: str, length: int) -> str:
    """One line of at most `length` characters."""
    text = " ".join(printable(text).split())
    return text if len(text) <= length else text[: max(1, length - 1)] + "…"


def printable(text: str) -> str:
    """The text without control characters, which the font has no shape for."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def prefix_of(largest: float) -> tuple[float, str]:
    """Factor and prefix which bring the number between 1 and 1000: 7.5e9 -> (1e-9, "G")."""
    if not math.isfinite(largest) or largest == 0:
        return 1.0, ""
    exponent = 3 * math.floor(math.log10(abs(largest) * (1 + 1e-9)) / 3)
    exponent = min(max(exponent, -15), 12)
    return 10.0**-exponent, wording.PREFIXES[exponent].replace("u", "µ")


def axis_prefix(largest: float) -> tuple[float, str]:
    """Factor and prefix for an axis that ends at `largest`: 0.95 V stays in volts."""
    return prefix_of(1.3 * largest)


def signed(value: float, digits: int = 1) -> str:
    """A decimal number with a true minus sign, as the axes have it."""
    return f"{value:.{digits}f}".replace("-", "−")


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """A number for a label: `7.5 GHz`, `1.27 ps`."""
    text = wording.quantity(value, unit, digits).strip()
    return text.replace(f" u{unit}", f" µ{unit}")


def finite_extremes(values: Any) -> tuple[float, float] | None:
    """Smallest and largest finite value, or None where there is none."""
    values = np.asarray(values)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else None


def thinned(x: np.ndarray, y: np.ndarray, columns: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """A long record by the lowest and highest finite value of each of its columns: looks the same, weighs little."""
    if x.size <= 4 * columns:
        return x, y
    span = -(-x.size // columns)
    count = x.size // span
    block = y[: count * span].reshape(count, span)
    finite = np.isfinite(block)
    lowest = np.where(finite, block, np.inf).argmin(axis=1)
    highest = np.where(finite, block, -np.inf).argmax(axis=1)
    first = np.sort(np.stack((lowest, highest), axis=1), axis=1)
    kept = np.unique((first + span * np.arange(count)[:, None]).ravel())
    kept = np.concatenate((kept, np.arange(count * span, x.size)))
    return x[kept], y[kept]


def picked(count: int, most: int) -> list[int]:
    """At most `most` of `count` positions, evenly spread, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(position) for position in np.linspace(0, count - 1, most)})


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in one line, the rest counted."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@styled
def png_bytes(figure: Figure) -> bytes:
    """The picture as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=SCREEN_DPI, metadata={"Software": "Nearfield"})
    return buffer.getvalue()


@styled
def inline_svg(figure: Figure, name: str) -> str:
    """The picture as an `<svg>` element for a page; `name` keeps its inner references apart from those of others."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # HTML knows SVG without its namespaces, and the page shall hold no address at all
    return re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", text)
