"""Runs every validation case in turn and rewrites the table of validation/README.md.

    .venv/bin/python -m validation.run_all [CASE ... | --page]

With names, only those cases run, and the table keeps what the others found the last time (results.json); with --page
none runs, and the table is written from that file.
Exit code 0 when all that ran passed, 1 when a case failed its check or broke, 2 for an unknown name.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from nearfield.machine.facts import source_commit

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results.json"
PAGE = FOLDER / "README.md"
BEGIN = "<!-- table: written by run_all.py -->"
END = "<!-- end of table -->"
LONGEST_SECONDS = 3600


def case_names() -> list[str]:
    """Folders that hold a run.py, in alphabetical order."""
    return sorted(path.parent.name for path in FOLDER.glob("*/run.py"))


def run_case(name: str) -> dict[str, Any]:
    """The case's JSON object; a case that breaks is one that failed, with what it said."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"validation.{name}.run"],
            cwd=FOLDER.parent,
            stdout=subprocess.PIPE,
            text=True,
            timeout=LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return broken(name, f"took longer than {LONGEST_SECONDS} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return broken(name, f"ended with exit code {done.returncode} and no result")
    return json.loads(lines[-1])


def broken(name: str, reason: str) -> dict[str, Any]:
    return {"case": name, "title": f"{name}: {reason}", "rows": [], "passed": False, "seconds": 0.0}


def number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.7g}"


def cells(*texts: Any) -> str:
    """A line of a table; a bar in a text shall not end its cell."""
    return f"| {' | '.join(str(text).replace('|', chr(92) + '|') for text in texts)} |"


def table(cases: list[dict[str, Any]]) -> str:
    """Markdown: a summary, then one line for each compared quantity, the case named on its first line."""
    verdicts = [row["passed"] for case in cases for row in case["rows"]] + [False for case in cases if not case["rows"]]
    lines = [
        f"{len(cases)} cases, {sum(verdicts)} of {len(verdicts)} comparisons pass, "
        f"{sum(case['seconds'] for case in cases):.0f} s.",
        "",
        cells("case", "quantity", "expected", "found", "tolerance", "", "seconds"),
        "|---" * 7 + "|",
    ]
    for case in cases:
        head = f"[{case['title']}]({case['case']}/README.md)", case["seconds"]
        if not case["rows"]:
            lines.append(cells(head[0], "", "", "", "", "**FAIL**", ""))
        for row in case["rows"]:
            unit = f" {row['unit']}" if row["unit"] else ""
            lines.append(
                cells(
                    head[0],
                    row["quantity"],
                    number(row["expected"]) + unit,
                    number(row["found"]) + unit,
                    row["tolerance"],
                    "PASS" if row["passed"] else "**FAIL**",
                    head[1],
                )
            )
            head = "", ""
    return "\n".join(lines)


def rewrite_page(cases: list[dict[str, Any]]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{table(cases)}\n{END}{tail}", encoding="utf-8")


def main(names: list[str]) -> int:
    wanted = [] if names == ["--page"] else names or case_names()
    unknown = sorted(set(wanted) - set(case_names()))
    if unknown:
        print(f"no such case: {', '.join(unknown)}; there are {', '.join(case_names())}", file=sys.stderr)
        return 2
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    passed = True
    for name in wanted:
        print(f"{name} ...", file=sys.stderr, flush=True)
        known[name] = run_case(name) | {"commit": source_commit()}
        passed &= known[name]["passed"]
        print(f"{name}: {'PASS' if known[name]['passed'] else 'FAIL'}, {known[name]['seconds']} s", file=sys.stderr)
    known = {name: known[name] for name in case_names() if name in known}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    rewrite_page(list(known.values()))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
