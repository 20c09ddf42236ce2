"""The patch antenna of examples/patch_antenna.toml in Python, with the choices that its page varies.

.venv/bin/python -m examples.patch_antenna
"""

from __future__ import annotations

import math

import numpy as np

import nearfield as nf

DX, DY, DZ = 0.389e-3, 0.400e-3, 0.265e-3  # m, the published cells
PERMITTIVITY = 2.2
HEIGHT = 3 * DZ
PATCH = 32, 40  # cells along x and y
LINE = 5, 11  # cells from the patch's left edge
PLANE = 10  # cells from the reference plane to the patch
FREQUENCY = 7.5e9
MARGIN = 18  # published nowhere, as are the next four: the demo's
BEHIND = 8
HEADROOM = 24
CPML_CELLS = 10
LINE_LENGTH = 50


def model(
    margin: int = MARGIN,
    behind: int = BEHIND,
    headroom: int = HEADROOM,
    cpml: int = CPML_CELLS,
    line: int = LINE_LENGTH,
    refinement: tuple[int, int, int] = (1, 1, 1),
    board: int | None = None,
    frequencies: tuple[float, ...] = (FREQUENCY,),
    metal: str = "auto",
    automatic: float | None = None,
    thirds: bool = True,
) -> nf.Simulation:
    """The antenna between its CPMLs; y = 0 is the patch's near edge here, lengths in published cells.

    `margin`: from the patch to the CPML at x_low, x_high, y_high; `behind`: from the feeding sheet to that at y_low;
    `headroom`: from the board to that above; `refinement` divides the cells along x, y, z; `board`: how far the board
    reaches beyond patch and feeding sheet, by default into the CPML; `automatic`: cells per wavelength at 20 GHz of an
    automatic grid in place of the published cells, `thirds`: its lines lie by the thirds rule.
    """
    fx, fy, fz = refinement
    x = DX / fx * np.arange(-margin * fx - cpml, (PATCH[0] + margin) * fx + cpml + 1)
    y = DY / fy * np.arange(-(line + behind) * fy - cpml, (PATCH[1] + margin) * fy + cpml + 1)
    z = DZ / fz * np.arange((3 + headroom) * fz + cpml + 1)
    lower, upper = (x[0], y[0], 0), (x[-1], y[-1], HEIGHT)
    if board is not None:
        lower = (-board * DX, -(line + board) * DY, 0)
        upper = ((PATCH[0] + board) * DX, (PATCH[1] + board) * DY, HEIGHT)
    left, right, end = LINE[0] * DX, LINE[1] * DX, -line * DY
    inside = (
        (-margin * DX, -(line + behind) * DY, 0.0),
        ((PATCH[0] + margin) * DX, (PATCH[1] + margin) * DY, z[-1 - cpml]),
    )
    grid = nf.AutoGrid(automatic, 20e9, *inside, thirds_rule=thirds) if automatic else nf.Grid(x, y, z)
    return nf.Simulation(
        title="Line-fed patch antenna (Sheen et al. 1990)",
        grid=grid,
        structures=[
            nf.Structure(nf.Box(lower, upper), nf.Medium(PERMITTIVITY)),
            nf.Structure(nf.Sheet((0, 0, HEIGHT), (PATCH[0] * DX, PATCH[1] * DY, HEIGHT)), nf.PEC),
            nf.Structure(nf.Sheet((left, end, HEIGHT), (right, 0, HEIGHT)), nf.PEC),
        ],
        boundaries=nf.Boundaries(all=nf.CPML(cpml), z_low=nf.PEC),
        ports=[nf.MicrostripPort("feed", (left, end, 0), (right, end, HEIGHT), "z", "+y", reference_plane=-PLANE * DY)],
        waveform=nf.Gaussian(20e9),
        monitors=[nf.FarField("pattern", frequencies)],
        metal=metal,
    )


def reflection(result: nf.Result) -> tuple[np.ndarray, np.ndarray]:
    """(frequencies from 1 to 20 GHz, abs S11)."""
    s = result.sparameters.sel(to="feed", source="feed").sel(frequency=slice(1e9, 20e9))
    return s.frequency.values, np.abs(s.values)


def dips(result: nf.Result) -> list[tuple[float, float]]:
    """Every minimum of abs S11 from 1 to 20 GHz (Hz, dB), placed by the parabola through three samples."""
    f, level = reflection(result)
    found = []
    for n in range(1, level.size - 1):
        before, here, after = level[n - 1 : n + 2]
        if here < before and here <= after:
            shift = 0.5 * (before - after) / (before - 2 * here + after)
            found.append((float(f[n] + shift * (f[n + 1] - f[n])), float(20 * np.log10(here))))
    return found


def main_dip(result: nf.Result) -> tuple[float, float]:
    """The deepest minimum between 5 and 9 GHz (Hz, dB)."""
    return min((dip for dip in dips(result) if 5e9 < dip[0] < 9e9), key=lambda dip: dip[1])


def main() -> None:
    simulation = model()
    print(simulation.check())
    result = simulation.run(threads=2)
    print("minima of S11:", ", ".join(f"{f / 1e9:.3f} GHz {level:.1f} dB" for f, level in dips(result)))
    pattern = result["pattern"]
    print(
        f"directivity {float(pattern.directivity_dbi.max()):.2f} dBi, half-power widths "
        f"{math.degrees(float(pattern.beamwidth(0.0)[0])):.0f} and "
        f"{math.degrees(float(pattern.beamwidth(math.pi / 2)[0])):.0f} degrees"
    )


if __name__ == "__main__":
    main()
