"""The host's saver is SqliteSaver's equal, in every LangGraph."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hosting import TESTS
from retrograph.engine.host.client import WORKER


def test_same_histories_and_rows_as_sqlite_saver(python: str, tmp_path: Path) -> None:
    script = TESTS / "hosting" / "savers.py"
    done = subprocess.run(
        [python, str(script), str(WORKER)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "same\n", done.stderr[-3000:]
