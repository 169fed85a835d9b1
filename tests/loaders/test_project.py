"""The configuration: files, their order, origins, and strictness."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrograph.engine.errors import ConfigError
from retrograph.loaders.project import Config, load_config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "deep" / "er").mkdir(parents=True)
    return folder


def load(project: Path, environment: dict[str, str] | None = None) -> Config:
    user_file = project.parent / "user" / "config.toml"
    return load_config(project / "deep" / "er", environment or {}, user_file)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nothing_is_said(project: Path) -> None:
    config = load(project)
    assert config.settings.source is None
    assert config.settings.redact == ()
    assert config.origins == {"source": "default", "redact": "default"}


def test_stronger_places_win_key_by_key(project: Path) -> None:
    write(project.parent / "user" / "config.toml", 'source = "mine.db"\nredact = ["ssn"]\n')
    pyproject = project / "pyproject.toml"
    write(pyproject, '[tool.retrograph]\nsource = "data/agent.db"\n')
    config = load(project)
    assert config.settings.source == str(project / "data/agent.db")
    assert config.settings.redact == ("ssn",)
    assert config.origins["source"] == str(pyproject)
    assert config.origins["redact"].endswith("config.toml")

    write(project / "retrograph.toml", 'source = "other.db"\n')
    assert load(project).settings.source == str(project / "other.db")

    config = load(project, {"RETROGRAPH_SOURCE": "here.db", "RETROGRAPH_REDACT": "a, b c"})
    assert config.settings.source == "here.db"  # as seen from where the command is run
    assert config.settings.redact == ("a", "b", "c")
    assert config.origins["source"] == "RETROGRAPH_SOURCE"
    assert [place.there for place in config.places] == [True, True, True]


@pytest.mark.parametrize(
    "address", ["postgresql://db/x", "app.saver:make", "sandbox:1f2", "/absolute/agent.db"]
)
def test_addresses_are_left_as_they_are(project: Path, address: str) -> None:
    write(project / "retrograph.toml", f'source = "{address}"\n')
    assert load(project).settings.source == address


def test_a_pyproject_of_others_is_fine(project: Path) -> None:
    write(project / "pyproject.toml", '[project]\nname = "x"\n[tool.ruff]\n')
    assert load(project).settings.source is None
    assert [place.there for place in load(project).places] == [False, False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("soruce = 'x'", "no configuration key 'soruce' .*did you mean 'source'"),
        ("zzz = 1", "no configuration key 'zzz' .*there are source, redact"),
        ("source = 1", "'source' must be text"),
        ("source = ''", "'source' must be text"),
        ("redact = 'token'", "'redact' must be a list"),
        ("redact = [1]", "'redact' must be a list"),
        ("source = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_file(project: Path, text: str, words: str) -> None:
    write(project / "retrograph.toml", text)
    with pytest.raises(ConfigError, match=words) as caught:
        load(project)
    assert "retrograph.toml" in str(caught.value)


def test_a_table_that_is_none(project: Path) -> None:
    write(project / "pyproject.toml", "[tool]\nretrograph = 3\n")
    with pytest.raises(ConfigError, match="must be a table"):
        load(project)


def test_a_file_that_is_not_text(project: Path) -> None:
    (project / "retrograph.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(project)


def test_variables(project: Path) -> None:
    assert load(project, {"RETROGRAPH_HOME_PLANET": "x"}).settings.source is None
    with pytest.raises(ConfigError, match=r"RETROGRAPH_SORUCE.*RETROGRAPH_SOURCE"):
        load(project, {"RETROGRAPH_SORUCE": "x"})
    with pytest.raises(ConfigError, match="RETROGRAPH_SOURCE"):
        load(project, {"RETROGRAPH_SOURCE": ""})
