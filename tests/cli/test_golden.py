"""Each output format over stores with fixed content, against files in `golden/`.

`GOLDEN=write pytest tests/cli/test_golden.py` writes them anew; look at what changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.running import DATA, Run

GOLDEN = Path(__file__).parent / "golden"

CASES = {
    "threads": "threads 1.2.24",
    "threads-sizes": "threads 1.2.24 --sizes",
    "threads-0.2": "threads 0.2.0",
    "threads-js": "threads js",
    "threads-interrupted": "threads 1.2.24 --status interrupted",
    "tree-loop": "tree 1.2.24 loop",
    "tree-loop-0.2": "tree 0.2.0 loop",
    "tree-loop-js": "tree js loop",
    "tree-join": "tree 1.2.24 join",
    "tree-mapreduce": "tree 1.2.24 mapreduce",
    "tree-paused": "tree 1.2.24 paused",
    "tree-failed": "tree 1.2.24 failed",
    "tree-nested": "tree 1.2.24 nested",
    "tree-chat-limit": "tree 1.2.24 chat --limit 3 --orphans",
    "show-chat": "show 1.2.24 chat",
    "show-chat-raw": "show 1.2.24 chat@step:1 --raw",
    "show-chat-0.2": "show 0.2.0 chat@step:1 --raw",
    "show-messages": "show 1.2.24 chat --channel messages",
    "show-paused": "show 1.2.24 paused",
    "show-failed": "show 1.2.24 failed",
    "show-nested": "show 1.2.24 nested::depot:50c50418-d4df-75e9-a313-c55ad6f113f3~1",
    "show-mapreduce": "show 1.2.24 mapreduce@step:1",
    "show-fork-js": "show js loop~1",
    "show-sizes": "show 1.2.24 chat --sizes",
    "diff-loop": "diff 1.2.24 loop",
    "diff-root": "diff 1.2.24 loop@step:0",
    "diff-chat": "diff 1.2.24 chat@step:0 chat",
    "diff-sides": "diff 1.2.24 chat@step:0 chat --side-by-side --context 1",
    "diff-threads": "diff 1.2.24 chat loop~1",
    "grep-chat": "grep 1.2.24 chat o",
    "grep-line": "grep 0.2.0 chat@step:1 o",
    "grep-all": "grep 1.2.24 --all draft|a --regex --limit 5",
    "blame-loop": "blame 1.2.24 loop total",
    "blame-message": "blame 1.2.24 chat messages[0].content",
}


def words(line: str) -> list[str]:
    command, store, *rest = line.split()
    name = "langgraphjs-1.7.3.db" if store == "js" else f"langgraph-{store}.db"
    return [command, str(DATA / name), *rest]


def compare(path: Path, text: str) -> None:
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_text(run: Run, name: str) -> None:
    done = run(*words(CASES[name]))
    assert done.code == 0
    assert "\x1b" not in done.out
    compare(GOLDEN / f"{name}.txt", done.out)


@pytest.mark.parametrize("name", CASES)
def test_json(run: Run, name: str) -> None:
    done = run(*words(CASES[name]), "--json")
    assert done.code == 0
    assert done.out.count("\n") == 1  # one document, and nothing else
    indented = json.dumps(done.json, indent=2, ensure_ascii=False) + "\n"
    indented = indented.replace(str(DATA), "DATA")
    compare(GOLDEN / f"{name}.json", indented)


def test_no_file_is_left_over() -> None:
    expected = {f"{name}.{end}" for name in CASES for end in ("txt", "json")}
    runs = {path.name for path in GOLDEN.glob("run-*.txt")}  # of test_golden_runs
    assert {path.name for path in GOLDEN.iterdir()} - expected - runs <= {"tree-loop-terminal.txt"}
