"""Make the sample projects anew: `python -m sample_data.make [FOLDER]`, from the project's root."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from crowdcore.simulation.classes import simulate
from crowdcore.simulation.comparisons import simulate_arena
from crowdcore.simulation.ratings import RatingCharacter, simulate_ratings
from crowdcore.simulation.sets import simulate_sets
from crowdcore.simulation.times import add_times
from sample_data.writing import describe, png, write, write_answers, write_long, write_workers

HERE = Path(__file__).parent

PRODUCTS = ["kettle", "lamp", "rucksack", "headset", "desk chair", "blender", "jacket", "router",
          "notebook", "speaker"]  # fmt: skip
MESSAGES = {
    "positive": [
        "The {} arrived a day early and works beautifully.",
        "Best {} I have owned, thank you!",
        "Your repair team fixed my {} in an hour. Impressive.",
        "I gave the {} to my sister and she loves it.",
        "Two years on, the {} still looks new.",
    ],
    "neutral": [
        "Does the {} come in green?",
        "I ordered the {} on Monday; the number is below.",
        "Please change the delivery address for the {}.",
        "Which adapter fits the {}?",
        "The {} is for my office, so I need an invoice.",
    ],
    "negative": [
        "The {} broke on the second day.",
        "Third time I write about the {} and nobody answers.",
        "The {} on the photo is not the {} in the box.",
        "I want my money back for this {}.",
        "The {} smells of plastic and the manual is useless.",
    ],
}
TOPICS = ["delivery", "payment", "refund", "quality", "size", "colour", "praise", "complaint"]
SPELLINGS = {
    "positive": ["Positive", "positive ", "postive", "POSITIVE"],
    "neutral": ["Neutral", "neutral ", "netural"],
    "negative": ["Negative", "negative ", "negativ", "NEGATIVE"],
}


def make(folder: Path) -> None:
    """Write all projects below a folder."""
    make_arena(folder / "arena")
    make_digits(folder / "digits")
    make_relevance(folder / "relevance")
    make_verdicts(folder / "verdicts")
    make_tags(folder / "tags")
    make_wide(folder / "wide")
    make_quality(folder / "quality")


def make_digits(folder: Path) -> None:
    """600 handwritten digits with their pictures, read by a simulated crowd of 60."""
    from sklearn.datasets import load_digits

    images, target = load_digits(return_X_y=True)
    chosen = np.random.default_rng(7).choice(len(target), size=600, replace=False)
    images, target = images[chosen], target[chosen]
    crowd = simulate(
        truth=target, classes=10, workers=60, labels_per_item=5, experts=0.1, careless=0.25,
        spammers=0.12, adversaries=0.03, copiers=0.07, class_bias=0.1, hard_items=0.1,
        features=0, seed=11,
    )  # fmt: skip
    items = [f"d{number:03d}" for number in range(1, 601)]
    classes = [str(digit) for digit in range(10)]
    write_long(folder, crowd, items=items, classes=classes, gold_share=0.15)
    pictures = [[item, png(image)] for item, image in zip(items, images, strict=True)]
    write(folder / "items.csv", ["item", "image"], pictures)
    np.savez(folder / "features.npz", item=np.array(items), x=images.astype(np.float16))
    describe(
        folder,
        title="Handwritten digits",
        description="600 pictures of digits, five readings each by 60 simulated workers: experts, "
        "careless ones, spammers, two adversaries and four who copy.",
        labels="labels.csv",
        gold="gold.csv",
        features="features.npz",
        details="items.csv",
    )


def make_relevance(folder: Path) -> None:
    """384 pairs of a query and a document, judged by a simulated crowd of 40."""
    topics = json.loads((HERE / "topics.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(5)
    pairs: list[tuple[str, str, int]] = []
    for index, topic in enumerate(topics):
        neighbour = topics[index ^ 1]["documents"]  # bread and pizza, cats and dogs, …
        unrelated = [
            document
            for other_index, other_topic in enumerate(topics)
            if other_index // 2 != index // 2
            for document in other_topic["documents"]
        ]
        for query in topic["queries"]:
            irrelevant = [
                *rng.choice(neighbour, 3, replace=False),
                *rng.choice(unrelated, 4, replace=False),
            ]
            pairs += [(query, document, 1) for document in topic["documents"]]
            pairs += [(query, str(document), 0) for document in irrelevant]
    pairs = [pairs[index] for index in rng.permutation(len(pairs))]
    crowd = simulate(
        truth=[relevant for _, _, relevant in pairs], classes=2, workers=40, labels_per_item=4,
        careless=0.3, spammers=0.2, copiers=0.1, class_bias=0.1, hard_items=0.1, features=0,
        seed=23,
    )  # fmt: skip
    items = [f"p{number:03d}" for number in range(1, len(pairs) + 1)]
    classes = ["not relevant", "relevant"]
    write_long(folder, crowd, items=items, classes=classes, gold_share=0.1)
    texts = [[item, query, text] for item, (query, text, _) in zip(items, pairs, strict=True)]
    write(folder / "items.csv", ["item", "query", "document"], texts)
    describe(
        folder,
        title="Search relevance",
        description="384 pairs of a query and a document, four judgements each by 40 simulated "
        "workers, of whom eight are spammers and four copy from others.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details="items.csv",
    )


def make_verdicts(folder: Path) -> None:
    """480 road scenes (names only) with times, labelled by workers of every verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    crowd = simulate(
        items=480, workers=40, classes=3, labels_per_item=8, careless=0.2, spammers=0.1,
        adversaries=0.03, copiers=0.03, class_bias=0.1, features=0, seed=31,
    )  # fmt: skip
    may_change = np.isin(np.array(crowd.character), ["good", "expert"])
    may_change[crowd.copied_from[crowd.copied_from >= 0]] = False
    timed = add_times(crowd.data, may_change, drifting=0.05, hasty=0.05, patterns=0.03, seed=31)
    habits = np.array([habit or "" for habit in timed.habit])
    newcomer = int(np.flatnonzero(may_change & (habits == ""))[-1])
    data = timed.data
    assert data.time is not None
    own = np.flatnonzero(data.worker == newcomer)
    keep = np.ones(data.n_labels, bool)
    keep[own[np.argsort(data.time[own], kind="stable")][4:]] = False
    items = [f"s{number:03d}" for number in range(1, 481)]
    classes = ["no sign", "stop", "give way"]
    rows = [
        [
            items[data.item[row]],
            data.workers[data.worker[row]],
            classes[data.label[row]],
            datetime.fromtimestamp(data.time[row], UTC).strftime("%Y-%m-%d %H:%M:%S"),
        ]
        for row in np.argsort(data.time, kind="stable")
        if keep[row]
    ]
    write(folder / "labels.csv", ["item", "worker", "label", "time"], rows)
    write_answers(folder, items, [classes[code] for code in crowd.truth], gold_share=0.06)
    habits[newcomer] = "newcomer"
    named = [habit or character for habit, character in zip(habits, crowd.character, strict=True)]
    copied = [data.workers[code] if code >= 0 else "" for code in crowd.copied_from]
    people = zip(data.workers, named, copied, strict=True)
    write(folder / "workers.csv", ["worker", "character", "copied_from"], people)
    describe(
        folder,
        title="Every verdict",
        description="480 road scenes with times, labelled by 40 simulated workers of every kind: "
        "each verdict is given at least once. Require 70% on the Workers page to see who is weak.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details=None,
    )


