"""Write the golden numbers of methods anew: `python -m tests.golden.renew ds fds`.

A changed golden file needs its reason in the commit that changes it.
"""

from __future__ import annotations

import json
import sys

from tests.conformance.suites import CASES, golden_numbers
from tests.crowds import GOLDEN

if __name__ == "__main__":
    for kind, method in CASES:
        if sys.argv[1:] and method.id not in sys.argv[1:]:
            continue
        path = GOLDEN / kind / f"{method.id}.json"
        path.write_text(json.dumps(golden_numbers(kind, method), indent=1) + "\n")
