from __future__ import annotations

import numpy as np
import pytest

from crowdcore.bench import ranks
from crowdcore.data import DataError

# Ranks of four classifiers on fourteen data sets: Demšar (2006), "Statistical comparisons of
# classifiers over multiple data sets", Table 6.
DEMSAR = {
    "C4.5": [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
    "C4.5+m": [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
    "C4.5+cf": [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
    "C4.5+m+cf": [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
}


def test_the_textbook_example_has_the_numbers_of_the_textbook() -> None:
    found = ranks.compare(DEMSAR, higher_is_better=False)
    assert found.names == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert np.allclose(found.mean_ranks, [1.964, 2.000, 2.893, 3.143], atol=5e-4)
    assert found.n_blocks == 14
    # The book's 9.28 does not know of ties: 78 / 840 of what could vary is tied.
    assert found.statistic * (1 - 78 / 840) == pytest.approx(9.28, abs=0.005)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # At 5 % nothing is found although Friedman's test rejects, as the book says.
    assert found.p_value < 0.05
    assert found.groups == (found.names,)


def test_ranks_without_ties_agree_with_sums_by_hand() -> None:
    # Ranks 1, 2, 3 in each of four blocks: 12 / (4 * 3 * 4) * (4² + 8² + 12²) - 3 * 4 * 4 = 8.
    found = ranks.compare({"c": [1, 1, 1, 1], "a": [3, 3, 3, 3], "b": [2, 2, 2, 2]})
    assert found.names == ("a", "b", "c")
    assert found.mean_ranks.tolist() == [1, 2, 3]
    assert found.statistic == pytest.approx(8)
    assert found.p_value == pytest.approx(np.exp(-4))  # chi-square with two degrees of freedom
    # 2.343 is the book's critical value of three methods.
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(12 / 24), abs=1e-3)
    assert found.groups == (("a", "b"), ("b", "c"))
    assert np.allclose(found.pairwise, found.pairwise.T)
    assert np.allclose(np.diag(found.pairwise), 1)
    assert found.pairwise[0, 2] < 0.05 < found.pairwise[0, 1]


def test_ties_share_their_ranks_and_all_ties_tell_nothing() -> None:
    found = ranks.compare({"a": [2, 2], "b": [2, 1], "c": [1, 0]})
    assert found.mean_ranks.tolist() == [1.25, 1.75, 3]
    level = ranks.compare({name: [1, 1, 1] for name in "abc"})
    assert (level.statistic, level.p_value) == (0, 1)
    assert level.groups == (("a", "b", "c"),)


def test_the_p_value_of_a_pair_is_5_percent_at_the_critical_difference() -> None:
    found = ranks.compare(DEMSAR, higher_is_better=False)
    close = np.abs(found.mean_ranks[:, None] - found.mean_ranks) <= found.critical_difference
    assert ((found.pairwise >= 0.05) == close).all()


def test_the_table_has_letters_and_the_diagram_has_every_name() -> None:
    found = ranks.compare({"c": [1, 1, 1, 1], "a": [3, 3, 3, 3], "b": [2, 2, 2, 2]})
    table = found.table("A test")
    assert [row[0] for row in table.rows] == ["a", "b", "c"]
    assert [row[3] for row in table.rows] == ["a", "ab", "b"]
    assert "p = 0.0183" in table.notes[0]
    texts = [note.text for note in table.figure.layout.annotations]
    assert {"a (1.00)", "b (2.00)", "c (3.00)"} <= set(texts)
    bars = [one for one in table.figure.data if one.line.color == ranks.BAR]
    assert [list(one.x) for one in bars] == [[0.97, 2.03], [1.97, 3.03]]


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": [1], "b": [2]}, "at least 3 methods, not 2"),
        ({"a": [1, 2], "b": [2], "c": [1]}, "a score for each block"),
        ({"a": [], "b": [], "c": []}, "a score for each block"),
        ({"a": [1, 2], "b": [2, np.nan], "c": [1, 1]}, "score of b is missing"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(
    scores: dict[str, list[float]], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        ranks.compare(scores)
