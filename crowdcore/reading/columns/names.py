"""What the words of a column's name say about its role, however they are written."""

from __future__ import annotations

import re
from functools import cache

_SPLIT = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MAX_NAME_WORDS = 5
_NUMBERED = re.compile(r"([^\W\d]+)(\d+)")


def vocabulary(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_ID_WORDS = vocabulary(
    "id ids uid pid name names email mail no num number code hash key uuid login handle nick "
    "account nr idx index"
)
_PREFIX_WORDS = vocabulary(
    "amt mturk turk crowd prolific assignment anon anonymous anonymized unique original orig "
    "toloka cf the my external platform data source"
)
_WORKER_WORDS = vocabulary(
    "worker annotator annotater user username rater coder labeler labeller labelor performer "
    "participant judge tasker contributor evaluator reviewer respondent assessor turker "
    "volunteer ann crowdworker responder player grader scorer workerid userid annotatorid "
    "annid raterid coderid judgeid participantid screener expert person reader radiologist "
    "student"
)
_BY_WORDS = vocabulary(
    "annotated labeled labelled created completed submitted reviewed rated judged coded "
    "answered done"
)
_ITEM_WORDS = vocabulary(
    "task item unit question example instance subject object image img doc document sample "
    "row hit record sentence tweet post article comment message conversation conv pair query "
    "passage review picture photo video clip segment utterance turn statement claim paper "
    "abstract case story page product entity token snippet text content url uri file filename "
    "path itemid taskid questionid docid sentid postid tweetid key input stimulus trial "
    "prompt title headline response_id dialogue dialog qid docno"
)
_CONTENT_WORDS = vocabulary("text content title headline url uri path input prompt")
_PLAIN_IDS = (("id",), ("uuid",), ("key",))
_LABEL_WORDS = vocabulary(
    "label labels answer answers response class category annotation annotations judgement "
    "judgment rating vote choice score decision verdict value given selected selection"
)
_QUESTION_WORDS = vocabulary(
    "question criterion criteria aspect dimension schema attribute metric variable field "
    "measure subtask scale trait statement prompt topic task"
)
_TIME_WORDS = vocabulary(
    "time times timestamp date datetime started start submitted submit created updated "
    "finished duration seconds secs elapsed lead minutes expiration deadline timer ms millis rt "
    "latency"
)
_METADATA_WORDS = vocabulary(
    "ip country region city channel trust browser agent device status approve approved reject "
    "rejected reward lifetime rate version session platform os ua latitude longitude location "
    "golden tainted missed canary keywords feedback approval expiration requester split lang "
    "language locale created updated timestamp"
)
_PERSON_WORDS = vocabulary(
    "age gender sex race ethnicity ethnic education occupation politics political nationality "
    "income religion native birth marital employment student orientation"
)
_DERIVED_WORDS = vocabulary(
    "confidence agreement majority average avg mean median std variance entropy count counts "
    "total sum n votes aggregated aggregate consensus soft hard trusted judgments prob "
    "probability probabilities percent kappa error wins draws elo winrate accuracy precision "
    "recall f1"
)
_ORDER_WORDS = vocabulary("order position sequence")
_COUNT_WORDS = vocabulary("index number nr no num count")
_REMARK_WORDS = vocabulary(
    "comment comments remark remarks note notes explanation reason rationale feedback "
    "suggestion justification other"
)


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: "annID" and "!ann_ids" are ann and id(s)."""
    parts = [part for chunk in _SPLIT.findall(name) for part in _CAMEL.split(chunk)]
    words: list[str] = []
    for part in (part.lower() for part in parts if part):
        if match := _NUMBERED.fullmatch(part):
            words += [match[1], match[2]]
        else:
            words.append(part)
    return tuple(words)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _has(words: tuple[str, ...], known: frozenset[str]) -> bool:
    """Whether a short name has a word that is known; a sentence may have any word."""
    return len(words) <= _MAX_NAME_WORDS and any(
        word in known or _singular(word) in known for word in words
    )


@cache
def worker_strength(name: str) -> int:
    """Say how clearly a name means a worker: 3 beyond doubt, 1 perhaps, 0 not at all."""
    words = words_of(name)
    if len(words) >= 2 and words[-1] == "by" and words[-2] in _BY_WORDS:  # noqa: PLR2004
        return 3
    if words[:1] == ("prolific",) and words[-1:] in (("pid",), ("id",)):
        return 3
    rest = [word for word in words if word not in _ID_WORDS and word not in _PREFIX_WORDS]
    is_worker = [word in _WORKER_WORDS or _singular(word) in _WORKER_WORDS for word in rest]
    if not any(is_worker):
        return int(rest == ["subject"])  # a person in an experiment, a thing elsewhere
    if all(is_worker):
        weak = {"ann", "user", "expert", "person", "reader", "student", "judge"}
        return 2 if len(words) == 1 and rest[0] in weak else 3
    attribute = _has(tuple(rest), _METADATA_WORDS | _PERSON_WORDS | _TIME_WORDS | _LABEL_WORDS)
    return 0 if attribute else 1


@cache
def item_strength(name: str) -> int:
    """Say how clearly a name means an item: 3 an id of one, 2 an item, 1 any id, 0 none."""
    words = words_of(name)
    if len(words) > _MAX_NAME_WORDS:
        return 0
    rest = [word for word in words if word not in _ID_WORDS and word not in _PREFIX_WORDS]
    has_id = len(rest) < len(words) and any(word in _ID_WORDS for word in words)
    if rest and all(word in _ITEM_WORDS or _singular(word) in _ITEM_WORDS for word in rest):
        content = all(word in _CONTENT_WORDS for word in rest)
        return 3 if has_id else 1 if content else 2
    if not rest:
        return 2 if words in _PLAIN_IDS else 1 if has_id else 0
    if _has(tuple(rest), _ITEM_WORDS) and has_id:
        return 2
    return 1 if has_id and not _has(tuple(rest), _WORKER_WORDS) else 0


@cache
def label_strength(name: str) -> int:
    """Say how clearly a name means an answer: 3 beyond doubt, 1 perhaps, 0 not at all."""
    words = words_of(name)
    rest = [word for word in words if word not in _ID_WORDS]
    if rest and all(word in _LABEL_WORDS for word in rest):
        return 3 if len(rest) == len(words) or "name" in words else 0
    return int(_has(words, _LABEL_WORDS) and not any(word in ("id", "ids") for word in words))


def is_question_name(name: str) -> bool:
    """Tell whether a name means which question was asked."""
    return _has(words_of(name), _QUESTION_WORDS)


def is_time_name(name: str) -> bool:
    """Tell whether a name means a time or how long something took."""
    return _has(words_of(name), _TIME_WORDS)


def is_metadata_name(name: str) -> bool:
    """Tell whether a name means something about the worker or the platform, never an answer."""
    return _has(words_of(name), _METADATA_WORDS | _PERSON_WORDS)


def is_derived_name(name: str) -> bool:
    """Tell whether a name means what was computed from answers: a confidence, a count."""
    return _has(words_of(name), _DERIVED_WORDS)


def is_order_name(name: str) -> bool:
    """Tell whether a name means when in a session something came, as trial_index does."""
    words = set(words_of(name))
    return bool(words & _ORDER_WORDS) or ("trial" in words and bool(words & _COUNT_WORDS))


def is_remark_name(name: str) -> bool:
    """Tell whether a name means a remark in free words."""
    return _has(words_of(name), _REMARK_WORDS)
