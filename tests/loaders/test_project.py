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
    assert set(config.origins) == {
        "source",
        "graph",
        "python",
        "allow",
        "side_effects",
        "redact",
        "theme",
        "keys",
        "ascii",
        "mouse",
    }
    assert set(config.origins.values()) == {"default"}


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
        (
            "zzz = 1",
            "no configuration key 'zzz' .*there are source, graph, python, allow, side_effects, "
            "redact",
        ),
        ("source = 1", "'source' must be text"),
        ("source = ''", "'source' must be text"),
        ("redact = 'token'", "'redact' must be a list"),
        ("redact = [1]", "'redact' must be a list"),
        ("redact = ['a', '/(/']", "'/\\(/' is no regular expression"),
        ("source = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_file(project: Path, text: str, words: str) -> None:
    write(project / "retrograph.toml", text)
    with pytest.raises(ConfigError, match=words) as caught:
        load(project)
    assert "retrograph.toml" in str(caught.value)


def test_what_is_redacted(project: Path) -> None:
    write(project / "retrograph.toml", "redact = ['ssn', 'customer_*', '/sk-[a-z0-9, ]+/']\n")
    config = load(project)
    redactor = config.redactor()
    value = {"SSN": 1, "Customer-No": 2, "note": "a sk-1, 2 b", "password": "p"}
    hidden = {"SSN": "[redacted]", "Customer-No": "[redacted]", "note": "a [redacted]B"}
    assert redactor.value(value | {"note": "a sk-1, 2B"}) == hidden | {"password": "p"}
    assert redactor.metadata(value)["password"] == "[redacted]"
    assert config.redactor(no_redact=True).value(value) is value
    words = load(project, {"RETROGRAPH_REDACT": "ssn,/a b, c/ /d\\/e/ /var"}).settings.redact
    assert words == ("ssn", "/a b, c/", "/d\\/e/", "/var")


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


def test_what_the_app_is_told(project: Path) -> None:
    write(
        project / "retrograph.toml",
        'theme = "light"\nascii = true\n[keys]\nmap = "vim"\ntree.mark = "x"\n"app.quit" = "Q"\n',
    )
    settings = load(project).settings
    assert settings.theme == "light"
    assert settings.ascii
    assert settings.mouse
    assert settings.keys == {"map": "vim", "tree.mark": "x", "app.quit": "Q"}


def test_what_the_app_is_told_by_variables(project: Path) -> None:
    said = {"RETROGRAPH_THEME": "terminal", "RETROGRAPH_KEYS": "vim", "RETROGRAPH_MOUSE": "no"}
    settings = load(project, said).settings
    assert settings.theme == "terminal"
    assert settings.keys == {"map": "vim"}
    assert not settings.mouse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keys = 3", "'keys' must be a table"),
        ("[keys]\ntree.mark = 3", "The keys of 'tree.mark' must be text"),
        ('ascii = "perhaps"', "'ascii' must be true or false"),
        ("theme = 1", "'theme' must be text"),
    ],
)
def test_what_the_app_cannot_be_told(project: Path, text: str, said: str) -> None:
    write(project / "retrograph.toml", text)
    with pytest.raises(ConfigError, match=said):
        load(project)


def test_a_graph_and_its_python_are_seen_from_the_file_that_says_them(project: Path) -> None:
    write(
        project / "pyproject.toml",
        '[tool.retrograph]\ngraph = "src/agent.py:graph"\npython = "env/bin/python"\n'
        'allow = ["shop.models"]\n',
    )
    settings = load(project).settings
    assert settings.graph == f"{project}/src/agent.py:graph"
    assert settings.python == f"{project}/env/bin/python"
    assert settings.allow == ("shop.models",)
    write(project / "retrograph.toml", 'graph = "shop.agent:graph"\npython = "python3"\n')
    settings = load(project).settings
    assert settings.graph == "shop.agent:graph"
    assert settings.python == "python3"
