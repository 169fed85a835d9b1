"""What a node can do to its process: survived by the viewer, and told with the user's line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hosting import hosted, plan_of, typed
from retrograph.engine.errors import HostDiedError, HostError, HostTimeoutError
from retrograph.engine.host.client import Event, Host, Job
from retrograph.engine.host.output import KEPT
from retrograph.engine.host.requests import Begin, launch, load, run, topology

NODES = """
import ctypes, os, signal, subprocess, sys, threading, time
from typing import Any, TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict, total=False):
    code: str
    out: str

def act(state):
    exec(compile("\\n" * 100 + state["code"], __file__, "exec"), globals())
    return {"out": "done"}

builder = StateGraph(State)
builder.add_node("act", act)
builder.add_edge(START, "act")
builder.add_edge("act", END)
graph = builder.compile()
"""
LINE = "nodes.py:101"
"""Where the code of an input runs."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "nodes.py").write_text(NODES)
    return tmp_path


@pytest.fixture
def host(project: Path) -> Iterator[Host]:
    with hosted(project, "nodes.py:graph") as (host, _):
        yield host


def act(host: Host, code: str) -> Job:
    return run(host, host.project / "run.db", "t", Begin("input", typed({"code": code})))


def events(host: Host, code: str) -> list[Event]:
    with act(host, code) as job:
        return list(job)


def death(host: Host, code: str) -> str:
    """How the host's end is told."""
    with pytest.raises(HostDiedError) as raised:
        events(host, code)
    assert not host.alive
    return str(raised.value)


def test_output_without_end(host: Host) -> None:
    line = "x" * 99
    with act(host, f"for _ in range(1_000_000): print({line!r})") as job:
        held = max(len(event["text"]) for event in job if event.name == "output")
    assert job.reply["status"] == "done"
    host.close()
    assert host.stdout.total == 100_000_000
    assert held <= 256 * 1024  # one read
    assert len(host.stdout.text()) < 2 * KEPT
    assert host.stdout.text().startswith("… 99,")


def test_lost_output_is_counted(host: Host) -> None:
    with act(host, "for _ in range(200_000): print('x' * 99)") as job:
        iterator = iter(job)
        first = next(event for event in iterator if event.name == "output")
        time.sleep(1)  # nobody takes anything meanwhile
        rest = [event for event in iterator if event.name == "output"]
    host.close()
    told = [first, *rest]
    assert sum(len(event["text"]) + event["dropped"] for event in told) <= host.stdout.total
    assert job.reply["status"] == "done"


def test_sys_exit(host: Host) -> None:
    with act(host, "sys.exit(3)") as job:
        ended = [event for event in job if event.name == "task_end"]
    assert job.reply["status"] == "error"
    sentence = f"Node 'act' called sys.exit(3) at {LINE}, which ends the run."
    assert job.reply["error"]["sentence"] == ended[0]["error"]["sentence"] == sentence
    assert host.alive


def test_os_exit(host: Host) -> None:
    assert death(host, "os._exit(0)") == (
        f"os._exit was called at {LINE} while node 'act' ran, "
        "which ends the graph's process at once."
    )


TELLING = "from langgraph.config import get_stream_writer; tell = get_stream_writer(); "


@pytest.mark.parametrize(
    "end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "os.closerange(3, 200)"]
)
def test_what_was_told_before_the_end_is_heard(host: Host, end: str) -> None:
    heard = []
    code = f"{TELLING}[tell(i) for i in range(500)]; {end}; time.sleep(9)"
    with pytest.raises(HostDiedError, match="while node 'act' ran"), act(host, code) as job:
        heard.extend(job)
    told = [event["value"] for event in heard if event.name == "custom"]
    assert len(told) == 500
    assert [event.name for event in heard].count("task_start") == 1


BESIDE = """
import os, sqlite3, time
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    code: str
    a: int
    b: int

def b(state):
    with sqlite3.connect("run.db") as db:
        while not db.execute("SELECT count(*) FROM writes WHERE channel = 'a'").fetchone()[0]:
            time.sleep(0.0001)
    os.kill(os.getpid(), 9)

def a(state):
    time.sleep(0.05)
    return {"a": 1}

builder = StateGraph(State)
builder.add_node("a", a)
builder.add_node("b", b)
builder.add_edge(START, "a")
builder.add_edge(START, "b")
graph = builder.compile()
"""


