"""Sets: alpha with MASI and Jaccard, workers' verdicts, items and classes."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.kinds import audit_of
from crowdcore.audit.sets.agreement import agreement
from crowdcore.audit.sets.answer_pairs import similarity
from crowdcore.audit.sets.classes import class_table, co_occurrence, confusable
from crowdcore.building import sets_of
from crowdcore.registry import fit
from crowdcore.simulation.sets import simulate_sets


def test_masi_and_jaccard_of_the_papers_cases() -> None:
    """Passonneau 2006: 1 for equal, 2/3 for nested, 1/3 for overlapping, 0 for disjoint sets."""
    sets = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool)
    first, second = np.array([0, 0, 0, 0, 4, 4]), np.array([0, 1, 2, 3, 4, 0])
    jaccard = similarity(sets, first, second, "jaccard")
    np.testing.assert_allclose(jaccard, [1, 2 / 3, 1 / 3, 0, 1, 0])
    masi = similarity(sets, first, second, "masi")
    np.testing.assert_allclose(masi, [1, 4 / 9, 1 / 9, 0, 1, 0])


def brute_alpha(rows: list[tuple[str, str, list[str]]], distance: str) -> float:
    """Krippendorff's alpha by its definition, over all pairs of values."""
    units: dict[str, list[frozenset[str]]] = {}
    for item, _, answer in rows:
        units.setdefault(item, []).append(frozenset(answer))

    def away(a: frozenset[str], b: frozenset[str]) -> float:
        if not a | b:
            return 0.0
        share = len(a & b) / len(a | b)
        if distance == "masi" and a != b:
            share *= 2 / 3 if a <= b or b <= a else 1 / 3
        return 1 - share if a & b else 1.0

    units = {item: answers for item, answers in units.items() if len(answers) > 1}
    values = [answer for answers in units.values() for answer in answers]
    observed = sum(
        away(a, b) / (len(answers) - 1)
        for answers in units.values()
        for i, a in enumerate(answers)
        for j, b in enumerate(answers)
        if i != j
    ) / len(values)
    expected = sum(
        away(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j
    ) / (len(values) * (len(values) - 1))
    return 1 - observed / expected


def test_alpha_is_krippendorffs_by_definition() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"i{i}", f"w{w}", [c for c in "abcd" if rng.random() < 0.4 + 0.2 * (i % 2)])
        for i in range(12)
        for w in range(1 + i % 4)
    ]
    found = agreement(sets_of(rows))
    assert found.alpha == pytest.approx(brute_alpha(rows, "masi"), abs=1e-9)
    assert found.jaccard_alpha == pytest.approx(brute_alpha(rows, "jaccard"), abs=1e-9)
    assert found.interval is not None
    assert found.alpha is not None
    assert found.interval[0] < found.alpha < found.interval[1]


def test_alpha_that_is_not_defined_says_why() -> None:
    assert "No item" in agreement(sets_of([("i", "w", ["a"]), ("j", "v", ["b"])])).describe()
    same = agreement(sets_of([("i", "w", ["a"]), ("i", "v", ["a"])]))
    assert same.alpha is None
    assert "the same" in same.describe()


@pytest.fixture(scope="module")
def crowd() -> tuple[object, object]:
    simulated = simulate_sets(items=500, workers=40, too_much=0.1, too_little=0.1, seed=1)
    return simulated, fit(simulated.data, "hds")


def test_verdicts_find_each_kind_of_worker(crowd) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    simulated, result = crowd
    table = result.workers()
    by_kind = table.groupby(np.array(simulated.ticker))["verdict"].agg(list)
    for kind in ("ticks too much", "ticks too little", "random", "one answer"):
        hits = [verdict == kind for verdict in by_kind[kind]]
        assert np.mean(hits) >= 0.75, (kind, by_kind[kind])
    assert set(by_kind["careful"]) == {"good"}
    assert table["evidence"].str.len().min() > 10


def test_careful_workers_with_few_answers_are_not_accused() -> None:
    accused = 0
    for seed in range(5):
        simulated = simulate_sets(
            items=60, workers=40, labels_per_item=4, too_much=0, too_little=0, random=0,
            one_answer=0, seed=seed,
        )  # fmt: skip
        table = fit(simulated.data, "mv").workers()
        accused += int(table["verdict"].isin(audit_of("sets").in_doubt).sum())
    assert accused <= 3  # of 200


def test_tables_of_items_workers_and_labels_have_their_columns(crowd) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    _, result = crowd
    audit = audit_of("sets")
    truths = result.truths()
    assert truths["truth"].str.startswith("[").all()
    np.testing.assert_array_equal(truths["is:c1"], result.truth[:, 0])
    np.testing.assert_allclose(truths["p:c1"], result.probability[:, 0])
    items = audit.compare_items(result)
    assert items["right"].isin([0, 1]).all()
    assert {"recall:c1", "precision:c1", "given:c1"} <= set(result.workers().columns)


def test_companions_are_shown_as_going_together(crowd) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    _, result = crowd
    together = co_occurrence(result)
    pairs = set(zip(together["first"][:4], together["second"][:4], strict=True))
    assert {("c1", "c2"), ("c3", "c4"), ("c5", "c6"), ("c7", "c8")} == pairs
    assert (together["lift"][:4] > 1.3).all()
    assert class_table(result)["found"].between(0.5, 1).all()


def test_a_class_that_is_taken_for_another_is_shown() -> None:
    rows = [(f"i{i}", f"w{w}", ["cat"] if w else ["lynx"]) for i in range(10) for w in range(4)]
    mixed = confusable(fit(sets_of(rows), "mv"))
    assert mixed.iloc[0][["missed", "ticked_instead", "n_answers"]].tolist() == ["cat", "lynx", 10]
