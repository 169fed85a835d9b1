"""From what a person gives as SOURCE to an opened loader."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from retrograph.engine.errors import RetrographError, SourceError
from retrograph.engine.model import Loader
from retrograph.loaders.folder import the_store
from retrograph.loaders.sqlite import SQLiteLoader

if TYPE_CHECKING:
    from retrograph.engine.sandbox.file import Sandbox

GROUP = "retrograph.loaders"
"""Entry points: the name is a URL scheme, the object a factory `(url: str) -> Loader`."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_FILE_URL = re.compile(r"(file|sqlite(?:\+\w+)?|sqlite3):", re.IGNORECASE)
_PYTHON = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*(\(\))?")
_POSTGRES = re.compile(r"postgres(ql)?(\+\w+)?:", re.IGNORECASE)
SANDBOX = 0x52475342
"""SQLite's application id of a sandbox (`retrograph.engine.sandbox.file`)."""
SCHEME = "sandbox:"
_SUPPORTED = "SQLite files (a path, or a file: or sqlite: URL) and postgresql:// URLs"


def open_source(
    source: str | None = None,
    *,
    cwd: Path | None = None,
    configured: str | None = None,
    origin: str | None = None,
) -> Loader:
    """Open a source.

    `source` as a person gave it; a folder stands for the one store in it. `.` or `None` is "what
    is here": the `configured` one, else the one store in `cwd` (default: the current folder), to
    which relative paths relate too.
    `origin`: of a sandbox, what opens the source that it is from, instead of what it remembers.
    Raises `SourceError`, in one sentence.
    """
    folder = Path.cwd() if cwd is None else cwd
    if source is None or source in (".", ""):
        if configured is None:
            return the_store(folder)
        source = configured
    path = _path(source, folder)
    if path is not None and _exists(path):
        return _open_path(path, folder, origin)
    if source.startswith(SCHEME):
        return _open_path(_sandbox(source), folder, origin)
    if _FILE_URL.match(source):
        return SQLiteLoader(_file_of_url(source, folder))
    if _POSTGRES.match(source):
        return _open_postgres(source)
    if url := _URL.match(source):
        return _open_url(source, url[1].lower())
    if path is None or (":" in source and _PYTHON.fullmatch(source)):
        raise SourceError(f"{source!r} is no file; what can be opened now: {_SUPPORTED}.")
    return _open_path(path, folder, origin)


def reopens(loader: Loader) -> str:
    """What opens a loader's source again, from any folder: its absolute path, `sandbox:ID`, or its
    address, all without credentials."""
    sandbox = getattr(loader, "sandbox", None)
    if sandbox is not None:
        return opens_sandbox(sandbox)
    if "://" in loader.location:
        address, _, query = loader.location.partition("?")
        return f"{address}?{query.replace('?', '&')}" if query else address
    return str(Path(loader.location).absolute())


def opens_sandbox(sandbox: Sandbox) -> str:
    """What opens a sandbox: `sandbox:ID`, or its path where it is in no folder of ours."""
    from retrograph.engine.sandbox.home import sandboxes_folder

    if sandbox.path.parent == sandboxes_folder():
        return f"{SCHEME}{sandbox.id}"
    return str(sandbox.path.absolute())


def _path(source: str, folder: Path) -> Path | None:
    """`source` as a path, `None` where it cannot be one."""
    if "\0" in source:
        return None
    try:
        return folder / Path(source).expanduser()
    except RuntimeError:  # ~nobody-of-this-name
        return folder / source


def _exists(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except OSError:
        return True


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _open_path(path: Path, folder: Path, origin: str | None) -> Loader:
    if _is_folder(path):
        return the_store(path)
    loader = SQLiteLoader(path)
    if loader.application_id != SANDBOX:
        return loader
    from retrograph.loaders.sandbox import SandboxLoader

    return SandboxLoader(path, loader, lambda source: open_source(source, cwd=folder), origin)


def _sandbox(source: str) -> Path:
    from retrograph.engine.sandbox.home import sandbox_path

    return sandbox_path(source)


def _file_of_url(url: str, folder: Path) -> Path:
    """The file of `file:///x`, `file:x`, and of SQLAlchemy's `sqlite:///x` (relative, or absolute
    where only that exists) and `sqlite:////x`. Queries are ignored."""
    from urllib.parse import unquote

    scheme, _, rest = url.partition(":")
    rest = unquote(re.split(r"[?#]", rest, maxsplit=1)[0])
    if scheme.lower() == "file":
        return folder / re.sub(r"^//(localhost)?(?=/)", "", rest)
    if not rest.startswith("///"):
        return folder / rest.removeprefix("//")
    relative = folder / rest[3:]
    absolute = Path(rest[2:])
    return absolute if not _exists(relative) and _exists(absolute) else relative


def _open_postgres(url: str) -> Loader:
    try:
        from retrograph.loaders.postgres import open_postgres
    except ImportError as error:
        # A platform for which there is no psycopg[binary], and no libpq of the system either.
        raise SourceError(f"Postgres needs psycopg and libpq ({error}).") from error
    return open_postgres(url)


def _open_url(url: str, scheme: str) -> Loader:
    from importlib.metadata import entry_points

    found = [e for e in entry_points(group=GROUP) if e.name.lower() == scheme]
    if not found:
        others = sorted({e.name for e in entry_points(group=GROUP)})
        more = f", and {', '.join(f'{name}://' for name in others)}" if others else ""
        raise SourceError(
            f"{scheme}:// is not supported; what can be opened now: {_SUPPORTED}{more}."
        )
    try:
        factory: Callable[[str], Loader] = found[0].load()
        return factory(url)
    except RetrographError:
        raise
    except Exception as error:
        raise SourceError(
            f"The loader for {scheme}:// ({found[0].value}) failed: {type(error).__name__}: {error}"
        ) from error