def test_a_node_that_ends_the_process_beside_one_that_has_finished(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(BESIDE)
    heard = []
    with (
        hosted(tmp_path, "beside.py:graph") as (host, _),
        pytest.raises(HostDiedError, match="while node 'b' ran"),
        act(host, "") as job,
    ):
        heard.extend(job)
    assert [event["node"] for event in heard if event.name == "task_end"] == ["a"]


def test_a_node_that_holds_python_up_is_known_at_once(host: Host) -> None:
    with act(host, "ctypes.PyDLL(None).sleep(30)") as job:
        began = time.monotonic()
        for event in job:
            if event.name == "task_start":
                break
        # Native code keeps the host from sending it: it was read from the shared memory.
        assert time.monotonic() - began < 1.5
        assert list(host.running) == ["act"]
        host.kill()


def test_more_than_the_shared_memory_holds(host: Host) -> None:
    code = "from langgraph.types import interrupt; interrupt('é' * 3_000_000)"
    with act(host, code) as job:
        asked = [event for event in job if event.name == "interrupt"]
    assert len(asked) == 1
    assert len(asked[0].typed(asked[0]["value"]).data) > 6_000_000
    assert job.reply["status"] == "interrupted"


ODD = """
import itertools
from langgraph.config import get_stream_writer

class Odd:
    __reduce__ = None
    def __repr__(self):
        return f"{self.number} " + "x" * 50_000

tell = get_stream_writer()
with open("told", "w", buffering=1) as told:
    for number in itertools.count():
        odd = Odd()
        odd.number = number
        tell(odd)
        print(number + 1, file=told)
"""


def test_a_viewer_that_takes_nothing(host: Host) -> None:
    """What waits for it is bounded, and nothing of that is lost when the host is killed."""
    told = host.project / "told"

    def numbers() -> int:
        words = told.read_text().split() if told.exists() else ()
        return int(words[-1]) if words else 0  # it is empty while it is being written

    heard = []
    job = act(host, ODD)
    with pytest.raises(HostDiedError), job:
        heard.extend(_held_up(host, job, numbers))
    counted = [int(event["text"].split()[0]) for event in heard if event.name == "custom"]
    assert counted == list(range(len(counted)))
    assert numbers() <= len(counted) < 1000  # 50 MB


def _held_up(host: Host, job: Job, numbers: Callable[[], int]) -> Iterator[Event]:
    """Take one event, and the rest when no more are told and the host has been killed."""
    for event in job:
        yield event
        break
    before = 0
    while not numbers() or before < numbers():
        before = numbers()
        time.sleep(0.5)
    os.kill(host.pid, signal.SIGKILL)
    yield from job


def test_segmentation_fault(host: Host) -> None:
    assert death(host, "ctypes.string_at(0)") == (
        f"The graph's process crashed (segmentation fault) while node 'act' ran at {LINE}: "
        "a fault of native code that is called there."
    )


def test_abort(host: Host) -> None:
    assert death(host, "os.abort()") == (
        f"The graph's process was ended by SIGABRT while node 'act' ran at {LINE}: Aborted."
    )


def test_killed(host: Host) -> None:
    assert death(host, "os.kill(os.getpid(), signal.SIGKILL)") == (
        "The graph's process was killed (SIGKILL) while node 'act' ran: "
        "by somebody, or by the system because memory ran out."
    )


def test_a_death_leaves_what_was_stored(host: Host) -> None:
    death(host, "os._exit(1)")
    import sqlite3

    with sqlite3.connect(host.project / "run.db") as connection:
        steps = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
    assert steps == (2,)


def test_hang_in_native_code(host: Host) -> None:
    # (One sleep would be ended by the signal that asks for the stack.)
    with act(host, "[ctypes.PyDLL(None).sleep(1000) for _ in range(9)]") as job:
        silent = next(event for event in job if event.name == "silent")
        assert silent["seconds"] >= 2
        where = host.stack()
        assert where is not None
        assert where.shown(host.project) == LINE
    assert not host.alive or host.ended_at is None


def test_late(host: Host) -> None:
    blobs = [typed({"code": "time.sleep(1000)"}).data]
    begin = {"how": "input", "value": {"type": "msgpack", "blob": 0}, "fresh": False}
    with pytest.raises(HostTimeoutError, match=rf"The run has not ended after 1 s; .*{LINE} \(in"):
        host.ask(
            "run", blobs=blobs, timeout=1.0, database=":memory:", thread_id="t", begin=begin,
            config={}, context=None, recursion_limit=None, messages=False, paused=False,
            asynchronous=None, policies=[],
        )  # fmt: skip


GRANDCHILD = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)']{}); "


@pytest.mark.parametrize("options", ["", ", start_new_session=True"])
def test_grandchild_that_keeps_the_pipes(host: Host, options: str) -> None:
    began = time.monotonic()
    pid = "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)']"
    death(host, f"{pid}{options}).pid); sys.stdout.flush(); os._exit(0)")
    host.close()
    assert time.monotonic() - began < 60  # not the 300 of the grandchild
    child = int(host.stdout.text())
    if options:
        os.kill(child, signal.SIGKILL)
    else:
        wait_for_end(child)