def make_arena(folder: Path) -> None:
    """2,400 comparisons of 16 assistants by a simulated crowd of 30."""
    arena = simulate_arena(
        items=16, workers=30, comparisons=2400, spread=0.8, ties=0.4, sharp=0.1, blunt=0.1,
        sided=0.14, random=0.1, reversed=0.04, seed=11,
    )  # fmt: skip
    data, names = arena.data, [f"assistant {name}" for name in "ABCDEFGHIJKLMNOP"]
    folder.mkdir(parents=True, exist_ok=True)
    codes = zip(data.item, data.other, data.worker, data.label, strict=True)  # type: ignore[arg-type]
    rows = [[names[a], names[b], data.workers[w], data.classes[k]] for a, b, w, k in codes]
    write(folder / "labels.csv", ["left", "right", "worker", "label"], rows)
    scores = [f"{score:.3f}" for score in arena.scores]
    write_answers(folder, names, scores, gold_share=0.2)
    write(
        folder / "workers.csv", ["worker", "character"], zip(data.workers, arena.habit, strict=True)
    )
    describe(
        folder,
        title="Assistant arena",
        description="2,400 comparisons of 16 assistants by 30 simulated workers, of whom some "
        "prefer one side, answer blindly or the wrong way round.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details=None,
    )


def make_tags(folder: Path) -> None:
    """300 messages of which any number of eight topics may be ticked, by a crowd of 30."""
    crowd = simulate_sets(items=300, workers=30, labels_per_item=5, seed=17)
    data, names = crowd.data, np.array(TOPICS)
    items = [f"m{number:03d}" for number in range(1, data.n_items + 1)]
    folder.mkdir(parents=True, exist_ok=True)
    sets = [json.dumps(names[row].tolist()) for row in data.sets]  # type: ignore[union-attr]
    order = np.random.default_rng(1).permutation(data.n_labels)
    rows = [
        [items[i], data.workers[w], sets[k]]
        for i, w, k in zip(data.item[order], data.worker[order], data.label[order], strict=True)
    ]
    write(folder / "labels.csv", ["item", "worker", "label"], rows)
    truth = [json.dumps(names[row].tolist()) for row in crowd.truth]
    write_answers(folder, items, truth, gold_share=0.15)
    write(
        folder / "workers.csv",
        ["worker", "character"],
        zip(data.workers, crowd.ticker, strict=True),
    )
    describe(
        folder,
        title="Topics of messages",
        description="300 messages with any of eight topics ticked, five answers each by 30 "
        "simulated workers, some of whom tick too much, too little or blindly.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details=None,
    )


