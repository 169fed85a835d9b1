"""Runs: what is told, steered and isolated, in every LangGraph."""

from __future__ import annotations

import http.server
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosting import OWN, VERSIONS, hosted, plain, plan_of, python_of, typed
from retrograph.engine.host.client import Event, Host
from retrograph.engine.host.environ import environment
from retrograph.engine.host.requests import Begin, Loaded, launch, load, run

GRAPHS = """
import operator, time, uuid
from pathlib import Path
from typing import Annotated, Any, TypedDict
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt

class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]

def effect(text):
    with Path("effects.txt").open("a") as file:
        file.write(text + "\\n")

def step(name):
    def node(state):
        effect(name)
        return {"log": [name]}
    return node

def line(*names, **more):
    g = StateGraph(State)
    for name in names:
        g.add_node(name, more.get(name) or step(name))
    for one, other in zip((START, *names), names):
        g.add_edge(one, other)
    return g

def failing(state):
    raise ValueError("no such order")

def parallel_fail(state):
    raise KeyError("other")

def ask(state):
    return {"log": [interrupt({"really": "?"})]}

def talk(state):
    get_stream_writer()({"progress": state.get("n", 0)})
    return {"log": [FakeListChatModel(responses=["hello"]).invoke("hi").content]}

async def slow(state):
    return {"log": ["slow"]}

plain = line("a", "b", "c").compile()
fails = line("a", "bad", bad=failing).compile()
nested = line("pre", "sub", sub=line("x", "ask", ask=ask).compile()).compile()
nested_fails = line("pre", "sub", sub=line("x", "bad", bad=failing).compile()).compile()
talks = line("talk", talk=talk).compile()
awaits = line("a", "slow", slow=slow).compile()
endless = line("a").add_conditional_edges("a", lambda s: "a").compile()
two = line("a")
for name, node in (("p", failing), ("q", parallel_fail)):
    two.add_node(name, node)
    two.add_edge("a", name)
two = two.compile()

store = InMemoryStore()
store.put(("users",), "ada", {"tier": "gold"})
store.put(("users",), "bo", {"tier": "tin"})

def use(state, *, store: BaseStore):
    found = [store.get(("users",), "ada").value["tier"]]
    store.put(("users",), "ada", {"tier": "lead"})
    store.put(("users",), "cy", {"tier": "new"})
    store.delete(("users",), "bo")
    found.append(store.get(("users",), "ada").value["tier"])
    found.append(str(store.get(("users",), "bo")))
    found += sorted(item.key + "=" + item.value["tier"] for item in store.search(("users",)))
    found += [str(n) for n in store.list_namespaces()]
    return {"log": found}

def look(state):
    base = globals()["store"]
    return {"log": [f"{i.key}={i.value['tier']}" for i in base.search(("users",))]}

stored = line("use", "look", use=use, look=look).compile(store=store, checkpointer=InMemorySaver())
tool = line("inside").compile(checkpointer=InMemorySaver())

def calls(state):
    tool.invoke({}, {"configurable": {"thread_id": "own"}})
    return {"log": [type(tool.checkpointer).__name__]}

calling = line("calls", calls=calls).compile()
"""


@pytest.fixture(scope="module", params=VERSIONS)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Host]:
    """A host for all tests of one LangGraph: each loads its graph."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "graphs.py").write_text(GRAPHS)
    with launch(plan_of(folder, "graphs.py:plain", python_of(request.param))) as host:
        yield host


@pytest.fixture
def host(shared: Host) -> Host:
    for left in (*shared.project.glob("run.db*"), *shared.project.glob("effects.txt")):
        left.unlink()
    return shared


def use(host: Host, name: str) -> Loaded:
    return load(host, plan_of(host.project, f"graphs.py:{name}"))


def go(host: Host, given: Any = None, begin: Begin | None = None, **options: Any) -> Any:
    """(events, reply) of a run to its end."""
    first = begin or Begin("input", typed({"n": 1} if given is None else given))
    with run(host, host.project / "run.db", "t", first, **options) as job:
        told = list(job)
        return told, job.reply


def names(told: list[Event], name: str) -> list[str]:
    return [event["node"] for event in told if event.name == name]


def log(host: Host) -> list[str]:
    """The newest checkpoint's log."""
    with sqlite3.connect(host.project / "run.db") as connection:
        (data,) = connection.execute(
            "SELECT checkpoint FROM checkpoints WHERE checkpoint_ns = '' "
            "ORDER BY checkpoint_id DESC LIMIT 1"
        ).fetchone()
    import ormsgpack

    found: list[str] = ormsgpack.unpackb(data)["channel_values"]["log"]
    return found


def test_a_plain_run(host: Host) -> None:
    use(host, "plain")
    told, reply = go(host)
    assert reply["status"] == "done"
    assert names(told, "task_start") == names(told, "task_end") == ["a", "b", "c"]
    assert all(e["seconds"] >= 0 and e["error"] is None for e in told if e.name == "task_end")
    steps = [e["step"] for e in told if e.name == "checkpoint"]
    assert steps == [-1, 0, 1, 2, 3]
    routes = [e["route"] for e in told if e.name == "writes"]
    assert routes == [["a"], ["b"], ["c"], []]
    assert log(host) == ["a", "b", "c"]


