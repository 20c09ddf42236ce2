"""Slips that were run without a word: cut-off spectra, units, a guide in a short box."""

from __future__ import annotations

import io
import json
import re
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from row import Row

import nearfield as nf
from nearfield.cli import main

MM = 1e-3
C = 299792458.0


def short_box() -> list[Row]:
    """B7: the far field of a guide's open end in a box that is wider than long, S and pattern kept."""
    cell = 1.2 * MM
    hole = (14 * cell, 13 * cell), (28 * cell, 23 * cell)  # low and high corners across the guide

    def box(wall: int, end: float) -> nf.Box:
        (y0, z0), (y1, z1) = hole
        return nf.Box((-1.0, y0 - wall * cell, z0 - wall * cell), (end, y1 + wall * cell, z1 + wall * cell))

    opening = [(7 * cell, *corner) for corner in hole]
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, (24, 42, 36)),
        structures=[nf.Structure(box(2, 11 * cell), nf.PEC), nf.Structure(box(0, 1.0), nf.Medium())],
        boundaries=nf.Boundaries(nf.CPML(5)),
        ports=[nf.WaveguidePort("in", *opening, "+x", "1", "any")],
        waveform=nf.ModulatedGaussian(12.5e9, 5e9),
        monitors=[nf.FarField("pattern", [12.5e9], (6 * cell, 8 * cell, 7 * cell), (17 * cell, 34 * cell, 29 * cell))],
        duration=3e-9,
    ).run(threads=2)
    peak, lost = float(result["pattern"].directivity_dbi.max()), result.facts.get("failed_derivations", [])
    return [
        Row(
            "B7",
            "far field of an open guide of 14 x 10 cells in a box of 24 x 42 x 36 cells",
            "IndexError, record lost",
            "a pattern",
            f"{peak:.2f} dBi, {len(lost)} derivations failed",
            np.isfinite(peak) and not lost,
        )
    ]


def cut_off() -> list[Row]:
    """C13: a cavity that rings at its last step says so of every record, with what is left."""
    cell = 1.7 * MM
    result = nf.Simulation(
        grid=nf.Grid.uniform(cell, (15, 12, 6)),
        boundaries=nf.Boundaries(nf.PEC),
        ports=[nf.LumpedPort("feed", (5 * cell, 4 * cell, 0), (5 * cell, 4 * cell, 6 * cell), "z", 150.0)],
        waveform=nf.Gaussian(11e9),
        monitors=[nf.Probe("tip", (9 * cell, 8 * cell, 3 * cell))],
        steps=300,
    ).run(threads=1)
    largest = float(np.nanmax(np.abs(result.sparameters.values)))
    left = {each.name: each for each in result.trust if each.name.startswith("left at the end")}
    told = [text for text in result.facts["warnings"] if "was cut off" in text]
    levels = ", ".join(f"{each.value:.0f} dB" for each in left.values())
    return [
        Row(
            "C13",
            f"a port and a probe that ring at the last of 300 steps (largest abs(S11) {largest:.2f})",
            "silent, abs(S11) 1.113",
            "each record says what is left in it",
            f"{levels}; {len(told)} warning",
            len(left) == 2 and len(told) == 1 and all(each.verdict in ("warn", "bad") for each in left.values()),
        )
    ]


