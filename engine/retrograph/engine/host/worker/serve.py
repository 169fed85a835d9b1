"""The host's main thread: says hello, then does what is asked, one request after another."""

from __future__ import annotations

import gc
import os
import platform
import sys
import warnings
from typing import Any

from . import faults
from .frames import CHANNEL, CRASHES, RING
from .steer import Steering
from .wire import Wire, exit_now

Answer = tuple[dict[str, Any], list[bytes]]


def main() -> None:
    """Serve until the viewer asks for the end, or is gone. Does not return."""
    wire = Wire(*(int(os.environ.pop(name)) for name in (CHANNEL, CRASHES, RING)))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True, errors="backslashreplace")
    faults.set_roots([sys.path[0]])
    greeting = _hello()
    wire.send({"is": "hello", **greeting})
    if "error" in greeting:
        _end(wire, 1)
    steering = Steering()
    wire.steer = steering.tell
    session: Any = None
    while True:
        header, blobs = wire.requests.get()
        number = header["id"]
        if header["do"] == "end":
            if session is not None:
                session.close()
            wire.send({"is": "done"})
            _end(wire, 0)
        if session is None:
            from .session import Session

            session = Session(wire, steering)
        try:
            reply, values = session.do(header["do"], header, blobs)
            wire.send({**reply, "is": "result", "id": number}, values)
        except BaseException as error:
            wire.send({"is": "failed", "id": number, "error": _failure(error)})


def _hello() -> dict[str, Any]:
    """Versions; or, where LangGraph cannot be imported, the sentence that says so."""
    greeting: dict[str, Any] = {"python": platform.python_version(), "executable": sys.executable}
    gc.disable()  # modules stay: to look for garbage among them takes a tenth of the start
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import langgraph.graph  # noqa: F401
    except BaseException as error:
        greeting["error"] = {"sentence": _no_langgraph(error)}
    gc.freeze()
    gc.enable()
    greeting["langgraph"] = _version("langgraph")
    greeting["checkpoint"] = _version("langgraph-checkpoint")
    return greeting


def _no_langgraph(error: BaseException) -> str:
    frame = faults.users_frame(error)
    if frame is not None:
        # A file of the project stands in the way of a module of the same name.
        where = faults.place(frame.filename, frame.lineno)
        return f"LangGraph cannot be imported: {where} is taken for a module of that name."
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "langgraph":
        return f"{sys.executable} has no LangGraph; name another interpreter with --python."
    versions = ", ".join(
        f"{name} {version}"
        for name in ("langgraph", "langgraph-checkpoint", "langgraph-prebuilt", "langchain-core")
        for version in [_version(name)]
        if version
    )
    return (
        f"LangGraph in {sys.executable} cannot be imported ({faults.one_line(error)}): "
        f"that environment is broken ({versions})."
    )


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _failure(error: BaseException) -> dict[str, Any]:
    if isinstance(error, faults.GraphError):
        cause = error.__cause__
        told = faults.described(cause) if cause is not None else {}
        return {**told, "kind": "graph", "sentence": str(error)}
    if isinstance(error, faults.RequestError):
        return {"kind": "request", "sentence": str(error)}
    return {**faults.described(error), "kind": "raised"}


def _end(wire: Wire, code: int) -> None:
    """End at once: a program with threads or an open event loop may never end by itself."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    exit_now(code)
