"""Write the golden numbers of methods anew: `python -m tests.golden.renew ds fds`.

A changed golden file needs its reason in the commit that changes it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crowdcore.registry import fit, methods
from tests.crowds import GOLDEN, golden_crowd


def numbers(name: str) -> dict[str, Any]:
    """Accuracy, ties and the first posteriors of a method on the committed crowd."""
    result = fit(golden_crowd(), name, **dict(methods()[name].quick))
    score = result.score()
    assert score is not None
    return {
        "correct": score.correct,
        "of": score.n,
        "tied": int(result.tied.sum()),
        "posterior": [[round(float(p), 6) for p in row] for row in result.posterior[:6]],
    }


if __name__ == "__main__":
    for method in sys.argv[1:] or methods():
        path = GOLDEN / f"{method}.json"
        path.write_text(json.dumps(numbers(method), indent=1) + "\n")
