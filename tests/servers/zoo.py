"""Writes the zoo into a Postgres database, as a process of its own:

python -m servers.zoo URI OUT.json
"""

from __future__ import annotations

import sys
from pathlib import Path

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from zoo.write import Savers, write


def main(uri: str, out: Path) -> None:
    with PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
    savers = Savers(
        lambda: PostgresSaver.from_conn_string(uri),
        lambda: AsyncPostgresSaver.from_conn_string(uri),
    )
    write(savers, out)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
