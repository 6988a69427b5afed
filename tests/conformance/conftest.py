"""The methods that the promises are asked of."""

from __future__ import annotations

import pytest

from crowdcore.data import Kind
from crowdcore.method import Method
from tests.conformance.suites import CASES, SUITES, Suite


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test every method, or those of its module's `KIND`."""
    if "case" not in metafunc.fixturenames:
        return
    wanted = getattr(metafunc.module, "KIND", None)
    cases = [(kind, method) for kind, method in CASES if wanted in (None, kind)]
    promise = metafunc.function.__name__.removeprefix("test_")
    params = [
        pytest.param((kind, method), id=_name(kind, method), marks=_marks(promise, method))
        for kind, method in cases
    ]
    metafunc.parametrize("case", params)


def _name(kind: Kind, method: Method) -> str:
    return method.id if kind == "classes" else f"{kind}-{method.id}"


def _marks(promise: str, method: Method) -> list[pytest.MarkDecorator]:
    return [
        pytest.mark.xfail(reason=reason, strict=True)
        for excused, reason in method.excuses.items()
        if promise.startswith(excused)
    ]


@pytest.fixture
def kind(case: tuple[Kind, Method]) -> Kind:
    """The kind of labels that the method is tried on."""
    return case[0]


@pytest.fixture
def method(case: tuple[Kind, Method]) -> Method:
    """One method after the other."""
    return case[1]


@pytest.fixture
def suite(kind: Kind) -> Suite:
    """The crowds of the kind that the method is tried on."""
    return SUITES[kind]
