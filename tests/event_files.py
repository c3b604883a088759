"""Small valid documents of the event-extraction formats, as Python values, to be written as files."""

import copy
import json
from pathlib import Path
from typing import Any

TOKENS = ["The", "rebels", "attacked", "the", "town", "."]

TEXTEE: dict[str, Any] = {
    "doc_id": "d1",
    "wnd_id": "d1-0",
    "text": "The rebels attacked the town.",
    "lang": "en",
    "tokens": TOKENS,
    "entity_mentions": [
        {"id": "T1", "entity_type": "ORG", "text": "The rebels", "start": 0, "end": 2},
        {"id": "T2", "entity_type": "GPE", "text": "the town", "start": 3, "end": 5},
    ],
    "relation_mentions": [],
    "event_mentions": [
        {
            "id": "E1",
            "event_type": "Attack",
            "trigger": {"text": "attacked", "start": 2, "end": 3},
            "arguments": [
                {"entity_id": "T1", "role": "Attacker", "text": "The rebels", "start": 0, "end": 2},
                {"entity_id": "T2", "role": "Target", "text": "the town", "start": 3, "end": 5},
            ],
        }
    ],
}
ONEIE: dict[str, Any] = {
    "doc_id": "d1",
    "sent_id": "d1-0",
    "tokens": TOKENS,
    "sentence": "The rebels attacked the town.",
    "entity_mentions": [
        {"id": "d1-E1-1", "entity_type": "ORG", "mention_type": "NOM", "start": 0, "end": 2},
        {"id": "d1-E2-1", "entity_type": "GPE", "mention_type": "NOM", "start": 3, "end": 5},
    ],
    "event_mentions": [
        {
            "id": "E1",
            "event_type": "Attack",
            "trigger": {"text": "attacked", "start": 2, "end": 3},
            "arguments": [{"entity_id": "d1-E1-1", "role": "Attacker"}, {"entity_id": "d1-E2-1", "role": "Target"}],
        }
    ],
}
GRAPH: dict[str, Any] = {
    "entities": [[0, 2, "ORG", "NOM", 0.9], [3, 5, "GPE", "NOM", 0.8]],
    "triggers": [[2, 3, "Attack", 0.7]],
    "relations": [],
    "roles": [[0, 0, "Attacker", 0.6], [0, 1, "Target", 0.5]],
}
ONEIE_OUTPUT: dict[str, Any] = {"doc_id": "d1", "sent_id": "d1-0", "tokens": TOKENS, "graph": GRAPH}
DYGIE: dict[str, Any] = {
    "doc_key": "d1",
    "dataset": "ace",
    "sentences": [TOKENS, ["They", "fled"]],
    "ner": [[[0, 1, "ORG"]], []],
    "clusters": [[[0, 1], [6, 6]]],
    "events": [[[[2, "Attack"], [0, 1, "Attacker"], [3, 4, "Target"]]], [[[7, "Flee"], [6, 6, "Agent"]]]],
}
RAMS: dict[str, Any] = {
    "doc_key": "d1",
    "sentences": [TOKENS, ["They", "fled"]],
    "evt_triggers": [[2, 2, [["conflict.attack", 1.0]]]],
    "ent_spans": [[0, 1, [["evt043arg01attacker", 1.0]]]],
    "gold_evt_links": [[[2, 2], [0, 1], "evt043arg01attacker"], [[2, 2], [3, 4], "evt043arg02place"]],
    "split": "test",
}
RAMS_PREDICTIONS: dict[str, Any] = {
    "doc_key": "d1",
    "predictions": [[[2, 2], [0, 1, "attacker", 0.9], [3, 4, "place", 0.8]]],
}
WIKIEVENTS: dict[str, Any] = {
    "doc_id": "d1",
    "tokens": TOKENS,
    "text": "The rebels attacked the town.",
    "sentences": [[[[token, 0, 0] for token in TOKENS], "The rebels attacked the town."]],
    "entity_mentions": [
        {"id": "T1", "start": 0, "end": 2, "entity_type": "ORG", "mention_type": "UNK", "text": "The rebels"},
        {"id": "T2", "start": 3, "end": 5, "entity_type": "GPE", "mention_type": "UNK", "text": "the town"},
    ],
    "event_mentions": [
        {
            "id": "E1",
            "event_type": "Conflict.Attack.Unspecified",
            "trigger": {"start": 2, "end": 3, "text": "attacked", "sent_idx": 0},
            "arguments": [{"entity_id": "T1", "role": "Attacker"}, {"entity_id": "T2", "role": "Target"}],
        }
    ],
}
COREFERENCE: dict[str, Any] = {"doc_key": "d1", "clusters": [["T1", "T2"]], "informative_mentions": ["The rebels"]}
GEN_ARG: dict[str, Any] = {"doc_key": "d1", "predicted": "rebels attacked the town", "gold": "rebels attacked <arg>"}

