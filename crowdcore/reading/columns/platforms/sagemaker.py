"""SageMaker Ground Truth: the consolidated manifest, which holds no workers."""

from __future__ import annotations

from crowdcore.reading.columns.platforms import Platform

_SEEMS = "SageMaker's output manifest: the consolidated label of each object, without its workers"
_REFUSAL = "Give the worker responses instead: the folder annotations/worker-response as a zip."

PLATFORMS = tuple(
    Platform(
        title=f"SageMaker Ground Truth ({source})",
        headers=(source,),
        without=("workerId", "answers"),
        seems=_SEEMS,
        refusal=_REFUSAL,
    )
    for source in ("source-ref",)
)
