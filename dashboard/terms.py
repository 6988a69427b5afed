"""Which terms a page explains on hover."""

from __future__ import annotations

from crowdcore.terms import TERMS

TERMS_OF_PAGE = {
    "overview": ("truth", "gold", "expected accuracy", "95% interval", "in doubt", "alpha"),
    "agreement": ("alpha", "AC1", "95% interval", "label", "worker"),
    "truths": (
        *("truth", "confidence", "posterior", "calibrated", "gold", "tie", "95% interval"),
        *("F1", "RMSE", "seed"),
    ),
    "workers": (
        *("verdict", "in doubt", "confusion matrix", "alpha", "95% interval", "gold", "seed"),
    ),
    "answers": ("pool", "gold", "expected accuracy", "seed"),
    "decisions": ("verdict", "gold", "warm start", "seed"),
    "compare": ("gold", "p-value", "95% interval", "confidence", "pool", "seed"),
    "attention": ("attention", "embedding", "verdict", "epoch", "seed"),
    "spectral": ("oracle", "expert", "embedding", "posterior", "calibrated", "seed"),
    "completion": ("completion", "embedding", "gold", "seed"),
    "export": ("truth", "confidence", "posterior", "seed"),
}
"""Terms of `crowdcore.terms`, by the name of the page."""


def explain(page: str) -> str | None:
    """Return a sentence for each term of a page, in Markdown; None where it has none."""
    lines = [f"- **{term}**: {TERMS[term]}" for term in TERMS_OF_PAGE.get(page, ())]
    return "\n".join(lines) or None
