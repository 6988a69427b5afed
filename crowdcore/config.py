"""Config: the settings of a method as typed fields, and the groups that methods share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class Config(BaseModel):
    """Settings of a method. Every field has bounds, a default and a description."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    excuses: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Promises that methods with these settings cannot keep: promise -> reason."""

    container_settings: ClassVar[tuple[str, ...]] = ()
    """Settings that the container of the labels needs to know."""


class TruthConfig(Config):
    """Settings of every method that infers truths."""

    calibrate: Literal["off", "crowds", "labels", "gold"] = Field(
        "off",
        description="Let probabilities say how often truths like these were right among simulated "
        "crowds; or soften or sharpen them so that they fit labels that were held out, or the "
        "gold. The truths stay.",
    )


class GoldConfig(TruthConfig):
    """Settings of a method that can learn from gold answers."""

    use_gold: bool = Field(
        False,
        description="Hold the items with gold at their known answer, so that workers are judged "
        "by them. The result can then no longer be scored on these items.",
    )


class LearningConfig(Config):
    """Settings of a method that trains a network by mini-batches."""

    excuses: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"renaming": "The network's weights and mini-batches are drawn, and follow the codes."}
    )

    epochs: int = Field(100, ge=1, le=20_000, description="Most passes over what is learnt from.")
    batch: int = Field(64, ge=1, le=1_000_000, description="Rows that make one step.")
    rate: float = Field(1e-3, gt=0, le=1, description="Learning rate of Adam.")
    decay: float = Field(0.0, ge=0, le=1, description="Weight decay.")
    held_out: float = Field(
        0.2, ge=0, le=0.5, description="Share held out to choose when to stop; 0 never stops early."
    )
    patience: int = Field(
        10, ge=1, le=1000, description="Epochs without gain on what is held out before stopping."
    )
    refit: bool = Field(
        True,
        description="Train anew on everything, for as many epochs as were best with some held out.",
    )


class ClassifierConfig(LearningConfig, TruthConfig):
    """Settings of a method that trains a net from the items' features to their classes."""

    hidden: int = Field(
        128, ge=0, le=4096, description="Units in the hidden layer; 0 makes the net linear."
    )
    dropout: float = Field(
        0.5, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )


class TaggerConfig(LearningConfig):
    """Settings of a method that trains a network from the words of texts to tags."""

    excuses: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "other_names": "The network's weights and mini-batches are drawn, and follow the "
            "codes.",
            "fake_cuda": "Texts are laid end to end on the host, which shapes alone cannot tell.",
        }
    )

    epochs: int = Field(30, ge=1, le=20_000, description="Most passes over the texts.")
    batch: int = Field(48, ge=1, le=1_000_000, description="Texts that make one step.")
    rate: float = Field(3e-3, gt=0, le=1, description="Learning rate of Adam.")
    held_out: float = Field(
        0.2,
        ge=0,
        le=0.5,
        description="Share of the documents held out to choose when to stop; 0 never stops early.",
    )
    patience: int = Field(
        2, ge=1, le=1000, description="Epochs without gain on what is held out before stopping."
    )
    width: int = Field(
        64, ge=1, le=4096, description="Size of the words' embeddings and of the hidden state."
    )
    dropout: float = Field(
        0.4, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )


class ExpertsConfig(LearningConfig):
    """Settings of a method that trains a mixture of experts to predict each worker's labels."""

    epochs: int = Field(200, ge=1, le=20_000, description="Most passes over the labels.")
    architecture: Literal["auto", "labelme", "text", "music"] = Field(
        "auto",
        description="How many experts of what size: fitting the number of workers, or as the paper "
        "has it for one of its data sets.",
    )
    members: int = Field(
        5, ge=1, le=50, description="Models that begin differently and whose answers are averaged."
    )
    dropout: float = Field(
        0.5, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )


class RatingConfig(Config):
    """Settings of every method that infers truths from ratings."""

    container_settings: ClassVar[tuple[str, ...]] = ("scale",)

    scale: Literal["linear", "log"] = Field(
        "linear",
        description="Work on the ratings as they are, or on their logarithms: for counts, prices "
        "and the like, whose errors grow with the value. All ratings must then be above 0.",
    )
    calibrate: Literal["off", "gold"] = Field(
        "off",
        description="Move and stretch the truths so that they fit the gold, if that predicts "
        "gold items that were left out better. No rating can tell the level and the range of the "
        "truths. The result can then no longer be scored on the gold.",
    )


class RegressorConfig(LearningConfig, RatingConfig):
    """Settings of a method that trains a net from the items' features to their ratings."""

    decay: float = Field(1.0, ge=0, le=1, description="Weight decay.")
    hidden: int = Field(
        128, ge=0, le=4096, description="Units in the hidden layer; 0 makes the net linear."
    )
    dropout: float = Field(
        0.5, ge=0, le=0.95, description="Share of the hidden units that are silenced in a step."
    )
