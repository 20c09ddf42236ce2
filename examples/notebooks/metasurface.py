# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A metasurface: the phase that a small patch gives to a reflected wave
#
# A reflectarray is a flat mirror that focuses: every cell returns the wave with a phase of its own. A cell is a patch
# over a ground; near its resonance the phase turns through most of a circle with the patch's size. This notebook
# computes that curve, from which a designer picks a size for each place of the mirror.
#
# *It takes:* half a minute.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nearfield as nf

# %% [markdown]
# ## One cell of an endless surface
#
# A wave comes straight on with E along y. Patch and wave are even, so mirror walls stand for the neighbours: `"pec"`
# where E meets the wall at right angles, `"pmc"` where it lies along it. A quarter of the cell is enough. (A wave at
# an angle needs `nf.Bloch` phases and the whole cell: docs/method.md.) A sheet of current sends the wave; one plane
# records the field.

# %%
CELL, HEIGHT, STEP = 15e-3, 1.5e-3, 0.375e-3  # 15 mm is half a wavelength at 10 GHz
SOURCE, PLANE, TOP = 20 * STEP, 32 * STEP, 56 * STEP
BAND = np.linspace(7e9, 13e9, 61)


def cell(side=None, ground=True):
    """A square patch of this side over the ground; without both the wave goes on into nothing."""
    below = 0.0 if ground else -24 * STEP
    structures = []
    if ground:
        board = nf.Box((0, 0, 0), (CELL, CELL, HEIGHT))
        structures.append(
            nf.Structure(board, nf.Medium(2.2, loss_tangent=0.001, loss_frequency="10 GHz"), name="board")
        )
    if side:
        structures.append(nf.Structure(nf.Sheet((0, 0, HEIGHT), (side / 2, side / 2, HEIGHT)), nf.PEC, name="patch"))
    across = round(CELL / 2 / STEP)
    return nf.Simulation(
        title="Cell of a reflectarray",
        grid=nf.UniformGrid(STEP, (across, across, round((TOP - below) / STEP)), origin=(0, 0, below)),
        structures=structures,
        boundaries=nf.Boundaries(x="pmc", y="pec", z_low=nf.PEC if ground else nf.CPML(12), z_high=nf.CPML(12)),
        sources=[
            nf.CurrentSheet((0, 0, SOURCE), (CELL / 2, CELL / 2, SOURCE), "y", nf.ModulatedGaussian("10 GHz", "8 GHz"))
        ],
        monitors=[nf.FieldDFT("above", (0, 0, PLANE), (CELL / 2, CELL / 2, PLANE), BAND.tolist(), "Ey")],
        metal="conformal",
    )


simulation = cell(9.2e-3)
simulation

# %% [markdown]
# ## Reflection
#
# The mean of Ey over the cell is that of plane waves alone: what else the patch makes has no mean, and dies away
# within millimetres. Less the same without any surface it is the reflected wave. Both waves go from the sheet to the
# plane above it; the reflected one goes down to the surface first and back: that way is taken off.


# %%
def mean_field(model):
    """Ey averaged over the plane, for a current of 1 A/m: over frequency."""
    field = model.run().per_source()["above"]["Ey"]  # x at the nodes from wall to wall, y between nodes
    return field.integrate("x").mean(["y", "z"]) / (CELL / 2)


alone = mean_field(cell(ground=False))
wave_number = 2 * np.pi * BAND / 299792458.0


def reflection(side):
    """Reflected over arriving wave at the board's surface."""
    returned = (mean_field(cell(side)) - alone) / alone
    return returned * np.exp(2j * wave_number * (SOURCE - HEIGHT))


sides = [5e-3, 7e-3, 8e-3, 8.6e-3, 9.2e-3, 9.8e-3, 10.5e-3, 12e-3]
found = {side: reflection(side) for side in sides}

# %% [markdown]
# All is returned (the board burns a little at resonance), with a phase that falls through zero where the patch
# resonates: there the surface is a magnetic mirror.

# %% tags=["picture"]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for side in sides[1::2]:
    left.plot(BAND / 1e9, np.degrees(np.unwrap(np.angle(found[side]))), label=f"{side * 1e3:.1f} mm")
left.set(xlabel="frequency (GHz)", ylabel="phase of the reflection (degrees)")
left.legend(title="side")
number = int(np.argmin(abs(BAND - 10e9)))
turned = np.degrees(np.unwrap([float(np.angle(found[side][number])) for side in sides]))
right.plot(1e3 * np.array(sides), turned, "o-")
_ = right.set(xlabel="side of the patch (mm)", ylabel="phase at 10 GHz (degrees)")

# %%
loss = {side: float(nf.decibels(found[side]).min()) for side in sides}
print(f"turns by {np.ptp(turned):.0f} degrees between {sides[0] * 1e3:.0f} and {sides[-1] * 1e3:.0f} mm")
print(f"most that the board takes: {min(loss.values()):.2f} dB")

# %% [markdown]
# ## From the curve to a mirror
#
# A mirror that turns a wave by an angle needs a phase of `-k x sin(angle)` along x. Sizes come from the curve by
# interpolation; where the curve has not enough turn the nearest is taken.

# %%
k = 2 * np.pi * 10e9 / 299792458.0
wanted = np.degrees(-k * CELL * np.arange(9) * np.sin(np.radians(20)))
wrapped = turned.max() - (turned.max() - wanted) % 360
chosen = np.interp(np.maximum(wrapped, turned.min()), turned[::-1], sides[::-1])
print("sides (mm):", np.round(1e3 * chosen, 2))

# %% [markdown]
# ## What to change
#
# - `HEIGHT`: a thicker board makes the curve gentler (a wider band, finer control), a thinner one steeper.
# - Rings or crosses instead of patches: two resonances give more than a turn. `nf.Array` and `nf.Rotate` draw them.
# - Without ground it is a frequency-selective surface: `nearfield new fss-cell`.
