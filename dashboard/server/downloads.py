"""Files of a run at a URL: they stream from disk, so a big one never sits in memory."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from crowdcore.data import DataError
from crowdcore.wording import file_stem

if TYPE_CHECKING:
    import pandas as pd
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from crowdcore.workspace import Workspace

Kind = Literal["truths", "posteriors", "workers", "labels"]
"""What a file holds: hard truths, truths with all probabilities, workers, cleaned labels."""

Format = Literal["csv", "csv-exact", "parquet", "jsonl"]

Completed = Literal["completed-long", "completed-wide"]
"""A completed matrix, one row per label or per item: written in chunks, never one table."""

Trained = Literal["classifier"]
Zip = Literal["zip"]
"""What is no table: the classifier that a run has trained, a file of its own."""

ZIP = "application/zip"

SERVED = "CROWDCORE_EXPORT_ROUTE"
"""Set by the launcher; `streamlit run dashboard/app.py` has no such route."""

_RUN_ID = re.compile(r"[0-9a-f]{4,64}")
_TYPES: dict[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/x-ndjson",
}


def export_url(run_id: str, kind: Kind | Completed | Trained, fmt: Format | Zip) -> str:
    """Return the address of a file of a run, on this server."""
    return f"/api/export/{run_id}/{kind}.{fmt}"


def available() -> bool:
    """Tell whether this server has the export route; offer a download button otherwise."""
    return SERVED in os.environ


def export_frame(workspace: Workspace, run_id: str, kind: Kind) -> pd.DataFrame:
    """Return the table behind an export; workers whom the run left out are in none."""
    if kind == "workers":
        workers = workspace.workers(run_id)
        return workers[~workers["worker"].isin(workspace.run(run_id).excluded)]
    if kind == "labels":
        from crowdcore.export.tables import labels

        return labels(workspace.load_result(run_id))
    return workspace.truths(run_id, probabilities=kind == "posteriors")


def completed_formats() -> list[Format]:
    """Return the formats that a completed matrix comes in."""
    return ["csv", "csv-exact", "parquet"]


def completed_bytes(workspace: Workspace, run_id: str, kind: Completed, fmt: Format) -> bytes:
    """Return a completed matrix as the bytes of a file, for a download that is not large."""
    path = _write_completed(workspace, run_id, kind, fmt)
    try:
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def file_name(
    workspace: Workspace, run_id: str, kind: Kind | Completed | Trained, fmt: Format | Zip
) -> str:
    """Name a file after its project, method, exclusions and run, in letters that travel."""
    row = workspace.run(run_id)
    names = [workspace.project(row.project_id).name, row.method, row.without, kind, run_id[:6]]
    return f"{file_stem(*names)}.{_extension(fmt)}"


def media_type(fmt: Format) -> str:
    """Return the media type of a format."""
    return _TYPES[_extension(fmt)]


def target_url(run_id: str, target_id: str, *, for_spreadsheets: bool) -> str:
    """Return the address of a run's files for another tool, on this server."""
    return f"/api/files/{run_id}/{target_id}" + ("?for_spreadsheets=1" if for_spreadsheets else "")


