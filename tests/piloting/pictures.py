"""The app's screen as a PNG that looks the same everywhere: its SVG drawn with one font."""

from __future__ import annotations

import re
from pathlib import Path

import fontpkg_fira_code
import resvg_py

_FAMILY = "Fira Code"


def png(svg: str, zoom: int = 1) -> bytes:
    """Textual's SVG as PNG."""
    fonts = [str(path) for path in Path(fontpkg_fira_code.ROOT).rglob("*.ttf")]
    plain = re.sub(r"@font-face\s*\{[^}]*\}", "", svg).replace("arial", _FAMILY)
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=plain,
            skip_system_fonts=True,
            font_files=fonts,
            font_family=_FAMILY,
            monospace_family=_FAMILY,
            zoom=zoom,
        )
    )
