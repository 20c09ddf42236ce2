"""Nearfield on a patch of 32 x 40 mm on a lossy board of 60 x 60 x 1.524 mm, eps_r 3.38, fed 6 mm off its middle.

An automatic grid of 20 cells a wavelength at 3 GHz; four cells in the board because none may be longer than that.
"""

import numpy as np
from nearfield_tools import arguments, tell

import nearfield as nf

MM = 1e-3
PATCH, BOARD, HEIGHT, FEED = (32 * MM, 40 * MM), 60 * MM, 1.524 * MM, -6 * MM
LOSSY = nf.Medium(3.38, conductivity=1e-3 * 2 * np.pi * 2.45e9 * 8.8541878128e-12 * 3.38)
EXPECTED = 2.41e9  # Hz, where the pattern is taken


def model(refine=1.0):
    (a, b), half = (0.5 * PATCH[0], 0.5 * PATCH[1]), 0.5 * BOARD
    return nf.Simulation(
        title="Patch on a small board",
        grid=nf.AutoGrid(20 * refine, 3e9, lower=(-0.1, -0.1, -0.05), upper=(0.1, 0.1, 0.1)),
        structures=[
            nf.Structure(nf.Box((-half, -half, 0), (half, half, HEIGHT)), LOSSY),
            nf.Structure(nf.Sheet((-half, -half, 0), (half, half, 0)), nf.PEC),
            nf.Structure(nf.Sheet((-a, -b, HEIGHT), (a, b, HEIGHT)), nf.PEC),
        ],
        boundaries=nf.Boundaries(all=nf.CPML()),
        ports=[nf.LumpedPort("feed", (FEED, 0, 0), (FEED, 0, HEIGHT), "z", resistance=50.0)],
        waveform=nf.ModulatedGaussian(2e9, 2e9),
        monitors=[nf.FarField("pattern", [EXPECTED])],
        decay=1e-4,
    )


def main():
    given = arguments(__doc__)
    frequency = np.linspace(1e9, 3e9, 2001)

    def answers(result):
        s11 = np.abs(result.sparameters_at(frequency).sel(to="feed", source="feed").values)
        at, pattern = int(np.argmin(s11)), result["pattern"]
        return {
            "resonance": float(frequency[at]),
            "depth_db": float(20 * np.log10(s11[at])),
            "directivity_dbi": float(pattern.directivity_dbi.max()),
            "efficiency": float(pattern.radiation_efficiency[0]),
        }

    tell(model(given.refine), given, answers)


if __name__ == "__main__":
    main()
