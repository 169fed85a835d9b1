"""Every LangGraph that graphs are run with."""

from __future__ import annotations

import pytest

from hosting import VERSIONS, python_of
from hosting.played import hosts, played

__all__ = ["hosts", "played"]


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    """The interpreter of a user's environment, one for each LangGraph."""
    return python_of(request.param)
