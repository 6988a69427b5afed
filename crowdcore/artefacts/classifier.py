"""Classifier: what was learnt about items' features, for items that nobody labelled."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Floats
from crowdcore.io.atomic import atomic

if TYPE_CHECKING:
    from crowdcore.io.recipe import FeatureRecipe
    from crowdcore.result import Result

NAME = "classifier"

FILE = "classifier.zip"
"""What a saved classifier is called in the folder of a run."""

FORMAT = 1
AT_ONCE = 4096
"""Items that are classified together."""

MOST_BYTES = 1 << 31
"""A part of a file that unpacks to more than this is not read."""

_WEIGHTS, _FACTS, _ARRAYS = "classifier.pt", "classifier.json", "arrays.npz"
_PREFIX = "parameters/"


@dataclass(frozen=True, kw_only=True, eq=False)
class Classifier:
    """A trained net, how its input was standardised, and how features are made of files."""

    description: dict[str, Any]  # net, classes, method, feature_shape
    mean: NDArray[Any]  # [D], or [C, 1, 1] of pictures
    scale: NDArray[Any]
    parameters: dict[str, NDArray[Any]]  # torch's state
    recipe: FeatureRecipe | None  # None where features came as finished numbers
    provenance: dict[str, Any]

    @classmethod
    def of(cls, result: Result) -> Classifier | None:
        """The classifier of a result, if its method trains one."""
        found = result.artefacts.get(NAME)
        if found is None:
            return None
        parameters = {
            name.removeprefix(_PREFIX): value
            for name, value in found.items()
            if name.startswith(_PREFIX)
        }
        return cls(
            description=found["description"],
            mean=found["mean"],
            scale=found["scale"],
            parameters=parameters,
            recipe=result.data.recipe,
            provenance=asdict(result.provenance),
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of the probabilities."""
        return tuple(self.description["classes"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one item's features."""
        return tuple(self.description["feature_shape"])

    def predict(self, features: NDArray[Any]) -> Floats:
        """The probabilities [n, K] of items with features [n, ...]."""
        import torch

        values = np.asarray(features, np.float32)
        self._check(values)
        net = self._net()
        parts = [np.empty((0, len(self.classes)))]
        for at in range(0, len(values), AT_ONCE):
            standard = (values[at : at + AT_ONCE] - self.mean) / self.scale
            with torch.no_grad():
                logits = net(torch.from_numpy(standard.astype(np.float32)))
            parts.append(torch.softmax(logits.double(), 1).numpy())
        return np.concatenate(parts)

    def save(self, path: str | Path) -> None:
        """Write a zip of weights, description and recipe; whole or not at all."""
        import torch

        state = {name: torch.tensor(value) for name, value in self.parameters.items()}
        weights, packed = io.BytesIO(), io.BytesIO()
        torch.save(state, weights)
        facts: dict[str, Any] = {
            "format": FORMAT,
            "description": self.description,
            "recipe": None,
            "provenance": self.provenance,
        }
        arrays: dict[str, Any] = {"mean": self.mean, "scale": self.scale}
        if self.recipe is not None:
            facts["recipe"], parts = self.recipe.pack()
            arrays |= {f"recipe_{name}": part for name, part in parts.items()}
        np.savez(packed, **arrays)
        with atomic(path) as temporary, ZipFile(temporary, "w") as archive:
            _add(archive, _FACTS, json.dumps(facts, indent=1).encode())
            _add(archive, _WEIGHTS, weights.getvalue())
            _add(archive, _ARRAYS, packed.getvalue())

    @classmethod
    def load(cls, source: str | Path | bytes) -> Classifier:
        """Read what `save` wrote; nothing in it is ever executed."""
        from crowdcore.io.source import load as load_bytes

        content = load_bytes(source)
        try:
            with ZipFile(io.BytesIO(content.all())) as archive:
                found = _unpack(archive)
            found.predict(np.zeros((1, *found.shape), np.float32))  # all parts fit together
        except Exception:  # a damaged or foreign file makes zipfile, numpy and torch raise anything
            raise DataError(
                "This is not a classifier that crowdcore can read",
                file=content.name,
                fix=f"Give the {FILE} of a run, as it was exported.",
            ) from None
        return found

    def _net(self) -> Any:
        """The net with its weights, ready to be asked."""
        import torch

        from crowdcore.engine.nets import build

        net = build(self.description["net"])
        net.load_state_dict({name: torch.tensor(one) for name, one in self.parameters.items()})
        return net.eval()

    def _check(self, values: NDArray[np.float32]) -> None:
        if values.shape[1:] != self.shape or not values.ndim:
            raise DataError(
                f"The classifier learnt from {spoken(self.shape)} an item, and these features "
                f"have {spoken(values.shape[1:])}",
                fix="Make the features as those that it was trained on.",
            )
        wrong = np.flatnonzero(~np.isfinite(values).all(tuple(range(1, values.ndim))))
        if len(wrong):
            raise DataError(
                "A feature is not a finite number",
                row=int(wrong[0]) + 1,
                fix="Fill in or remove missing values.",
            )


def parts(
    *,
    net: Mapping[str, Any],
    state: Mapping[str, Any],
    mean: Any,
    scale: Any,
    classes: tuple[str, ...],
    method: str,
) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`; `net` is what `nets.describe` gave."""
    description = {
        "net": dict(net),
        "classes": list(classes),
        "method": method,
        "feature_shape": list(net["shape"]),
    }
    parameters = {f"{_PREFIX}{name}": value for name, value in state.items()}
    return {"description": description, "mean": mean, "scale": scale, **parameters}


def spoken(shape: tuple[int, ...]) -> str:
    """The shape of an item's features in words."""
    if len(shape) == 1:
        return f"{shape[0]:,} number{'' if shape[0] == 1 else 's'}"
    return " × ".join(map(str, shape)) + " numbers" if shape else "no numbers"


def _add(archive: ZipFile, name: str, content: bytes) -> None:
    info = ZipInfo(name)
    info.external_attr = 0o644 << 16  # unpacked, it is a plain readable file
    archive.writestr(info, content)


def _unpack(archive: ZipFile) -> Classifier:
    import torch

    from crowdcore.io.recipe import FeatureRecipe

    facts = json.loads(_part(archive, _FACTS))
    state = torch.load(io.BytesIO(_part(archive, _WEIGHTS)), map_location="cpu", weights_only=True)
    with np.load(io.BytesIO(_part(archive, _ARRAYS)), allow_pickle=False) as file:
        arrays = dict(file)
    recipe = None
    if facts["recipe"] is not None:
        mine = {
            name.removeprefix("recipe_"): one
            for name, one in arrays.items()
            if name.startswith("recipe_")
        }
        recipe = FeatureRecipe.unpack(facts["recipe"], mine)
    found = Classifier(
        description=facts["description"],
        mean=arrays["mean"],
        scale=arrays["scale"],
        parameters={name: value.numpy() for name, value in state.items()},
        recipe=recipe,
        provenance=facts["provenance"],
    )
    if len(found.classes) != found.description["net"]["outputs"]:
        raise ValueError("a class without an output")
    return found


def _part(archive: ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError("a part is too large")
    return archive.read(name)