def test_forked_child_that_goes_on(host: Host) -> None:
    with act(host, "print('pid', os.fork())") as job:
        names = [event.name for event in job]
    assert job.reply["status"] == "done"
    assert names.count("task_end") == 1


def test_closed_descriptors(host: Host) -> None:
    said = death(host, "os.closerange(3, 1000); time.sleep(10)")
    assert said == (
        f"The graph's code closed a descriptor that is not its own while node 'act' ran at {LINE} "
        "(os.closerange?), and with it the way to its process, which was ended."
    )


def test_reused_descriptors(host: Host) -> None:
    """Files that get the numbers of our closed descriptors are not written into."""
    code = (
        "os.closerange(3, 1000); files = [open(f'f{n}', 'wb') for n in range(60)]; time.sleep(10)"
    )
    assert "closed a descriptor that is not its own" in death(host, code)
    assert not any(path.stat().st_size for path in host.project.glob("f[0-9]*"))


@pytest.mark.parametrize(
    "data",
    [b"\xff" * 99, b"\0\0\xff\xff\0\0\0\0", b"\0"],
    ids=["no frame", "the beginning of a long one", "one byte"],
)
def test_garbage_in_the_channel(host: Host, data: bytes) -> None:
    code = (
        f"{TELLING}[tell(i) for i in range(100)]; time.sleep(0.1)\n"
        "for fd in range(3, 60):\n"
        f" try: os.write(fd, {data!r})\n"
        " except OSError: pass\n"
        "[tell(i) for i in range(100, 200)]; time.sleep(10)"
    )
    heard = []
    with pytest.raises(HostDiedError) as raised, act(host, code) as job:
        heard.extend(job)
    assert str(raised.value) == (
        "The graph's code wrote into a descriptor that is not its own while node 'act' ran, "
        "so nothing more can be understood of its process."
    )
    # What the host itself said stands in the shared memory.
    told = [event["value"] for event in heard if event.name == "custom"]
    assert len(told) == 200


FORKED = """
from langgraph.config import get_stream_writer
tell = get_stream_writer()
wire = os._exit.__self__
held, done = threading.Event(), threading.Event()
def hold():  # as any thread may that tells something
    with wire._lock:
        held.set()
        done.wait()
threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child:
    done.set()
if child == 0:
    tell("from the child")
    os._exit(7)
for _ in range(500):
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        break
    time.sleep(0.01)
else:
    os.kill(child, signal.SIGKILL)
    raise RuntimeError("the child hangs")
assert os.waitstatus_to_exitcode(status) == 7
"""


@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_in_the_midst_of_telling(host: Host) -> None:
    with act(host, FORKED) as job:
        told = list(job)
    assert job.reply["status"] == "done", job.reply["error"]
    assert "custom" not in [event.name for event in told]  # a child's words are nobody's


def test_functions_that_are_replaced(host: Host) -> None:
    """What user code puts in the place of the standard library's is not what we call."""
    code = "import json; json.loads = None; time.sleep = time.time = lambda *_: 0"
    assert [event.name for event in events(host, code)].count("task_end") == 1
    assert topology(host).nodes


def test_ended_by_us(host: Host) -> None:
    with act(host, "time.sleep(1000)") as job:
        for event in job:
            if event.name == "task_start":
                break
    assert not host.alive
    with pytest.raises(HostError, match="was ended, as asked for"):
        host.ask("topology", xray=False)


def test_a_host_does_not_outlive_its_viewer(project: Path) -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from hosting import plan_of; "
        "from retrograph.engine.host.requests import launch\n"
        "host = launch(plan_of(Path(sys.argv[2]), 'nodes.py:graph')); print(host.pid, flush=True)\n"
        "os._exit(0)"
    )
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tests), str(project)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    wait_for_end(int(done.stdout))


def wait_for_end(pid: int) -> None:
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} still runs")


def test_an_interpreter_that_does_not_start(tmp_path: Path) -> None:
    from retrograph.engine.errors import GraphError

    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no module named encodings >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(HostDiedError, match=r"ended before it was up: no module named encodings"):
        launch(plan_of(tmp_path, "nodes.py:graph", str(broken)))
    with pytest.raises(GraphError, match=r"cannot be run in .*: No such file"):
        launch(plan_of(tmp_path, "nodes.py:graph", "/nowhere/python"))


def test_an_import_that_blocks(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1000)\n")
    plan = plan_of(tmp_path, "slow.py:graph")
    with (
        launch(plan) as host,
        pytest.raises(HostTimeoutError, match=r"Loading the graph .* 1 s; it is at slow\.py:2"),
    ):
        load(host, plan, timeout=1.0)


def test_an_import_that_ends_the_process(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import os\nos._exit(4)\n")
    said = r"os\._exit was called at bad\.py:2 while the graph was loaded"
    with pytest.raises(HostDiedError, match=said), hosted(tmp_path, "bad.py:graph"):
        pass
