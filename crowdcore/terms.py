"""The terms that pages and files use, each in a sentence."""

from __future__ import annotations

TERMS = {
    "item": "What was labelled: an image, a sentence, a pair to compare.",
    "worker": "A person who labelled items.",
    "label": "What one worker said of one item.",
    "truth": "The answer of an item as inferred from all labels; it can be wrong.",
    "gold": "An answer that you know for certain, usually for a few items.",
    "confidence": "How probable a method takes its truth to be; a method can be sure and wrong.",
    "posterior": "The probabilities of all classes of an item after its labels were seen; the "
    "largest is the confidence.",
    "prior": "What is taken to be probable before any label is seen.",
    "tie": "Two classes that are equally likely: the truth is then a matter of a rule.",
    "calibrated": "Confidences that mean what they say: of truths with 80%, about 80% are right.",
    "expected accuracy": "How many truths are probably right, as far as other crowds can tell; a "
    "check of items drawn at random tells it better.",
    "95% interval": "Where the number probably lies: of a hundred such intervals about 95 hold it.",
    "alpha": "Krippendorff's alpha: how far workers agree beyond chance; 1 is always, 0 is chance.",
    "AC1": "Gwet's agreement beyond chance, which does not fall because one class is common.",
    "F1": "The mean of how many found spans are right and how many right spans are found.",
    "RMSE": "The root of the mean squared distance of truths from gold, in units of the ratings.",
    "confusion matrix": "How often a worker gives each class where each class is the truth.",
    "verdict": "What the labels of a worker look like, with how sure that is; a statement about "
    "labels, not about a person.",
    "in doubt": "A verdict that speaks against a worker; undecided is not one.",
    "p-value": "How often chance alone would make a difference at least so large.",
    "seed": "The number from which all chance of a run is drawn: the same seed, the same result.",
    "warm start": "A fit that begins from an earlier result, and so ends sooner.",
    "pool": "Several methods fitted together, whose truths are combined; each is a member.",
    "attention": "The weights by which a method looks from one worker or item to others; weights "
    "are not reasons.",
    "embedding": "A place in space for every worker or item; what is near is alike to the method.",
    "oracle": "The mixture of experts that a method takes for the truth; not a person.",
    "expert": "A way of answering that workers share to different degrees.",
    "completion": "Filling in what workers would probably have said of items they did not see.",
    "epoch": "One pass of training over all labels.",
    "log-likelihood": "How probable the labels are under what was fitted; it grows as a fit "
    "improves.",
}
"""What each term means."""
