"""Random inert values, as decoding yields them."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from retrograph.engine.values import Delta, MapValue, NdArray, Obj, SetValue

TEXT = st.text(max_size=20)
"""No lone surrogates: msgpack cannot carry them."""
NAME = st.from_regex(r"[A-Za-z_]\w{0,8}", fullmatch=True)
MODULE = st.lists(NAME, min_size=1, max_size=3).map(".".join)
INTS = st.integers(-(2**63), 2**64 - 1)
FLOATS = st.floats()

JSON_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), FLOATS, st.text(st.characters(), max_size=20)
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    INTS,
    FLOATS,
    TEXT,
    st.binary(max_size=20),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.dates(),
    # No fold: neither LangGraph nor ISO knows it.
    st.times().map(lambda t: t.replace(fold=0)),
    st.timedeltas(),
    st.uuids(),
    st.decimals(allow_nan=True).map(lambda d: Decimal(str(d))),
    st.builds(
        NdArray,
        st.sampled_from(["<f8", "|b1", "<U3"]),
        st.tuples(st.integers(0, 9)),
        st.sampled_from("CF"),
        st.binary(max_size=16),
    ),
    st.builds(
        lambda code, raw: Obj("", f"ext {code}", "ext", raw, (code,)),
        st.integers(8, 127) | st.integers(-128, -1),
        st.binary(max_size=20),
    ),
)
_KEYS = st.one_of(TEXT, INTS, st.none(), st.booleans(), st.binary(max_size=5), st.floats())


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(TEXT, inner, max_size=4)
    return st.one_of(
        st.builds(Obj, MODULE, NAME, st.sampled_from(["kwargs", "pydantic1"]), fields),
        st.builds(
            Obj, MODULE, NAME, st.just("pydantic"), fields, st.just(("model_validate_json",))
        ),
        st.builds(Obj, MODULE, NAME, st.just("arg"), inner),
        st.builds(Obj, MODULE, NAME, st.just("args"), st.lists(inner, max_size=3)),
        st.builds(Obj, MODULE, NAME, st.just("method"), inner, st.tuples(NAME)),
    )


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(TEXT, inner, max_size=4),
        st.dictionaries(_KEYS, inner, max_size=4),
        st.lists(inner, max_size=3).map(SetValue),
        st.builds(Delta, inner),
        st.builds(lambda v: MapValue([({"a": 1}, v), ([], 2)]), inner),
        _objects(inner),
    )


VALUES = st.recursive(SCALARS, _containers, max_leaves=12)
"""Everything that msgpack holds."""

JSON_VALUES = st.recursive(
    st.one_of(JSON_SCALARS, st.dates(), st.uuids(), st.timedeltas()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(st.characters(), max_size=9), inner, max_size=4),
        st.builds(lambda v: SetValue(v, how="lc2"), st.lists(inner, max_size=3)),
        st.builds(
            lambda m, n, v: Obj(m, n, "lc2", v, (None, (("method", None), ("kwargs", v)))),
            MODULE,
            NAME,
            st.dictionaries(NAME, inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda v: Obj("langchain_core.messages", "AIMessage", "lc1", v),
            st.dictionaries(NAME, inner, max_size=3),
        ),
    ),
    max_leaves=12,
)
"""What the JSON serializers hold."""
