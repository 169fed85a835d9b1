"""Classes of an imaginary app, as states hold them."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum

from pydantic import BaseModel, RootModel, SecretStr


class Tier(Enum):
    GOLD = "gold"
    GREY = 0.5


class Money(BaseModel):
    amount: float
    currency: str = "EUR"


class Customer(BaseModel):
    """A model that holds an enum, a secret and another model."""

    name: str
    tier: Tier = Tier.GOLD
    password: SecretStr = SecretStr("hunter2")
    balance: Money = Money(amount=1.5)


class Names(RootModel[list[str]]):
    pass


@dataclass
class Order:
    """A dataclass with a field that its constructor refuses."""

    id: int
    lines: list[str] = field(default_factory=list)
    total: float = field(init=False, default=0.0)


Point = namedtuple("Point", "x y")
