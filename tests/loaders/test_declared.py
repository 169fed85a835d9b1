"""langgraph.json: what of it holds for a graph that it names, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.errors import ConfigError
from retrograph.loaders.graphs import find_graph
from retrograph.loaders.launch import HostOptions, plan_launch
from retrograph.loaders.project import Config, Settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    for name in ("shop/src", "shared"):
        (tmp_path / name).mkdir(parents=True)
    (folder / "src" / "agent.py").write_text("1 / 0")
    return folder


def declare(folder: Path, **stated: Any) -> None:
    graphs = {"graphs": {"shop": "./src/agent.py:graph"}}
    (folder / "langgraph.json").write_text(json.dumps({**graphs, **stated}))


def test_dependencies(project: Path) -> None:
    stated = [".", "./src", "../shared", "langchain_openai", "git+https://example.com/x.git"]
    declare(project, dependencies=stated)
    found = find_graph("shop", project)
    folders = (project, project / "src", project.parent / "shared")
    assert found.target.folders == tuple(map(str, folders))
    assert found.warnings == ()
    declare(project, dependencies=[".", "./gone"])
    (said,) = find_graph("shop", project).warnings
    assert said.endswith("langgraph.json names ./gone as a dependency, which is no folder.")


def test_environment(project: Path) -> None:
    declare(project, env={"KEY": "text", "PORT": 8080, "EMPTY": ""})
    assert find_graph("shop", project).env == {"KEY": "text", "PORT": "8080", "EMPTY": ""}
    (project / "prod.env").write_text("KEY=file")
    (project / ".env").write_text("KEY=dotenv\nOTHER=dotenv")
    declare(project, env="./prod.env")
    options, config = HostOptions(graph="shop"), Config(Settings(), {}, ())
    made = plan_launch(options, config, project, {"KEY": "around"}).environment
    assert (made["KEY"], made.get("OTHER")) == ("file", None), "as its server: only that file"


@pytest.mark.parametrize("key", ["allowed_msgpack_modules", "allowed_json_modules"])
def test_classes_of_stored_values(project: Path, key: str) -> None:
    names = [["shop.models", "Order"], ["shop", "models", "Customer"], ["shop.models", "Order"]]
    declare(project, checkpointer={"serde": {key: names, "pickle_fallback": False}})
    found = find_graph("shop", project)
    assert found.allow == ("shop.models.Order", "shop.models.Customer")
    assert found.warnings == ()
    options = HostOptions(graph="shop", allow=("other",))
    planned = plan_launch(options, Config(Settings(allow=("mine",)), {}, ()), project, {})
    assert planned.allow == ("shop.models.Order", "shop.models.Customer", "mine", "other")


@pytest.mark.parametrize("value", [None, False])
def test_no_classes_of_stored_values(project: Path, value: Any) -> None:
    declare(project, checkpointer={"serde": {"allowed_msgpack_modules": value}})
    found = find_graph("shop", project)
    assert (found.allow, found.warnings) == ((), ())


def test_what_only_its_server_does_is_passed_over(project: Path) -> None:
    declare(
        project,
        checkpointer={"ttl": {"strategy": "delete", "default_ttl": 60}, "backend": "default"},
        store={"ttl": {"default_ttl": 10}},
        auth={"path": "./auth.py:auth"},
        http={"app": "./app.py:app"},
        python_version="3.12-bookworm",
        dockerfile_lines=["RUN true"],
    )
    found = find_graph("shop", project)
    assert (found.allow, found.warnings, found.python_version) == ((), (), "3.12")


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (
            {"checkpointer": {"path": "./saver.py:make"}},
            "The checkpointer of langgraph.json (./saver.py:make) is not used: what the run saves "
            "goes to its sandbox.",
        ),
        (
            {"checkpointer": {"serde": {"allowed_json_modules": True}}},
            "langgraph.json lets stored values make any class; here they make data classes of "
            "LangChain, LangGraph and the project, and what --allow names.",
        ),
        (
            {"store": {"path": "./store.py:make"}},
            "The store of langgraph.json (./store.py:make) is not opened: nodes without a store of "
            "the graph's own get an empty one.",
        ),
        (
            {"store": {"index": {"embed": "openai:text-embedding-3-large", "dims": 3072}}},
            "The store of langgraph.json has an index; here nodes get an empty store that does not "
            "search by meaning.",
        ),
    ],
)
def test_what_is_not_made_is_said(project: Path, stated: Any, said: str) -> None:
    declare(project, **stated)
    options, config = HostOptions(graph="shop"), Config(Settings(), {}, ())
    assert plan_launch(options, config, project, {}).warnings == (said,)


CLASSES = r'must be true, null or a list of classes such as \["shop\.models", "Order"\]\.$'


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"dependencies": "."}, r"`dependencies` in .*langgraph\.json must be a list of texts\.$"),
        ({"dependencies": [1]}, r"`dependencies` in .* must be a list of texts\.$"),
        ({"env": ["A=1"]}, r"`env` in .* must be the path of a file, or a table"),
        ({"env": 3}, r"`env` in .* must be the path"),
        ({"env": {"A": None}}, r"`env\.A` in .* must be text\.$"),
        ({"env": {"A": True}}, r"`env\.A` in .* must be text\.$"),
        ({"env": {"A": {"b": 1}}}, r"`env\.A` in .* must be text\.$"),
        ({"env": "no.env"}, r"There is no .*no\.env, which .*langgraph\.json names as `env`\.$"),
        ({"checkpointer": "x.py:make"}, r"`checkpointer` in .* must be a table\.$"),
        ({"checkpointer": {"path": 1}}, r"`checkpointer\.path` in .* must be text\.$"),
        ({"checkpointer": {"serde": []}}, r"`checkpointer\.serde` in .* must be a table\.$"),
        ({"checkpointer": {"serde": {"allowed_json_modules": "shop"}}}, CLASSES),
        ({"checkpointer": {"serde": {"allowed_json_modules": ["shop.models"]}}}, CLASSES),
        ({"checkpointer": {"serde": {"allowed_msgpack_modules": [["shop"]]}}}, CLASSES),
        ({"checkpointer": {"serde": {"allowed_msgpack_modules": [["shop", 1]]}}}, CLASSES),
        ({"checkpointer": {"serde": {"allowed_msgpack_modules": [["shop", ""]]}}}, CLASSES),
        ({"checkpointer": {"serde": {"allowed_msgpack_modules": 1}}}, CLASSES),
        ({"store": []}, r"`store` in .* must be a table\.$"),
        ({"store": {"path": []}}, r"`store\.path` in .* must be text\.$"),
        ({"python_version": 3.12}, r'`python_version` in .* must be text such as "3\.12"\.$'),
        ({"python_version": "three"}, r"`python_version` in .* must be text"),
    ],
)
def test_what_is_wrong(project: Path, stated: Any, said: str) -> None:
    declare(project, **stated)
    with pytest.raises(ConfigError, match=said) as raised:
        find_graph("shop", project)
    assert "\n" not in str(raised.value)
