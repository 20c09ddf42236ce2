# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A first antenna: a patch for 2.45 GHz
#
# A rectangle of metal over a ground resonates where its length is about half a wavelength in the board. A coaxial
# probe feeds it beside its middle: at the edge the patch has some 200 ohm, in the middle none, and in between 50.
#
# *You will need:* nothing but Nearfield. *It takes:* half a minute.

# %%
import numpy as np

import nearfield as nf

# %% [markdown]
# ## The model
#
# Sizes are in metres, or texts with a unit. A model that you will vary is best a function of its sizes. The board is
# RO4003C's class of laminate; the ground is the lower wall of the computed space, and so without end. Open space is a
# `CPML`, layers that absorb what comes.

# %%
HEIGHT = 1.524e-3


def patch(length=31.2e-3, width=39e-3, probe=5.5e-3):
    """A patch on a laminate of 1.524 mm; the probe stands so far from the middle."""
    laminate = nf.Medium(3.55, loss_tangent=0.0027, loss_frequency="2.45 GHz", name="laminate")
    board = nf.Structure(nf.Box((-1, -1, 0), (1, 1, HEIGHT)), laminate, name="board")
    metal = nf.Sheet((-width / 2, -length / 2, HEIGHT), (width / 2, length / 2, HEIGHT))
    return nf.Simulation(
        title="Patch for 2.45 GHz",
        grid=nf.AutoGrid(20, "3.5 GHz", lower=(-40e-3, -36e-3, 0), upper=(40e-3, 36e-3, 25e-3)),
        structures=[board, nf.Structure(metal, nf.PEC, name="patch")],
        boundaries=nf.Boundaries(all=nf.CPML(8), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, -probe, 0), (0, -probe, HEIGHT), "z")],
        waveform=nf.ModulatedGaussian("2.5 GHz", "1.6 GHz"),
        monitors=[
            nf.FarField("pattern", ["2.45 GHz"]),
            nf.FieldDFT("under the patch", (-0.03, -0.028, HEIGHT / 2), (0.03, 0.028, HEIGHT / 2), ["2.45 GHz"], "Ez"),
        ],
    )


simulation = patch()
simulation  # three cuts with the mesh; simulation.show() turns in three dimensions

# %% [markdown]
# ## Before the run
#
# `check` says what it costs and what looks doubtful. Here it has one remark: the far-field surface cuts the endless
# board. What travels in the board as a surface wave is left out of the pattern; on a thin board that is little.

# %%
print(simulation.check())

# %% [markdown]
# ## The run
#
# It ends by itself when the energy has decayed. Below the result stand the S-parameters and how far its numbers may
# be trusted.

# %%
result = simulation.run()
result

# %% [markdown]
# The dip is where the antenna takes the power. Half a wavelength in the board would be 32.5 mm at 2.45 GHz; the patch
# is shorter, because the field bulges out beyond both ends by about half the board's height.

# %% tags=["picture"]
_ = result.plot()

# %%
f = np.linspace(2.3e9, 2.6e9, 601)
s11 = nf.decibels(result.sparameters_at(f).squeeze())
dip = float(f[np.argmin(s11.values)])
print(f"dip of {float(s11.min()):.1f} dB at {dip / 1e9:.4f} GHz, {float((s11 < -10).sum()) * 0.5:.0f} MHz below -10 dB")

# %% [markdown]
# ## What it radiates
#
# Most goes straight up. In the plane of the probe (phi = 90 degrees) the two ends act as slots in phase; across it
# the pattern is that of one slot's length. Gain is directivity less what the board and the port's mismatch burn.

# %% tags=["picture"]
_ = result["pattern"].plot()

# %%
pattern = result["pattern"]
print(f"directivity {float(pattern.directivity_dbi.max()):.2f} dBi, gain {float(pattern.gain_dbi.max()):.2f} dBi")
print(f"radiation efficiency {float(pattern.radiation_efficiency.squeeze()):.2f}")

# %% [markdown]
# ## Why it resonates
#
# Ez under the patch: strong at both ends and of opposite sign, none in the middle. Move the probe along this slope
# and the resistance changes with the square of the field.

# %%
_ = result["under the patch"].plot()

# %% [markdown]
# ## What to change
#
# - `length` sets the frequency: 1 % longer is 1 % lower. Try `patch(length=31e-3)`.
# - `probe` sets the match. Try 4 mm and 8 mm, and look at the Smith chart: `result.to_skrf().plot_s_smith()`.
# - A thicker board is a wider band. A board with more loss lowers the gain, and the dip seems deeper.
# - [Sweep and optimise](sweep_and_optimise.py) lets the computer find the sizes.
