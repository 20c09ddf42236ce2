# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A pulse into tissue: how deep does it go?
#
# A short pulse meets skin, fat and muscle. Each medium's permittivity depends on frequency (Gabriel 1996, by poles),
# so the pulse is not only reflected and absorbed but also spread out. What comes back tells where the layers are;
# what is absorbed heats them.
#
# *It takes:* half a minute.

# %%
import matplotlib.pyplot as plt
import numpy as np

import nearfield as nf

# %% [markdown]
# ## The media
#
# `nearfield media` lists what the library has, with sources. Tissue is mostly water: its permittivity falls with
# frequency, and its loss rises.

# %%
_ = nf.library.muscle.plot("100 MHz", "20 GHz")

# %% [markdown]
# ## The model
#
# A plane wave that comes straight on knows two directions only, so a thin column between mirrors is enough: metal
# walls where E meets them, magnetic ones beside. In muscle a wave of 6 GHz is only 7 mm long; cells of 0.25 mm hold
# it with room to spare.

# %%
STEP, SKIN, FAT = 0.25e-3, 2e-3, 8e-3
AIR, DEEP = 40e-3, 50e-3


def column(layers=True):
    """Air above, then skin, fat and muscle below z = 0; the muscle runs on into the CPML."""
    body = [("skin", nf.library["skin-dry"], -SKIN, 0.0), ("fat", nf.library.fat, -SKIN - FAT, -SKIN)]
    body.append(("muscle", nf.library.muscle, -1.0, -SKIN - FAT))
    return nf.Simulation(
        title="Skin, fat, muscle",
        grid=nf.UniformGrid(STEP, (2, 2, round((AIR + DEEP) / STEP)), origin=(0, 0, -DEEP)),
        structures=[
            nf.Structure(nf.Box((-1, -1, low), (1, 1, high)), medium, name=name) for name, medium, low, high in body
        ]
        * layers,
        boundaries=nf.Boundaries(x="pmc", y="pec", z=nf.CPML(12)),
        sources=[nf.CurrentSheet((0, 0, 30e-3), (2 * STEP, 2 * STEP, 30e-3), "y", nf.GaussianDerivative("4 GHz"))],
        monitors=[
            nf.Probe("echo", (STEP, STEP, 20e-3), "Ey"),
            nf.Snapshot("wave", (0, 0, -40e-3), (2 * STEP, 0, 35e-3), "Ey", every=40),
            *(
                nf.Flux(f"at {depth * 1e3:g} mm", (0, 0, -depth), (2 * STEP, 2 * STEP, -depth), BAND, direction="-")
                for depth in DEPTHS
            ),
        ],
        duration="3 ns",
    )


BAND = np.linspace(0.5e9, 8e9, 31).tolist()
DEPTHS = np.arange(0, 36, 1) * 1e-3
simulation = column()
print(simulation.check())

# %%
result, alone = simulation.run(), column(layers=False).run()

# %% [markdown]
# ## What comes back
#
# The echo is what the probe saw less the pulse that went by. First comes skin's, inverted; fat's far side follows.

# %% tags=["picture"]
echo = result["echo"] - alone["echo"].values
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(echo.time * 1e9, alone["echo"], label="the pulse that goes by")
left.plot(echo.time * 1e9, echo, label="echo")
left.set(xlabel="time (ns)", ylabel="Ey (V/m)", xlim=(0, 1.5))
left.legend()
power = np.array([result.per_source()[f"at {depth * 1e3:g} mm"] for depth in DEPTHS])
for frequency in (1e9, 2.5e9, 6e9):
    number = int(np.argmin(abs(np.array(BAND) - frequency)))
    right.semilogy(1e3 * DEPTHS, power[:, number] / power[0, number], label=f"{BAND[number] / 1e9:.1f} GHz")
for edge in (SKIN, SKIN + FAT):
    right.axvline(1e3 * edge, color="0.7", linewidth=1)
right.set(xlabel="depth (mm)", ylabel="power that gets so deep", ylim=(1e-4, 1.5))
_ = right.legend()

# %% [markdown]
# Fat hardly absorbs: the curves are flat there. In muscle power falls by e within the depth that its permittivity
# tells:

# %%
for frequency in (1e9, 2.5e9, 6e9):
    index = np.sqrt(complex(nf.library.muscle.relative_permittivity(frequency)))
    depth = 299792458.0 / (4 * np.pi * frequency * -index.imag)
    print(f"{frequency / 1e9:.1f} GHz: {1e3 * depth:.0f} mm in muscle")

# %% [markdown]
# ## Where the heat goes
#
# The slope of the power over depth is what a volume absorbs (W/m^3); over the density, about 1000 kg/m^3, it is the
# specific absorption rate.

# %%
number = int(np.argmin(abs(np.array(BAND) - 2.5e9)))
arriving = 376.73 / 8 * (2 * STEP) ** 2  # W of the sheet of 1 A/m, on this area
absorbed = -np.diff(power[:, number]) / np.diff(DEPTHS) / arriving  # a share of what arrives, per metre
for name, low, high in (("skin", 0, SKIN), ("fat", SKIN, SKIN + FAT), ("muscle", SKIN + FAT, 1.0)):
    inside = (DEPTHS[:-1] >= low - 1e-9) & (DEPTHS[:-1] < high - 1e-9)
    print(f"{name}: takes {100 * float(absorbed[inside].sum() * 1e-3):.1f} % of what arrives at 2.5 GHz")

# %% [markdown]
# ## The pulse on its way
#
# In muscle it is slow (a seventh of the speed in air) and short; its high frequencies are gone after a centimetre.

# %%
wave = result["wave"]["Ey"]
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
on_axis = wave.mean([dim for dim in wave.dims if dim not in ("time", "z")])
limit = float(abs(on_axis).quantile(0.99))
mesh = axes.pcolormesh(1e9 * wave.time, 1e3 * wave.z, on_axis.T, cmap="RdBu_r", vmin=-limit, vmax=limit)
axes.set(xlabel="time (ns)", ylabel="z (mm)", title="Ey: the ray bends where the wave slows down", xlim=(0, 2))
_ = figure.colorbar(mesh, label="V/m")

# %% [markdown]
# ## What to change
#
# - The ground instead of the body: `nf.library["soil-moist"]`, a pulse of 600 MHz, cells of 5 mm. Wet soil kills it
#   within half a metre. With a pipe in it: `nearfield new gpr`.
# - `FAT`: at a quarter of a wavelength it matches skin to muscle, and more gets in.
# - A source near the body is no plane wave: use a `nf.LumpedPort` dipole in three dimensions, and `nf.Voxels` for
#   anatomy.