GRIT: dict[str, Any] = {
    "docid": "TST1-MUC3-0001",
    "doctext": "a bomb hit the bridge",
    "extracts": {"PerpInd": [], "Target": [[["the bridge", 11], ["bridge", 15]]], "Weapon": [[["a bomb", 0]]]},
}
GTT: dict[str, Any] = {
    "docid": "TST1-MUC3-0001",
    "doctext": "a bomb hit the bridge",
    "templates": [
        {"incident_type": "bombing", "PerpInd": [], "Target": [[["the bridge", 11]]], "Weapon": [[["a bomb", 0]]]},
        {"incident_type": "attack / bombing", "Target": [[["the bridge", 11], ["bridge", 15]]]},
    ],
}
GRIT_SYSTEM: dict[str, Any] = {"10001": {"doctext": "", "pred_extracts": {"Target": [["the bridge"]], "Weapon": []}}}
GTT_SYSTEM: dict[str, Any] = {
    "10001": {"pred_templates": [{"incident_type": "bombing", "Target": [["the bridge"], ["bomb", "a bomb"]]}]}
}
ITERX_SYSTEM: dict[str, Any] = {
    "TST1-MUC3-0001": [{"incident_type": "bombing", "target": [["the bridge"], ["bomb", "a bomb"]]}]
}
MAVEN: dict[str, Any] = {
    "id": "d1",
    "title": "Attack",
    "content": [{"sentence": "", "tokens": TOKENS}, {"sentence": "", "tokens": ["It", "burnt", "after", "it"]}],
    "events": [
        {
            "id": "E1",
            "type": "Attack",
            "type_id": 1,
            "mention": [
                {"id": "m1", "trigger_word": "attacked", "sent_id": 0, "offset": [2, 3]},
                {"id": "m2", "trigger_word": "it", "sent_id": 1, "offset": [3, 4]},
            ],
        },
        {
            "id": "E2",
            "type": "Fire",
            "mention": [{"id": "m3", "trigger_word": "burnt", "sent_id": 1, "offset": [1, 2]}],
        },
    ],
    "negative_triggers": [{"id": "n1", "trigger_word": "after", "sent_id": 1, "offset": [2, 3]}],
}
MAVEN_ARG: dict[str, Any] = {
    "id": "d1",
    "title": "Attack",
    "document": "The rebels attacked. They fled on Monday after it.",
    "events": [
        {
            "id": "E1",
            "type": "Attack",
            "mention": [
                {"id": "m1", "trigger_word": "attacked", "offset": [11, 19]},
                {"id": "m2", "trigger_word": "it", "offset": [47, 49]},
            ],
            "argument": {"Agent": [{"entity_id": "N1"}], "Time": [{"content": "Monday", "offset": [34, 40]}]},
        }
    ],
    "entities": [
        {
            "id": "N1",
            "type": "Organization",
            "mention": [
                {"id": "a", "mention": "The rebels", "offset": [0, 10]},
                {"id": "b", "mention": "They", "offset": [21, 25]},
            ],
        }
    ],
    "negative_triggers": [{"id": "n1", "trigger_word": "fled", "offset": [26, 30]}],
}
SUBMISSION: dict[str, Any] = {
    "id": "d1",
    "preds": {
        "m1": {"event_type": "Attack", "Agent": ["the rebels", "they"], "Time": ["Monday"]},
        "n1": {"event_type": "Escape", "Agent": ["they"]},
    },
}
UNIFIED: dict[str, Any] = {
    "id": "d1",
    "text": "The rebels attacked. They fled on Monday after it.",
    "events": [
        {
            "type": "Attack",
            "triggers": [
                {
                    "id": "m1",
                    "trigger_word": "attacked",
                    "position": [11, 19],
                    "arguments": [
                        {
                            "role": "Attack.Agent",
                            "mentions": [
                                {"mention": "The rebels", "position": [0, 10]},
                                {"mention": "They", "position": [21, 25]},
                            ],
                        },
                        {"role": "Attack.Time", "mentions": [{"mention": "Monday", "position": [34, 40]}]},
                    ],
                }
            ],
        }
    ],
    "negative_triggers": [{"id": "n1", "trigger_word": "fled", "position": [26, 30]}],
}

