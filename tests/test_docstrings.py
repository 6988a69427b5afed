"""What `import crowdcore` gives is documented: parameters, what comes back, what is raised."""

from __future__ import annotations

import ast
import doctest
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest
from numpydoc.docscrape import FunctionDoc

import crowdcore

PUBLIC = [getattr(crowdcore, name) for name in crowdcore.__all__]


def methods_of(cls: type) -> Iterator[FunctionType]:
    """The public methods that a class itself defines; properties explain themselves."""
    for name, value in vars(cls).items():
        method = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(method, FunctionType) and not name.startswith("_"):
            yield method


def functions() -> Iterator[FunctionType]:
    for value in PUBLIC:
        yield from methods_of(value) if inspect.isclass(value) else [value]


def sections(doc: str | None) -> Any:
    """The sections of a docstring by name, each a list of entries."""
    return FunctionDoc(None, doc=inspect.cleandoc(doc or ""))


def documented(doc: str | None) -> set[str]:
    """The names that a docstring explains under Parameters."""
    names = [name for entry in sections(doc)["Parameters"] for name in entry.name.split(",")]
    return {name.strip().lstrip("*\\") for name in names}


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def raises(function: FunctionType) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree))


@pytest.mark.parametrize("function", [*functions()], ids=lambda function: function.__qualname__)
def test_functions_document_parameters_returns_and_raises(function: FunctionType) -> None:
    doc = sections(function.__doc__)
    assert documented(function.__doc__) == parameters(function)
    returns = inspect.signature(function).return_annotation != "None"
    assert bool(doc["Returns"] or doc["Yields"]) == returns
    assert doc["Raises"] or not raises(function)


@pytest.mark.parametrize(
    "cls", [value for value in PUBLIC if inspect.isclass(value)], ids=lambda cls: cls.__name__
)
def test_classes_document_what_they_are_made_of(cls: type) -> None:
    own = vars(cls).get("__init__")
    expected = parameters(own) if own is not None else set()
    assert documented(cls.__doc__) == expected
    for name, value in vars(cls).items():
        if isinstance(value, property) and not name.startswith("_"):
            assert (value.__doc__ or "").strip().endswith("."), name


@pytest.mark.parametrize("name", crowdcore.__all__)
def test_examples_say_what_happens(name: str) -> None:
    value = getattr(crowdcore, name)
    module = inspect.getmodule(value)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for example in finder.find(value, name, module=module):
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
