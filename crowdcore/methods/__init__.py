"""One file or folder per method, by family; the registry finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crowdcore.data import Kind

DEFAULTS: Mapping[Kind, str] = {
    "classes": "auto",
    "comparisons": "bayesian_bt",
    "ratings": "auto",
    "sequences": "bsc",
    "sets": "auto",
}
"""The id of the method that is used where nobody chooses one, by kind of labels."""

BASELINES: Mapping[Kind, str] = {
    "classes": "mv",
    "comparisons": "bradley_terry",
    "ratings": "mean",
    "sequences": "token_mv",
    "sets": "mv",
}
"""The id of the method that others are compared with, by kind of labels."""
