"""Write rows of a namespace, read beside its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrograph.engine.model import WriteRow


class RowsInStep:
    """Write rows by checkpoint, streamed beside envelopes in the same order."""

    def __init__(self, batches: Iterator[Sequence[WriteRow]]) -> None:
        self._rows = (row for batch in batches for row in batch)
        self._next: WriteRow | None = next(self._rows, None)

    def of(self, checkpoint_id: str) -> list[WriteRow]:
        """Those of one checkpoint; asked for in the order of the ids."""
        while self._next is not None and self._next[1] < checkpoint_id:
            self._next = next(self._rows, None)
        found = []
        while self._next is not None and self._next[1] == checkpoint_id:
            found.append(self._next)
            self._next = next(self._rows, None)
        return found
