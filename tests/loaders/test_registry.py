"""What a person may give as SOURCE."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders.fill import TESTS
from retrograph.engine.errors import SourceError
from retrograph.loaders.registry import open_source
from retrograph.loaders.sqlite import SQLiteLoader

STORE = TESTS / "data" / "formats" / "langgraph-1.2.24.db"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one store and other files."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(STORE, tmp_path / "agent.db")
    (tmp_path / "notes.db").write_text("not a database")
    (tmp_path / "empty.db").touch()
    (tmp_path / ".hidden").mkdir()
    shutil.copy(STORE, tmp_path / ".hidden" / "other.db")
    return tmp_path


def opened(source: str | None, **options: object) -> str:
    loader = open_source(source, **options)  # type: ignore[arg-type]
    assert isinstance(loader, SQLiteLoader)
    loader.close()
    return loader.location


@pytest.mark.parametrize(
    "source",
    [
        "agent.db",
        "./agent.db",
        "{folder}/agent.db",
        "file:agent.db",
        "file:./agent.db?mode=ro",
        "file:{folder}/agent.db",
        "file://{folder}/agent.db",
        "file://localhost{folder}/agent.db",
        "sqlite:agent.db",
        "sqlite:///agent.db",
        "sqlite:///{folder}/agent.db",
        "sqlite:////{folder}/agent.db",
        "sqlite+aiosqlite:///agent.db",
        "SQLITE:///agent.db",
        ".",
        "",
        None,
    ],
)
def test_ways_to_name_one_file(source: str | None, folder: Path) -> None:
    given = source.format(folder=folder) if source else source
    assert opened(given) == str((folder / "agent.db").resolve())


def test_percent_signs_are_escapes_in_urls_only(folder: Path) -> None:
    for name in ("a b.db", "a%20b.db"):
        shutil.copy(STORE, folder / name)
    assert opened("file:a%20b.db").endswith("/a b.db")
    assert opened("a%20b.db").endswith("/a%20b.db")


def test_a_name_with_a_colon_that_exists(folder: Path) -> None:
    shutil.copy(STORE, folder / "sqlite:agent")
    assert opened("sqlite:agent").endswith("/sqlite:agent")


def test_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir("/")
    assert opened("~/agent.db") == str((folder / "agent.db").resolve())


def test_another_folder_than_the_current_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert opened("agent.db", cwd=folder) == opened(None, cwd=folder)


def test_the_configured_source_is_what_is_here(folder: Path) -> None:
    shutil.copy(STORE, folder / "second.db")
    assert opened(None, configured=str(folder / "second.db")).endswith("second.db")
    assert opened(".", configured="second.db").endswith("second.db")
    assert opened("agent.db", configured="second.db").endswith("agent.db")


def test_several_stores_are_listed(folder: Path) -> None:
    shutil.copy(STORE, folder / "second.db")
    with pytest.raises(SourceError) as error:
        open_source(".")
    assert str(error.value) == (
        "There are 2 checkpoint stores here: agent.db, second.db; say which one."
    )


def test_a_store_in_a_direct_subfolder(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "agent.db").rename(folder / "data" / "agent.db")
    assert opened(".") == str((folder / "data" / "agent.db").resolve())


def test_no_store_here(folder: Path) -> None:
    (folder / "agent.db").unlink()
    with pytest.raises(SourceError, match="There is no checkpoint store here: name one") as error:
        open_source()
    assert "retrograph demo" in str(error.value)


def test_a_folder_stands_for_the_one_store_in_it(folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    with pytest.raises(SourceError, match=r"There is no checkpoint store in .*data: name one"):
        open_source("data")
    shutil.copy(STORE, data / "x.db")
    assert opened("data") == str((data / "x.db").resolve())
    shutil.copy(STORE, data / "y.db")
    with pytest.raises(SourceError, match=r"There are 2 checkpoint stores in .*data: x.db, y.db"):
        open_source("data")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("mongodb://localhost/db", "mongodb:// is not supported; what can be opened now: SQLite"),
        ("https://example.org", "https:// is not supported; what can be opened now: SQLite"),
        ("agent:graph", "'agent:graph' is no file; what can be opened now: SQLite"),
        ("src/agent.py:make()", "is no file; what can be opened now: SQLite"),
        ("typo.db", "typo.db does not exist."),
        ("file:typo.db", "typo.db does not exist."),
        ("~nobody-has-this-name/x.db", "x.db does not exist."),
        ("nul\0byte.db", "is no file; what can be opened now"),
        ("x" * 300, "cannot be opened: file name too long."),
    ],
)
def test_what_cannot_be_opened(source: str, says: str, folder: Path) -> None:
    with pytest.raises(SourceError) as error:
        open_source(source)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


PLUGIN = """
from retrograph.engine.errors import SourceError
from retrograph.loaders.sqlite import SQLiteLoader
from pathlib import Path

def make(url):
    if url.endswith("bug"):
        raise ZeroDivisionError("oops")
    if url.endswith("no"):
        raise SourceError("Not this one.")
    return SQLiteLoader(Path(url.partition("://")[2]))
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with an entry point, as a third party would make it."""
    site = tmp_path / "site"
    dist = site / "plugin-1.0.dist-info"
    dist.mkdir(parents=True)
    (site / "retrograph_plugin_for_tests.py").write_text(PLUGIN)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (dist / "entry_points.txt").write_text(
        "[retrograph.loaders]\nmine = retrograph_plugin_for_tests:make\n"
        "gone = no_such_module:make\n"
    )
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("retrograph_plugin_for_tests", None)


@pytest.mark.usefixtures("plugin")
def test_schemes_of_third_parties(folder: Path) -> None:
    assert opened(f"mine://{folder}/agent.db").endswith("agent.db")
    with pytest.raises(SourceError, match=r"^Not this one\.$"):
        open_source("mine://no")
    with pytest.raises(SourceError, match=r"The loader for mine:// .* failed: ZeroDivisionError"):
        open_source("mine://bug")
    with pytest.raises(SourceError, match=r"The loader for gone:// .* failed: ModuleNotFound"):
        open_source("gone://x")
    with pytest.raises(SourceError, match=r"gone://, mine://\.$"):
        open_source("other://x")
