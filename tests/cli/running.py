"""What tests of the commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "formats"
NOW = datetime(2025, 11, 29, 12, 0, tzinfo=UTC)
"""The moment that the demo's store counts back from."""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]
"""`run("tree", store, "loop")`"""
