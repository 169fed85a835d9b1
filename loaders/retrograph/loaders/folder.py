"""The checkpoint stores that lie in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from retrograph.engine.errors import SourceError
from retrograph.loaders.sqlite import MAGIC, SQLiteLoader

_LISTED = 10
_ENTRIES = 5000
"""Files of a folder that are looked at."""

BEGIN = (
    "name one (retrograph threads agent.db), set `source` in [tool.retrograph], "
    "or try `retrograph demo`"
)


def the_store(folder: Path) -> SQLiteLoader:
    """The one checkpoint store of a folder, opened.

    Raises `SourceError` where there is none, with how to begin, and where there are several, with
    their names.
    """
    stores = find_stores(folder)
    if len(stores) == 1:
        return SQLiteLoader(stores[0])
    here = "here" if folder.absolute() == Path.cwd() else f"in {folder}"
    if not stores:
        raise SourceError(f"There is no checkpoint store {here}: {BEGIN}.")
    listed = ", ".join(_shown(store, folder) for store in stores[:_LISTED])
    more = f" and {len(stores) - _LISTED} more" if len(stores) > _LISTED else ""
    raise SourceError(
        f"There are {len(stores)} checkpoint stores {here}: {listed}{more}; say which one."
    )


def find_stores(folder: Path) -> list[Path]:
    """The checkpoint stores in a folder, by name; where it holds none, in its direct subfolders."""
    return sorted(_stores(folder)) or sorted(
        store for below in _folders(folder) for store in _stores(below)
    )


def _stores(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        path = Path(entry.path)
        try:
            if not entry.is_file() or not _may_be_database(path):
                continue
            SQLiteLoader(path, patience=0.5).close()
        except (OSError, SourceError):
            continue
        yield path


def _folders(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        try:
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith((".", "_")):
                yield Path(entry.path)
        except OSError:
            continue


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry, _ in zip(found, range(_ENTRIES), strict=False)]
    except OSError as error:
        raise SourceError(f"{folder} cannot be listed: {error.strerror}.") from None


def _may_be_database(path: Path) -> bool:
    """By its magic; an empty file counts where a log lies beside it."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    return head == MAGIC or (not head and Path(f"{path}-wal").is_file())


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))