def write_target(
    workspace: Workspace, run_id: str, target_id: str, *, for_spreadsheets: bool
) -> tuple[Path, str]:
    """Write a run's files for another tool into one file, which lives as long as its download.

    Returns the file, and the name that it gets on the user's disk.
    """
    from dataclasses import replace

    from crowdcore.export.targets import checked_files, download_name, get_target, write_download

    run = replace(workspace.finished(run_id), for_spreadsheets=for_spreadsheets)
    files = checked_files(get_target(target_id), run)
    name = download_name(files, f"{run.name}-{target_id}")
    path = _new_file(workspace, Path(name).suffix.removeprefix("."))
    try:
        write_download(files, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, name


def target_bytes(
    workspace: Workspace, run_id: str, target_id: str, for_spreadsheets: bool
) -> bytes:
    """Return a run's files for another tool as bytes, where there is no route for them."""
    path, _ = write_target(workspace, run_id, target_id, for_spreadsheets=for_spreadsheets)
    try:
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def routes(workspace: Workspace) -> list[Route]:
    """Return the server's own routes."""
    from starlette.routing import Route

    def classifier(request: Request) -> Response:
        return _respond_classifier(workspace, request.path_params["run_id"])

    def export(request: Request) -> Response:
        return _respond(workspace, **request.path_params)

    def files(request: Request) -> Response:
        for_spreadsheets = request.query_params.get("for_spreadsheets") == "1"
        return _respond_files(workspace, **request.path_params, for_spreadsheets=for_spreadsheets)

    return [
        Route("/api/files/{run_id}/{target_id}", files, methods=["GET"]),
        Route("/api/export/{run_id}/classifier.zip", classifier, methods=["GET"]),
        Route("/api/export/{run_id}/{kind}.{fmt}", export, methods=["GET"]),
    ]


def classifier_path(workspace: Workspace, run_id: str) -> Path | None:
    """Return the file of the classifier that a run trained, if it trained one."""
    from crowdcore.workspace.run_states import classifier_file

    return classifier_file(workspace.run_folder(run_id))


def _respond_classifier(workspace: Workspace, run_id: str) -> Response:
    from starlette.responses import FileResponse, PlainTextResponse

    try:
        path = classifier_path(workspace, run_id)
        name = file_name(workspace, run_id, "classifier", "zip")
    except DataError:
        path = None
    if path is None:
        return PlainTextResponse("There is no such export.\n", status_code=404)
    return FileResponse(path, media_type=ZIP, filename=name)


def _respond_files(
    workspace: Workspace, *, run_id: str, target_id: str, for_spreadsheets: bool
) -> Response:
    from starlette.background import BackgroundTask
    from starlette.responses import FileResponse, PlainTextResponse

    try:
        if not _RUN_ID.fullmatch(run_id):
            raise DataError("There is no such run")
        path, name = write_target(workspace, run_id, target_id, for_spreadsheets=for_spreadsheets)
    except (DataError, KeyError, FileNotFoundError) as error:
        return PlainTextResponse(f"This export cannot be made. {error}\n", status_code=404)
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=name,
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


def _respond(workspace: Workspace, *, run_id: str, kind: Any, fmt: Any) -> Response:
    """Answer with a file; anything unknown is a 404 with a sentence."""
    from starlette.background import BackgroundTask
    from starlette.responses import FileResponse, PlainTextResponse

    completed = kind in get_args(Completed)
    formats = completed_formats() if completed else ()
    if kind in get_args(Kind):
        formats = get_args(Format)
    if not _RUN_ID.fullmatch(run_id) or fmt not in formats:
        return PlainTextResponse("There is no such export.\n", status_code=404)
    try:
        if workspace.run(run_id).status != "done":
            raise DataError("The run has not finished")
        name = file_name(workspace, run_id, kind, fmt)
        if completed:
            path = _write_completed(workspace, run_id, kind, fmt)
        else:
            path = _write(workspace, export_frame(workspace, run_id, kind), fmt)
    except (DataError, KeyError, FileNotFoundError) as error:
        return PlainTextResponse(f"This export cannot be made. {error}\n", status_code=404)
    return FileResponse(
        path,
        media_type=media_type(fmt),
        filename=name,
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


def _write(workspace: Workspace, frame: pd.DataFrame, fmt: Format) -> Path:
    """Write a table to a file that lives as long as its download."""
    from crowdcore.export import writers

    path = _new_file(workspace, fmt)
    try:
        if fmt == "parquet":
            writers.write_parquet(frame, path)
        elif fmt == "jsonl":
            writers.write_jsonl(frame, path)
        else:
            writers.write_csv(frame, path, spreadsheet_safe=fmt == "csv")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _write_completed(workspace: Workspace, run_id: str, kind: Completed, fmt: Format) -> Path:
    """Write a completed matrix, some items at a time, to a file that lives as its download."""
    from crowdcore.artefacts.completion import Completion
    from crowdcore.export import completions

    completion = workspace.load_result(run_id).artefact(Completion)
    if completion is None:
        raise DataError("Nothing was filled in for this run")
    write = completions.write_wide if kind == "completed-wide" else completions.write_long
    path = _new_file(workspace, fmt)
    try:
        write(completion, path, spreadsheet_safe=fmt == "csv")
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _new_file(workspace: Workspace, fmt: str) -> Path:
    suffix = f".{_extension(fmt)}"
    handle, name = tempfile.mkstemp(dir=workspace.root, prefix=".tmp-export-", suffix=suffix)
    os.close(handle)
    return Path(name)


def _extension(fmt: str) -> str:
    return fmt.removesuffix("-exact")
