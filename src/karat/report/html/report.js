"use strict";
// Shows documents with their outcomes. Data is read from JSON in the page, document by document, when it is needed.
// All content is set as text, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const index = JSON.parse($("index").textContent);
  const sources = document.querySelectorAll("script.document");
  const state = { measure: index.measure, a: index.a, b: index.b, type: "", query: "", hidden: new Set(), doc: -1, selected: -1 };
  const SIGNS = { right: "✓", missed: "−", spurious: "+", wrong: "≠", other: "~", a: "A", b: "B" };
  const WEIGHT = { right: 1, other: 2, wrong: 3, a: 3, b: 3, missed: 4, spurious: 4 };
  const NONE = "none";

  function make(tag, properties, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name === "data") Object.assign(node.dataset, value);
      else if (name.startsWith("aria-") || name === "role") node.setAttribute(name, value);
      else node[name] = value;
    }
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  }
  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  // Documents ------------------------------------------------------------------------------------------------------
  const loaded = new Map();
  function load(number) {
    if (!loaded.has(number)) {
      const own = JSON.parse(sources[number].textContent);
      own.number = number;
      own.mentions = own.mentions.map((side) => side.map(
        ([id, place, text, kind, cluster, attributes, line, span]) => ({ id, place, text, kind, cluster, attributes, line, span })));
      loaded.set(number, own);
    }
    return loaded.get(number);
  }
  function textOf(own, mention) {
    if (mention.text !== null || !mention.place.length) return mention.text ?? mention.id;
    return mention.place.map(([begin, end]) => own.text.slice(begin, end)).join(" ").replace(/\s+/g, " ");
  }
  const offsetsOf = (mention) => mention.span || mention.place.map((segment) => segment.join("-")).join(",");
  function attributesOf(mention) {
    const { type, realis, ...others } = mention.attributes;
    const named = Object.entries(others).map(([name, value]) => `${name}=${value}`);
    return [type, realis].filter((value) => value !== undefined).map(String).concat(named);
  }
  /** The id of a cluster; ids that are local to a document are shown without its name. */
  const bare = (own, name) => (name.startsWith(`${index.documents[own.number]}:`) ? name.slice(index.documents[own.number].length + 1) : name);
  /** An item of an outcome: its form, its label, and the numbers of the mentions of its parts in this document. */
  function itemOf(own, side, reference) {
    if (reference === null) return null;
    if (typeof reference === "number" && reference >= 0) {
      return { form: "mention", label: "", about: "", parts: [[reference]], elsewhere: [] };
    }
    const isShared = Array.isArray(reference);
    const [form, label, parts, about] = isShared ? index.items[side][reference[0]] : own.items[side][-1 - reference];
    if (!isShared) return { form, label, about, parts, elsewhere: [] };
    const elsewhere = parts.flat().filter(([number]) => number !== own.number);
    const here = parts.map((part) => part.filter(([number]) => number === own.number).map(([, mention]) => mention));
    return { form, label, about, parts: here, elsewhere };
  }

  // Instances: what is listed for one measure and one or two systems -------------------------------------------------
  // The slots of an instance are gold (0), the system (1) and the system beside it (2).
  const sideOf = (slot) => [0, state.a + 1, state.b + 1][slot];
  const nameOf = (slot) => (slot === 0 ? "gold" : index.systems[slot === 1 ? state.a : state.b]);
  function instance(own, cls, label, tones, references, notes, isRepeated) {
    const items = references.map((reference, slot) => (reference === undefined ? null : itemOf(own, sideOf(slot), reference)));
    const types = new Set();
    let start = Infinity;
    items.forEach((item, slot) => item?.parts.flat().forEach((number) => {
      const mention = own.mentions[sideOf(slot)][number];
      if (mention.attributes.type !== undefined) types.add(String(mention.attributes.type));
      if (mention.place.length) start = Math.min(start, mention.place[0][0]);
      else start = Math.min(start, parseInt(mention.span, 10) || Infinity);
    }));
    return { cls, label, tone: tones[0], tones, items, notes, types, start, isRepeated };
  }
  /** A class by its number; numbers from -1 down are those of instances that an earlier document lists, too. */
  const classOf = (number) => index.outcomes[number < 0 ? -1 - number : number];
  function single(own) {
    return (own.outcomes[state.a]?.[state.measure] || []).map(([cls, gold, system, note]) => {
      const [name, label, tone] = classOf(cls);
      return instance(own, name, label, [tone, tone], [gold, system], [own.notes[note]], cls < 0);
    });
  }
  /** Two systems over one text: each gold item with what both made of it, then what each has beside. */
  function sideBySide(own) {
    const byGold = new Map();
    const alone = [];
    [state.a, state.b].forEach((system, number) => {
      for (const [cls, gold, item, note] of own.outcomes[system]?.[index.measures[state.measure].outcomes] || []) {
        const tone = classOf(cls)[2];
        const words = own.notes[note] && `${index.systems[system]}: ${own.notes[note]}`;
        if (gold === null) {
          const references = number === 0 ? [null, item, null] : [null, null, item];
          const cls_ = number === 0 ? "spurious-a" : "spurious-b";
          alone.push(instance(own, cls_, CLASSES[cls_](), ["spurious", tone, tone], references, [words], cls < 0));
          continue;
        }
        const key = JSON.stringify(gold);
        if (!byGold.has(key)) byGold.set(key, { gold, found: [[], []], notes: [], isRepeated: cls < 0 });
        byGold.get(key).found[number].push([tone, item]);
        byGold.get(key).notes.push(words);
      }
    });
    const compared = [...byGold.values()].map(({ gold, found, notes, isRepeated }) => {
      const right = found.map((own_) => own_.length > 0 && own_.every(([tone]) => tone === "right"));
      const cls = right[0] ? (right[1] ? "both-right" : "only-a") : right[1] ? "only-b" : "both-wrong";
      const tone = { "both-right": "right", "only-a": "a", "only-b": "b", "both-wrong": "missed" }[cls];
      const worst = found.map((own_) => own_.map(([one]) => one).sort((x, y) => WEIGHT[y] - WEIGHT[x])[0] || NONE);
      const items = found.map((own_) => own_.map(([, item]) => item).find((item) => item !== null) ?? null);
      return instance(own, cls, CLASSES[cls](), [tone, ...worst], [gold, ...items], notes, isRepeated);
    });
    return compared.concat(alone);
  }
  const CLASSES = {
    "only-a": () => `only ${nameOf(1)} right`,
    "only-b": () => `only ${nameOf(2)} right`,
    "both-wrong": () => "both wrong",
    "both-right": () => "both right",
    "spurious-a": () => `spurious in ${nameOf(1)}`,
    "spurious-b": () => `spurious in ${nameOf(2)}`,
  };
  let instances = new Map();
  function instancesOf(number) {
    if (!instances.has(number)) {
      const own = load(number);
      const listed = state.b < 0 ? single(own) : sideBySide(own);
      instances.set(number, listed.sort((x, y) => x.start - y.start));
    }
    return instances.get(number);
  }
  const isShown = (one) => !state.hidden.has(one.cls) && (!state.type || one.types.has(state.type));
  const isError = (one) => one.tone !== "right" && !one.isRepeated && isShown(one);
  function matches(number) {
    if (!state.query) return true;
    const own = load(number);
    own.searched ??= [index.documents[number], own.text ?? "", ...own.mentions.flat().map((mention) =>
      [own.text === null ? textOf(own, mention) : "", ...attributesOf(mention)].join(" "))].join("\n").toLowerCase();
    return own.searched.includes(state.query);
  }

  // Counting all documents, in slices so that the page stays responsive ------------------------------------------------
  let errors = [];
  let repeated = []; // errors that an earlier document lists, too
  let listed = [];
  let totals = new Map();
  let typesSeen = new Set();
  let seen = new Set(); // classes
  let counting = 0;
  function count(done) {
    const own = ++counting;
    errors = new Array(sources.length).fill(0);
    repeated = new Array(sources.length).fill(0);
    listed = [];
    totals = new Map();
    typesSeen = new Set();
    seen = new Set();
    const isFiltered = state.type !== "" || state.hidden.size > 0;
    let number = 0;
    const slice = () => {
      if (own !== counting) return;
      const end = performance.now() + 25;
      while (number < sources.length && performance.now() < end) {
        if (matches(number)) {
          let shown = 0;
          for (const one of instancesOf(number)) {
            one.types.forEach((type) => typesSeen.add(type));
            seen.add(one.cls);
            if (!one.isRepeated && (!state.type || one.types.has(state.type))) totals.set(one.cls, (totals.get(one.cls) || 0) + 1);
            if (isShown(one)) shown += 1;
            if (isError(one)) errors[number] += 1;
            else if (one.isRepeated && one.tone !== "right" && isShown(one)) repeated[number] += 1;
          }
          if (shown || !isFiltered) listed.push(number);
        }
        number += 1;
      }
      if (number < sources.length) {
        $("list-count").textContent = `Counting: ${number} of ${counted(sources.length, "document")}`;
        setTimeout(slice);
      } else done();
    };
    slice();
  }

  // Controls -----------------------------------------------------------------------------------------------------------
  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, label]) => make("option", { value, textContent: label, selected: value === chosen })));
  }
  function fillMeasures() {
    const groups = new Map();
    index.measures.forEach(({ label, protocol }, number) => {
      if (!groups.has(protocol)) groups.set(protocol, []);
      groups.get(protocol).push(make("option", { value: number, textContent: label, selected: number === state.measure }));
    });
    const nodes = [...groups].map(([protocol, options]) => {
      if (groups.size === 1) return options;
      const group = make("optgroup", { label: protocol });
      group.append(...options);
      return [group];
    });
    $("measure").replaceChildren(...nodes.flat());
  }
  function fillSystems() {
    const systems = index.systems.map((name, number) => [number, name]);
    fill($("system-a"), systems, state.a);
    fill($("system-b"), [[-1, "no other"], ...systems.filter(([number]) => number !== state.a)], state.b);
  }
  function fillTypes() {
    fill($("type"), [["", "all"], ...[...typesSeen].sort().map((type) => [type, type])], state.type);
    $("type").parentElement.hidden = typesSeen.size === 0 && !state.type;
  }
  function classNames() {
    if (state.b >= 0) return Object.keys(CLASSES).map((cls) => [cls, CLASSES[cls](), { "only-a": "a", "only-b": "b", "both-wrong": "missed", "both-right": "right" }[cls] || "spurious"]);
    const order = { missed: 0, spurious: 1, wrong: 2, other: 3, right: 4 };
    const known = new Map(index.outcomes.map((one) => [one[0], one]));
    return [...known.values()].filter(([cls]) => totals.has(cls) || seen.has(cls)).sort((x, y) => order[x[2]] - order[y[2]]);
  }
  function fillClasses() {
    const chips = classNames().map(([cls, label, tone, about]) => make("label", { className: `chip t-${tone}`, title: about || "" },
      make("input", { type: "checkbox", checked: !state.hidden.has(cls), value: cls }),
      make("span", { className: "sign", "aria-hidden": "true", textContent: SIGNS[tone] }),
      ` ${label} `, make("span", { className: "number", textContent: (totals.get(cls) || 0).toLocaleString("en") })));
    $("classes").replaceChildren(make("legend", { textContent: "Show" }), ...chips);
  }

  // The list of documents ------------------------------------------------------------------------------------------------
  function fillList() {
    $("list").replaceChildren(...listed.map((number) => {
      const here = errors[number] + repeated[number];
      return make("li", {}, make("button", {
        type: "button", className: "document-row", data: { number },
        "aria-label": `${index.documents[number]}, ${counted(here, "error")}`,
      }, make("bdi", { textContent: index.documents[number] }), make("span", { className: `count${here ? "" : " zero"}`, textContent: here.toLocaleString("en") })));
    }));
    const total = errors.reduce((sum, one) => sum + one, 0);
    const documents = listed.length === sources.length ? counted(sources.length, "document") : `${listed.length.toLocaleString("en")} of ${counted(sources.length, "document")}`;
    $("list-count").textContent = `${documents}, ${counted(total, "error")}`;
    markList();
  }
  function markList() {
    for (const row of $("list").querySelectorAll("button")) {
      const isOpen = Number(row.dataset.number) === state.doc;
      if (isOpen) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      if (isOpen) reveal(row, $("list"));
    }
  }
  function reveal(node, scroller) {
    const [inner, outer] = [node.getBoundingClientRect(), scroller.getBoundingClientRect()];
    if (inner.top < outer.top) scroller.scrollTop -= outer.top - inner.top;
    else if (inner.bottom > outer.bottom) scroller.scrollTop += inner.bottom - outer.bottom;
  }

  // The open document ------------------------------------------------------------------------------------------------------
  let pieces = new Map(); // "slot:number of the mention" -> its pieces of the text
  let tones = new Map();
  let clusters = new Map();
  const slots = () => (state.b < 0 ? [0, 1] : [0, 1, 2]);
  const keyOf = (slot, number) => `${slot}:${number}`;
  function open(number, { focus = false } = {}) {
    state.doc = number;
    state.selected = -1;
    const own = load(number);
    $("document-title").replaceChildren(make("bdi", { textContent: index.documents[number] }));
    $("no-text").hidden = own.text !== null;
    $("reader").classList.toggle("without-text", own.text === null);
    findTones(own);
    drawText(own);
    drawItems(own);
    drawLinks(own);
    drawCard(own);
    markList();
    showPosition();
    if (focus) $("document-title").focus();
  }
  function findTones(own) {
    tones = new Map();
    for (const one of instancesOf(own.number)) {
      if (!isShown(one)) continue;
      one.items.forEach((item, slot) => item?.parts.flat().forEach((number) => {
        const key = keyOf(slot, number);
        const tone = one.tones[slot] || one.tone;
        if (!(WEIGHT[tones.get(key)] >= WEIGHT[tone])) tones.set(key, tone);
      }));
    }
  }
  /** Numbers of clusters with several mentions here, in the order of the text, if they are to be shown. */
  function findClusters(own) {
    clusters = new Map();
    if (!$("clusters").checked) return;
    for (const slot of slots()) {
      const members = new Map();
      const side = (own.mentions[sideOf(slot)] || []).filter((mention) => mention.place.length && mention.cluster !== null);
      side.sort((x, y) => x.place[0][0] - y.place[0][0]).forEach(({ cluster }) => members.set(cluster, (members.get(cluster) || 0) + 1));
      [...members].filter(([, size]) => size > 1).forEach(([cluster], number) => clusters.set(`${slot}:${cluster}`, number));
    }
  }
  function drawText(own) {
    findClusters(own);
    pieces = new Map();
    const node = $("text");
    node.replaceChildren();
    if (own.text === null) return;
    const spans = []; // [begin, end, slot, number, begins the mention]
    for (const slot of slots()) {
      (own.mentions[sideOf(slot)] || []).forEach((mention, number) => mention.place.forEach(([begin, end], segment) => {
        if (end > begin) spans.push([begin, end, slot, number, segment === 0]);
      }));
    }
    const hits = [];
    if (state.query) {
      const lower = own.text.toLowerCase();
      if (lower.length === own.text.length) {
        for (let at = lower.indexOf(state.query); at >= 0; at = lower.indexOf(state.query, at + state.query.length)) hits.push([at, at + state.query.length]);
      }
    }
    const cuts = [...new Set([0, own.text.length, ...spans.flatMap(([begin, end]) => [begin, end]), ...hits.flat()])].sort((x, y) => x - y);
    spans.sort((x, y) => x[0] - y[0]);
    let [next, hit] = [0, 0];
    let active = [];
    for (let cut = 0; cut + 1 < cuts.length; cut += 1) {
      const [begin, end] = [cuts[cut], cuts[cut + 1]];
      active = active.filter((span) => span[1] > begin);
      const starting = [];
      while (next < spans.length && spans[next][0] === begin) {
        active.push(spans[next]);
        starting.push(spans[next]);
        next += 1;
      }
      while (hit < hits.length && hits[hit][1] <= begin) hit += 1;
      const isHit = hit < hits.length && hits[hit][0] <= begin;
      const text = own.text.slice(begin, end);
      const inner = isHit ? make("mark", { textContent: text }) : document.createTextNode(text);
      node.append(active.length ? piece(own, inner, active, starting, end) : inner);
    }
  }
  function piece(own, inner, active, starting, until) {
    let node = inner;
    let background = NONE;
    for (const slot of [0, 1, 2]) {
      const here = active.filter((span) => span[2] === slot);
      if (!here.length) continue;
      const own_ = here.map((span) => tones.get(keyOf(slot, span[3])) || NONE).sort((x, y) => (WEIGHT[y] || 0) - (WEIGHT[x] || 0))[0];
      // The background is that of gold's outcome, where gold has a mention.
      if (background === NONE) background = own_;
      node = make("span", { className: `layer slot-${slot} t-${own_}` }, node);
    }
    const outer = make("span", { className: `piece t-${background}`, data: { mentions: active.map((span) => keyOf(span[2], span[3])).join(" ") } });
    const beginning = starting.filter((span) => span[4]);
    if (beginning.length) {
      // What a system has is right or not as gold's sign says; only what is not in gold has a sign of its own.
      const telling = beginning.filter((span) => span[2] === 0 || tones.get(keyOf(span[2], span[3])) === "spurious" || !beginning.some((other) => other[2] === 0));
      const signs = [...new Set(telling.map((span) => tones.get(keyOf(span[2], span[3]))).filter(Boolean))];
      signs.forEach((tone) => outer.append(make("span", { className: `sign t-${tone}`, "aria-hidden": "true", textContent: SIGNS[tone] })));
      outer.tabIndex = 0;
      outer.setAttribute("role", "button");
      outer.setAttribute("aria-label", beginning.map((span) => described(own, span[2], span[3])).join("; "));
    }
    outer.append(node);
    for (const [, end, slot, number] of active) {
      const mention = own.mentions[sideOf(slot)][number];
      const mark = clusters.get(`${slot}:${mention.cluster}`);
      if (mark === undefined || end !== until || mention.place[mention.place.length - 1][1] !== end) continue;
      outer.append(make("span", { className: `cluster c${mark % 8} of-${slot}`, "aria-hidden": "true", textContent: mark + 1 }));
    }
    for (const span of active) {
      const key = keyOf(span[2], span[3]);
      if (!pieces.has(key)) pieces.set(key, []);
      pieces.get(key).push(outer);
    }
    return outer;
  }
  const TONE_WORDS = { right: "right", missed: "missed", spurious: "spurious", wrong: "wrong", other: "partly right", none: "not scored" };
  function toneWords(slot, number) {
    const tone = tones.get(keyOf(slot, number)) || NONE;
    return tone === "a" ? CLASSES["only-a"]() : tone === "b" ? CLASSES["only-b"]() : TONE_WORDS[tone];
  }
  function described(own, slot, number) {
    const mention = own.mentions[sideOf(slot)][number];
    return [textOf(own, mention), nameOf(slot), ...attributesOf(mention), toneWords(slot, number)].join(", ");
  }
  function drawLegend() {
    const line = (slot) => make("span", { className: "sample" }, make("span", { className: `layer slot-${slot} t-sample`, textContent: nameOf(slot) }));
    const tones_ = state.b < 0 ? ["right", "missed", "spurious", "wrong", "other"] : ["right", "a", "b", "missed", "spurious"];
    const words = { right: state.b < 0 ? "right" : "both right", a: "only A right", b: "only B right", missed: state.b < 0 ? "missed" : "both wrong", spurious: "spurious", wrong: "wrong", other: "partly right" };
    $("legend").replaceChildren(...slots().map(line), ...tones_.map((tone) => make("span", { className: "sample" },
      make("span", { className: `sign t-${tone}`, "aria-hidden": "true", textContent: SIGNS[tone] }), ` ${words[tone]}`)));
  }

  // Items, links, the selected one -------------------------------------------------------------------------------------------
  function summaryOf(own, one) {
    const slot = one.items.findIndex((item) => item !== null);
    const item = one.items[slot];
    if (!item) return ["", ""];
    const mentions = item.parts.flat().map((number) => own.mentions[sideOf(slot)][number]);
    const texts = item.parts.map((part) => part.map((number) => textOf(own, own.mentions[sideOf(slot)][number])).join(", "));
    const more = item.elsewhere.length ? ` and ${counted(item.elsewhere.length, "mention")} elsewhere` : "";
    const title = item.form === "link" ? texts.join(" → ") : texts.join(" · ") || item.about || item.label;
    const about = item.form === "mention" ? [...attributesOf(mentions[0])].join(", ") : [item.form === "link" ? item.label : `${item.form} ${bare(own, item.label)}`.trim(), item.form === "link" ? "" : item.about].filter(Boolean).join(", ");
    const place = mentions.length && (own.text === null || item.form === "mention") ? offsetsOf(mentions[0]) : "";
    return [title + more, [about, place].filter(Boolean).join(" · ")];
  }
  function drawItems(own) {
    const all = instancesOf(own.number);
    const shown = all.map((one, number) => [one, number]).filter(([one]) => isShown(one));
    $("items-title").textContent = `Outcomes (${shown.length === all.length ? all.length : `${shown.length} of ${all.length}`})`;
    $("items").replaceChildren(...shown.map(([one, number]) => {
      const [title, about] = summaryOf(own, one);
      return make("li", {}, make("button", { type: "button", className: `item t-${one.tone}`, data: { number }, "aria-pressed": "false" },
        make("span", { className: `sign t-${one.tone}`, "aria-hidden": "true", textContent: SIGNS[one.tone] }),
        make("span", { className: "what" }, make("bdi", { className: "title", textContent: title }), make("span", { className: "quiet", textContent: [one.label, about].filter(Boolean).join(" · ") }))));
    }));
    if (!shown.length) $("items").replaceChildren(make("li", { className: "quiet", textContent: all.length ? "Nothing passes the filters." : "No outcomes of this measure." }));
  }
  function linksOf(own, side, mention) {
    const names = [mention.cluster, mention.id];
    return (own.links[side] || []).filter(([, from, to]) => names.includes(from) || names.includes(to));
  }
  const membersOf = (own, side, name) => (own.mentions[side] || []).map((mention, number) => [mention, number]).filter(([mention]) => mention.cluster === name || mention.id === name);
  function endOf(own, side, name) {
    const members = membersOf(own, side, name);
    return members.length ? `${textOf(own, members[0][0])} (${bare(own, name)})` : bare(own, name);
  }
  function drawLinks(own) {
    const lists = slots().map((slot) => [slot, own.links[sideOf(slot)] || []]);
    $("links").hidden = lists.every(([, links]) => !links.length);
    $("links").querySelector("summary").textContent = `Links: ${lists.map(([slot, links]) => `${nameOf(slot)} ${links.length}`).join(", ")}`;
    $("links").querySelector("div").replaceChildren(...lists.filter(([, links]) => links.length).map(([slot, links]) => make("section", {}, make("h4", { textContent: nameOf(slot) }),
      make("ul", {}, ...links.map(([kind, from, to]) => make("li", {}, `${kind}: `, make("bdi", { textContent: endOf(own, sideOf(slot), from) }), " → ", make("bdi", { textContent: endOf(own, sideOf(slot), to) })))))));
  }
  function memberRow(own, slot, number, gold, isAlone) {
    const mention = own.mentions[sideOf(slot)][number];
    const attributes = attributesOf(mention).map((value) => make("span", { className: gold && !gold.includes(value) ? "value differs" : "value", textContent: gold && !gold.includes(value) ? `≠ ${value}` : value }));
    const where = [offsetsOf(mention), mention.line === null ? "" : `line ${mention.line}`].filter(Boolean).join(", ");
    const cluster = mention.cluster === null ? null : membersOf(own, sideOf(slot), mention.cluster).length;
    return make("li", {}, make("button", { type: "button", className: "plain", data: { go: keyOf(slot, number) } }, make("bdi", { textContent: textOf(own, mention) })), " ", ...attributes,
      make("span", { className: "quiet", textContent: ` ${where}` }),
      cluster && isAlone ? make("span", { className: "quiet", textContent: ` · cluster ${bare(own, mention.cluster)}, ${counted(cluster, "mention")} here` }) : null,
      ...(isAlone ? linksOf(own, sideOf(slot), mention) : []).map(([kind, from, to]) => make("div", { className: "quiet", textContent: `${kind}: ${endOf(own, sideOf(slot), from)} → ${endOf(own, sideOf(slot), to)}` })));
  }
  function drawCard(own) {
    const one = instancesOf(own.number)[state.selected];
    $("card").hidden = !one;
    if (!one) return $("card").replaceChildren();
    const goldItem = one.items[0];
    const gold = goldItem?.form === "mention" ? attributesOf(own.mentions[0][goldItem.parts[0][0]]) : null;
    const sections = one.items.map((item, slot) => {
      const heading = make("h4", {}, make("span", { className: `layer slot-${slot} t-${one.tones[slot] || one.tone}` }, make("bdi", { textContent: nameOf(slot) })));
      if (!item) return make("section", {}, heading, make("p", { className: "quiet", textContent: "nothing" }));
      const title = item.form === "mention" ? null : make("p", {}, `${item.form} `, make("bdi", { textContent: bare(own, item.label) }), item.about && item.form !== "link" ? ` (${item.about})` : "");
      const rows = item.parts.flatMap((part, at) => [...(item.parts.length > 1 && at > 0 && item.form === "link" ? [make("li", { className: "arrow", textContent: "→" })] : []), ...part.map((number) => memberRow(own, slot, number, slot > 0 ? gold : null, ["mention", "element"].includes(item.form)))]);
      const others = item.elsewhere.map(([number, mention]) => {
        const other = load(number);
        return make("li", {}, make("button", { type: "button", className: "plain", data: { document: number } }, make("bdi", { textContent: `${textOf(other, other.mentions[sideOf(slot)][mention])} in ${index.documents[number]}` })));
      });
      return make("section", {}, heading, title, make("ul", {}, ...rows, ...others));
    });
    $("card").replaceChildren(
      make("div", { className: "card-top" }, make("strong", {}, make("span", { className: `sign t-${one.tone}`, "aria-hidden": "true", textContent: SIGNS[one.tone] }), ` ${one.label}`), make("button", { type: "button", id: "close", className: "plain", "aria-label": "Close", textContent: "×" })),
      ...sections, ...one.notes.filter(Boolean).map((note) => make("p", { className: "quiet", textContent: note })));
  }
  function select(number, { scroll = true } = {}) {
    const own = load(state.doc);
    state.selected = number;
    document.querySelectorAll(".piece.selected").forEach((node) => node.classList.remove("selected"));
    $("items").querySelectorAll("[aria-pressed]").forEach((row) => row.setAttribute("aria-pressed", String(Number(row.dataset.number) === number)));
    const one = instancesOf(state.doc)[number];
    drawCard(own);
    showPosition();
    if (!one) return;
    const nodes = one.items.flatMap((item, slot) => (item ? item.parts.flat().flatMap((mention) => pieces.get(keyOf(slot, mention)) || []) : []));
    nodes.forEach((node) => node.classList.add("selected"));
    const row = $("items").querySelector(`[data-number="${number}"]`);
    if (row) reveal(row, $("items"));
    if (scroll) (nodes[0] || row)?.scrollIntoView({ block: "center" });
  }
  function showPosition() {
    const total = errors.reduce((sum, one) => sum + one, 0);
    const own = state.doc < 0 ? [] : instancesOf(state.doc).map((one, number) => [one, number]).filter(([one]) => isError(one));
    const at = own.findIndex(([, number]) => number === state.selected);
    const before = listed.slice(0, listed.indexOf(state.doc)).reduce((sum, number) => sum + errors[number], 0);
    const one = at < 0 ? null : own[at][0];
    $("position").textContent = total === 0 ? "No errors" : one === null ? `${counted(total, "error")}` : `Error ${(before + at + 1).toLocaleString("en")} of ${total.toLocaleString("en")}`;
    $("next").disabled = $("previous").disabled = total === 0;
  }
  function move(step) {
    if (!listed.length || !errors.some(Boolean)) return;
    const here = instancesOf(state.doc).map((one, number) => number).filter((number) => isError(instancesOf(state.doc)[number]));
    const at = here.indexOf(state.selected);
    const wanted = at < 0 ? (step > 0 ? here[0] : undefined) : here[at + step];
    if (wanted !== undefined && listed.includes(state.doc)) return select(wanted);
    let place = listed.indexOf(state.doc);
    for (let tried = 0; tried < listed.length; tried += 1) {
      place = (place + step + listed.length) % listed.length;
      if (errors[listed[place]]) break;
    }
    open(listed[place]);
    const there = instancesOf(state.doc).map((one, number) => number).filter((number) => isError(instancesOf(state.doc)[number]));
    select(step > 0 ? there[0] : there[there.length - 1]);
  }
  function moveDocument(step) {
    if (!listed.length) return;
    const place = (listed.indexOf(state.doc) + step + listed.length) % listed.length;
    open(listed[place], { focus: true });
  }

  // Pointing at a mention: its cluster and its links ------------------------------------------------------------------------
  function mentionsAt(node) {
    return node.dataset.mentions.split(" ").map((key) => key.split(":").map(Number));
  }
  function point(node) {
    unpoint();
    const own = load(state.doc);
    const lines = [];
    for (const [slot, number] of mentionsAt(node)) {
      const side = sideOf(slot);
      const mention = own.mentions[side][number];
      const members = mention.cluster === null ? [[mention, number]] : membersOf(own, side, mention.cluster);
      members.forEach(([, other]) => pieces.get(keyOf(slot, other))?.forEach((one) => one.classList.add("coreferent")));
      const links = linksOf(own, side, mention);
      for (const [, from, to] of links) {
        const other = [mention.cluster, mention.id].includes(from) ? to : from;
        membersOf(own, side, other).forEach(([, one]) => pieces.get(keyOf(slot, one))?.forEach((piece_) => piece_.classList.add("linked")));
      }
      lines.push(make("p", {}, make("b", {}, make("bdi", { textContent: nameOf(slot) })), `: ${[...attributesOf(mention), toneWords(slot, number)].join(", ")}`,
        mention.cluster === null ? "" : make("span", { className: "quiet", textContent: ` · cluster ${bare(own, mention.cluster)}, ${counted(members.length, "mention")} here` })),
        ...links.map(([kind, from, to]) => make("p", { className: "quiet", textContent: `${kind}: ${endOf(own, side, from)} → ${endOf(own, side, to)}` })));
    }
    const tip = $("tip");
    tip.replaceChildren(...lines);
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
    const below = box.bottom + 10;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? Math.max(8, box.top - tip.offsetHeight - 8) : below}px`;
  }
  function unpoint() {
    $("tip").hidden = true;
    document.querySelectorAll(".coreferent, .linked").forEach((node) => node.classList.remove("coreferent", "linked"));
  }
  function choose(node) {
    const keys = new Set(node.dataset.mentions.split(" "));
    const touching = instancesOf(state.doc).map((one, number) => [one, number]).filter(([one]) => isShown(one) &&
      one.items.some((item, slot) => item?.parts.flat().some((number) => keys.has(keyOf(slot, number)))));
    if (!touching.length) return;
    const at = touching.findIndex(([, number]) => number === state.selected);
    touching.sort((x, y) => WEIGHT[y[0].tone] - WEIGHT[x[0].tone]);
    select(at < 0 ? touching[0][1] : touching[(at + 1) % touching.length][1], { scroll: false });
  }

  // Events --------------------------------------------------------------------------------------------------------------------
  function refresh({ keep = true } = {}) {
    count(() => {
      fillTypes();
      fillClasses();
      fillList();
      drawLegend();
      const number = keep && listed.includes(state.doc) ? state.doc : listed[0] ?? Math.max(state.doc, 0);
      open(number);
    });
  }
  function changed() {
    instances = new Map();
    refresh();
  }
  $("measure").addEventListener("change", (event) => { state.measure = Number(event.target.value); state.hidden.clear(); changed(); });
  $("system-a").addEventListener("change", (event) => {
    state.a = Number(event.target.value);
    if (state.a === state.b) state.b = -1;
    fillSystems();
    changed();
  });
  $("system-b").addEventListener("change", (event) => { state.b = Number(event.target.value); state.hidden.clear(); changed(); });
  $("clusters").addEventListener("change", () => { const { selected } = state; open(state.doc); if (selected >= 0) select(selected); });
  $("type").addEventListener("change", (event) => { state.type = event.target.value; refresh(); });
  $("classes").addEventListener("change", (event) => {
    if (event.target.checked) state.hidden.delete(event.target.value);
    else state.hidden.add(event.target.value);
    const chosen = event.target.value;
    refresh();
    $("classes").querySelector(`input[value="${CSS.escape(chosen)}"]`)?.focus();
  });
  let typing;
  $("search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => { state.query = event.target.value.trim().toLowerCase(); refresh(); }, 120);
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("list").addEventListener("click", (event) => {
    const row = event.target.closest("button");
    if (row) open(Number(row.dataset.number), { focus: matchMedia("(max-width: 60rem)").matches });
  });
  $("items").addEventListener("click", (event) => {
    const row = event.target.closest("button");
    if (row) select(Number(row.dataset.number));
  });
  $("card").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.id === "close") select(-1);
    else if (button.dataset.document) open(Number(button.dataset.document), { focus: true });
    else if (button.dataset.go) pieces.get(button.dataset.go)?.[0].scrollIntoView({ block: "center" });
  });
  $("next").addEventListener("click", () => move(1));
  $("previous").addEventListener("click", () => move(-1));
  const text = $("text");
  text.addEventListener("pointerover", (event) => { const node = event.target.closest(".piece"); if (node) point(node); else unpoint(); });
  text.addEventListener("pointerleave", unpoint);
  text.addEventListener("focusin", (event) => { const node = event.target.closest(".piece"); if (node) point(node); });
  text.addEventListener("focusout", unpoint);
  text.addEventListener("click", (event) => { const node = event.target.closest(".piece"); if (node) choose(node); });
  text.addEventListener("keydown", (event) => {
    const node = event.target.closest(".piece");
    if (node && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); choose(node); }
  });
  addEventListener("scroll", unpoint, { passive: true });
  const KEYS = {
    n: () => move(1), j: () => move(1), p: () => move(-1), k: () => move(-1),
    "]": () => moveDocument(1), "[": () => moveDocument(-1), "/": () => $("search").focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape") {
      if (isTyping && event.target.id === "search" && state.query) { event.target.value = ""; state.query = ""; refresh(); }
      else if (!$("tip").hidden) unpoint();
      else if (state.selected >= 0) select(-1);
      return;
    }
    const action = KEYS[event.key];
    if (isTyping || !action || !$("shortcuts").checked) return;
    event.preventDefault();
    action();
  });
  for (const button of document.querySelectorAll("button[data-show]")) {
    button.addEventListener("click", () => {
      const { view, outcome, system } = JSON.parse(button.dataset.show);
      state.measure = view;
      state.a = system;
      state.b = -1;
      state.type = "";
      state.hidden = new Set(index.outcomes.map(([name]) => name).filter((name) => name !== outcome));
      fillMeasures();
      fillSystems();
      changed();
      $("documents").scrollIntoView();
    });
  }

  fillMeasures();
  fillSystems();
  $("controls").hidden = $("reader").hidden = false;
  refresh({ keep: false });
})();
