"""Classifier: what was learnt about items' features, for items that nobody labelled."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.trained_network import CRF, TAGGER, NumberPredictions, TrainedNetwork
from crowdcore.atomic import atomic
from crowdcore.data import DataError, Floats
from crowdcore.results.sequences import TaggedTexts
from crowdcore.spans import TagSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.reading.features.recipe import FeatureRecipe
    from crowdcore.results.result import Result

FILE = "classifier.zip"
"""What a saved classifier is called in the folder of a run."""

FORMAT = 1
ITEMS_PER_CHUNK = 4096
"""Items that are classified together."""

MAX_MEMBER_BYTES = 1 << 31
"""A member of a zip that unpacks to more than this is not read."""

_WEIGHTS, _FACTS, _ARRAYS = "classifier.pt", "classifier.json", "arrays.npz"


@dataclass(frozen=True, kw_only=True, eq=False)
class Classifier:
    """A trained network, and how features are made of files."""

    network: TrainedNetwork
    recipe: FeatureRecipe | None  # None where features came as finished numbers
    provenance: dict[str, Any]

    @classmethod
    def from_result(cls, result: Result) -> Classifier | None:
        """Return the classifier of a result; None if its method leaves none.

        Parameters
        ----------
        result : Result
            Of a fit, or read from a workspace.
        """
        network = result.artefact(TrainedNetwork)
        if network is None:
            return None
        provenance = asdict(result.provenance)
        return cls(network=network, recipe=result.data.recipe, provenance=provenance)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of the probabilities; none where it tells numbers."""
        return tuple(self.network.description["classes"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one item's features."""
        return tuple(self.network.description["feature_shape"])

    @property
    def tells_numbers(self) -> bool:
        """Whether it learnt ratings, and tells numbers instead of classes."""
        return self.network.target is not None

    def predict(self, features: NDArray[Any]) -> Floats:
        """Classify items.

        Parameters
        ----------
        features : array [n, ...]
            Features of the items, made as those that the network was trained on.

        Returns
        -------
        array of float [n, K]
            Probabilities of the classes.

        Raises
        ------
        DataError
            If it tells numbers, or the features have another shape or are not finite.
        """
        if self.tells_numbers:
            raise DataError(
                "This run learnt ratings, and tells numbers instead of classes",
                fix="Ask for them with predict_numbers.",
            )
        outputs = self._outputs(features)
        shares = np.exp(outputs - outputs.max(1, keepdims=True, initial=-np.inf))
        probabilities: Floats = shares / shares.sum(1, keepdims=True)
        return probabilities

    def predict_numbers(self, features: NDArray[Any]) -> NumberPredictions:
        """Tell the ratings that items deserve.

        Parameters
        ----------
        features : array [n, ...]
            Features of the items, made as those that the network was trained on.

        Returns
        -------
        NumberPredictions
            Numbers, their standard errors, and 95 % intervals.

        Raises
        ------
        DataError
            If it tells classes, or the features have another shape or are not finite.
        """
        target = self.network.target
        if target is None:
            raise DataError(
                "This run learnt classes, and tells no numbers", fix="Ask for them with predict."
            )
        return target.read(self._outputs(features)[:, 0])

    def _outputs(self, features: NDArray[Any]) -> Floats:
        """What the network says of items [n, K]."""
        import torch

        values = np.asarray(features, np.float32)
        self._check(values)
        net = self._net()
        chunks = [np.empty((0, self.network.description["net"]["outputs"]))]
        for begin in range(0, len(values), ITEMS_PER_CHUNK):
            chunk = values[begin : begin + ITEMS_PER_CHUNK]
            standardised = (chunk - self.network.mean) / self.network.scale
            with torch.no_grad():
                outputs = net(torch.from_numpy(standardised.astype(np.float32)))
            chunks.append(outputs.double().numpy())
        return np.concatenate(chunks)

    @property
    def tags_texts(self) -> bool:
        """Whether it tags the tokens of texts, instead of classifying items."""
        return self.network.description["net"]["kind"] in (TAGGER, CRF)

    def tag(self, texts: Sequence[tuple[str, Sequence[str]]]) -> TaggedTexts:
        """Tag texts.

        Parameters
        ----------
        texts : sequence of (name, tokens)
            The texts, each with at least one token.

        Returns
        -------
        TaggedTexts
            With valid tags; the characters at which tokens begin are not known.

        Raises
        ------
        DataError
            If it classifies items.
        """
        from crowdcore.engine.texts.tagger import apply_to_texts, word_features
        from crowdcore.engine.texts.valid_tags import likeliest_valid_tags

        if not self.tags_texts:
            raise DataError("This classifier tags no texts", fix="Give it features of items.")
        tokens = tuple(token for _, words in texts for token in words)
        offsets = np.concatenate([[0], np.cumsum([len(words) for _, words in texts])])
        features = word_features(tokens, self.network.description["net"]["buckets"])
        net = self._net()
        scores = apply_to_texts(net, features, offsets).double()
        if self.network.description["net"]["kind"] == CRF:
            posterior, truth = net.beliefs(offsets, scores)
        else:
            posterior = scores.softmax(1)
            truth = likeliest_valid_tags(posterior, offsets, TagSet(self.classes))
        return TaggedTexts(
            names=tuple(name for name, _ in texts),
            tokens=tokens,
            starts=None,
            offsets=offsets,
            classes=self.classes,
            posterior=posterior.numpy(),
            truth=truth.numpy(),
        )

    def save(self, path: str | Path) -> None:
        """Write a zip of weights, description and recipe; whole or not at all."""
        import torch

        state = {name: torch.tensor(value) for name, value in self.network.parameters.items()}
        weights, packed = io.BytesIO(), io.BytesIO()
        torch.save(state, weights)
        facts: dict[str, Any] = {
            "format": FORMAT,
            "description": self.network.description,
            "recipe": None,
            "provenance": self.provenance,
        }
        arrays: dict[str, Any] = {"mean": self.network.mean, "scale": self.network.scale}
        if self.recipe is not None:
            facts["recipe"], recipe_arrays = self.recipe.pack()
            arrays |= {f"recipe_{name}": array for name, array in recipe_arrays.items()}
        np.savez(packed, **arrays)
        with atomic(path) as temporary, ZipFile(temporary, "w") as archive:
            _add(archive, _FACTS, json.dumps(facts, indent=1).encode())
            _add(archive, _WEIGHTS, weights.getvalue())
            _add(archive, _ARRAYS, packed.getvalue())

    @classmethod
    def load(cls, source: str | Path | bytes) -> Classifier:
        """Read what `save` wrote; nothing in it is ever executed.

        Parameters
        ----------
        source : path or bytes
            The file, or its content.

        Returns
        -------
        Classifier

        Raises
        ------
        DataError
            If it is not such a file.
        """
        from crowdcore.reading.parsing.source import load as load_bytes

        content = load_bytes(source)
        try:
            with ZipFile(io.BytesIO(content.all())) as archive:
                classifier = _unpack(archive)
            # Whether all members fit together.
            classifier._outputs(np.zeros((1, *classifier.shape), np.float32))
        except Exception:  # a damaged or foreign file makes zipfile, numpy and torch raise anything
            raise DataError(
                "This is not a classifier that crowdcore can read",
                file=content.name,
                fix=f"Give the {FILE} of a run, as it was exported.",
            ) from None
        return classifier

    def _net(self) -> Any:
        """The net with its weights, in evaluation mode."""
        import torch

        from crowdcore.engine.learning.networks import build
        from crowdcore.engine.texts.crf import LinearChain

        description = self.network.description["net"]
        if description["kind"] == CRF:
            net: Any = LinearChain(description["buckets"], description["outputs"])
        else:
            net = build(description)
        net.load_state_dict(
            {name: torch.tensor(array) for name, array in self.network.parameters.items()}
        )
        return net.eval()

    def _check(self, values: NDArray[np.float32]) -> None:
        if values.shape[1:] != self.shape or not values.ndim:
            raise DataError(
                f"The classifier learnt from {describe_shape(self.shape)} per item, and these "
                f"features have {describe_shape(values.shape[1:])}",
                fix="Make the features as those that it was trained on.",
            )
        wrong = np.flatnonzero(~np.isfinite(values).all(tuple(range(1, values.ndim))))
        if len(wrong):
            raise DataError(
                "A feature is not a finite number",
                row=int(wrong[0]) + 1,
                fix="Fill in or remove missing values.",
            )


def describe_shape(shape: tuple[int, ...]) -> str:
    """Return the shape of an item's features in words."""
    if len(shape) == 1:
        return f"{shape[0]:,} number{'' if shape[0] == 1 else 's'}"
    return " × ".join(map(str, shape)) + " numbers" if shape else "no numbers"


def _add(archive: ZipFile, name: str, content: bytes) -> None:
    info = ZipInfo(name)
    info.external_attr = 0o644 << 16  # unpacked, it is a plain readable file
    archive.writestr(info, content)


def _unpack(archive: ZipFile) -> Classifier:
    import torch

    from crowdcore.reading.features.recipe import FeatureRecipe

    facts = json.loads(_read_member(archive, _FACTS))
    state = torch.load(
        io.BytesIO(_read_member(archive, _WEIGHTS)), map_location="cpu", weights_only=True
    )
    with np.load(io.BytesIO(_read_member(archive, _ARRAYS)), allow_pickle=False) as file:
        arrays = dict(file)
    recipe = None
    if facts["recipe"] is not None:
        recipe_arrays = {
            name.removeprefix("recipe_"): array
            for name, array in arrays.items()
            if name.startswith("recipe_")
        }
        recipe = FeatureRecipe.unpack(facts["recipe"], recipe_arrays)
    network = TrainedNetwork(
        description=facts["description"],
        mean=arrays["mean"],
        scale=arrays["scale"],
        parameters={name: value.numpy() for name, value in state.items()},
    )
    classifier = Classifier(network=network, recipe=recipe, provenance=facts["provenance"])
    n_outputs = 1 if classifier.tells_numbers else len(classifier.classes)
    if n_outputs != network.description["net"]["outputs"]:
        raise ValueError("a class without an output")
    return classifier


def _read_member(archive: ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MAX_MEMBER_BYTES:
        raise ValueError("a member is too large")
    return archive.read(name)
