"""The graph, its interpreter and its environment are found by reading files alone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.errors import ConfigError, GraphError, RetrographError, UsageError
from retrograph.loaders.dotenv import parse_env
from retrograph.loaders.graphs import find_graph, looks_like_graph
from retrograph.loaders.interpreters import find_interpreter, has_langgraph
from retrograph.loaders.launch import HostOptions, plan_launch
from retrograph.loaders.project import Config, Settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("")
    (folder / "src" / "agent.py").write_text("1 / 0")
    return folder


def declare(folder: Path, **stated: Any) -> None:
    (folder / "langgraph.json").write_text(json.dumps(stated))


def environment_of(folder: Path, *packages: str, system: bool = False) -> Path:
    """A virtual environment as far as its files go: its python does not start."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text("#!/bin/sh\nexit 9\n")
    python.chmod(0o755)
    words = "true" if system else "false"
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = {words}\n")
    for package in packages:
        (folder / "lib" / "python3.12" / "site-packages" / package).mkdir(parents=True)
    return python


class TestGraphs:
    def test_by_path(self, project: Path) -> None:
        found = find_graph("src/agent.py:graph", project)
        assert found.target.path == str(project / "src" / "agent.py")
        assert (found.target.attribute, found.project) == ("graph", project)

    def test_the_project_is_the_graph_s(self, project: Path, tmp_path: Path) -> None:
        assert find_graph("shop/src/agent.py:graph", tmp_path).project == project
        (tmp_path / "alone.py").write_text("")
        assert find_graph("alone.py:g", tmp_path).project == tmp_path

    def test_by_module(self, project: Path) -> None:
        found = find_graph("src.agent:make.graph", project / "src")
        assert (found.target.module, found.target.attribute) == ("src.agent", "make.graph")
        assert found.project == project

    def test_by_name(self, project: Path) -> None:
        (project / ".env").write_text("KEY=1")
        declare(
            project,
            graphs={"shop": "./src/agent.py:graph", "mod": {"path": "shop.agent:make"}},
            dependencies=[".", "./src", "langchain_openai"],
            env=".env",
        )
        found = find_graph("shop", project / "src")
        assert found.target.path == str(project / "src" / "agent.py")
        assert found.target.folders == (str(project), str(project / "src"))
        assert found.target.served
        assert found.env_file == project / ".env"
        assert find_graph("mod", project).target.module == "shop.agent"

    def test_the_only_one(self, project: Path) -> None:
        declare(project, graphs={"shop": "./src/agent.py:graph"}, env={"A": 1})
        found = find_graph(None, project)
        assert (found.target.shown, found.env) == ("shop (./src/agent.py:graph)", {"A": "1"})

    @pytest.mark.parametrize(
        ("graphs", "stated", "said"),
        [
            (None, None, r"There is no langgraph\.json here, so which graph is meant\?"),
            ({}, None, r"langgraph\.json names no graph; name one"),
            ({"a": "x.py:g", "b": "x.py:g"}, None, r"has several graphs \(a, b\): say which"),
            ({"shop": "src/agent.py:g"}, "shpo", r"has no graph 'shpo'; did you mean 'shop'\?"),
            ({"shop": "src/agent.py:g"}, "zzz", r"has no graph 'zzz'; it has: shop\."),
            (None, "zzz", r"There is no graph 'zzz': no langgraph\.json here names one"),
            ({"shop": "src/agent.mts:g"}, "shop", r"'shop' of .* is JavaScript \(src/agent\.mts\)"),
            (None, "src/agent.ts:graph", r"src/agent\.ts:graph is JavaScript"),
            (None, "src/none.py:graph", r"There is no file .*none\.py"),
            ({"shop": "src/none.py:g"}, "shop", r"'shop' of .*: there is no file .*none\.py"),
            ({"shop": "src/agent.py"}, "shop", r"must be path:attribute, not 'src/agent\.py'"),
            ({"shop": 3}, "shop", r"does not say where the graph 'shop' is"),
            (None, "src/agent.py", r"There is no graph 'src/agent\.py'|is a file: which attribute"),
        ],
    )
    def test_what_is_wrong(self, project: Path, graphs: Any, stated: str | None, said: str) -> None:
        if graphs is not None:
            declare(project, graphs=graphs)
        with pytest.raises(GraphError, match=said) as raised:
            find_graph(stated, project)
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize(
        ("text", "said"), [("{", "is not valid JSON"), ("[]", "has no table `graphs`")]
    )
    def test_a_broken_file(self, project: Path, text: str, said: str) -> None:
        (project / "langgraph.json").write_text(text)
        with pytest.raises(GraphError, match=said):
            find_graph("shop", project)

    def test_a_missing_environment_file(self, project: Path) -> None:
        declare(project, graphs={"shop": "src/agent.py:g"}, env="no.env")
        with pytest.raises(ConfigError, match=r"There is no .*no\.env, which .*langgraph\.json"):
            find_graph("shop", project)

    def test_what_looks_like_a_graph(self) -> None:
        for text in ("a.py:g", "a.b:g", "./x/a.py:make.graph"):
            assert looks_like_graph(text)
        for text in ("agent", "a.db", "postgresql://h:1/x", ":g", "a:"):
            assert not looks_like_graph(text)


