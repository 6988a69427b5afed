"""Write the golden numbers of methods anew: `python -m tests.golden.renew ds fds`.

A changed golden file needs its reason in the commit that changes it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crowdcore.registry import get_method, methods
from tests.crowds import GOLDEN, golden_crowd, unseen, with_some_gold


def numbers(name: str) -> dict[str, Any]:
    """Accuracy, ties and the first posteriors of a method on the committed crowd."""
    method = get_method(name)
    data = golden_crowd(2 if method.needs.two_classes else 3)
    result = method.fit(with_some_gold(data) if method.needs.gold else data, **method.quick)
    assert data.gold is not None
    judged = unseen(result)
    return {
        "correct": int((result.truth == data.gold)[judged].sum()),
        "of": int(judged.sum()),
        "tied": int(result.tied.sum()),
        "posterior": [[round(float(p), 6) for p in row] for row in result.posterior[:6]],
    }


if __name__ == "__main__":
    for method in sys.argv[1:] or methods():
        path = GOLDEN / f"{method}.json"
        path.write_text(json.dumps(numbers(method), indent=1) + "\n")
