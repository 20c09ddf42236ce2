"""Arrays of xarray whose `.plot()` draws what they hold; `.plot.line` and its like stay xarray's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
from xarray.plot.accessor import DataArrayPlotAccessor, DatasetPlotAccessor

from nearfield.pictures.curves import draw_energy, draw_signals, draw_spectra
from nearfield.pictures.modes import draw_modes
from nearfield.pictures.planes import draw_field
from nearfield.pictures.scattering import draw_scattering
from nearfield.pictures.style import blank, headline, shown, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RecordingPlot(DataArrayPlotAccessor):
    """`array.plot(ax=None)`: matplotlib axes with S-parameters, a signal, a spectrum, an energy or a field.

    Any other array, and any other option, is drawn as xarray does.
    """

    def __call__(self, ax: Axes | None = None, **options: Any) -> Any:  # type: ignore[override]
        own = self._own(ax) if not options else None
        if own is not None:
            return own
        draw: Any = super().__call__
        return draw(**options) if ax is None else draw(ax=ax, **options)

    def __repr__(self) -> str:
        return f"<plot of {self._da.name!r}: call it, plot(ax=None)>"

    def _own(self, ax: Axes | None) -> Any:
        """The axes of one of our pictures; None where the array is nothing of the kind."""
        array, name = self._da, str(self._da.name or "Signal")
        if name == "sparameters" and "frequency" in array.dims and np.iscomplexobj(array.values):
            return shown(draw_scattering)(array, ax)
        if array.dims == ("time",):
            draw: Any = draw_energy if name == "energy" else draw_signals
            return shown(draw)({name: array}, ax, title=name.capitalize())
        if array.dims == ("frequency",):
            return shown(draw_spectra)({name: array}, ax, title=name.capitalize())
        if sum(array.sizes.get(axis, 1) > 1 for axis in "xyz") >= 2:
            return shown(draw_field)({name: array}, ax)
        return None


class Recording(xarray.DataArray):
    """A labelled array of a result: an `xarray.DataArray` with a `.plot()` of its own."""

    __slots__ = ()

    @property
    def plot(self) -> RecordingPlot:  # type: ignore[override]
        """Draw it; see `RecordingPlot`."""
        return RecordingPlot(self)


class ModesPlot(DatasetPlotAccessor):
    """`modes.plot(ax=None)`: a line for each resonance, with its Q."""

    def __repr__(self) -> str:
        return "<plot of resonances: call it, plot(ax=None)>"

    def __call__(self, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        return shown(draw_modes)(self._ds, ax)


class Modes(xarray.Dataset):
    """Resonances over `mode`: an `xarray.Dataset` with a `.plot()` of its own."""

    __slots__ = ()

    @property
    def plot(self) -> ModesPlot:  # type: ignore[override]
        """Draw them; see `ModesPlot`."""
        return ModesPlot(self)


class PortSignalsPlot(DatasetPlotAccessor):
    """`signals.plot(ax=None)`: voltage and current of a port over time; on `ax` the voltage."""

    def __repr__(self) -> str:
        return "<plot of a port's signals: call it, plot(ax=None)>"

    def __call__(self, ax: Axes | None = None) -> Any:  # type: ignore[override]
        return shown(draw_port)(self._ds, ax)


class PortSignals(xarray.Dataset):
    """Recordings of a port: an `xarray.Dataset` with a `.plot()` of its own."""

    __slots__ = ()

    @property
    def plot(self) -> PortSignalsPlot:  # type: ignore[override]
        """Draw them; see `PortSignalsPlot`."""
        return PortSignalsPlot(self)


@styled
def draw_port(signals: xarray.Dataset, ax: Axes | None) -> Any:
    """Voltage and current over time, one above the other; on given axes the voltage alone."""
    if ax is not None:
        return draw_signals({"voltage": signals["voltage"]}, ax)
    figure = blank(8.0, 5.2)
    headline(figure, "Port signals", "voltage and current into the structure")
    panels = figure.subplots(2, 1, sharex=True)
    for axes, name in zip(panels, ("voltage", "current")):
        draw_signals({name: signals[name]}, axes)
    return panels
