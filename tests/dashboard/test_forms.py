from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from streamlit.testing.v1 import AppTest

from crowdcore.config import Config
from dashboard.run.forms import bounds_of, label_of


class EveryKind(Config):
    """A field of each kind that a config may have."""

    flag: bool = Field(True, description="A flag.")
    choice: Literal["one", "two"] = Field("two", description="A choice.")
    whole: int = Field(3, gt=0, lt=10, description="A count.")
    real: float = Field(0.5, gt=0, le=1, description="A share.")
    no_limit: int = Field(5, description="Any number.")
    word: str = Field("a", description="A word.")
    maybe_whole: int | None = Field(None, ge=1, description="A count, or automatic.")
    maybe_real: float | None = Field(0.1, ge=0, description="A share, or automatic.")
    maybe_choice: Literal["x", "y"] | None = Field(None, description="A choice, or automatic.")


def draw_every_kind() -> None:
    import streamlit as st

    from dashboard.run.forms import config_form
    from tests.dashboard.test_forms import EveryKind

    st.session_state["found"] = config_form(EveryKind, key="form", values={"whole": 4})


def values_of(page: AppTest) -> dict[str, Any]:
    assert not page.exception
    found: dict[str, Any] = page.session_state["found"]
    return found


def test_every_kind_of_field_has_a_widget_that_starts_at_its_default() -> None:
    page = AppTest.from_function(draw_every_kind).run()
    assert values_of(page) == {**EveryKind.model_validate({}).model_dump(), "whole": 4}
    assert len(page.toggle) == 1
    assert len(page.selectbox) == 2
    assert len(page.number_input) == 5
    assert len(page.text_input) == 1


def test_a_widget_gives_what_was_typed_and_none_when_emptied() -> None:
    page = AppTest.from_function(draw_every_kind).run()
    page.number_input(key="form:maybe_whole").set_value(7)
    page.number_input(key="form:maybe_real").set_value(None)
    page.selectbox(key="form:maybe_choice").select("x")
    page.toggle(key="form:flag").set_value(False)
    found = values_of(page.run())
    assert found["maybe_whole"] == 7
    assert found["maybe_real"] is None
    assert found["maybe_choice"] == "x"
    assert found["flag"] is False
    assert EveryKind(**found).maybe_whole == 7


def test_open_bounds_become_the_nearest_number_inside() -> None:
    fields = EveryKind.model_fields
    assert bounds_of(fields["whole"], is_integer=True).low == 1
    assert bounds_of(fields["whole"], is_integer=True).high == 9
    low = bounds_of(fields["real"], is_integer=False).low
    assert low is not None
    assert 0 < low < 1e-300


def test_a_number_says_its_bounds_in_its_help() -> None:
    page = AppTest.from_function(draw_every_kind).run()
    assert page.number_input(key="form:real").help == "A share. (Above 0, at most 1.)"


def test_a_field_name_reads_like_words() -> None:
    assert label_of("max_iter") == "Max iterations"
    assert label_of("loglik") == "Log-likelihood"
