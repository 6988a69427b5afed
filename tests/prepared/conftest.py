"""What tests of prepared folders share."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.fixture(autouse=True)
def plain_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """New processes import the main module: not a page that another test has left in its place."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
