"""Puts the figures that examples found the last time into their pages.

.venv/bin/python -m scripts.write_pages
"""

from __future__ import annotations

from pathlib import Path

from examples.figures import written

ROOT = Path(__file__).resolve().parents[1]
PAGES = (*sorted((ROOT / "examples").glob("*.md")), ROOT / "docs" / "sensitivities.md")


def main() -> None:
    """Rewrite every page of an example whose figures changed."""
    for page in PAGES:
        text = written(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"{page.name} rewritten")


if __name__ == "__main__":
    main()
