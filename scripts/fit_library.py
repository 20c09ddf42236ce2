"""Rewrites nearfield/media/data/fitted.toml: the media of the library that are fits to their source's formula.

.venv/bin/python -m scripts.fit_library
"""

from __future__ import annotations

from nearfield.entry.toml_text import inline, plain
from nearfield.media.entry import FITTED, Entry
from nearfield.media.fit import MediumFit, fit_medium
from nearfield.media.library import library

POINTS = 120
DIGITS = 7
POLES = {"tissues": 5, "laminates": 6, "walls": 5, "metals": 5}
LOSS_WEIGHT = {"laminates": 30.0, "walls": 3.0}
HEAD = "# written by scripts/fit_library.py from the formulas of the other files; error: largest relative deviation\n"


def fit(entry: Entry) -> MediumFit:
    """Poles near the entry's source: Debye's, of metals Drude's and Lorentz's."""
    frequency, family = entry.points(POINTS), entry.family
    return fit_medium(
        frequency,
        permittivity=entry.published(frequency),
        poles=POLES[family],
        kinds=["drude", "lorentz"] if family == "metals" else ["debye"],
        conductivity=family in ("tissues", "walls"),
        loss_weight=LOSS_WEIGHT.get(family, 1.0),
    )


def short(value):
    """Numbers to the digits that matter."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS - 1}e}")
    if isinstance(value, list):
        return [short(each) for each in value]
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items() if key not in ("valid_band", "name")}
    return value


def main() -> None:
    blocks = [HEAD]
    for name in library:
        entry = library.about(name)
        if entry.constants is None:
            found = fit(entry)
            error = float(f"{1.02 * found.largest_error:.2e}")
            blocks.append(f"[{name}]\nerror = {error}\nmedium = {inline(short(plain(found.medium)))}\n")
            print(f"{name:22} {100 * found.rms_error:.3f} % rms, {100 * found.largest_error:.3f} % at most")
    FITTED.write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
