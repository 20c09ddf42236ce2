# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A horn: how long must it be for its mouth?
#
# A horn widens a guide until its wave leaves without an echo. A wider mouth is more gain, as long as the wave arrives
# there in phase: on its way to the rim it goes further than to the middle. This notebook computes a conical horn at
# 10 GHz for three lengths and compares with an aperture in phase.
#
# *It takes:* a minute.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nearfield as nf

# %% [markdown]
# ## The model
#
# A body of revolution, fed by the TE11 mode of its round guide with E along y. Two mirrors leave a quarter to
# compute. `metal="conformal"` makes slanting walls smooth on the cells; 2 mm are 15 cells a wavelength.

# %%
CELL, GUIDE, MOUTH, WALL = 2e-3, 12e-3, 30e-3, 3e-3
C0 = 299792458.0


def horn(length=50e-3, mouth=MOUTH):
    """A conical horn: its guide's radius is 12 mm."""
    inside = [(GUIDE, -40e-3), (GUIDE, 0.0), (mouth, length)]
    outside = [(mouth + WALL, length), (GUIDE + WALL, 0.0), (GUIDE + WALL, -40e-3)]
    half = 10 * CELL + mouth + WALL + 14e-3
    across, along = 2 * round(half / CELL), round((length + 10 * CELL + 18e-3 + 38e-3) / CELL)
    return nf.Simulation(
        title=f"Conical horn, {length * 1e3:.0f} mm",
        grid=nf.UniformGrid(CELL, (across, across, along), origin=(-across * CELL / 2, -across * CELL / 2, -38e-3)),
        structures=[nf.Structure(nf.Revolved("z", [*inside, *outside]), nf.PEC, name="horn")],
        boundaries=nf.Boundaries(all=nf.CPML(10)),
        symmetry=nf.Symmetry(x="magnetic", y="electric"),
        ports=[
            nf.WaveguidePort(
                "in", (-GUIDE, -GUIDE, -14e-3), (GUIDE, GUIDE, -14e-3), "+z", "TE11y", shape="circular",
                reference_plane=0.0,
            )
        ],
        waveform=nf.ModulatedGaussian("10 GHz", "3.5 GHz"),
        monitors=[
            nf.FarField("pattern", ["9 GHz", "10 GHz", "11 GHz"]),
            nf.FieldDFT("E-plane", (0, -half + 22e-3, -16e-3), (0, half - 22e-3, length + 8e-3), ["10 GHz"], "Ey"),
        ],
        metal="conformal",
    )  # fmt: skip


simulation = horn()
simulation

# %%
result = simulation.run()
result

# %% [markdown]
# ## Pattern and phase front
#
# The beam's two cuts differ: in the E-plane the field is even over the mouth and the side lobes are higher; in the
# H-plane it falls towards the walls.

# %% tags=["picture"]
_ = result["pattern"].plot("10 GHz")

# %%
result.animate("E-plane")  # the fronts bend: the rim lags behind the middle

# %% [markdown]
# ## Length against gain
#
# A mouth of radius a that shines in phase, with TE11's field, has a directivity of 0.836 (2 pi a / lambda)^2
# (Balanis, Antenna Theory). Short horns stay below it, long ones come near; in so small a mouth echoes from the rim
# add or take half a decibel.

# %%
found = {}
for length in (25e-3, 50e-3, 100e-3):
    pattern = horn(length).run()["pattern"]
    found[length] = pattern.directivity_dbi.max(["theta", "phi"])
    print(f"{length * 1e3:.0f} mm: " + ", ".join(f"{float(each):.2f} dBi" for each in found[length]))

# %% tags=["picture"]
f = np.linspace(8.5e9, 11.5e9, 61)
in_phase = 10 * np.log10(0.836 * (2 * np.pi * MOUTH * f / C0) ** 2)
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(f / 1e9, in_phase, "k--", label="mouth in phase, 0.836 (2 pi a / lambda)²")
for length, level in found.items():
    axes.plot(level.frequency / 1e9, level, "o-", label=f"length {length * 1e3:.0f} mm")
axes.set(xlabel="frequency (GHz)", ylabel="directivity (dBi)")
_ = axes.legend()

# %% [markdown]
# ## What to change
#
# - `mouth`: at a given length there is a best one; wider, the rim comes out of phase and gain falls.
# - A step in the guide makes TM11, whose field evens the two cuts: [dual_mode_horn](../dual_mode_horn.md).
# - Finer cells: `CELL = 1.5e-3` is three times the time; `nf.converge` says what is left.
