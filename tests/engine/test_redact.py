"""Credentials stay out of every view; what only looks like one stays in."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from retrograph.engine.errors import ConfigError
from retrograph.engine.values import Delta, MapValue, Obj, Pickle, Secret, SetValue, Unreadable
from retrograph.engine.views.redact import REDACTED, Redactor

TELLING = (
    "authorization Authorization proxy-authorization x-api-key X-API-KEY apiKey api_key apikey "
    "OPENAI_API_KEY cookie set-cookie Cookies password db_password PASSWD pwd secret client_secret "
    "clientSecret token access_token accessToken refresh-token X-Auth-Token id_token auth bearer "
    "jwt credentials private_key AWS_SECRET_ACCESS_KEY accessKey passphrase signing_key"
)
INNOCENT = (
    "total_tokens max_tokens tokens token_count input_tokens prompt_tokens_details user_id "
    "thread_id key sort_key primary_key monkey keyboard secretary author authority cookiecutter "
    "passing langgraph_auth_user_id session run_id tokenizer step source parents compass"
)


@pytest.mark.parametrize("key", TELLING.split())
def test_telling_keys(key: str) -> None:
    assert Redactor().metadata({"a": [{key: "x"}]}) == {"a": [{key: REDACTED}]}


@pytest.mark.parametrize("key", INNOCENT.split())
def test_innocent_keys(key: str) -> None:
    metadata = {"a": [{key: "x"}]}
    assert Redactor().metadata(metadata) is metadata


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ({"password": 1234}, {"password": REDACTED}),
        ({"max_token": 100, "token": 7}, None),
        ({"token": None, "secret": "", "password": {}}, None),
        ({"auth": {"user": "u", "x": [1]}}, {"auth": REDACTED}),
        ({"has_password": True}, None),
        ([["authorization", "Bearer x"]], [["authorization", REDACTED]]),
        ([(b"cookie", b"a=b"), (b"accept", b"*")], [(b"cookie", REDACTED), (b"accept", b"*")]),
        ([{"name": "Cookie", "value": "x"}], [{"name": "Cookie", "value": REDACTED}]),
        ({"db": "postgresql://u:pw@h/db"}, {"db": "postgresql://u:***@h/db"}),
        (
            Obj("app", "Conf", "kwargs", {"api_key": "x", "n": 1}),
            Obj("app", "Conf", "kwargs", {"api_key": REDACTED, "n": 1}),
        ),
        (MapValue([("token", "x"), ({}, 1)]), MapValue([("token", REDACTED), ({}, 1)])),
        ({7: {"token": "x"}}, {7: {"token": REDACTED}}),
        (Secret("pydantic", "SecretStr", "arg", "x"), None),
        ("plain text", None),
        (b"bytes", None),
        (None, None),
    ],
)
def test_values(value: Any, hidden: Any) -> None:
    found = Redactor()(value)
    if hidden is None:
        assert found is value
    else:
        assert found == hidden


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("postgresql://u:pw@h:5432/db", "postgresql://u:***@h:5432/db"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://u:p@w@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:p/w@h/db?sslmode=require", "postgresql://u:***@h/db?sslmode=require"),
        ("postgresql://h/db?user=u&password=pw&x=1", "postgresql://h/db?user=u&password=***&x=1"),
        ("postgresql:///db?sslpassword=pw", "postgresql:///db?sslpassword=***"),
        ("redis://:pw@h:6379/0", "redis://:***@h:6379/0"),
        ("rediss://default:pw@h", "rediss://default:***@h"),
        ("mongodb+srv://u:pw@a,b/?authSource=x", "mongodb+srv://u:***@a,b/?authSource=x"),
        ("https://ghp_token@host/x", "https://***@host/x"),
        ("https://host/x?api_key=1&page=2", "https://host/x?api_key=***&page=2"),
        ("https://host/x?sig=abc#token=z", "https://host/x?sig=***#token=***"),
        ("http://host:8123/a@b", "http://host:8123/a@b"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("host=h user=u password='a b' dbname=d", "host=h user=u password=*** dbname=d"),
        ("dbname=d password=pw", "dbname=d password=***"),
        ("/srv/password=x/orders.db", "/srv/password=x/orders.db"),
        ("orders.db", "orders.db"),
        ("file:///srv/a:b@c.db", "file:///srv/a:b@c.db"),
        ("sandbox:ab12", "sandbox:ab12"),
        ("", ""),
    ],
)
def test_locations(location: str, shown: str) -> None:
    assert Redactor().location(location) == shown


def test_the_users_own_keys_and_patterns() -> None:
    redactor = Redactor(keys=["tenant*", "Customer-No"], patterns=[r"sk-\w+"])
    value = {"tenant_id": "t", "customer_no": "1", "note": "uses sk-abc123 here", "n": 1}
    assert redactor(value) == {
        "tenant_id": REDACTED,
        "customer_no": REDACTED,
        "note": f"uses {REDACTED} here",
        "n": 1,
    }
    assert redactor.text("sk-1") == REDACTED


def test_values_of_a_state_are_hidden_where_the_user_says_so() -> None:
    state = {"password": "p", "ssn": 5, "vip": True, "none": None, "n": [4111, 1.5, "x 4111"]}
    assert Redactor().value(state) is state
    assert Redactor(["ssn", "VIP", "none"]).value(state) == {
        **state,
        "ssn": REDACTED,
        "vip": REDACTED,
    }
    assert Redactor(["/4\\d+/"]).value(state)["n"] == [REDACTED, 1.5, f"x {REDACTED}"]
    assert Redactor(["nothing"]).value(state) is state


def test_patterns_reach_what_is_no_text() -> None:
    redactor = Redactor(["/2021-03-14|hunter2|7f5/"])
    day, id_ = date(2021, 3, 14), UUID("7f500000-0000-0000-0000-000000000000")
    value = [day, datetime(2021, 3, 14, 1), id_, Decimal("1"), b"hunter2", b"x", Pickle(b"hunter2")]
    assert redactor.value(value) == [
        REDACTED, REDACTED, REDACTED, Decimal("1"), REDACTED, b"x", REDACTED,
    ]  # fmt: skip
    assert redactor.value(10**5000) == 10**5000
    broken = Unreadable("why hunter2", 3, ["hunter2"])
    assert redactor.value(broken) == Unreadable(f"why {REDACTED}", 3, [REDACTED])
    delta = Delta(["hunter2"], ["x"])
    assert redactor.value(delta) == Delta([REDACTED], ["x"])
    assert redactor.value(kept := Delta(["a"], ["x"])) is kept
    found = redactor.value(SetValue(["hunter2"], "frozenset"))
    assert found == SetValue([REDACTED], "frozenset")


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(ConfigError, match="no regular expression"):
        Redactor(["/(/"])
    assert Redactor(["/"]).hides_values  # a key of that name


def test_turned_off() -> None:
    redactor = Redactor(keys=["x"], enabled=False, patterns=["a"])
    value = {"password": "p", "x": "a"}
    assert redactor(value) is value
    assert redactor.location("redis://:pw@h") == "redis://:pw@h"
    assert redactor.text("a") == "a"


def test_hostile_metadata() -> None:
    deep: Any = {"token": "x"}
    for _ in range(5000):
        deep = {"a": deep}
    assert Redactor()(deep)["a"] is not None
    assert Redactor()({"k" * 10_000: "x" * 10_000})
    assert "x" not in repr(Redactor()(deep)), "what lies too deep to be looked at is not shown"
    assert "x" not in repr(Redactor(["token", "/y/"]).value(deep))
    assert Redactor().location("http://" + ":@/?=&" * 20_000)


def test_long_texts_in_locations() -> None:
    """The work grows with the text, not with its square: a thread id may have any length."""
    redactor = Redactor()
    for part in ("x", "x.", "a-", "a ", "x://", "=", "'"):
        for end in ("", "=", " postgresql://u:secret@h/db?password=secret"):
            text = part * (100_000 // len(part)) + end
            assert "secret" not in redactor.location(text)
