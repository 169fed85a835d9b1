"""What the user wants hidden appears in the output of no command, for people or programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import Run
from made import Made, make, said

HIDDEN = "hunter2"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A thread whose every kind of value holds what is hidden, and a configuration that says so."""
    state = {
        "ssn": HIDDEN,
        "customer": {"ssn": [HIDDEN], "note": f"sk-{HIDDEN} and more"},
        "messages": [said(f"my key is sk-{HIDDEN}", "m1")],
    }
    asks = [{"value": {"ssn": HIDDEN, "question": f"Use sk-{HIDDEN}?"}, "id": "q"}]
    asked = [
        ("~__pregel_pull, ask", "__interrupt__", asks),
        ("~__pregel_pull, done", "ssn", HIDDEN),
        ("~__pregel_pull, done", "customer", {"note": f"sk-{HIDDEN}"}),
    ]
    failed = [("~__pregel_pull, fail", "__error__", f"ValueError('sk-{HIDDEN}')")]
    metadata = {"authorization": HIDDEN, "note": f"sk-{HIDDEN}", "ssn": HIDDEN}
    later = {**state, "ssn": f"{HIDDEN} too", "customer": {"ssn": [], "note": f"sk-{HIDDEN}x no"}}
    states = [
        Made({}, source="input", metadata=metadata),
        Made(state, {"n": state}, metadata=metadata, writes=failed),
        Made(later, {"n": later}, metadata=metadata, writes=asked),
    ]
    make(tmp_path / "s.db", states)
    make(tmp_path / "s.db", states[:2], "failed")
    (tmp_path / "retrograph.toml").write_text(
        "redact = ['ssn', '/sk-\\w+/']\nsource = 'postgresql://me:hunter2@nowhere.invalid/x'\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "s.db"


CALLS = [
    "threads STORE --sizes",
    "threads STORE --where step=1",
    "tree STORE t",
    "tree STORE t --orphans",
    "open STORE",
    "open STORE --thread failed",
    "show STORE t",
    "show STORE t --raw",
    "show STORE t~1",
    "show STORE failed",
    "show STORE t --channel ssn",
    "show STORE t --channel customer --channel messages",
    "show STORE t --sizes",
    "diff STORE t",
    "diff STORE t --side-by-side --context 9",
    "diff STORE t~2 t",
    "diff STORE t failed",
    "grep STORE t key",
    "grep STORE --all . --regex",
    "blame STORE t ssn",
    "blame STORE t customer",
    "blame STORE t customer.note",
    "blame STORE t messages[0].content",
    "config show",
    "config path",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("how", [[], ["--json"]], ids=["people", "json"])
def test_no_output_holds_it(run: Run, store: Path, call: str, how: list[str]) -> None:
    done = run(*[str(store) if word == "STORE" else word for word in call.split()], *how)
    assert done.code == 0, done.err
    assert done.out
    assert HIDDEN not in done.out + done.err


def test_what_is_hidden_is_still_told(run: Run, store: Path) -> None:
    assert run("show", store, "t", "--json").json["values"]["ssn"] == "[redacted]"
    changes = run("diff", store, "t", "--json").json["changes"]
    assert [(c["op"], c["path"], c["old"], c["new"]) for c in changes] == [
        ("replace", "/ssn", "[redacted]", "[redacted]"),
        ("replace", "/customer/ssn", "[redacted]", "[redacted]"),
        ("replace", "/customer/note", "[redacted] and more", "[redacted] no"),
    ]
    entries = run("blame", store, "t", "ssn", "--json").json
    assert [(e["step"], e["node"], e["value"]) for e in entries] == [
        (1, "n", "[redacted]"),
        (0, "n", "[redacted]"),
    ]


def test_what_is_hidden_is_not_found(run: Run, store: Path) -> None:
    assert run("grep", store, "--all", HIDDEN, "--json").json == []
    assert len(run("grep", store, "t", HIDDEN, "--json", "--no-redact").json) > 4
    assert run("grep", store, "t", "redacted", "--limit", "1").code == 0


def test_no_redact_shows_it(run: Run, store: Path) -> None:
    for words in (["show", store, "t"], ["diff", store, "t"], ["blame", store, "t", "ssn"]):
        assert HIDDEN in run(*words, "--no-redact").out
        assert HIDDEN in run(*words, "--no-redact", "--json").out


def test_errors_hold_no_password_either(run: Run, store: Path) -> None:
    for words in (["threads"], ["threads", "."], ["show", "redis://:hunter2@host/0", "x"]):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert HIDDEN not in done.err
        assert HIDDEN not in run(*words, "--debug").err
    done = run("show", store, f"sk-{HIDDEN}")
    assert HIDDEN not in done.err
    assert "There is no thread '[redacted]'" in done.err
    (store.parent / "retrograph.toml").write_text("redact = ['/(/']\n")
    done = run("threads", store)
    assert (done.code, done.out) == (2, "")
    assert "no regular expression" in done.err
