"""Results and data as tables, one row an item or a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.result import Result


def truths_table(result: Result) -> pd.DataFrame:
    """One row an item: truth ("" where undecided), confidence, labels, tie, and `p:` columns.

    The method's own scores of the items, such as their difficulty, stand before the latter.
    """
    import pandas as pd

    data = result.data
    names = np.array([*data.classes, ""], dtype=object)
    frame = pd.DataFrame(
        {
            "item": list(data.items),
            "truth": names[np.where(result.truth == UNKNOWN, data.n_classes, result.truth)],
            "confidence": result.confidence,
            "n_labels": data.labels_per_item,
            "tied": result.tied,
            **result.item_scores,
        }
    )
    columns = [f"p:{name}" for name in data.classes]
    return pd.concat([frame, pd.DataFrame(result.posterior, columns=columns)], axis=1)


def labels_table(data: CrowdData) -> pd.DataFrame:
    """One row a label: item, worker and label by name, as categoricals (ratings as numbers)."""
    import pandas as pd

    columns: dict[str, Any] = {
        "item": pd.Categorical.from_codes(data.item, pd.Index(data.items)),
        "worker": pd.Categorical.from_codes(data.worker, pd.Index(data.workers)),
        "label": data.label,
    }
    if data.kind != "ratings":
        columns["label"] = pd.Categorical.from_codes(
            data.label.astype(np.int32), pd.Index(data.classes)
        )
    return pd.DataFrame(columns)
