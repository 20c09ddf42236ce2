"""Answers that users would have believed and that were wrong: what they were, what was wanted, and what they are.

    .venv/bin/python benchmarks/right_answers.py [--only iris yagi]

Each case is a small model run through the public interface; --only replaces its rows and leaves the others.
Writes benchmarks/results/right-answers.json and, of it, docs/right-answers.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
sys.path[:0] = [str(FOLDER), str(FOLDER / "answers"), str(ROOT)]
import fields  # noqa: E402  (found through the line above)
import judged  # noqa: E402
import layers  # noqa: E402
import line_ports  # noqa: E402
import metal  # noqa: E402
import slips  # noqa: E402

from benchmarks.machine import commit, machine  # noqa: E402
from nearfield.machine.facts import measured_by  # noqa: E402

CASES = {
    case.__name__: case
    for case in (*metal.CASES, *fields.CASES, *slips.CASES, *layers.CASES, *line_ports.CASES, *judged.CASES)
}
RESULT = FOLDER / "results" / "right-answers.json"
PAGE = ROOT / "docs" / "right-answers.md"
HEAD = """# Right answers

Results that were wrong without a word, each a number that a user would have believed, and what the same question
gives now.
Written by `benchmarks/right_answers.py`; every row names the commit that gave it.

| | asked | before | wanted | now | holds | commit |
|---|---|---|---|---|---|---|
"""


def page(rows: list[dict[str, Any]]) -> str:
    """The page, of the rows of the result."""
    lines = [
        f"| {row['item']} | {row['what']} | {row['before']} | {row['wanted']} | {row['now']} | "
        f"{'yes' if row['holds'] else '**no**'} | {row['commit']} |"
        for row in rows
    ]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    given = made.parse_args()
    known = json.loads(RESULT.read_text())["rows"] if RESULT.exists() else []
    rows = {name: [row for row in known if row["case"] == name] for name in CASES}
    for name in given.only:
        begun = time.perf_counter()
        rows[name] = [
            asdict(row) | {"holds": bool(row.holds), "case": name, "commit": commit()} for row in CASES[name]()
        ]
        for row in rows[name]:
            print(
                f"{row['item']} {row['what']}: {row['now']} ({'holds' if row['holds'] else 'DOES NOT HOLD'})",
                flush=True,
            )
        print(f"  {name}: {time.perf_counter() - begun:.0f} s", flush=True)
        every = [row for case in CASES for row in rows[case]]
        found = {**measured_by("benchmarks/right_answers.py", machine()), "rows": every}
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(every), encoding="utf-8")
    return 0 if all(row["holds"] for row in every) else 1


if __name__ == "__main__":
    sys.exit(main())
