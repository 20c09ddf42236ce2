"""What notebooks show of an object: a title, a table of facts, a picture."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping
from typing import Any

from nearfield.pictures.style import ON_SCREEN, figure_of, png_bytes

STYLE = "font-family:sans-serif;font-size:13px"


def picture_and_table(title: str, rows: Mapping[str, str], draw: Callable[[], Any] | None = None) -> str:
    """An HTML element; without the picture where that cannot be drawn, with the reason in its place."""
    lines = "".join(
        f'<tr><td style="text-align:left;opacity:.7">{html.escape(name)}</td>'
        f'<td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in rows.items()
        if value
    )
    heading = f'<div style="font-weight:bold;font-size:15px">{html.escape(title)}</div>'
    return f'<div style="{STYLE}">{heading}<table>{lines}</table>{picture(draw) if draw else ""}</div>'


def picture(draw: Callable[[], Any]) -> str:
    """What a function draws (axes, or a figure) as an element; a picture that fails must not hide the table."""
    try:
        drawn = draw_apart(draw)
    except Exception as error:
        return f"<div>no picture: {html.escape(str(error))}</div>"
    code = base64.b64encode(drawn).decode("ascii")
    return f'<img alt="" style="max-width:100%;max-height:480px" src="data:image/png;base64,{code}">'


def draw_apart(draw: Callable[[], Any]) -> bytes:
    """The picture as PNG, its figure unknown to pyplot, which would show it a second time."""
    from matplotlib.figure import Figure

    token = ON_SCREEN.set(None)
    try:
        drawn = draw()
    finally:
        ON_SCREEN.reset(token)
    return png_bytes(drawn if isinstance(drawn, Figure) else figure_of(drawn))
