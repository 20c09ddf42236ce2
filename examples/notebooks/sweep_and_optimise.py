# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Sweep, derivatives, optimise: a patch brought to its frequency
#
# Three ways to vary a model. A sweep shows the whole picture and costs a run for each point. Derivatives say from one
# run which size matters and how much. The optimiser uses them to meet a goal in a few runs.
#
# *It takes:* a minute.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nearfield as nf

# %%
HEIGHT = 0.8e-3


def patch(length=12.4e-3, width=15e-3):
    """A patch over ground, fed by a probe 2.5 mm beside its middle."""
    board = nf.Structure(nf.Box((-1, -1, 0), (1, 1, HEIGHT)), nf.Medium(2.2))
    metal = nf.Sheet((-width / 2, -length / 2, HEIGHT), (width / 2, length / 2, HEIGHT))
    return nf.Simulation(
        nf.AutoGrid(12, "9 GHz", lower=(-14e-3, -13e-3, 0), upper=(14e-3, 13e-3, 6e-3)),
        structures=[board, nf.Structure(metal, nf.PEC)],
        boundaries=nf.Boundaries(all=nf.CPML(6), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, -2.5e-3, 0), (0, -2.5e-3, HEIGHT), "z")],
        waveform=nf.ModulatedGaussian("7 GHz", "3 GHz"),
    )


patch()

# %% [markdown]
# ## A sweep
#
# Every run lies in the folder by the content of its model: run this cell again and nothing is computed twice, add a
# value and only that one is. `executor="processes:2"` or a Dask cluster makes several at once.

# %%
lengths = [11.8e-3, 12.4e-3, 13e-3]
table = nf.sweep(patch, {"length": lengths}, output="out/patches", quantities=["S11 dip"])
table

# %% tags=["picture"]
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for length in lengths:
    s11 = table.sparameters.sel(length=length, to="feed", source="feed")
    axes.plot(s11.frequency / 1e9, nf.decibels(s11), label=f"{length * 1e3:.1f} mm")
axes.set(xlabel="frequency (GHz)", ylabel="S11 (dB)", xlim=(6.4, 8.2))
_ = axes.legend(title="length")

# %% [markdown]
# ## Derivatives
#
# One run gives dS11/dp for every size at every frequency. To first order the dip at length L + d is where S11 + d
# dS11/dL is least: the dashed line, beside a run at that length.

# %%
near = np.linspace(6.6e9, 8e9, 141)
found = nf.sensitivities(patch, {"length": 12.4e-3, "width": 15e-3}, frequencies=near)
for name in ("length", "width"):
    slope = found.derivative.sel(parameter=name, to="feed", source="feed")
    print(f"{name}: 10 um change S11 by up to {float(abs(slope).max()) * 1e-5:.4f}")

# %% tags=["picture"]
base = found.sparameters.sel(to="feed", source="feed")
moved = base + 50e-6 * found.derivative.sel(parameter="length", to="feed", source="feed")
true = patch(length=12.45e-3).run().sparameters_at(near).squeeze()
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.plot(near / 1e9, nf.decibels(base), "0.6", label="12.40 mm")
axes.plot(near / 1e9, nf.decibels(true), "k", label="12.45 mm, a run")
axes.plot(near / 1e9, nf.decibels(moved), "C3--", label="12.45 mm, by the derivative")
axes.set(xlabel="frequency (GHz)", ylabel="S11 (dB)")
_ = axes.legend()

# %% [markdown]
# ## A goal
#
# "S11 below -18 dB from 7.19 to 7.21 GHz", both sizes free. Start within a bandwidth or two: far from the dip S11 is
# flat and no derivative knows the way.

# %%
best = nf.optimize(
    patch,
    {"length": (11.4e-3, 13.4e-3), "width": (12e-3, 18e-3)},
    "S11 < -18 dB between 7.19 GHz and 7.21 GHz",
    report=lambda run, number: print(f"run {number}: worst {run.levels[0]:.1f} dB"),
)
{name: f"{value * 1e3:.3f} mm" for name, value in best.parameters.items()}

# %% tags=["picture"]
_ = best.plot()

# %% [markdown]
# ## What to change
#
# - The goal: two of them, `["S11 < -10 dB between 7.1 GHz and 7.3 GHz", ...]`, or a filter's `"S21 > -1 dB at 5
#   GHz"`.
# - The probe's place as a parameter: derivatives do not follow ports, `method="simplex"` does, in some three times
#   the runs.
# - The same without Python: `nearfield optimize model.toml --vary length=11.4mm:13.4mm --goal "..."`.
