"""What the commands do with right and wrong calls: exit codes, one sentence, nothing on stdout."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli.running import DATA, Run


def one_sentence(err: str) -> bool:
    return err.startswith("retrograph: ") and err.count("\n") == 1 and "Traceback" not in err


WRONG: list[tuple[list[str], str]] = [
    (["shwo"], "did you mean 'show'"),
    (["agents.db"], "`retrograph --help`"),
    (["tree"], "SOURCE"),
    (["tree", "STORE"], "--thread"),
    (["tree", "STORE", "nope"], "no thread 'nope'"),
    (["tree", "STORE", "loop@nope"], "No checkpoint"),
    (["tree", "STORE", "loop", "--ns", "x"], "no namespace 'x'"),
    (["tree", "STORE", "loop", "--limit", "0"], "from 1 on"),
    (["tree", "STORE", "loop", "--limit", "many"], "'many'"),
    (["tree", "STORE", "loop", "extra"], "extra"),
    (["tree", "STORE", "loop", "--thread", "loop"], "With --thread"),
    (["show", "STORE", "loop@step:3"], "2 checkpoints"),
    (["show", "STORE", "loop", "--channel", "nope"], "total, audit"),
    (["threads", "STORE", "--status", "happy"], "'interrupted'"),
    (["threads", "STORE", "--where", "nothing"], "KEY=VALUE"),
    (["threads", "STORE", "--since", "yesterday"], "'yesterday' is no time"),
    (["threads", "STORE", "--since", "9" * 30 + "d"], "is no time"),
    (["threads", "STORE", "--limit", "-1"], "-1"),
    (["threads", "STORE", "--nope"], "--nope"),
    (["config"], "config --help"),
    (["config", "nope"], "'nope'"),
    (["--show-completion", "tcsh"], "bash, zsh, fish"),
    (["--nope"], "--nope"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words)[:60] for words, _ in WRONG])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_wrong_call(run: Run, newest: Path, words: list[str], said: str, as_json: bool) -> None:
    call = [str(newest) if word == "STORE" else word for word in words]
    done = run(*call, *(["--json"] if as_json and not words[0].startswith("-") else []))
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert one_sentence(done.err)


@pytest.fixture
def odd_sources(tmp_path: Path) -> Path:
    (tmp_path / "zero.db").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("not a database")
    for name, table in {"other.db": "orders(id)", "program.db": "checkpoints(id, type)"}.items():
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.execute(f"create table {table}")
    return tmp_path


@pytest.mark.parametrize(
    "source",
    ["zero.db", "folder", "text.txt", "other.db", "program.db", "nope.db", "no/such/folder/x.db"],
)
@pytest.mark.parametrize("command", ["threads", "tree", "show", "open"])
def test_a_wrong_source(run: Run, odd_sources: Path, command: str, source: str) -> None:
    before = sorted((p.name, p.stat().st_size) for p in odd_sources.iterdir())
    ref = ["x"] if command in ("tree", "show") else []
    done = run(command, odd_sources / source, *ref)
    assert (done.code, done.out) == (2, "")
    assert one_sentence(done.err)
    assert sorted((p.name, p.stat().st_size) for p in odd_sources.iterdir()) == before


def test_nothing_here(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in ([], ["open"], ["threads"], ["threads", "."]):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert "retrograph demo" in done.err


def test_one_store_here_is_opened(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.db").write_bytes((DATA / "langgraph-0.6.0.db").read_bytes())
    (tmp_path / "notes.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    for words in ([], ["open"], ["threads"], ["threads", "."], ["--json"]):
        done = run(*words)
        assert done.code == 0
        assert "mapreduce" in done.out
    assert run("tree", ".", "loop").code == 0
    (tmp_path / "second.db").write_bytes((tmp_path / "agent.db").read_bytes())
    done = run()
    assert done.code == 2
    assert "agent.db, second.db" in done.err


def test_the_configured_source(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "retrograph.toml").write_text(f'source = "{DATA}/langgraph-0.6.0.db"\n')
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert "mapreduce" in run().out
    shown = run("config", "show", "--json").json
    assert shown["source"]["from"] == str(tmp_path / "retrograph.toml")
    paths = run("config", "path", "--json").json
    assert [p["exists"] for p in paths] == [False, False, True]
    (tmp_path / "retrograph.toml").write_text("soruce = 1\n")
    done = run("threads")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'source'" in done.err


def test_a_password_in_the_configuration_is_not_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETROGRAPH_SOURCE", "postgresql://me:hunter2@db/x")
    assert "hunter2" not in run("config", "show").out
    assert "hunter2" not in run("config", "show", "--json").out
    assert "hunter2" in run("config", "show", "--no-redact").out
    done = run("threads")
    assert done.code == 2
    assert "hunter2" not in done.err


def test_options_of_every_command_may_come_first(run: Run, newest: Path) -> None:
    assert run("--json", "threads", newest).json == run("threads", newest, "--json").json
    assert run("--json", "config", "show").json == run("config", "show", "--json").json


def test_open_is_threads_and_tree(run: Run, newest: Path) -> None:
    assert run("open", newest).out == run("threads", newest).out
    assert run("open", newest, "--thread", "loop").out == run("tree", newest, "loop").out
    both = (
        run("open", newest, "--thread", "loop", "--json"),
        run("tree", newest, "loop", "--json"),
    )
    assert both[0].json == both[1].json


def test_debug_shows_the_traceback(run: Run, newest: Path) -> None:
    done = run("tree", newest, "nope", "--debug")
    assert (done.code, done.out) == (2, "")
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("retrograph: There is no thread")


def test_version(run: Run) -> None:
    assert run("--version").out.startswith("retrograph 0.")
    assert run("-V").code == 0


def test_search_and_where_and_since(run: Run, newest: Path) -> None:
    def found(*words: str) -> list[str]:
        return [thread["thread_id"] for thread in run("threads", newest, *words, "--json").json]

    every = found()
    assert len(every) == 7
    assert found("--limit", "2") == every[:2]
    assert found("--limit", "0") == every
    assert found("--search", "A") == [t for t in every if "a" in t]
    assert found("--status", "error") == ["failed"]
    assert found("--status", "interrupted", "--limit", "1") == ["nested"]
    assert found("--where", "source=update") == ["chat"]
    assert found("--where", "step=1", "--where", "source=loop") == ["nested", "failed", "paused"]
    assert found("--where", "step=01") == []
    assert found("--where", "no_such_key=1") == []
    assert found("--since", "2026-01-01") == every
    assert found("--since", "2999-01-01") == []
    assert found("--since", "2026-11-29T12:41:08.240000+00:00")[0] == "nested"


def test_what_is_left_out_is_said(run: Run, newest: Path) -> None:
    done = run("threads", newest, "--limit", "2")
    assert "Only the newest 2" in done.err
    assert run("threads", newest, "--limit", "7").err == ""
    assert "No thread" in run("threads", newest, "--search", "zzz").err
    assert "newest 3 of 9 checkpoints" in run("tree", newest, "loop", "--limit", "3").err
    assert run("tree", newest, "loop", "--limit", "9").err == ""
    tree = run("tree", newest, "loop", "--limit", "3", "--json").json
    assert tree["truncated"]
    assert len(tree["checkpoints"]) == 3
    assert len(tree["leaves"]) == 2


def test_references_of_every_kind(run: Run, newest: Path) -> None:
    def shown(*words: str) -> str:
        return str(run("show", newest, *words, "--json").json["id"][-6:])

    assert shown("loop") == "fb814b"
    assert shown("loop~1") == "7cdf0e"
    assert shown("loop@root") == "dcee91"
    assert shown("loop@f7785f~1") == "9176e9"
    assert shown("--thread", "loop") == "fb814b"
    assert shown("~1", "--thread", "loop") == "7cdf0e"
    assert shown("@step:1", "--thread", "loop") == "f7785f"


def test_a_checkpoint_in_the_tree_is_marked(run: Run, newest: Path) -> None:
    rows = run("tree", newest, "loop@f7785f").out.splitlines()
    assert [row for row in rows if "here" in row] == [row for row in rows if "f7785f" in row]


@pytest.mark.parametrize("limit", [1, 2, 4, 7, 20])
def test_the_newest_rows_are_the_same_rows(run: Run, demo_folder: Path, limit: int) -> None:
    """Read by themselves or in one pass over all: a row says the same."""

    def rows(thread_id: str, *words: object) -> list[str]:
        out = run("tree", "demo.db", thread_id, *words).out
        return [" ".join(line.split()) for line in out.splitlines()[3:]]

    for thread in run("threads", "demo.db", "--json").json:
        whole = rows(thread["thread_id"])
        for row in rows(thread["thread_id"], "--limit", limit):
            assert row in whole or "older checkpoint" in row


def test_writes_without_a_checkpoint(run: Run, newest: Path, tmp_path: Path) -> None:
    """A store pruned by hand: several roots, parents gone, writes left over; said, not fatal."""
    pruned = tmp_path / "pruned.db"
    pruned.write_bytes(newest.read_bytes())
    with closing(sqlite3.connect(pruned)) as db:
        db.execute("pragma journal_mode = delete")
        ids = [
            row[0]
            for row in db.execute(
                "select checkpoint_id from checkpoints where thread_id = 'loop' order by 1"
            )
        ]
        gone = ids[2]
        db.execute("delete from checkpoints where thread_id = 'loop' and checkpoint_id = ?", [gone])
        db.commit()
    done = run("tree", pruned, "loop", "--orphans")
    assert done.code == 0
    assert "parent not stored" in done.out
    assert gone in done.out
    assert "a parent that is not in the store" in done.err
    tree = run("tree", pruned, "loop", "--orphans", "--json").json
    assert len(tree["roots"]) == 2
    assert [orphan["checkpoint_id"] for orphan in tree["orphans"]] == [gone]
    assert tree["orphan_writes"] == sum(orphan["writes"] for orphan in tree["orphans"]) > 0
    assert "--orphans lists them" in run("tree", pruned, "loop").err
    assert run("show", pruned, "loop~1").code == 0
