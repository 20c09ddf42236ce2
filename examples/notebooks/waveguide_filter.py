# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A filter: a cavity between two irises in a WR-90 guide
#
# Two walls with a window each make a cavity of the guide between them. At its resonance all passes, beside it little:
# the smaller the windows, the narrower the band. Which size matters most comes out of the same runs, by reciprocity.
#
# *It takes:* half a minute.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nearfield as nf

# %% [markdown]
# ## The model
#
# The guide's walls are those of the computed space, and both ends run on into absorbing layers. A `WaveguidePort`
# launches and measures the TE10 mode of the grid itself. The structure is even about the middle of the broad side and
# nothing changes along y: a quarter is computed. Phases count from the reference planes, 10 mm beside the middle.
# `metal="conformal"` follows windows between the lines of the grid, which derivatives need.

# %%
WIDE, HIGH, THICK = 22.86e-3, 10.16e-3, 1e-3


def cavity_filter(window=9.6e-3, cavity=16.5e-3):
    """Two irises with windows as wide as `window`, `cavity` apart."""
    side, irises = (WIDE - window) / 2, []
    for z in (-cavity / 2 - THICK, cavity / 2):
        for low, high in ((0, side), (WIDE - side, WIDE)):
            irises.append(nf.Structure(nf.Box((low, 0, z), (high, HIGH, z + THICK)), nf.PEC))
    ports = [("in", -25e-3, "+z", -10e-3), ("out", 25e-3, "-z", 10e-3)]
    return nf.Simulation(
        title="WR-90 cavity filter",
        grid=nf.AutoGrid(20, "12 GHz", lower=(0, 0, -33e-3), upper=(WIDE, HIGH, 33e-3)),
        structures=irises,
        boundaries=nf.Boundaries(all=nf.PEC, z=nf.CPML(10)),
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        ports=[
            nf.WaveguidePort(name, (0, 0, z), (WIDE, HIGH, z), way, "TE10", reference_plane=plane)
            for name, z, way, plane in ports
        ],
        waveform=nf.ModulatedGaussian("10 GHz", "5 GHz"),
        monitors=[
            nf.FieldDFT("middle", (0, HIGH / 2, -28e-3), (WIDE, HIGH / 2, 28e-3), ["9 GHz", "10 GHz"], "Ey"),
        ],
        metal="conformal",
    )


simulation = cavity_filter()
simulation

# %% [markdown]
# ## The run
#
# Each port is driven in a run of its own.

# %%
result = simulation.run()
f = np.linspace(8e9, 12e9, 401)
s = result.sparameters_at(f)
passed = nf.decibels(s.sel(to="out", source="in"))
centre = float(f[np.argmax(passed.values)])
band = f[passed.values > passed.values.max() - 3]
print(f"passes at {centre / 1e9:.3f} GHz, {np.ptp(band) / 1e6:.0f} MHz between the -3 dB points")

# %% tags=["picture"]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for to in ("in", "out"):
    left.plot(f / 1e9, nf.decibels(s.sel(to=to, source="in")), label="S11" if to == "in" else "S21")
left.set(xlabel="frequency (GHz)", ylabel="dB", ylim=(-40, 1))
left.legend()
delay = nf.group_delay(s.sel(to="out", source="in"))
right.plot(f / 1e9, 1e9 * delay)
_ = right.set(xlabel="frequency (GHz)", ylabel="group delay (ns)", title="a wave stays in the cavity while it passes")

# %% [markdown]
# A lossless filter keeps the power: |S11|^2 + |S21|^2 is 1, a check that costs nothing.

# %%
power = (abs(s.sel(source="in")) ** 2).sum("to")
print(f"power out over power in: {float(power.min()):.4f} to {float(power.max()):.4f}")

# %% [markdown]
# ## What the field does
#
# Near the resonance the field in the cavity is several times that of the wave that comes; off it the first iris
# returns nearly all. `animate` turns a spectrum through one period.

# %%
_ = result["middle"].plot(at=centre)

# %%
result.animate("middle", at=centre)

# %% [markdown]
# ## Which size matters most?
#
# Derivatives of S with respect to both sizes come from the two runs and no more. A hundredth of a millimetre of
# either changes S21 by about as much, on the slopes of the pass band: the shop must keep the windows as well as the
# cavity.

# %%
near = np.linspace(centre - 0.15e9, centre + 0.15e9, 61)
found = nf.sensitivities(cavity_filter, {"window": 9.6e-3, "cavity": 16.5e-3}, frequencies=near)
for name in ("window", "cavity"):
    slope = found.derivative.sel(parameter=name, to="out", source="in")
    change = float(abs(slope).max()) * 1e-5  # of ten micrometres
    print(f"{name}: 10 um change S21 by up to {change:.4f}")

# %% tags=["picture"]
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
level = nf.decibels(found.sparameters.sel(to="out", source="in"))
axes.plot(near / 1e9, level, "k", label="as drawn")
for name in ("window", "cavity"):
    slope = found.derivative.sel(parameter=name, to="out", source="in")
    moved = found.sparameters.sel(to="out", source="in") + 50e-6 * slope
    axes.plot(near / 1e9, nf.decibels(moved), "--", label=f"{name} + 50 um, to first order")
axes.set(xlabel="frequency (GHz)", ylabel="S21 (dB)")
_ = axes.legend()

# %% [markdown]
# ## What to change
#
# - `cavity` moves the centre, `window` the width of the band. Half the window is a band several times narrower, and a
#   run that rings longer.
# - A second cavity makes the sides steeper: another iris, and a wall between with a smaller window.
# - Real walls: put `nf.Conductor("5.8e7 S/m")` on boxes in the guide and see what the resonance loses.
# - The same from a file: `nearfield new waveguide-filter`, then `nearfield sensitivities waveguide-filter.toml`.
