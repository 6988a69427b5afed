"""Items: which to look at, how good all are, and which classes are unclear."""

from __future__ import annotations

from dashboard import layout
from dashboard.items import audit, guideline, worklist

VIEWS = {
    "worklist": "Worklist",
    "audit": "Audit sample",
    "guideline": "Guideline problems",
}

run = layout.open_results("items")
view = layout.choose_view(VIEWS, key="items_view")
if view == "audit":
    audit.draw(run)
elif view == "guideline":
    guideline.draw(run)
else:
    worklist.draw(run)
