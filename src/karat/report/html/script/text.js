// The text of the open document, cut into pieces where mentions begin and end.

let pieces = new Map(); // key of a mention -> its pieces of the text
let tones = new Map(); // key of a mention -> its tone
let clusters = new Map(); // slot and cluster -> its number

const toneOf = (slot, number) => tones.get(keyOf(slot, number)) || NONE;
function findTones(own) {
  tones = new Map();
  for (const one of instancesOf(own.number).filter(isShown)) {
    one.items.forEach((item, slot) => item?.parts.flat().forEach((number) => {
      const worst = [toneOf(slot, number), one.tones[slot]].sort(heavier)[0];
      tones.set(keyOf(slot, number), worst);
    }));
  }
}

/** Numbers of clusters with several mentions here, in the order of the text, if they are to be shown. */
function findClusters(own) {
  clusters = new Map();
  for (const slot of $("clusters").checked ? slots() : []) {
    const side = (own.mentions[sideOf(slot)] || []).filter((one) => one.place.length && one.cluster !== null);
    const sizes = new Map();
    side.sort((x, y) => x.place[0][0] - y.place[0][0]);
    side.forEach(({ cluster }) => sizes.set(cluster, (sizes.get(cluster) || 0) + 1));
    [...sizes.keys()].filter((one) => sizes.get(one) > 1).forEach((one, number) => clusters.set(`${slot}:${one}`, number));
  }
}

/** The places of mentions in the text, in its order. */
function spansOf(own) {
  const spans = [];
  for (const slot of slots()) {
    (own.mentions[sideOf(slot)] || []).forEach((mention, number) => mention.place.forEach(([begin, end], segment) => {
      const isLast = segment === mention.place.length - 1;
      if (end > begin) spans.push({ begin, end, slot, number, isFirst: segment === 0, isLast, key: keyOf(slot, number) });
    }));
  }
  return spans.sort((x, y) => x.begin - y.begin);
}
function hitsOf(own) {
  const [hits, lower] = [[], own.text.toLowerCase()];
  if (!state.query || lower.length !== own.text.length) return hits;
  for (let at = lower.indexOf(state.query); at >= 0; at = lower.indexOf(state.query, at + state.query.length)) {
    hits.push([at, at + state.query.length]);
  }
  return hits;
}

/** Where blocks of the text begin. A long text has several, and browsers lay out only those that come into view. */
const BLOCK = 20000;
function blocksOf(text) {
  const begins = [0];
  for (let end = BLOCK; end < text.length; end = begins.at(-1) + BLOCK) {
    const [line, word] = [text.lastIndexOf("\n", end), text.lastIndexOf(" ", end)].map((at) => at + 1);
    begins.push([line, word].find((at) => at > begins.at(-1)) ?? end);
  }
  return begins;
}

function drawText(own) {
  findTones(own);
  findClusters(own);
  pieces = new Map();
  $("text").replaceChildren();
  $("no-text").hidden = own.text !== null;
  $("reader").classList.toggle("without-text", own.text === null);
  if (own.text === null) return;
  const [spans, hits] = [spansOf(own), hitsOf(own)];
  const blocks = new Set(blocksOf(own.text));
  const cuts = new Set([...blocks, own.text.length]);
  for (const [begin, end] of [...spans.map((span) => [span.begin, span.end]), ...hits]) cuts.add(begin).add(end);
  const bounds = [...cuts].sort((x, y) => x - y);
  let active = [];
  let [next, hit, block] = [0, 0, $("text")];
  for (let place = 0; place + 1 < bounds.length; place += 1) {
    const [begin, end] = [bounds[place], bounds[place + 1]];
    if (blocks.size > 1 && blocks.has(begin)) $("text").append(block = make("div", { className: "block" }));
    active = active.filter((span) => span.end > begin);
    for (; next < spans.length && spans[next].begin === begin; next += 1) active.push(spans[next]);
    while (hit < hits.length && hits[hit][1] <= begin) hit += 1;
    const text = own.text.slice(begin, end);
    const isHit = hit < hits.length && hits[hit][0] <= begin;
    const inner = isHit ? make("mark", { textContent: text }) : document.createTextNode(text);
    block.append(active.length ? piece(own, inner, active, begin, end) : inner);
  }
}

function piece(own, inner, active, begin, end) {
  let [node, background] = [inner, NONE];
  for (const slot of [0, 1, 2]) {
    const here = active.filter((span) => span.slot === slot);
    if (!here.length) continue;
    const tone = here.map((span) => toneOf(slot, span.number)).sort(heavier)[0];
    if (background === NONE) background = tone; // that of gold's outcome, where gold has a mention
    node = make("span", { className: `layer slot-${slot} t-${tone}` }, node);
  }
  const mentions = active.map(({ key }) => key).join(" ");
  const outer = make("span", { className: `piece t-${background}`, data: { mentions } });
  const beginning = active.filter((span) => span.isFirst && span.begin === begin);
  if (beginning.length) {
    outer.append(...signsOf(beginning));
    outer.tabIndex = 0;
    outer.setAttribute("role", "button");
    outer.setAttribute("aria-label", beginning.map((span) => described(own, span)).join("; "));
  }
  outer.append(node);
  for (const span of active.filter((one) => one.isLast && one.end === end)) {
    const number = clusters.get(`${span.slot}:${own.mentions[sideOf(span.slot)][span.number].cluster}`);
    const className = `cluster c${number % 8} of-${span.slot}`;
    if (number !== undefined) outer.append(make("span", { className, "aria-hidden": "true", textContent: number + 1 }));
  }
  for (const { key } of active) {
    if (!pieces.has(key)) pieces.set(key, []);
    pieces.get(key).push(outer);
  }
  return outer;
}
/** Gold's sign says what became of gold's mention; only what is not in gold has a sign of its own. */
function signsOf(spans) {
  const hasGold = spans.some(({ slot }) => slot === 0);
  const shown = spans.map(({ slot, number }) => [slot, toneOf(slot, number)]);
  const telling = shown.filter(([slot, tone]) => tone !== NONE && (slot === 0 || !hasGold || tone === "spurious"));
  return [...new Set(telling.map(([, tone]) => tone))].map(sign);
}

function toneWords(slot, number) {
  const tone = toneOf(slot, number);
  if (tone === "a" || tone === "b") return PAIRED[`only-${tone}`][0]();
  return { other: "partly right", none: "not scored" }[tone] || tone;
}
function described(own, { slot, number }) {
  const mention = own.mentions[sideOf(slot)][number];
  return [textOf(own, mention), nameOf(slot), ...attributesOf(mention), toneWords(slot, number)].join(", ");
}

const LEGENDS = [
  { right: "right", missed: "missed", spurious: "spurious", wrong: "wrong", other: "partly right" },
  { right: "both right", a: "only A right", b: "only B right", missed: "both wrong", spurious: "spurious" },
];
function drawLegend() {
  const filters = [state.type && `type ${state.type}`, state.query && `search ${state.query}`].filter(Boolean);
  $("shown").textContent = [measureNames[state.measure], ...filters].join("; ");
  const lines = slots().map((slot) => make("span", { className: `layer slot-${slot} t-sample`, textContent: nameOf(slot) }));
  const signs = Object.entries(LEGENDS[state.b < 0 ? 0 : 1]).map(([tone, words]) => [sign(tone), ` ${words}`]);
  const samples = [...lines.map((line) => [line]), ...signs];
  $("legend").replaceChildren(...samples.map((parts) => make("span", { className: "sample" }, ...parts)));
}
