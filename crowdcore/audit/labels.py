"""Labels to go on with: those that took part in a run, each beside the truth of its item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.data import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.result import Result


def clean_labels(result: Result) -> pd.DataFrame:
    """One row for each label that took part; those of excluded workers did not.

    Columns: item, worker, label, truth ("" if undecided), confidence, agrees (with the truth),
    and time where it is known.
    """
    import pandas as pd

    data = result.data
    truth = result.truth[data.item]
    names = (*data.classes, "")
    table: dict[str, Any] = {
        "item": _categories(data.item, data.items),
        "worker": _categories(data.worker, data.workers),
        "label": _categories(data.label, data.classes),
        "truth": _categories(np.where(truth == UNKNOWN, len(data.classes), truth), names),
        "confidence": result.confidence[data.item],
        "agrees": truth == data.label,
    }
    if data.time is not None:
        table["time"] = data.time
    return pd.DataFrame(table)


def _categories(codes: Any, names: tuple[str, ...]) -> pd.Categorical[str]:
    import pandas as pd

    return pd.Categorical.from_codes(codes.astype(np.int32), pd.Index(list(names), dtype="str"))