SENTENCES = [["Anna", "left", "the", "town", "."], ["She", "saw", "it"]]
E2E: dict[str, Any] = {
    "doc_key": "d1",
    "sentences": SENTENCES,
    "clusters": [[[0, 0], [5, 5]], [[2, 3], [7, 7]]],
    "speakers": [["", "", "", "", ""], ["", "", ""]],
}
PRECO: dict[str, Any] = {
    "id": "d1",
    "sentences": SENTENCES,
    "mention_clusters": [[[0, 0, 1], [1, 0, 1]], [[0, 2, 4], [1, 2, 3]], [[1, 1, 2]]],
}
WEC: dict[str, Any] = {
    "mention_id": "108",
    "doc_id": "d1",
    "topic_id": 3,
    "sent_id": 0,
    "coref_chain": 7,
    "coref_link": "Tour",
    "mention_type": 8,
    "predicted_coref_chain": "UNK",
    "mention_context": ["The", "tour", "began", "in", "May"],
    "tokens_number": [1],
    "tokens_str": "tour",
}
FEWFC: dict[str, Any] = {
    "id": "d1",
    "content": "ACME buys Foo and sells Bar.",
    "events": [
        {
            "type": "buy",
            "mentions": [
                {"word": "buys", "span": [5, 9], "role": "trigger"},
                {"word": "ACME", "span": [0, 4], "role": "sub"},
                {"word": "Foo", "span": [10, 13], "role": "obj"},
            ],
        },
        {
            "type": "sell",
            "mentions": [
                {"word": "ACME", "span": [0, 4], "role": "sub"},
                {"word": "sells", "span": [18, 23], "role": "trigger"},
                {"word": "Bar", "span": [24, 27], "role": "obj"},
            ],
        },
    ],
}
DUEE: dict[str, Any] = {
    "id": "d1",
    "text": "ACME buys Foo and sells Bar.",
    "event_list": [
        {
            "event_type": "buy",
            "trigger": "buys",
            "trigger_start_index": 5,
            "arguments": [
                {"argument_start_index": 0, "role": "sub", "argument": "ACME", "alias": []},
                {"argument_start_index": 10, "role": "obj", "argument": "Foo", "alias": []},
            ],
            "class": "trade",
        },
        {
            "event_type": "sell",
            "trigger": "sells",
            "trigger_start_index": 18,
            "arguments": [
                {"argument_start_index": 0, "role": "sub", "argument": "ACME", "alias": []},
                {"argument_start_index": 24, "role": "obj", "argument": "Bar", "alias": []},
            ],
            "class": "trade",
        },
    ],
}
STOLE: dict[str, Any] = {
    "index": "E1",
    "type": "Attack",
    "subtype": "Databreach",
    "realis": "Actual",
    "nugget": {"index": "T1", "text": "stole", "startOffset": 8, "endOffset": 13},
    "argument": [
        {
            "index": "T2",
            "text": "Hackers",
            "type": "Person",
            "startOffset": 0,
            "endOffset": 7,
            "role": {"type": "Attacker"},
        },
        {"index": "T3", "text": "data", "type": "Data", "startOffset": 14, "endOffset": 18, "role": {"type": "Loot"}},
    ],
}
THEFT: dict[str, Any] = {
    "index": "E2",
    "type": "Attack",
    "subtype": "Databreach",
    "realis": "Actual",
    "nugget": {"index": "T4", "text": "theft", "startOffset": 24, "endOffset": 29},
    "argument": [{**STOLE["argument"][1], "index": "T5"}],
}
CASIE: dict[str, Any] = {
    "sourcefile": "d1.txt",
    "info": {"title": "", "link": ""},
    "content": "Hackers stole data. The theft was noticed.",
    "cyberevent": {"hopper": [{"index": "H1", "relation": "", "events": [STOLE, THEFT]}]},
}

DOCUMENTS = {
    "textee": TEXTEE,
    "oneie": ONEIE,
    "dygie": DYGIE,
    "rams": RAMS,
    "wikievents": WIKIEVENTS,
    "muc4": GTT,
    "maven": MAVEN_ARG,
    "e2e": E2E,
    "preco": PRECO,
    "wec": WEC,
    "fewfc": FEWFC,
    "casie": CASIE,
}
"""One document of each format."""
FURTHER = {
    "graph": ("oneie", ONEIE_OUTPUT),
    "predictions": ("rams", RAMS_PREDICTIONS),
    "GRIT": ("muc4", GRIT),
    "GRIT system": ("muc4", GRIT_SYSTEM),
    "GTT system": ("muc4", GTT_SYSTEM),
    "IterX system": ("muc4", ITERX_SYSTEM),
    "MAVEN": ("maven", MAVEN),
    "unified": ("maven", UNIFIED),
    "DuEE": ("fewfc", DUEE),
}
"""Other forms, each with its format."""


def changed(document: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    """A document with another value in one place."""
    other = copy.deepcopy(document)
    place: Any = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return other


def saved(path: Path, *documents: Any) -> str:
    """The name of a file with one document per line."""
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents), encoding="utf-8")
    return str(path)
