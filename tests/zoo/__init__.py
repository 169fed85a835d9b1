"""Real LangGraph threads of every kind, and what LangGraph itself says of them.

    python -m zoo OUT_DIR [--durability sync] [--only NAME]…

runs every scenario of `table.SCENARIOS` with the real SqliteSaver into OUT_DIR/zoo.db and writes
OUT_DIR/oracle.json: for each checkpoint of each thread and namespace what `get_state_history`
shows, and what was seen while it ran. Other backends: `write.write(savers, out)`.

Importing this package imports no LangGraph; `graphs` and `write` do.
"""

from zoo.build import Store, build
from zoo.table import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario", "Store", "build"]
