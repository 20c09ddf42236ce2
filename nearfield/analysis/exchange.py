"""S-parameters for other libraries: a network of scikit-rf, a table of pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.sparameters import known_part
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
    names, excited, frequencies, values = known_part(parameters)
    reference = np.nan_to_num([impedances.get(names[n], 50.0) for n in excited], nan=50.0)
    frequency = skrf.Frequency.from_f(frequencies, unit="Hz")
    network = skrf.Network(frequency=frequency, s=values, z0=reference, name=title or "nearfield")
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