def make_wide(folder: Path) -> None:
    """150 messages in a spreadsheet with one column per worker, with all the flaws of its kind."""
    rng = np.random.default_rng(3)
    classes = list(MESSAGES)
    texts = [
        (text.replace("{}", product), code)
        for code, name in enumerate(classes)
        for text in MESSAGES[name]
        for product in PRODUCTS
    ]
    texts = [texts[index] for index in rng.permutation(len(texts))]
    crowd = simulate(
        truth=[code for _, code in texts], classes=3, workers=12, labels_per_item=6,
        careless=0.25, spammers=0.15, class_bias=0.1, hard_items=0.1, activity=0.4, features=0,
        seed=31,
    )  # fmt: skip
    sheet = np.full((len(texts), 12), "", dtype=object)
    data = crowd.data
    for item, worker, label in zip(data.item, data.worker, data.label, strict=True):
        sheet[item, worker] = _mistype(rng, classes[label])
    items = [f"m{number:03d}" for number in range(1, len(texts) + 1)]
    rows = [
        [item, text, *answers]
        for item, (text, _), answers in zip(items, texts, sheet.tolist(), strict=True)
    ]
    repeated = rng.choice(len(rows), size=9, replace=False)
    for index in sorted(int(row) for row in repeated[:5]):
        rows.append(list(rows[index]))
    for index in sorted(int(row) for row in repeated[5:]):
        rows.append(_change_one(rng, rows[index], classes))
    workers = [f"w{number:02d}" for number in range(1, 13)]
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "labels.csv", ["item", "message", *workers], rows)
    names = [classes[code] for _, code in texts]
    write_answers(folder, items, names, gold_share=0.2)
    write_workers(folder, crowd, workers)
    describe(
        folder,
        title="Customer messages, as a spreadsheet",
        description="150 messages in rows, 12 simulated workers in columns, with misspelt labels, "
        "repeated and contradicting rows and many blanks: what the health report is for.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details=None,
    )


def make_quality(folder: Path) -> None:
    """240 answers of a help desk, rated from 0 to 10 by a simulated crowd of 30."""
    shares: dict[RatingCharacter, float] = {
        "lenient": 0.1, "strict": 0.1, "narrow": 0.07, "noisy": 0.07, "random": 0.07,
        "one answer": 0.04, "inverted": 0.04,
    }  # fmt: skip
    crowd = simulate_ratings(
        items=240, workers=30, ratings_per_item=6, shares=shares, steps=20, seed=8
    )
    data = crowd.data
    folder.mkdir(parents=True, exist_ok=True)
    items = [f"answer {number:03d}" for number in range(1, data.n_items + 1)]
    workers = [f"w{number:02d}" for number in range(1, data.n_workers + 1)]
    rows = zip(data.item, data.worker, data.label, strict=True)
    write(
        folder / "labels.csv",
        ["item", "worker", "rating"],
        ([items[item], workers[worker], f"{label:g}"] for item, worker, label in rows),
    )
    write_answers(folder, items, [f"{value:.2f}" for value in crowd.truth], 0.15)
    numbers = zip(
        workers, crowd.character, *(np.round(values, 3).tolist() for values in (
            crowd.bias, crowd.slope, crowd.noise)), strict=True
    )  # fmt: skip
    write(folder / "workers.csv", ["worker", "character", "bias", "slope", "noise"], numbers)
    describe(
        folder,
        title="Quality of answers, rated",
        description="240 answers of a help desk, each rated from 0 to 10 by six of 30 simulated "
        "workers: strict and lenient ones, some who use little of the scale, some who do not look.",
        labels="labels.csv",
        gold="gold.csv",
        features=None,
        details=None,
    )


def _mistype(rng: np.random.Generator, label: str) -> str:
    return str(rng.choice(SPELLINGS[label])) if rng.random() < 0.05 else label  # noqa: PLR2004


def _change_one(rng: np.random.Generator, row: list[Any], classes: Sequence[str]) -> list[Any]:
    """Repeat a row in which one worker has changed their mind."""
    changed = list(row)
    column = int(rng.choice([index for index in range(2, len(row)) if row[index] in classes]))
    changed[column] = str(rng.choice([name for name in classes if name != row[column]]))
    return changed


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
