"""Every screen as it was when somebody last looked at it, in text and in styles.

`GOLDEN=write` writes what is there now; then look at the differences, and at the pictures.
A snapshot is a text, to see what is other in: the screen's text, then a letter for the style of
each cell, then what the letters mean; and a picture, the SVG as Textual draws it, compressed
(browsers open `.svgz`).
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import pytest
from textual.pilot import Pilot

from piloting import opened, press
from piloting.scenes import NOW, SCENES, Scene
from retrograph.tui import clock

GOLDEN = Path(__file__).parent / "golden"
SIZES = ((80, 24), (120, 40))
_LETTERS = ascii_letters + digits + "!$%&*+=?@#<>~"


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_looks_as_it_did(
    demo: Path,
    scene: Scene,
    size: tuple[int, int],
    theme: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(demo.parent)
    async with opened(demo.name, scene.thread, size, theme_name=theme) as pilot:
        await press(pilot, *scene.keys.split())
        found = snapshot(pilot)
        svg = pilot.app.export_screenshot(title="retrograph")
    name = f"{scene.name}-{size[0]}x{size[1]}-{theme}"
    words, picture = GOLDEN / f"{name}.txt", GOLDEN / f"{name}.svgz"
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        words.write_text(found, "utf-8")
        if not picture.exists() or unpacked(picture) != svg:
            picture.write_bytes(gzip.compress(svg.encode(), 9, mtime=0))
    assert found == words.read_text("utf-8"), f"{words.name} is not what is on the screen"
    now = tmp_path / f"{name}.svg"
    now.write_text(svg, "utf-8")
    assert unpacked(picture) == svg, f"{picture.name} is not what is on the screen: see {now}"


def unpacked(picture: Path) -> str:
    return gzip.decompress(picture.read_bytes()).decode()


def snapshot(pilot: Pilot[Any]) -> str:
    """The screen as text, with a map of its styles."""
    app = pilot.app
    strips = app.screen._compositor.render_strips(app.size)
    letters: dict[str, str] = {}
    text, styles = [], []
    for strip in strips[: app.size.height]:
        text.append("".join(segment.text for segment in strip).rstrip())
        row = ""
        for segment in strip:
            said = str(segment.style)
            letter = letters.setdefault(said, _LETTERS[len(letters)])
            row += letter * segment.cell_length
        styles.append(_short(row))
    meanings = [f"{letter} {said}" for said, letter in letters.items()]
    return "\n".join([*text, "", *styles, "", *meanings, ""])


def _short(row: str) -> str:
    """A row of letters with runs counted: `a12 b3`."""
    out: list[str] = []
    start = 0
    for at in range(1, len(row) + 1):
        if at == len(row) or row[at] != row[start]:
            out.append(f"{row[start]}{at - start}")
            start = at
    return " ".join(out)
