"""LangGraph's serializer behind the class gate: writes as it does, reads only what may be made.

Formats: langgraph-checkpoint's `serde/jsonplus.py`. An extension of msgpack is itself msgpack:
0 `(module, name, argument)`, 1 `(module, name, arguments)`, 2 `(module, name, keywords)`,
3 `(module, name, argument, method)`, 4 and 5 Pydantic 1 and 2 `(module, name, fields, …)`,
6 numpy `(dtype, shape, order, bytes)`, 7 a DeltaChannel's snapshot.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import threading
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .gate import Gate, GoneError, RefusedError

_OPTION = ormsgpack.OPT_NON_STR_KEYS


class GateSerde(JsonPlusSerializer):
    """Reads through a gate. Raises `RefusedError` for what may not be made."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(__unpack_ext_hook__=self._extension)
        self.gate = gate
        self._local = threading.local()
        self._cipher: Any = None
        self._ciphered = False

    # Writing.

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """As LangGraph; encrypted where what was read was."""
        if self._ciphered:
            typed: tuple[str, bytes] = self._encrypted().dumps_typed(obj)
            return typed
        return super().dumps_typed(obj)

    # Reading.

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, content = data
        if kind == "msgpack":
            return self._unpack(content)
        if kind == "null":
            return None
        if kind == "bytes":
            return content
        if kind == "bytearray":
            return bytearray(content)
        if kind == "json":
            return json.loads(content, object_hook=self._revive)
        if "+" in kind:
            value = self._encrypted().loads_typed((kind, content))
            self._ciphered = True
            return value
        if kind == "pickle":
            raise RefusedError("A stored value is pickled, and pickles are never loaded.")
        raise RefusedError(f"A stored value has the type {kind!r}, which is not known here.")

    def _unpack(self, content: bytes) -> Any:
        self._local.refused = None
        try:
            return ormsgpack.unpackb(content, ext_hook=self._extension, option=_OPTION)
        except Exception:
            # ormsgpack says no more than that the hook failed.
            refused = self._local.refused
            if refused is not None:
                raise refused from None
            raise

    def _extension(self, code: int, data: bytes) -> Any:
        try:
            return self._made(
                code, ormsgpack.unpackb(data, ext_hook=self._extension, option=_OPTION)
            )
        except RefusedError as refused:
            self._local.refused = refused
            raise

    def _made(self, code: int, parts: Any) -> Any:
        if code == 7:
            from langgraph.checkpoint.serde.types import _DeltaSnapshot

            return _DeltaSnapshot(parts)
        if code == 6:
            return _array(*parts)
        if code not in (0, 1, 2, 3, 4, 5):
            raise RefusedError(
                f"A stored value is an extension {code} of msgpack, which is not known."
            )
        module, name, argument = parts[0], parts[1], parts[2]
        if code == 3:
            return self._by_method(module, name, argument, parts[3])
        if code == 1 and (module, name) == ("re", "compile"):
            return re.compile(*argument)
        try:
            cls = self.gate.find(module, name)
        except GoneError:
            return argument
        try:
            if code == 0:
                return cls(argument)
            if code == 1:
                return cls(*argument)
            return cls(**argument)
        except Exception:
            return _without_checks(cls, argument) if code in (4, 5) else argument

    def _by_method(self, module: str, name: str, argument: Any, method: str) -> Any:
        if method != "fromisoformat":
            raise RefusedError(f"A stored value asks for {module}.{name}.{method}(): not called.")
        try:
            cls = self.gate.find(module, name)
        except GoneError:
            return argument
        if not issubclass(cls, (datetime.date, datetime.time)):
            raise RefusedError(f"A stored value asks for {module}.{name}.{method}(): not called.")
        return cls.fromisoformat(argument)

    def _revive(self, value: Any) -> Any:
        """Constructors in JSON, which LangGraph wrote until 2024 and Redis's saver writes."""
        if value.get("type") != "constructor" or not isinstance(value.get("id"), list):
            if value.get("lc") == 1 and value.get("type") == "secret":
                raise RefusedError(
                    "A stored value asks for a secret of the environment: not given."
                )
            return value
        path = [str(part) for part in value["id"]]
        if len(path) < 2:
            return value
        if value.get("lc") == 1:
            return self._langchain(path[-1], value)
        if value.get("lc") != 2:
            return value
        try:
            module, name = ".".join(path[:-1]), path[-1]
            if (module, name) == ("re", "compile"):
                return re.compile(*value.get("args") or ())
            method = value.get("method")
            if isinstance(method, str):
                return self._by_method(module, name, (value.get("args") or [""])[0], method)
            cls = self.gate.find(module, name)
        except GoneError:
            return value.get("kwargs") or value.get("args")
        try:
            return cls(*(value.get("args") or ()), **(value.get("kwargs") or {}))
        except Exception:
            return _without_checks(cls, value.get("kwargs") or {})

    def _langchain(self, name: str, value: Any) -> Any:
        """`lc: 1`: a message or a document by its name; its path there is historical."""
        for module in ("langchain_core.messages", "langchain_core.documents"):
            try:
                return self.gate.find(module, name)(**(value.get("kwargs") or {}))
            except GoneError:
                continue
        raise RefusedError(
            f"A stored value asks for {'.'.join(map(str, value['id']))}, "
            "which is neither a message nor a document: not made."
        )

    def _encrypted(self) -> Any:
        if self._cipher is None:
            from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

            if not os.environ.get("LANGGRAPH_AES_KEY"):
                raise RefusedError(
                    "Stored values are encrypted (aes), and LANGGRAPH_AES_KEY is not set."
                )
            try:
                self._cipher = EncryptedSerializer.from_pycryptodome_aes(_Plain(self))
            except (ImportError, ValueError) as error:
                raise RefusedError(f"Stored values are encrypted (aes): {error}.") from None
        return self._cipher


class _Plain:
    """The gate's serializer without encryption, for the one that encrypts."""

    def __init__(self, serde: GateSerde) -> None:
        self._serde = serde

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return JsonPlusSerializer.dumps_typed(self._serde, obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self._serde.loads_typed(data)


def _array(dtype: str, shape: Any, order: Any, buffer: bytes) -> Any:
    try:
        import numpy
    except ImportError:
        raise RefusedError(
            "A stored value is a numpy array, and numpy is not installed there."
        ) from None
    return numpy.frombuffer(buffer, dtype=numpy.dtype(dtype)).reshape(shape, order=order)


def _without_checks(cls: Any, fields: Any) -> Any:
    """A Pydantic object whose fields do not pass its checks, as LangGraph makes it; else fields."""
    make: Any | None = getattr(cls, "model_construct", None) or getattr(cls, "construct", None)
    if make is None or not isinstance(fields, dict):
        return fields
    try:
        return make(**fields)
    except Exception:
        return fields
