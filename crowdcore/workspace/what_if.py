"""Runs side by side, and previews of what a decision would change."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdcore.data import DataError
from crowdcore.workspace import data_files
from crowdcore.workspace.desk import Desk
from crowdcore.workspace.disk import writing
from crowdcore.workspace.records import RunRow

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.comparison import Comparison


class WhatIf(Desk):
    """Trying a decision before it is made, and comparing runs."""

    def preview(self, run_id: str, *, exclude: Sequence[str]) -> RunRow:
        """Try what leaving out some workers would change, before anything is decided.

        The run is listed nowhere. Compare it with the other one when it is done; the next preview
        of the project, or `discard_previews`, removes it.

        Parameters
        ----------
        run_id : str
            A finished run, which the preview begins from.
        exclude : sequence of str
            Names of workers to leave out, beside those that the run leaves out and those that are
            to be left out by decision.

        Returns
        -------
        RunRow
            The preview, as it waits.

        Raises
        ------
        DataError
            Something that was asked for cannot be done.
        StorageError
            The disk is full, read-only or failing.
        """
        row = self._finished(run_id)
        self.discard_previews(row.project_id)
        return self.queue(
            row.dataset_id,
            row.method,
            params=row.params,
            seed=row.seed,
            device=row.device,
            excluded=[*row.excluded, *exclude],
            warm_from=row.id,
            complete=row.complete,
            complete_params=row.complete_params,
            decisions=self.standing(row.project_id, row.dataset_id).changing_data,
            preview=True,
        )

    def discard_previews(self, project_id: str) -> None:
        """Remove the previews of a project; one that works is stopped, and goes with the next call.

        Parameters
        ----------
        project_id : str
            The project.

        Raises
        ------
        StorageError
            The disk is full, read-only or failing.
        """
        rows = self._rows("SELECT * FROM run WHERE project_id = ? AND preview", project_id)
        for row in map(RunRow.from_row, rows):
            if row.active:
                self.cancel(row.id)
        with writing(self.root, "The removal"), self.catalogue.write() as db:
            ended = "project_id = ? AND preview AND status NOT IN ('queued', 'running')"
            gone = db.execute(f"DELETE FROM run WHERE {ended} RETURNING id", [project_id])
            ids = [row["id"] for row in gone.fetchall()]
        for preview_id in ids:
            shutil.rmtree(self.run_folder(preview_id), ignore_errors=True)

    def compare(self, before_id: str, after_id: str) -> Comparison:
        """Set two finished runs of a project side by side.

        Decided truths that neither run used count as gold. A preview does not judge workers, so
        that their verdicts stay those of the other run.

        Parameters
        ----------
        before_id, after_id : str
            The earlier and the later run.

        Returns
        -------
        Comparison
            What differs, and which is better where there is gold.

        Raises
        ------
        DataError
            The runs are of different projects, or share no item.
        DamagedError
            Files of a result are missing or changed.
        """
        from crowdcore.audit.comparison import RunTables, compare

        before, after = self._finished(before_id), self._finished(after_id)
        if before.project_id != after.project_id:
            raise DataError("The two runs are of different projects")
        used = {made.id for made in (*before.decisions, *after.decisions)}
        decided = self.standing(after.project_id, after.dataset_id).truths
        unseen = {item: made.value for item, made in decided.items() if made.id not in used}
        tables = [
            RunTables(
                truths=self.truths(row.id, probabilities=False),
                workers=self.workers(before.id if row.preview else row.id),
                facts=self.provenance(row.id),
                gold=self._gold(row.dataset_id, unseen),
            )
            for row in (before, after)
        ]
        return compare(tables[0], tables[1])

    def against_decisions(self, run_id: str) -> tuple[int, int]:
        """Compare a run with the truths that people decided and that it was not given.

        Parameters
        ----------
        run_id : str
            A finished run.

        Returns
        -------
        n_right, n
            How many of the truths are as decided, and how many were decided.

        Raises
        ------
        DamagedError
            Files of the result are missing or changed.
        """
        row = self._finished(run_id)
        used = {made.id for made in row.decisions}
        decided = self.standing(row.project_id, row.dataset_id).truths
        unseen = {item: made.value for item, made in decided.items() if made.id not in used}
        if not unseen:
            return 0, 0
        truths = self.truths(row.id, probabilities=False).set_index("item")["truth"]
        known = truths[truths.index.isin(list(unseen))].astype(str)
        return sum(known[item] == unseen[item] for item in known.index), len(known)

    def _gold(self, dataset_id: str, decided: Mapping[str, str]) -> pd.Series[Any] | None:
        """Known answers by item, with those that people decided; None where there are none."""
        with self._intact(self.dataset(dataset_id), ["items.parquet", "data.json"]):
            gold = data_files.read_gold(self._data_folder(dataset_id))
        if gold is None and not decided:
            return None
        import pandas as pd

        names = pd.Series(dict(decided), dtype="object")
        if gold is None:
            return names
        return names.combine_first(gold) if gold.dtype == object else gold
