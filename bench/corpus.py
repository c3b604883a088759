"""Synthetic corpora: seeded, so that every run of a benchmark reads the same bytes."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

TYPES = (
    "Business_Declare-Bankruptcy",
    "Conflict_Attack",
    "Contact_Broadcast",
    "Contact_Meet",
    "Justice_Arrest-Jail",
    "Life_Die",
    "Life_Injure",
    "Manufacture_Artifact",
    "Movement_Transport-Person",
    "Personnel_End-Position",
    "Transaction_Transfer-Money",
    "Transaction_Transfer-Ownership",
)
REALIS = ("Actual", "Actual", "Generic", "Other")
WORDS = ("attacked", "carried out", "died", "elected", "fired", "meetings", "paid", "said", "transported", "war")


class Nugget(NamedTuple):
    """A mention as written to the file."""

    begin: int
    end: int
    second: int
    """Length of a second segment, after a gap; 0 if there is none."""
    type: str
    realis: str


def write_tbf(folder: Path, documents: int) -> tuple[Path, Path, int]:
    """A gold and a system file of event nuggets, and the number of gold mentions: 10 to 59 per document.

    The system misses 15% of them, shifts spans, confuses types and realis, and adds mentions of its own; one mention in
    forty has two segments, one in twenty stands on the span of the one before, one in six is coreferent.
    """
    random = Random(documents)
    paths = folder / f"gold-{documents}.tbf", folder / f"system-{documents}.tbf"
    mentions = 0
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for number in range(documents):
            nuggets = _gold(random, 10 + number * 37 % 50)
            mentions += len(nuggets)
            gold.write(_block(random, "gold", f"NYT_ENG_{number:08}", nuggets))
            system.write(_block(random, "system1", f"NYT_ENG_{number:08}", _system(random, nuggets)))
    return *paths, mentions


def _gold(random: Random, size: int) -> list[Nugget]:
    nuggets: list[Nugget] = []
    begin = 0
    for _ in range(size):
        if not nuggets or random.random() > 0.05:
            begin += random.randint(20, 150)
        end = begin + random.randint(3, 12)
        second = random.randint(2, 6) if random.random() < 0.025 else 0
        nuggets.append(Nugget(begin, end, second, random.choice(TYPES), random.choice(REALIS)))
    return nuggets


def _system(random: Random, gold: list[Nugget]) -> list[Nugget]:
    found: list[Nugget] = []
    for nugget in gold:
        if random.random() < 0.15:
            continue
        if random.random() < 0.1:
            nugget = nugget._replace(begin=max(0, nugget.begin - 3), end=nugget.end + random.randint(-1, 5))
        if random.random() < 0.2:
            nugget = nugget._replace(type=random.choice(TYPES))
        if random.random() < 0.25:
            nugget = nugget._replace(realis=random.choice(REALIS))
        found.append(nugget)
        if random.random() < 0.12:
            begin = random.randint(0, gold[-1].end)
            found.append(Nugget(begin, begin + 7, 0, random.choice(TYPES), random.choice(REALIS)))
    return found


def _block(random: Random, producer: str, document: str, nuggets: list[Nugget]) -> str:
    lines = [f"#BeginOfDocument {document}"]
    for count, (begin, end, second, type_, realis) in enumerate(nuggets, 1):
        span = f"{begin},{end};{end + 5},{end + 5 + second}" if second else f"{begin},{end}"
        columns = (producer, document, f"E{count}", span, random.choice(WORDS), type_, realis)
        lines.append("\t".join(columns))
    ids = [f"E{count}" for count in range(1, len(nuggets) + 1) if random.random() < 1 / 6]
    clusters = [ids[start : start + 3] for start in range(0, len(ids), 3)]
    lines += [f"@Coreference\tC{count}\t{','.join(cluster)}" for count, cluster in enumerate(clusters) if cluster[1:]]
    return "\n".join([*lines, "#EndOfDocument", ""])


def write_coref(folder: Path, mentions: int, golds: int, systems: int) -> tuple[Path, Path]:
    """A gold and a system file with clusters across documents of nine mentions each.

    The system is like a lemma baseline: gold clusters have a word, few words are frequent, and mentions with the same
    word are one cluster. A fifth of the mentions have another word, which ties nearly all clusters into one component.
    """
    random = Random(mentions)
    gold_of = [*range(golds), *(int(golds * random.random() ** 3) for _ in range(mentions - golds))]
    random.shuffle(gold_of)
    word_of = [int(systems * random.random() ** 2.2) for _ in range(golds)]
    system_of = [
        word_of[cluster] if random.random() < 0.8 else int(systems * random.random() ** 1.5) for cluster in gold_of
    ]
    for word, place in enumerate(random.sample(range(mentions), systems)):
        system_of[place] = word  # every word occurs
    paths = folder / f"gold-{mentions}.jsonl", folder / f"system-{mentions}.jsonl"
    for path, prefix, clusters in ((paths[0], "ACT", gold_of), (paths[1], "word", system_of)):
        with open(path, "w", encoding="utf-8") as stream:
            for start in range(0, mentions, 9):
                stream.write(_line(start, prefix, clusters[start : start + 9]))
    return paths


def write_documents(folder: Path, documents: int) -> tuple[Path, Path]:
    """A gold and a system file with clusters within documents of 40 mentions, in JSON Lines.

    A mention starts a cluster or joins an earlier one, as often as not. The system misses 10% of the mentions, shifts
    some spans, and moves a fifth of the others into another cluster of the document.
    """
    random = Random(documents)
    paths = folder / f"gold-within-{documents}.jsonl", folder / f"system-within-{documents}.jsonl"
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for number in range(documents):
            clusters: list[int] = []
            for place in range(40):
                clusters.append(random.choice(clusters) if clusters and random.random() < 0.5 else place)
            found = [
                (place, random.randrange(40) if random.random() < 0.2 else cluster, random.random() < 0.05)
                for place, cluster in enumerate(clusters)
                if random.random() > 0.1
            ]
            kept = [(place, cluster, False) for place, cluster in enumerate(clusters)]
            for stream, mentions in ((gold, kept), (system, found)):
                listed = [
                    {
                        "id": f"m{place}",
                        "span": [[60 * place, 60 * place + 8 + shifted]],
                        "cluster": f"{number}:{cluster}",
                    }
                    for place, cluster, shifted in mentions
                ]
                stream.write(json.dumps({"id": f"{number:06}", "mentions": listed}) + "\n")
    return paths


def write_conll(folder: Path, documents: int = 0) -> tuple[Path, Path]:
    """A gold and a system file in CoNLL: one document of 20 tokens with two clusters, and one more in the system.

    With `documents`, so many of 400 tokens and 50 mentions, of which the system puts a fifth into other clusters.
    """
    paths = folder / "gold.conll", folder / "system.conll"
    random = Random(documents)
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    for _ in range(documents):
        golds = [random.randrange(1 + place // 2) for place in range(50)]
        systems = [random.randrange(25) if random.random() < 0.2 else cluster for cluster in golds]
        for side, clusters in zip(sides, (golds, systems), strict=True):
            side.append([f"({clusters[n // 8]})" if n % 8 == 0 else "-" for n in range(400)])
    if not documents:
        sides = [["(0)", *"-", "(1)", *"-"] * 3 + ["-"] * 8], [["(0)", *"-", "(1)", "(2)"] * 3 + ["-"] * 8]
    for path, side in zip(paths, sides, strict=True):
        with open(path, "w", encoding="utf-8") as stream:
            for number, cells in enumerate(side):
                rows = "".join(f"nw/x\t0\t{n}\tword\t{cell}\n" for n, cell in enumerate(cells))
                stream.write(f"#begin document (nw/x{number or ''}); part 000\n{rows}#end document\n")
    return paths


def write_corefud(folder: Path, documents: int) -> tuple[Path, Path]:
    """A gold and a system file in CorefUD: sentences of 20 words, 400 words and 50 mentions of two words per document.

    The system puts a fifth of the mentions into other clusters.
    """
    random = Random(documents)
    paths = folder / "gold.conllu", folder / "system.conllu"
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for stream in (gold, system):
            stream.write("# global.Entity = eid-etype-head-other\n")
        for number in range(documents):
            golds = [random.randrange(1 + place // 2) for place in range(50)]
            systems = [random.randrange(25) if random.random() < 0.2 else cluster for cluster in golds]
            for stream, clusters in ((gold, golds), (system, systems)):
                stream.write(f"# newdoc id = d{number}\n")
                for sentence in range(20):
                    stream.write(f"# sent_id = d{number}-{sentence}\n")
                    for word in range(20):
                        place, begins = divmod(20 * sentence + word, 8)
                        cells = {0: f"Entity=(e{clusters[place]}-event-1-", 1: f"Entity=e{clusters[place]})"}
                        stream.write(f"{word + 1}\tword" + "\t_" * 7 + f"\t{cells.get(begins, '_')}\n")
                    stream.write("\n")
    return paths


def write_textee(folder: Path, sentences: int) -> tuple[Path, Path]:
    """A gold and a system file in TextEE: one event with two arguments per sentence of 20 words.

    The system misses 15% of the events and a fifth of the arguments, and confuses a fifth of the types.
    """
    random = Random(sentences)
    paths = folder / "gold.textee.jsonl", folder / "system.textee.jsonl"
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for number in range(sentences):
            words = [random.choice(WORDS).split()[0] for _ in range(20)]
            trigger, *places = random.sample(range(20), 3)
            type_ = random.choice(TYPES)
            found = [place for place in places if random.random() > 0.2]
            guess = random.choice(TYPES) if random.random() < 0.2 else type_
            systems = [(trigger, guess, found)] if random.random() > 0.15 else []
            for stream, events in ((gold, [(trigger, type_, places)]), (system, systems)):
                stream.write(json.dumps(_sentence(number, words, places, events)) + "\n")
    return paths


def _sentence(
    number: int, words: list[str], places: list[int], events: list[tuple[int, str, list[int]]]
) -> dict[str, object]:
    """A line of TextEE with an entity at each place."""

    def at(place: int) -> dict[str, object]:
        return {"text": words[place], "start": place, "end": place + 1}

    return {
        "doc_id": f"d{number // 20}",
        "wnd_id": f"d{number // 20}-{number % 20}",
        "text": " ".join(words),
        "lang": "en",
        "tokens": words,
        "entity_mentions": [{"id": f"T{place}", "entity_type": "PER", **at(place)} for place in places],
        "relation_mentions": [],
        "event_mentions": [
            {
                "id": f"E{trigger}",
                "event_type": type_,
                "trigger": at(trigger),
                "arguments": [{"entity_id": f"T{place}", "role": "Agent", **at(place)} for place in chosen],
            }
            for trigger, type_, chosen in events
        ],
    }


def write_hierarchies(folder: Path, documents: int) -> tuple[Path, Path]:
    """A gold and a system file in TBF: 50 events and 40 subevent links per document, a fifth of them wrong."""
    random = Random(documents)
    paths = folder / f"gold-trees-{documents}.tbf", folder / f"system-trees-{documents}.tbf"
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for number in range(documents):
            name = f"NYT_ENG_{number:08}"
            nuggets = [Nugget(20 * n, 20 * n + 7, 0, TYPES[n % len(TYPES)], REALIS[n % len(REALIS)]) for n in range(50)]
            parents = {child: random.randrange(child) for child in random.sample(range(1, 50), 40)}
            moved = {child: random.randrange(child) if random.random() < 0.2 else p for child, p in parents.items()}
            for stream, producer, links in ((gold, "gold", parents), (system, "system1", moved)):
                lines = [
                    f"@Subevent\tR{child}\tE{parent + 1},E{child + 1}\n" for child, parent in sorted(links.items())
                ]
                head, end, tail = _block(random, producer, name, nuggets).partition("#EndOfDocument")
                mentions = "".join(line for line in head.splitlines(keepends=True) if line[0] != "@")
                stream.write("".join([mentions, *lines, end, tail]))
    return paths


def write_topics(folder: Path, documents: int) -> tuple[Path, Path]:
    """A gold and a system file with clusters across the documents of a topic, like ECB+.

    A topic has 20 documents in two sub-topics, and 30 events in each. A document has 600 words, 7 mentions of events
    and 8 of entities. The system misses 15% of them, shifts spans, and confuses events of the same sub-topic.
    """
    random = Random(documents)
    paths = folder / f"gold-topics-{documents}.jsonl", folder / f"system-topics-{documents}.jsonl"
    with open(paths[0], "w", encoding="utf-8") as gold, open(paths[1], "w", encoding="utf-8") as system:
        for number in range(documents):
            topic, subtopic = str(number // 20), ("ecb", "ecbplus")[number % 2]
            words = [random.choice(WORDS) for _ in range(600)]
            begins = [40 * place + random.randint(0, 30) for place in range(15)]
            events = [int(30 * random.random() ** 1.5) for _ in begins]
            golds = [(begin, begin + 2, event) for begin, event in zip(begins, events, strict=True)]
            systems = [
                (begin + (random.random() < 0.1), end, random.randrange(30) if random.random() < 0.3 else event)
                for begin, end, event in golds
                if random.random() > 0.15
            ]
            for stream, mentions in ((gold, golds), (system, systems)):
                listed = [
                    {
                        "id": f"m{n}",
                        "span": [[begin, end]],
                        "kind": "event" if begin < 280 else "entity",
                        "cluster": f"{topic}{subtopic}-{'event' if begin < 280 else 'entity'}-{event}",
                        "text": " ".join(words[begin:end]),
                    }
                    for n, (begin, end, event) in enumerate(mentions)
                ]
                about = {"id": f"{number:06}", "topic": topic, "subtopic": topic + subtopic, "unit": "token"}
                stream.write(json.dumps(about | {"forms": words, "mentions": listed}) + "\n")
    return paths


def _line(start: int, prefix: str, clusters: Sequence[int]) -> str:
    mentions = [
        {"id": f"m{number}", "span": [[40 * number, 40 * number + 8]], "cluster": f"{prefix}{cluster}"}
        for number, cluster in enumerate(clusters)
    ]
    return json.dumps({"id": f"{start:08}ecb", "mentions": mentions}) + "\n"
