"""Small models of any bodies, media, walls and lumped parts, drawn by a number."""

from __future__ import annotations

import numpy as np

import nearfield as nf

MM = 1e-3
PULSE = nf.Gaussian(20e9)
MEDIA = (
    nf.Medium(2.0),
    nf.Medium(4.3, 1.7, 0.03, 40.0),
    nf.Medium(49.0),
    nf.Medium(2.5, 1.0, 0.2, poles=[nf.Debye(3.1, 9.2e-12), nf.Debye(0.5, 1e-12)]),
    nf.Medium(1.5, poles=[nf.Drude(30e9, 2e10), nf.Lorentz(0.5, 20e9, 6e10)], magnetic_poles=nf.Debye(1.0, 1e-11)),
    nf.PEC,
    nf.PMC,
    nf.Conductor(5.8e7),
)
FACES = (nf.PEC, nf.PMC, nf.CPML(2), nf.CPML(3), nf.PEC)


def drawn(seed: int, precision: str = "double", longest: int = 0) -> nf.Simulation:
    """The model number `seed`; one axis has up to `longest` cells, the others 8 to 10."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(8, 11, 3)
    if longest:
        counts[rng.integers(3)] = rng.integers(18, longest + 1)
    graded = 0.35 * (rng.random() < 0.6)
    lines = [MM * np.concatenate(([0.0], np.cumsum(1.0 + graded * rng.uniform(-1, 1, n)))) for n in counts]
    if not graded:  # as users have them: n times a spacing that no binary number is
        lines = [0.1 * MM * np.arange(n + 1) * 7 / 3 for n in counts]
    size = np.array([line[-1] for line in lines])
    names = [f"{axis}_{end}" for axis in "xyz" for end in ("low", "high")]
    faces: dict = {name: FACES[rng.integers(len(FACES))] for name in names}
    for axis in "xyz":
        if rng.random() < 0.15:
            faces[f"{axis}_low"] = faces[f"{axis}_high"] = nf.PERIODIC
    bodies = [body(rng, lines, size) for _ in range(rng.integers(1, 6))]
    return nf.Simulation(
        nf.Grid(*lines),
        boundaries=nf.Boundaries(nf.PEC, **faces),
        structures=[each for each in bodies if each is not None],
        elements=[lumped(rng, lines)] if rng.random() < 0.5 else [],
        sources=[nf.PointCurrent(tuple(0.5 * size), "z", PULSE)],
        averaging=str(rng.choice(["diagonal", "diagonal", "tensor", "volume"])),
        metal=str(rng.choice(["staircase", "conformal"])),
        precision=precision,
        steps=10,
    )


def place(rng, line: np.ndarray) -> float:
    """A coordinate: any, on a line or in the middle of a cell."""
    n = rng.integers(line.size - 1)
    return float(rng.choice([line[n], 0.5 * (line[n] + line[n + 1]), rng.uniform(line[0], line[-1])]))


def corners(rng, lines) -> tuple:
    pairs = [sorted((place(rng, line), place(rng, line))) for line in lines]
    return tuple(tuple(p[end] for p in pairs) for end in (0, 1))


def body(rng, lines, size) -> nf.Structure | None:
    """One structure; none where what was drawn is not one."""
    medium = MEDIA[rng.integers(len(MEDIA))]
    lower, upper = corners(rng, lines)
    normal, least = int(rng.integers(3)), float(size.min())
    middle, radius = tuple(0.5 * (a + b) for a, b in zip(lower, upper)), float(rng.uniform(0.1, 0.5)) * least
    kind = rng.choice(["box", "box", "sphere", "cylinder", "rod", "polygon", "sheet", "film", "wire"])
    try:
        if kind == "box":
            return nf.Structure(nf.Box(lower, upper), medium)
        if kind == "sphere":
            return nf.Structure(nf.Sphere(middle, radius), medium)
        if kind == "cylinder":
            end = tuple(b if a == normal else m for a, (b, m) in enumerate(zip(upper, middle)))
            return nf.Structure(nf.Cylinder(middle, end, radius), medium)
        if kind == "rod":
            return nf.Structure(nf.Cylinder(lower, upper, radius), medium)
        if kind == "polygon":
            u, v = (normal + 1) % 3, (normal + 2) % 3
            outline = [(lower[u], lower[v]), (upper[u], lower[v]), (upper[u], upper[v]), (middle[u], upper[v])]
            return nf.Structure(nf.Polygon(outline, "xyz"[normal], lower[normal], upper[normal]), medium)
        flat = tuple(a if n == normal else b for n, (a, b) in enumerate(zip(lower, upper)))
        if kind == "sheet":
            return nf.Structure(nf.Sheet(lower, flat), nf.PEC)
        if kind == "film":
            return nf.Structure(
                nf.Sheet(lower, flat), nf.ResistiveSheet(300.0, inductance=float(rng.choice([0, 1e-9])))
            )
        end = tuple(b if n == normal else a for n, (a, b) in enumerate(zip(lower, upper)))
        return nf.Structure(nf.Wire([lower, end], radius=0.02 * MM), nf.PEC)
    except nf.ModelError:
        return None


def lumped(rng, lines) -> nf.LumpedElement:
    axis = int(rng.integers(3))
    at = [float(line[line.size // 2]) for line in lines]
    end = list(at)
    end[axis] = float(lines[axis][lines[axis].size // 2 + 1])
    return nf.LumpedElement(tuple(at), tuple(end), "xyz"[axis], resistance=50.0)


def drawn_setup(seed: int, precision: str = "double", longest: int = 0):
    """The discretization of a model; None where its draw is refused."""
    try:
        setup = drawn(seed, precision, longest)._setup()
        return setup if setup.plan else None
    except nf.ModelError:
        return None
