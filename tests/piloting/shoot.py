"""Draws the pictures in `screenshots/` from the demo: `make screenshots`.

Each is an SVG as Textual draws it, and a PNG of that with one font, so that they are the same
wherever they are made.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from piloting import opened, press
from piloting.pictures import png
from piloting.scenes import NOW, SCENES
from retrograph.cli.demo.make import make_demo
from retrograph.tui import clock

OUT = Path(__file__).parents[2] / "screenshots"
WIDE, NARROW = (132, 36), (80, 24)

PICTURES = (
    ("threads", "threads", WIDE, "dark"),
    ("thread", "thread", WIDE, "dark"),
    ("diff", "sides", WIDE, "dark"),
    ("messages", "messages", WIDE, "dark"),
    ("graph", "graph", WIDE, "dark"),
    ("history", "history", WIDE, "dark"),
    ("help", "help", WIDE, "dark"),
    ("narrow", "thread", NARROW, "dark"),
    ("light", "messages", WIDE, "light"),
)
"""(name of the picture, scene, size, theme)."""


async def shoot(store: Path) -> None:
    scenes = {scene.name: scene for scene in SCENES}
    os.chdir(store.parent)
    for name, scene_name, size, theme in PICTURES:
        scene = scenes[scene_name]
        async with opened(store.name, scene.thread, size, theme_name=theme) as pilot:
            await press(pilot, *scene.keys.split())
            svg = pilot.app.export_screenshot(title="retrograph")
        (OUT / f"{name}.svg").write_text(svg, "utf-8")
        (OUT / f"{name}.png").write_bytes(png(svg))
        print(OUT / f"{name}.png", file=sys.stderr)


def main() -> None:
    os.environ["TZ"] = "UTC"
    os.environ.pop("NO_COLOR", None)
    time.tzset()
    clock.now = lambda: NOW
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(shoot(make_demo(Path(scratch) / "demo", NOW).db))


if __name__ == "__main__":
    main()
