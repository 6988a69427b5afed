"""Finished runs for tests of exports, fitted by a vote from files made here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from crowdcore import fit
from crowdcore.export.finished import FinishedRun
from crowdcore.reading import read_labels

LONG = (
    b"task,text,worker,label\n"
    b't1,"a, b",ann,cat\n'
    b't1,"a, b",bob,cat\n'
    b't1,"a, b",cyd,dog\n'
    b"t2,second one,ann,dog\n"
    b"t2,second one,bob,dog\n"
    b"t3,third one,cyd,\n"
    b"t3,third one,ann,cat\n"
)

MTURK = (
    b'"HITId","AssignmentId","WorkerId","AssignmentStatus","Input.text","Answer.animal",'
    b'"Approve","Reject"\n'
    b'"h1","a1","W1","Submitted","purrs","cat"\n'
    b'"h1","a2","W2","Submitted","purrs","cat","",""\n'
    b'"h1","a3","W3","Submitted","purrs","dog","",""\n'
    b'"h2","a4","W1","Approved","barks","dog","",""\n'
    b'"h2","a5","W2","Submitted","barks","dog","",""\n'
    b'"h2","a6","W3","Submitted","barks","cat","",""\n'
)

TOLOKA = (
    b"INPUT:image\tOUTPUT:result\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\t"
    b"ASSIGNMENT:status\n"
    b"1.jpg\tcat\ts1\tw1\tSUBMITTED\n"
    b"2.jpg\tdog\ts1\tw1\tSUBMITTED\n"
    b"\n"
    b"1.jpg\tcat\ts2\tw2\tSUBMITTED\n"
    b"2.jpg\tcat\ts2\tw2\tSUBMITTED\n"
    b"\n"
    b"1.jpg\tdog\ts3\tw3\tAPPROVED\n"
    b"2.jpg\tdog\ts3\tw3\tAPPROVED\n"
)

APPEN = (
    b"_unit_id,_created_at,_golden,_id,_started_at,_tainted,_trust,_worker_id,animal,text\n"
    b"7,2/25/2015 05:24:10,false,1,2/25/2015 05:23:51,false,0.9,11,cat,purrs\n"
    b"7,2/25/2015 05:25:10,false,2,2/25/2015 05:23:51,false,0.9,12,cat,purrs\n"
    b"7,2/25/2015 05:26:10,false,3,2/25/2015 05:23:51,false,0.9,13,dog,purrs\n"
    b"8,2/25/2015 05:24:40,true,4,2/25/2015 05:24:11,false,0.7,11,dog,barks\n"
    b"8,2/25/2015 05:24:50,true,5,2/25/2015 05:24:11,false,0.7,12,dog,barks\n"
)


def finished(
    content: bytes,
    name: str = "labels.csv",
    *,
    excluded: Mapping[str, str] | None = None,
    for_spreadsheets: bool = False,
    **reading: Any,
) -> FinishedRun:
    """Read a file and let a vote decide; workers who are excluded still vote."""
    data = read_labels(content, name=name, **reading)
    result = fit(data, "mv")
    return FinishedRun(
        name="pets",
        data=data,
        truths=result.truths(),
        workers=result.workers(),
        provenance=asdict(result.provenance),
        excluded=excluded or {},
        for_spreadsheets=for_spreadsheets,
    )
