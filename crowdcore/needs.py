"""Needs: what a method cannot do without, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from crowdcore.data import CrowdData, Kind

CLASSES_OR_TOKENS: frozenset[Kind] = frozenset({"classes", "sequences"})
"""The kinds of a method that takes tokens of texts as items by themselves."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a method cannot do without.

    Parameters
    ----------
    features
        Features of the items.
    gold
        Some known answers.
    two_classes
        Exactly two classes.
    kinds
        What the labels may be.
    """

    features: bool = False
    gold: bool = False
    two_classes: bool = False
    kinds: frozenset[Kind] = frozenset({"classes"})

    def unmet(self, data: CrowdData) -> list[str]:
        """Say in sentences why the method does not fit some data.

        Parameters
        ----------
        data
            The data, or the record of a data set: its sizes are enough.

        Returns
        -------
        list of str
            One sentence per unmet need.
        """
        sentences = []
        if data.kind not in self.kinds:
            kinds = " or ".join(sorted(self.kinds))
            sentences.append(f"It works on {kinds}; these data are {data.kind}.")
        if self.features and data.features is None:
            sentences.append("It needs item features; add a features file.")
        if self.gold and not data.n_gold:
            sentences.append("It needs gold answers; add a gold column or file.")
        if self.two_classes and data.n_classes != 2:  # noqa: PLR2004  (two is two)
            sentences.append(f"It needs exactly two classes; these data have {data.n_classes}.")
        return sentences

    def as_text(self) -> str:
        """Name the needs in a few words; "labels" where there are no others."""
        flags = [("features", self.features), ("gold", self.gold), ("2 classes", self.two_classes)]
        return ", ".join(name for name, needed in flags if needed) or "labels"