class TestInterpreters:
    def test_the_project_s_own(self, project: Path) -> None:
        python = environment_of(project / ".venv", "langgraph/pregel")
        found = find_interpreter(project, environment={"VIRTUAL_ENV": sys.prefix})
        assert found == (str(python), "the project's .venv", ())

    def test_those_without_langgraph_are_passed_over(self, project: Path, tmp_path: Path) -> None:
        bare = environment_of(project / ".venv", "langgraph/checkpoint")
        active = environment_of(tmp_path / "active", "langgraph/pregel")
        found = find_interpreter(project, environment={"VIRTUAL_ENV": str(tmp_path / "active")})
        assert found.path == str(active)
        assert found.said_by == "VIRTUAL_ENV"
        assert found.notes == (f"{bare} (the project's .venv) has no LangGraph: passed over.",)

    def test_our_own_is_the_last(self, project: Path) -> None:
        found = find_interpreter(project, environment={})
        assert (found.path, found.said_by) == (sys.executable, "Retrograph's own")

    def test_one_that_is_named(self, project: Path, tmp_path: Path) -> None:
        python = environment_of(tmp_path / "env", "langgraph/pregel")
        for name in (str(python), str(tmp_path / "env"), "../env/bin/python"):
            found = find_interpreter(project, stated=name, environment={})
            assert Path(found.path).resolve() == python
        assert find_interpreter(project, configured=str(python)).said_by == "the configuration"

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("no-such-python", r"There is no program no-such-python \(--python\)"),
            ("./none", r"There is no .*none \(--python\)"),
            ("src", r"src \(--python\) is a folder without bin/python"),
            ("src/agent.py", r"agent\.py \(--python\) is no program"),
        ],
    )
    def test_what_is_wrong_with_it(self, project: Path, name: str, said: str) -> None:
        with pytest.raises(GraphError, match=said):
            find_interpreter(project, stated=name)

    def test_named_without_langgraph(self, project: Path) -> None:
        python = environment_of(project / "bare")
        with pytest.raises(GraphError, match=r"\(--python\) has no LangGraph; install langgraph"):
            find_interpreter(project, stated=str(python))

    def test_one_of_the_system_is_asked_for_its_path(self, tmp_path: Path) -> None:
        (tmp_path / "packages" / "langgraph" / "pregel").mkdir(parents=True)
        python = environment_of(tmp_path / "env", system=True)
        python.write_text(f"#!/bin/sh\necho '[\"{tmp_path}/packages\"]'\n")
        assert has_langgraph(python)
        shutil.rmtree(tmp_path / "packages")
        assert not has_langgraph(python)


ENV = r"""
# a comment
PLAIN=value
export EXPORTED = spaced value   # comment
SINGLE='as $it ${PLAIN} is # here'
DOUBLE="two\nlines and \"quotes\" ${PLAIN}"
MANY="first
second"
EMPTY=
ALONE
REF=${PLAIN}-${NONE:-default}-${NONE}
HASH=a#b
BAD LINE = x
OUTER=${HOME}
"""


def test_env_files() -> None:
    assert parse_env(ENV, {"HOME": "/root"}) == {
        "PLAIN": "value",
        "EXPORTED": "spaced value",
        "SINGLE": "as $it ${PLAIN} is # here",
        "DOUBLE": 'two\nlines and "quotes" value',
        "MANY": "first\nsecond",
        "EMPTY": "",
        "REF": "value-default-",
        "HASH": "a#b",
        "OUTER": "/root",
    }


class TestLaunch:
    def plan(self, project: Path, environment: dict[str, str] | None = None, **stated: Any) -> Any:
        options = HostOptions(graph="src/agent.py:graph", **stated)
        config = Config(Settings(allow=("shop.models",)), {}, ())
        return plan_launch(options, config, project, environment or {})

    def test_environment(self, project: Path) -> None:
        (project / ".env").write_text("A=dotenv\nB=dotenv\nC=dotenv\nLANGSMITH_TRACING=true")
        (project / "more.env").write_text("B=file")
        surroundings = {"A": "around", "B": "around", "PYTHONHOME": "/x", "PYTHONPATH": "/mine"}
        made = self.plan(project, surroundings, env_file="more.env").environment
        assert {k: made[k] for k in "ABC"} == {"A": "around", "B": "file", "C": "dotenv"}
        assert made["LANGSMITH_TRACING"] == "false"
        assert made["PYTHONPATH"] == "/mine"
        assert "PYTHONHOME" not in made
        traced = self.plan(project, surroundings, trace=True).environment
        assert traced["LANGSMITH_TRACING"] == "true"

    def test_options(self, project: Path) -> None:
        made = self.plan(
            project,
            config='{"configurable": {"user": 1}, "recursion_limit": 7}',
            context='{"user": "Ada"}',
            allow=("other",),
        )
        assert made.config == {"configurable": {"user": 1}}
        assert (made.recursion_limit, made.context) == (7, {"user": "Ada"})
        assert made.allow == ("shop.models", "other")
        assert made.project == str(project)

    @pytest.mark.parametrize(
        ("stated", "said"),
        [
            ({"config": "{"}, "--config is not valid JSON"),
            ({"config": "[]"}, "--config must be a JSON object"),
            ({"config": '{"user": 1}'}, "--config has no 'user'.*go below configurable"),
            ({"config": '{"configurable": 1}'}, "`configurable` in --config must be"),
            ({"context": "x"}, "--context is not valid JSON"),
        ],
    )
    def test_what_is_wrong(self, project: Path, stated: dict[str, str], said: str) -> None:
        with pytest.raises(UsageError, match=said):
            self.plan(project, **stated)

    def test_an_environment_file_that_is_not_there(self, project: Path) -> None:
        with pytest.raises(RetrographError, match=r"none\.env cannot be read: No such file"):
            self.plan(project, env_file="none.env")