def units() -> list[Row]:
    """C13a: lengths from c = 0.2998, frequencies in GHz, lengths in mm; the command refuses without --long."""

    def model(wavelength: float, frequency: float, **more) -> nf.Simulation:
        cell = wavelength / 17
        middle = 13 * cell
        return nf.Simulation(
            grid=nf.Grid.uniform(cell, (26, 26, 26)),
            boundaries=nf.Boundaries(nf.CPML(6)),
            sources=[nf.PointCurrent((middle, middle, middle), "x", nf.ModulatedGaussian(frequency, 0.8 * frequency))],
            monitors=[nf.Probe("near", (middle, middle + 3 * cell, middle))],
            **more,
        )

    slips = {
        "c = 0.2998": (model(0.299792458 / 7.7e9, 5.5e9), "c = 0.3"),
        "GHz as Hz": (model(C / 7.7e9, 5.5), "GHz taken for Hz"),
        "MHz as Hz": (model(C / 7.7e9, 5.5e3), "MHz taken for Hz"),
        "mm twice": (model(C / 7.7e9 / 1000, 5.5e9), "mm converted twice"),
    }
    rows = []
    for name, (simulation, words) in slips.items():
        warnings = [text for text in simulation.check().warnings if words in text]
        named = f"named in {len(warnings)} warning" if warnings else "silent"
        rows.append(
            Row("C13a", f"slip of units: {name}", "no warnings", "one warning names it", named, len(warnings) == 1)
        )
    with tempfile.TemporaryDirectory() as folder:
        path, said = Path(folder) / "slip.toml", io.StringIO()
        path.write_text(slips["c = 0.2998"][0].to_toml())
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            code = main(["run", str(path), "--output", str(Path(folder) / "out")])
        written = (Path(folder) / "out").exists()
        first = said.getvalue().splitlines()[0]
        with redirect_stdout(io.StringIO()) as data:
            main(["check", str(path), "--json"])
        seconds = json.loads(data.getvalue())["predicted_seconds"]
    days = re.search(r"[\d,.]+ (days|years)", first)
    rows.append(
        Row(
            "C13a",
            "`nearfield run` of the first, without --long",
            "a run of 3347 days starts",
            "time in the first line, exit code 2",
            f"exit code {code}, first line: {days.group() if days else 'no time'}",
            code == 2 and bool(days) and not written and seconds > 86400,
        )
    )
    return rows


def meant_otherwise() -> list[Row]:
    """Relatives of the items: models that run but are not what their author means."""
    pulse, middle = nf.GaussianDerivative(5e9), (0.0, 0.0, 0.0)

    def model(**more) -> nf.Simulation:
        usual = {"sources": [nf.PointCurrent(middle, "z", pulse)], "monitors": [nf.Probe("tip", (4 * MM, 0, 0))]}
        grid = nf.Grid.uniform(MM, (30, 30, 30), origin=(-15 * MM,) * 3)
        return nf.Simulation(**{"grid": grid, "boundaries": nf.Boundaries(nf.CPML(6)), **usual, **more})

    strip = nf.Structure(nf.Sheet((-4 * MM, -MM, 2 * MM), (4 * MM, MM, 2 * MM)), nf.PEC, name="strip")
    board = nf.Structure(nf.Box((-6 * MM, -6 * MM, MM), (6 * MM, 6 * MM, 4 * MM)), nf.Medium(2.2), name="board")
    block = nf.Structure(nf.Box((3 * MM, -MM, -MM), (5 * MM, MM, MM)), nf.Medium(4.0), name="block")
    plane = nf.Flux("plane", (-2.4 * MM, -3 * MM, 5 * MM), (3.4 * MM, 3 * MM, 5 * MM), [5e9])
    questions = {
        "a strip drawn before the board that holds it": ({"structures": [strip, board]}, "has no effect"),
        "a plane of symmetry, and a block on one side": (
            {"structures": [block], "symmetry": nf.Symmetry(x="magnetic")},
            "is there twice",
        ),
        "a pulse whose delay cuts its beginning off": (
            {"sources": [nf.PointCurrent(middle, "z", nf.ModulatedGaussian(5e9, 3e9, delay=0.0))]},
            "of its peak: a step",
        ),
        "a probe with a sample every 40 steps": (
            {"monitors": [nf.Probe("tip", (4 * MM, 0, 0), stride=40)]},
            "its spectra are folded",
        ),
    }
    rows = []
    for what, (changes, words) in questions.items():
        named = any(words in text for text in model(**changes).check().warnings)
        rows.append(Row("A to E", what, "no warnings", "one warning names it", "named" if named else "silent", named))
    listed = sum("plane" in each["what"] for each in model(monitors=[plane]).check().moved)
    rows.append(
        Row(
            "A1", "a plane of flux of 5.8 cells that counts 5", "silent", "in `moved`", f"{listed} entries", listed == 2
        )
    )
    try:
        nf.Rotate("z", 30)
        said = "taken for 30 rad"
    except nf.ModelError:
        said = "refused in words"
    rows.append(Row("C13a", "slip of units: Rotate(axis, 30)", "taken for 30 rad", "refused", said, "refused" in said))
    return rows


CASES = (short_box, cut_off, units, meant_otherwise)
