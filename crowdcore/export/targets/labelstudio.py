"""Label Studio: tasks with the truths as predictions, or as ground truth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from crowdcore.data import UNKNOWN
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, needs_classes, span_file

CHOICES = "choices"


class Control(NamedTuple):
    """The names under which a project asks a question: `from_name`, and what it is about."""

    name: str
    about: str


class Task(NamedTuple):
    """A task: the item, its id in the project where that is known, and what people see."""

    item: int
    id: int | None
    data: dict[str, Any]


def _given_tasks(run: FinishedRun) -> list[Any]:
    """The tasks of an export of Label Studio; [] where the labels came from another file."""
    original = run.original
    if original is None or original.item is None or original.layout is not None:
        return []
    content = original.content().all()
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return []
    tasks = json.loads(content)
    if len(tasks) < len(original.item) or not all(_is_task(task) for task in tasks):
        return []
    return list(tasks)


def _is_task(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("data"), dict)


def _control(run: FinishedRun, tasks: Sequence[Any]) -> Control:
    """The question that was audited, or the one that most annotations answer."""
    roles = None if run.data.report is None else run.data.report.roles
    asked = Counter(
        Control(str(part.get("from_name")), str(part.get("to_name")))
        for task in tasks
        for annotation in task.get("annotations") or []
        for part in annotation.get("result") or []
        if isinstance(part, dict) and part.get("type") == CHOICES
    )
    audited = [control for control in asked if roles is not None and control.name == roles.label]
    if audited or asked:
        return audited[0] if audited else asked.most_common(1)[0][0]
    return Control("label", "image" if run.shows_pictures else "text")


def _tasks(run: FinishedRun, given: Sequence[Any]) -> Iterator[Task]:
    if given and run.original is not None and run.original.item is not None:
        for task, item in zip(given, run.original.item.tolist(), strict=False):
            if item != UNKNOWN:
                yield Task(item=item, id=task.get("id"), data=task["data"])
        return
    about = _control(run, ()).about
    for item, name in enumerate(run.data.items):
        details = {key: values[item] for key, values in run.data.details.items()}
        shown = name if run.shows_pictures else run.texts[item]
        yield Task(item=item, id=None, data={"item": name, **details, about: shown})


def _result(run: FinishedRun, control: Control, item: int) -> list[dict[str, Any]]:
    return [
        {
            "from_name": control.name,
            "to_name": control.about,
            "type": CHOICES,
            "value": {CHOICES: [run.truth[item]]},
        }
    ]


def _write(run: FinishedRun, path: Path, *, as_truth: bool) -> None:
    given = _given_tasks(run)
    control = _control(run, given)
    records = []
    for task in _tasks(run, given):
        record: dict[str, Any] = {} if task.id is None else {"id": task.id}
        record["data"] = task.data
        if run.truth[task.item] and as_truth:
            result = _result(run, control, task.item)
            record["annotations"] = [{"ground_truth": True, "result": result}]
        elif run.truth[task.item]:
            prediction = {
                "model_version": run.model,
                "score": float(run.confidence[task.item]),
                "result": _result(run, control, task.item),
            }
            record["predictions"] = [prediction]
        records.append(record)
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1), encoding="utf-8")


def _write_interface(run: FinishedRun, path: Path) -> None:
    control = _control(run, ())
    tag = "Image" if control.about == "image" else "Text"
    choices = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in run.data.classes)
    path.write_text(
        f"<View>\n"
        f'  <{tag} name="{control.about}" value="${control.about}"/>\n'
        f'  <Choices name="{control.name}" toName="{control.about}" choice="single">\n'
        f"{choices}\n"
        f"  </Choices>\n"
        f"</View>\n",
        encoding="utf-8",
    )


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    files = [
        ExportFile(name="predictions.json", write=lambda path: _write(run, path, as_truth=False)),
        ExportFile(name="ground-truth.json", write=lambda path: _write(run, path, as_truth=True)),
    ]
    if not _given_tasks(run):
        interface = ExportFile(name="interface.xml", write=lambda p: _write_interface(run, p))
        files.append(interface)
    return files


TARGET = Target(
    id="labelstudio",
    title="Label Studio",
    contents="Tasks to import: predictions.json with each truth as a prediction and its score, "
    "ground-truth.json with the truths as annotations marked as ground truth. Tasks of a Label "
    "Studio export keep their ids; for other files there is a labelling interface beside them.",
    order=13,
    obstacle=needs_classes,
    files=_files,
    span_files=lambda run: span_file(run, "label_studio.json"),
)