def test_pause_step_go_and_stop(host: Host) -> None:
    effects = host.project / "effects.txt"
    use(host, "plain")
    begin = Begin("input", typed({"n": 1}))
    with run(host, host.project / "run.db", "t", begin, paused=True) as job:
        for event in job:
            if event.name == "paused":
                break
        assert not effects.exists()  # held before the first node
        host.tell("step")
        for event in job:
            if event.name == "paused":
                break
        assert effects.read_text() == "a\n"
        host.tell("go")
        assert [e["node"] for e in job if e.name == "task_start"] == ["b", "c"]
        assert job.reply["status"] == "done"
    with run(host, host.project / "run.db", "t2", begin, paused=True) as job:
        for event in job:
            if event.name == "paused":
                host.tell("stop")
        assert job.reply["status"] == "paused"
    assert effects.read_text() == "a\nb\nc\n"


def test_pause_under_asyncio(host: Host) -> None:
    loaded = use(host, "awaits")
    assert loaded.asynchronous == "node 'slow' is async"
    begin = Begin("input", typed({"n": 1}))
    with run(host, host.project / "run.db", "t", begin, paused=True) as job:
        for event in job:
            if event.name == "paused":
                host.tell("step")
        assert job.reply["status"] == "done"
        assert job.reply["asynchronous"]
    assert log(host) == ["a", "slow"]


def test_an_error_with_the_user_s_line(host: Host) -> None:
    use(host, "fails")
    _, reply = go(host)
    assert reply["status"] == "error"
    error = reply["error"]
    number = GRAPHS.splitlines().index('    raise ValueError("no such order")') + 1
    assert error["sentence"] == (
        f"Node 'bad' failed at graphs.py:{number}: ValueError: no such order."
    )
    assert (error["type"], error["message"], error["line"]) == (
        "ValueError", "no such order", number,
    )  # fmt: skip
    assert error["file"] == str(host.project / "graphs.py")
    assert 'raise ValueError("no such order")' in error["traceback"]
    assert "site-packages" not in error["traceback"]
    use(host, "nested_fails")
    told, reply = go(host)
    assert reply["error"]["node"] == "bad"
    assert names(told, "task_start") == ["pre", "sub", "x", "bad"]
    ended = {e["node"]: e["ns"].partition(":")[0] for e in told if e.name == "task_end"}
    assert ended == {"pre": "", "x": "sub", "bad": "sub", "sub": ""}


def test_all_of_several_errors(host: Host) -> None:
    use(host, "two")
    told, reply = go(host)
    failed = {e["node"]: e["error"]["type"] for e in told if e.name == "task_end" and e["error"]}
    assert failed == {"p": "ValueError", "q": "KeyError"}
    assert reply["error"]["node"] in failed


def test_a_question_and_its_answer(host: Host) -> None:
    use(host, "nested")
    told, reply = go(host)
    assert reply["status"] == "interrupted"
    (question,) = reply["interrupts"]
    assert question["node"] == "ask"
    assert question["ns"].startswith("sub:")
    assert plain(reply.typed(question["value"])) == {"really": "?"}
    assert [e["stopped"] for e in told if e.name == "task_end" and e["node"] == "ask"] == [True]
    told, reply = go(host, begin=Begin("resume", typed("yes")))
    assert reply["status"] == "done"
    assert names(told, "task_start") == ["sub", "ask"]
    assert log(host)[-1] == "yes"


def test_custom_events_messages_and_tokens(host: Host) -> None:
    use(host, "talks")
    told, _ = go(host, messages=True)
    custom = [plain(e.typed(e["value"])) for e in told if e.name == "custom"]
    assert custom == [{"progress": 1}]
    messages = [e for e in told if e.name == "message"]
    assert "".join(e["text"] for e in messages) == "hello"
    assert {e["node"] for e in messages} == {"talk"}


def test_the_limit(host: Host) -> None:
    use(host, "endless")
    _, reply = go(host, recursion_limit=4)
    assert reply["status"] == "limit"
    assert "Recursion limit of 4 reached" in reply["error"]["sentence"]


def test_the_graph_s_store_stays_as_it_is(host: Host) -> None:
    loaded = use(host, "stored")
    assert loaded.store == "InMemoryStore"
    _, reply = go(host)
    assert reply["status"] == "done", reply["error"]
    seen = log(host)
    assert seen[:3] == ["gold", "lead", "None"]
    assert seen[3:5] == ["ada=lead", "cy=new"]
    assert sorted(seen[6:]) == ["ada=gold", "bo=tin"]  # what lies below, as a global


def test_another_graph_of_the_project_is_isolated_too(host: Host) -> None:
    use(host, "calling")
    _, reply = go(host)
    assert reply["status"] == "done", reply["error"]
    assert log(host) == ["WorkerSaver"]


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[str]]]:
    """A tracing endpoint on loopback, and the paths that were asked of it."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = do_PATCH = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("trace", [False, True])
def test_tracing(endpoint: tuple[str, list[str]], trace: bool, tmp_path: Path) -> None:
    address, asked = endpoint
    (tmp_path / "graphs.py").write_text(GRAPHS)
    (tmp_path / "traced.py").write_text(
        "import os\nos.environ['LANGSMITH_TRACING'] = 'true'\nfrom graphs import plain as graph\n"
        if not trace
        else "from graphs import plain\nfrom langchain_core.tracers.langchain import "
        "wait_for_all_tracers\ndef end(s): wait_for_all_tracers(); return {}\n"
        "from graphs import line\ngraph = line('a', 'end', end=end).compile()\n"
    )
    base = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_API_KEY": "key",
        "LANGSMITH_ENDPOINT": address,
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
    }
    stated = environment(base, trace=trace)
    with hosted(tmp_path, "traced.py:graph", OWN, environment=stated, trace=trace) as (host, _):
        _, reply = go(host)
        assert reply["status"] == "done", reply["error"]
    assert bool(asked) == trace
