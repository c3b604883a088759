// Instances: what is listed for one measure, and one system or two. The slots of an instance are gold (0), the system (1)
// and the system beside it (2).

const NONE = "none";
const SIGNS = { right: "✓", missed: "−", spurious: "+", wrong: "≠", other: "~", a: "A", b: "B" };
const WEIGHT = { right: 1, other: 2, wrong: 3, a: 3, b: 3, missed: 4, spurious: 4 };
const heavier = (x, y) => (WEIGHT[y] || 0) - (WEIGHT[x] || 0);
const sign = (tone) => make("span", { className: `sign t-${tone}`, "aria-hidden": "true", textContent: SIGNS[tone] });

const slots = () => (state.b < 0 ? [0, 1] : [0, 1, 2]);
const sideOf = (slot) => [0, state.a + 1, state.b + 1][slot];
const nameOf = (slot) => (slot === 0 ? "gold" : index.systems[slot === 1 ? state.a : state.b]);
const keyOf = (slot, number) => `${slot}:${number}`;

/** Classes of two systems side by side, each with its label and its tone. */
const PAIRED = {
  "only-a": [() => `only ${nameOf(1)} right`, "a"],
  "only-b": [() => `only ${nameOf(2)} right`, "b"],
  "both-wrong": [() => "both wrong", "missed"],
  "both-right": [() => "both right", "right"],
  "spurious-a": [() => `spurious in ${nameOf(1)}`, "spurious"],
  "spurious-b": [() => `spurious in ${nameOf(2)}`, "spurious"],
};
/** A class by its number; numbers from -1 down are those of instances that an earlier document lists, too. */
const classOf = (number) => index.outcomes[number < 0 ? -1 - number : number];

/** `tones` are those of the slots; gold's is that of the instance. */
function instance(own, cls, label, tones, references, notes, isRepeated) {
  const items = references.map((reference, slot) => itemOf(own, sideOf(slot), reference));
  const types = new Set();
  let start = Infinity;
  items.forEach((item, slot) => item?.parts.flat().forEach((number) => {
    const mention = own.mentions[sideOf(slot)][number];
    if (mention.attributes.type !== undefined) types.add(String(mention.attributes.type));
    const begin = mention.place.length ? mention.place[0][0] : parseInt(mention.span, 10);
    if (begin < start) start = begin;
  }));
  return { cls, label, tone: tones[0], tones, items, notes, types, start, isRepeated };
}

function single(own) {
  return (own.outcomes[state.a]?.[state.measure] || []).map(([cls, gold, system, note]) => {
    const [name, label, tone] = classOf(cls);
    return instance(own, name, label, [tone, tone], [gold, system], [own.notes[note]], cls < 0);
  });
}

/** Two systems over one text: each gold item with what both made of it, then what each has besides.
 *
 * Measures that list each side for itself (muc, lea, mucp) also list right items of a system alone; gold's stand for them.
 */
function sideBySide(own) {
  const byGold = new Map();
  const alone = [];
  const measure = index.measures[state.measure].outcomes;
  [state.a, state.b].forEach((system, number) => {
    for (const [cls, gold, item, note] of own.outcomes[system]?.[measure] || []) {
      const tone = classOf(cls)[2];
      const words = own.notes[note] && `${index.systems[system]}: ${own.notes[note]}`;
      if (gold === null) {
        if (tone === "right") continue;
        const name = number === 0 ? "spurious-a" : "spurious-b";
        const references = number === 0 ? [null, item, null] : [null, null, item];
        const tones_ = ["spurious", tone, tone];
        alone.push(instance(own, name, PAIRED[name][0](), tones_, references, [words], cls < 0));
        continue;
      }
      const key = JSON.stringify(gold);
      if (!byGold.has(key)) byGold.set(key, { gold, found: [[], []], notes: [], isRepeated: cls < 0 });
      byGold.get(key).found[number].push([tone, item]);
      byGold.get(key).notes.push(words);
    }
  });
  const compared = [...byGold.values()].map(({ gold, found, notes, isRepeated }) => {
    const right = found.map((outcomes) => outcomes.length > 0 && outcomes.every(([tone]) => tone === "right"));
    const name = right[0] ? (right[1] ? "both-right" : "only-a") : right[1] ? "only-b" : "both-wrong";
    const [label, tone] = PAIRED[name];
    const worst = found.map((outcomes) => outcomes.map(([one]) => one).sort(heavier)[0] || NONE);
    const items = found.map((outcomes) => outcomes.map(([, item]) => item).find((item) => item !== null) ?? null);
    return instance(own, name, label(), [tone, ...worst], [gold, ...items], notes, isRepeated);
  });
  return compared.concat(alone);
}

let instances = new Map();
function instancesOf(number) {
  if (!instances.has(number)) {
    const own = load(number);
    const found = state.b < 0 ? single(own) : sideBySide(own);
    instances.set(number, found.sort((x, y) => (x.start === y.start ? 0 : x.start - y.start)));
  }
  return instances.get(number);
}
const hasType = (one) => !state.type || one.types.has(state.type);
const isShown = (one) => !state.hidden.has(one.cls) && hasType(one);
const isError = (one) => one.tone !== "right" && !one.isRepeated && isShown(one);
/** The numbers of the errors of a document. */
const errorsOf = (number) => withNumbers(instancesOf(number)).filter(([one]) => isError(one)).map(([, place]) => place);

function matches(number) {
  if (!state.query) return true;
  const own = load(number);
  own.searched ??= [
    index.documents[number],
    own.text ?? "",
    ...own.mentions.flat().flatMap((one) => [own.text === null ? textOf(own, one) : "", ...attributesOf(one)]),
  ].join("\n").toLowerCase();
  return own.searched.includes(state.query);
}

// What all documents have, counted in slices so that the page stays responsive.
let tally;
let counting = 0;
function count(done) {
  const own = ++counting;
  const blank = () => new Array(sources.length).fill(0);
  const found = { errors: blank(), repeated: blank(), listed: [], totals: new Map(), types: new Set(), seen: new Set() };
  const isFiltered = state.type !== "" || state.hidden.size > 0;
  let number = 0;
  const slice = () => {
    if (own !== counting) return;
    const end = performance.now() + 25;
    while (number < sources.length && performance.now() < end) {
      if (matches(number)) countDocument(number, found, isFiltered);
      number += 1;
    }
    if (number < sources.length) {
      $("list-count").textContent = `Counting: ${figure(number)} of ${counted(sources.length, "document")}`;
      setTimeout(slice);
    } else {
      tally = { ...found, total: found.errors.reduce((sum, one) => sum + one, 0) };
      done();
    }
  };
  slice();
}
function countDocument(number, found, isFiltered) {
  let shown = 0;
  for (const one of instancesOf(number)) {
    one.types.forEach((type) => found.types.add(type));
    found.seen.add(one.cls);
    if (!one.isRepeated && hasType(one)) found.totals.set(one.cls, (found.totals.get(one.cls) || 0) + 1);
    if (isShown(one)) shown += 1;
    if (isError(one)) found.errors[number] += 1;
    else if (one.isRepeated && one.tone !== "right" && isShown(one)) found.repeated[number] += 1;
  }
  if (shown || !isFiltered) found.listed.push(number);
}
