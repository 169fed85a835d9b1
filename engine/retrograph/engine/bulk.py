"""Many checkpoints read byte for byte, in as few readings as the loader can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrograph.engine.errors import RefError
from retrograph.engine.model import CheckpointKey, Loader, RawCheckpoint, ReadsBodies


def read_bodies(
    loader: Loader, thread_id: str, ns: str, ids: Sequence[str] | None = None
) -> Iterator[RawCheckpoint]:
    """Checkpoints of one namespace, all or some, ordered by id; those that are gone meanwhile are
    left out.

    Whether they have their writes is up to the loader; `blobs` as in `ReadsBodies`.
    """
    if isinstance(loader, ReadsBodies):
        for batch in loader.bodies(thread_id, ns, ids):
            yield from batch
        return
    if ids is None:
        ids = [row[1] for batch in loader.rows(thread_id, ns) for row in batch]
    for id_ in sorted(set(ids)):
        try:
            raw = loader.read(CheckpointKey(thread_id, ns, id_))
        except RefError:
            continue
        yield raw
