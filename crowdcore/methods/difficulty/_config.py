"""Settings that the methods of this family share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import Field

from crowdcore.config import ClassifierConfig, GoldConfig


class JointConfig(ClassifierConfig, GoldConfig):
    """Settings of a method that fits a classifier and the workers together, by EM."""

    excuses: ClassVar[Mapping[str, str]] = MappingProxyType({})  # Newton's method draws nothing

    classifier: Literal["logistic", "network"] = Field(
        "logistic",
        description="What predicts the classes from the features: logistic regression, or a "
        "network, which all training settings are about.",
    )
    ridge: float = Field(
        1.0,
        gt=0,
        le=1e6,
        description="L2 penalty on the coefficients of the logistic regression.",
    )
    max_iter: int = Field(
        30, ge=1, le=10_000, description="Maximum number of EM iterations with logistic regression."
    )
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when the mean log-likelihood per label gains less."
    )
    smoothing: float = Field(
        0.1, gt=0, le=10, description="Labels of each class added to what each worker gave."
    )
