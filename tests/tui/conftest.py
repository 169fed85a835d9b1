"""The demo's store, made once a session by a real LangGraph."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from piloting.scenes import NOW
from retrograph.cli.demo.make import make_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `retrograph demo`, with fixed times."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "app-demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return make_demo(shared / "app-demo", NOW).db


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day as in UTC, and no colour switched off from outside."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Coroutine tests run in a loop of their own."""
    function: Callable[..., Coroutine[Any, Any, None]] = pyfuncitem.obj
    if not asyncio.iscoroutinefunction(function):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(function(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
