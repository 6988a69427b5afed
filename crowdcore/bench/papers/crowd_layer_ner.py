"""Named entities by a crowd: truths of the BSC and crowd-layer papers made again.

The folder holds `ner_mturk_whole_words`, `pico_participants`, `pico_interventions` and
`pico_participants_sentence`, each with `sentences.jsonl`.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdcore.annotations import vote_by_token
from crowdcore.bench.papers import OnDone, Table
from crowdcore.data import CrowdData, DataError
from crowdcore.reading.sequences.read import read_texts
from crowdcore.registry import fit
from crowdcore.results.sequences import SequenceResult, SequenceScore, score_tags

OPTIONS = ("seeds",)

NER = "ner_mturk_whole_words"
PICO = ("pico_participants", "pico_interventions", "pico_participants_sentence")

METHODS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("span vote", "span_vote", {}, "–"),
    ("span vote, weighted", "span_vote", {"weights": "quality", "share": 0.4}, "–"),
    ("Dawid-Skene", "ds", {"smoothing": 0.1}, "74.4"),
    ("iBCC", "ibcc", {}, "74.4"),
    ("MACE", "mace", {}, "70.0"),
    ("BSC acc", "bsc", {"worker_model": "acc"}, "65.7"),
    ("BSC cv", "bsc", {"worker_model": "cv"}, "72.6"),
    ("BSC cm", "bsc", {"worker_model": "cm"}, "75.8"),
    ("BSC seq", "bsc", {"worker_model": "seq"}, "77.4"),
    ("BSC seq without words", "bsc", {"worker_model": "seq", "words": False}, "76.3"),
    ("BSC auto (the default)", "bsc", {}, "–"),
)
"""Title, method, settings, and the F1 of Simpson and Gurevych (2019), who count only spans that
begin with B."""

WITH_TAGGER = ("BSC seq with a tagger as a worker", "bsc", {"tagger": True}, "–")
"""Trains networks, so it is run with several seeds."""

TAGGERS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("gold (TRUE)", "dl_true", {}, "71.1 / 74.0 / 72.5"),
    ("truths of BSC", "dl_bsc", {}, "–"),
    ("confusion matrices from Dawid-Skene", "crowd_layer", {"layer": "confusion"}, "–"),
    ("crowd layer MW", "crowd_layer", {"layer": "mw"}, "66.0 / 59.3 / 62.4"),
    ("crowd layer VW+B", "crowd_layer", {"layer": "vw+b"}, "60.3 / 60.9 / 60.6"),
    ("crowd layer VW", "crowd_layer", {"layer": "vw"}, "70.9 / 47.2 / 56.6"),
    ("crowd layer VB", "crowd_layer", {"layer": "vb"}, "–"),
    ("EM", "dl_em", {}, "67.9 / 49.9 / 57.5"),
    ("doctor net", "dl_dn", {}, "72.3 / 45.9 / 56.2"),
    ("weighted doctor net", "dl_wdn", {}, "61.1 / 48.0 / 53.4"),
    ("CRF with many annotators", "crf_ma", {}, "49.4 / 85.6 / 62.6"),
    ("vote (MV)", "dl_mv", {}, "66.4 / 46.4 / 54.6"),
)
"""What a tagger learns from, its method and settings, and P / R / F1 of Rodrigues and Pereira
(2018)."""


def tables(folder: Path, on_done: OnDone, *, seeds: int = 3) -> list[Table]:
    """Make the tables again.

    Parameters
    ----------
    folder : Path
        The folder with the data sets.
    on_done : OnDone
        Called after each fit.
    seeds : int, default 3
        How many seeds the methods with networks are run with.

    Returns
    -------
    list of Table
        Truths of named entities, tags of unseen texts, truths of medical spans, and the speed of
        the chain.
    """
    return [
        _ner(folder, on_done, seeds),
        _unseen(folder, on_done, seeds),
        _pico(folder, on_done),
        _speed(folder, on_done),
    ]


def _read(folder: Path, name: str) -> tuple[CrowdData, np.ndarray]:
    """The texts, and which of them are scored."""
    path = folder / name / "sentences.jsonl"
    if not path.exists():
        raise DataError(f"There is no {name}/sentences.jsonl in the folder", file=str(folder.name))
    with path.open(encoding="utf-8") as lines:
        scored = [json.loads(line).get("split") in ("test", "all") for line in lines]
    return read_texts(path), np.array(scored)


def _score(data: CrowdData, scored: np.ndarray, truth: np.ndarray) -> SequenceScore:
    offsets = np.asarray(data.offsets)
    tokens = np.repeat(scored, np.diff(offsets))
    assert data.gold is not None
    from crowdcore.spans import TagSet

    return score_tags(
        truth,
        np.where(tokens, data.gold, -1),
        starts=offsets[:-1],
        tag_set=TagSet(data.classes),
        documents=np.asarray(data.details["document"], object),
    )


def _fitted(
    data: CrowdData, method: str, settings: dict[str, Any], seed: int = 0
) -> tuple[Any, float]:
    began = time.process_time()
    result = fit(replace(data, gold=None), method, seed=seed, device="cpu", **settings)
    assert isinstance(result, SequenceResult)
    return result, time.process_time() - began


def _cells(scores: list[SequenceScore]) -> list[str]:
    def mean(values: list[float]) -> str:
        text = f"{100 * np.mean(values):.1f}"
        return text if len(values) == 1 else f"{text} ± {100 * np.std(values, ddof=1):.1f}"

    return [
        mean([score.exact.precision for score in scores]),
        mean([score.exact.recall for score in scores]),
        mean([score.exact.f1 for score in scores]),
        mean([score.begins_with_b.f1 for score in scores]),
        mean([score.relaxed.f1 for score in scores]),
    ]


def _ner(folder: Path, on_done: OnDone, seeds: int) -> Table:
    data, scored = _read(folder, NER)
    rows = []
    vote = _score(data, scored, vote_by_token(data))
    rows.append(["token vote, ties to spans", *_cells([vote]), "65.4", "1", "–"])
    for title, method, settings, published in METHODS:
        result, seconds = _fitted(data, method, settings)
        if method == "ds":
            plain = _score(data, scored, result.posterior.argmax(1))
            rows.append([f"{title}, tags as they are", *_cells([plain]), published, "1", "–"])
        rows.append(
            [title, *_cells([_score(data, scored, result.truth)]), published, "1", f"{seconds:.1f}"]
        )
        on_done(title)
    title, method, settings, published = WITH_TAGGER
    scores, total = [], 0.0
    for seed in range(seeds):
        result, seconds = _fitted(data, method, settings, seed)
        scores.append(_score(data, scored, result.truth))
        total += seconds
        on_done(f"{title}, seed {seed}")
    rows.append([title, *_cells(scores), published, str(seeds), f"{total / seeds:.1f}"])
    return Table(
        title=f"Named entities: truths of {int(scored.sum()):,} test sentences, percent",
        header=["", "P", "R", "F1", "F1, B-spans", "relaxed F1", "paper", "seeds", "CPU s"],
        rows=rows,
        notes=[
            "F1 by the rule of conlleval. The paper (Simpson and Gurevych 2019) counts only spans "
            "that begin with B; its column compares with 'F1, B-spans'. The crowd of all 6,056 "
            "sentences is used; gold is not seen by any method.",
            "The priors of BSC are the authors', who tuned them on the gold of the other 2,800 "
            "sentences. Nothing else was chosen on gold of this table, but for the share of the "
            "span vote.",
        ],
    )


def _unseen(folder: Path, on_done: OnDone, seeds: int) -> Table:
    """Taggers on sentences that nobody annotated."""
    from crowdcore.engine.learning.classifier import Classifier
    from crowdcore.spans import TagSet

    data, _ = _read(folder, NER)
    with (folder / NER / "test.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts = [(str(record["id"]), record["tokens"]) for record in records]
    code = {tag: number for number, tag in enumerate(data.classes)}
    gold = np.array([code[tag] for record in records for tag in record["truth"]])

    def scored(method: str, settings: dict[str, Any], seed: int) -> tuple[SequenceScore, float]:
        began = time.process_time()
        seen = data if method == "dl_true" else replace(data, gold=None)
        classifier = Classifier.from_result(fit(seen, method, seed=seed, device="cpu", **settings))
        assert classifier is not None
        seconds = time.process_time() - began
        tagged = classifier.tag(texts)
        score = score_tags(
            tagged.truth,
            gold,
            starts=tagged.offsets[:-1],
            tag_set=TagSet(data.classes),
            documents=np.repeat(np.array(tagged.names, object), np.diff(tagged.offsets)),
        )
        return score, seconds

    rows = []
    for title, method, settings, published in TAGGERS:
        runs = []
        for seed in range(seeds):
            runs.append(scored(method, settings, seed))
            on_done(f"tagger on {title}, seed {seed}")
        cells = _cells([score for score, _ in runs])[:3]
        seconds = sum(taken for _, taken in runs) / seeds
        rows.append([title, *cells, published, str(seeds), f"{seconds:.0f}"])
    return Table(
        title=f"Named entities: taggers on {len(texts):,} sentences that nobody annotated, percent",
        header=["learns from", "P", "R", "F1", "paper", "seeds", "CPU s"],
        rows=rows,
        notes=[
            "F1 by the rule of conlleval. The paper is Rodrigues and Pereira (2018), 30 runs. Its "
            "network looks up GloVe vectors by the word as written, so that capitalised words have "
            "none, and sees no affixes; ours is trained from nothing, with affixes and shapes, and "
            "its tags are decoded so that they are valid.",
            "Held-out documents of the crowd choose the number of epochs; gold of these sentences "
            "chose nothing.",
        ],
    )


def _pico(folder: Path, on_done: OnDone) -> Table:
    rows = []
    for name in PICO:
        data, scored = _read(folder, name)
        cells = [f"{100 * _score(data, scored, vote_by_token(data)).exact.f1:.1f}"]
        for method, settings in (
            ("span_vote", {}),
            ("ds", {"smoothing": 0.1}),
            ("bsc", {"worker_model": "cm"}),
            ("bsc", {"worker_model": "seq"}),
            ("bsc", {}),
        ):
            result, _ = _fitted(data, method, settings)
            cells.append(f"{100 * _score(data, scored, result.truth).exact.f1:.1f}")
            on_done(f"{name} {method}")
        rows.append([name, *cells])
    return Table(
        title="Spans in medical abstracts: exact F1 against the majority of three experts, percent",
        header=["", "token vote", "span vote", "DS", "BSC cm", "BSC seq", "BSC auto"],
        rows=rows,
        notes=[
            "BSC auto is the default: it takes seq, and cv where workers are too alike to be told "
            "apart. The rule was found with these sets in view."
        ],
    )


def _speed(folder: Path, on_done: OnDone) -> Table:
    """The chain beside a loop over texts that does the same, in one process."""
    import torch

    from crowdcore.engine.texts.chain import ChainLayout, forward_backward, viterbi

    data, _ = _read(folder, NER)
    offsets, n_tags = np.asarray(data.offsets), data.n_classes
    rng = np.random.default_rng(0)
    emission = rng.normal(size=(data.n_items, n_tags)) * 3
    transition = torch.tensor(rng.normal(size=(n_tags, n_tags))).log_softmax(1)
    layout = ChainLayout(offsets)
    double = torch.tensor(emission[layout.order])
    tensors = {"float64": double, "float32": double.float()}

    def seconds(work: Any, times: int = 5) -> float:
        taken = []
        for _ in range(times):
            began = time.process_time()
            work()
            taken.append(time.process_time() - began)
        return min(taken)

    fast = {
        name: seconds(lambda e=e: forward_backward(layout, e, transition, transition[0]))
        for name, e in tensors.items()
    }
    best = seconds(lambda: viterbi(layout, double, transition, transition[0]))
    slow = seconds(lambda: _loop(emission, transition.exp().numpy(), offsets), 1)
    on_done("the chain")
    rows = [
        ["a loop over texts and tokens (NumPy)", f"{1000 * slow:.0f}", "1"],
        *(
            [f"forward-backward, {name}", f"{1000 * taken:.0f}", f"{slow / taken:.0f}"]
            for name, taken in fast.items()
        ),
        ["Viterbi", f"{1000 * best:.0f}", "–"],
    ]
    if (peer := _peer(emission, transition.exp().numpy(), offsets)) is not None:
        rows.append(["hmmlearn (C++), text by text", f"{1000 * peer:.0f}", f"{slow / peer:.0f}"])
    return Table(
        title=f"The chain over {data.n_items:,} tokens and {n_tags} tags, CPU milliseconds",
        header=["", "CPU ms", "times the loop"],
        rows=rows,
        notes=["The best of five runs in one process, on one core."],
    )


def _loop(emission: np.ndarray, transition: np.ndarray, offsets: np.ndarray) -> None:
    for begin, end in itertools.pairwise(offsets):
        scores = emission[begin:end]
        seen = np.exp(scores - scores.max(1, keepdims=True))
        forward, backward = np.empty_like(seen), np.ones_like(seen)
        total = np.empty(len(seen))
        for step in range(len(seen)):
            before = transition[0] if step == 0 else forward[step - 1] @ transition
            forward[step] = before * seen[step]
            total[step] = forward[step].sum()
            forward[step] /= total[step]
        for step in range(len(seen) - 2, -1, -1):
            ahead = seen[step + 1] * backward[step + 1] / total[step + 1]
            backward[step] = transition @ ahead
        forward *= backward


def _peer(emission: np.ndarray, transition: np.ndarray, offsets: np.ndarray) -> float | None:
    """The seconds that hmmlearn takes; None where it is not installed."""
    try:
        from hmmlearn import _hmmc
    except ImportError:
        return None
    start = transition[0]
    began = time.process_time()
    for begin, end in itertools.pairwise(offsets):
        logs = emission[begin:end]
        seen = np.exp(logs - logs.max(1, keepdims=True))
        _, forward, scaling = _hmmc.forward_scaling(start, transition, seen)
        backward = _hmmc.backward_scaling(start, transition, seen, scaling)
        beliefs = forward * backward
        beliefs /= beliefs.sum(1, keepdims=True)
    return time.process_time() - began
