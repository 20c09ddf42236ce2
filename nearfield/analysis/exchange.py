"""S-parameters for other libraries: a network of scikit-rf, a table of pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.sparameters import excited_ports
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    import pandas
    import xarray


def skrf_network(parameters: xarray.DataArray, impedances: Mapping[str, float], title: str) -> Any:
    """A `skrf.Network` of the excited ports, each with its own reference impedance, where the pulse held energy.

    Waves of guides' modes have no impedance: they get 50 ohm. Error: scikit-rf is missing, or no port was excited.
    """
    try:
        import skrf
    except ImportError:
        raise ModelError("to_skrf needs scikit-rf; `pip install scikit-rf`, or use `write_touchstone`") from None
    names = [str(name) for name in parameters["to"].values]
    values = np.asarray(parameters.transpose("frequency", "to", "source").values)
    excited = excited_ports(values)
    values = values[:, excited][:, :, excited]
    valid = np.isfinite(values).all(axis=(1, 2))
    if not excited or not valid.any():
        raise ModelError("there is no S-parameter to hand on: no port was excited at a frequency where it held energy")
    reference = np.nan_to_num([impedances.get(names[n], 50.0) for n in excited], nan=50.0)
    frequency = skrf.Frequency.from_f(parameters["frequency"].values[valid], unit="Hz")
    network = skrf.Network(frequency=frequency, s=values[valid], z0=reference, name=title or "nearfield")
    network.port_names = [names[n] for n in excited]
    return network


def s_table(parameters: xarray.DataArray) -> pandas.DataFrame:
    """A row a frequency (Hz), a column a parameter, named as `S(to, source)` by the ports' names; complex, NaN kept."""
    import pandas

    values = parameters.transpose("frequency", "to", "source")
    pairs = [(str(to), str(source)) for to in values.to.values for source in values.source.values]
    columns = [f"S({to}, {source})" for to, source in pairs]
    index = pandas.Index(values.frequency.values, name="frequency")
    return pandas.DataFrame(values.values.reshape(len(index), -1), index, columns)
