"""Where sandboxes are: one folder of the user's, each a file named by its id."""

from __future__ import annotations

from pathlib import Path

from retrograph.engine.errors import RefError, SourceError
from retrograph.engine.sandbox.file import Sandbox, parts, read_sandbox

SCHEME = "sandbox:"


def sandboxes_folder() -> Path:
    """The folder; it may not be there yet."""
    from platformdirs import user_data_path

    return user_data_path("retrograph", appauthor=False) / "sandboxes"


def list_sandboxes(folder: Path | None = None) -> tuple[list[Sandbox], list[str]]:
    """(the sandboxes, newest first; a sentence for each file that is broken)."""
    found, broken = [], []
    try:
        paths = sorted((folder or sandboxes_folder()).glob("*.db"))
    except OSError as error:
        raise SourceError(f"{folder} cannot be listed: {error.strerror}.") from None
    for path in paths:
        try:
            found.append(read_sandbox(path))
        except SourceError as error:
            broken.append(str(error))
    found.sort(key=lambda sandbox: sandbox.created_at, reverse=True)
    return found, broken


def sandbox_path(id_: str, folder: Path | None = None) -> Path:
    """The file of a sandbox, by its id or a beginning of it. Raises `RefError`."""
    folder = folder or sandboxes_folder()
    id_ = id_.removeprefix(SCHEME)
    exact = folder / f"{id_}.db"
    if id_.isalnum() and exact.is_file():
        return exact
    near = sorted(p for p in folder.glob("*.db") if id_ and p.stem.startswith(id_))
    if len(near) == 1:
        return near[0]
    if near:
        listed = ", ".join(p.stem for p in near[:8])
        raise RefError(f"'{id_}' is the beginning of {len(near)} sandboxes: {listed}.")
    raise RefError(f"There is no sandbox '{id_}'; `retrograph sandboxes` lists them.")


def remove_sandbox(path: Path) -> None:
    """Remove a sandbox's files. Raises `SourceError`."""
    try:
        # Its log first: what is left of a removal that is cut short must not be taken for whole.
        for part in reversed(parts(path)):
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"The sandbox {path} cannot be removed: {error.strerror}.") from error
