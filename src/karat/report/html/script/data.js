// Documents and their mentions, read from JSON in the page when they are needed. All content is set as text, never as
// markup.

const $ = (id) => document.getElementById(id);
const index = JSON.parse($("index").textContent);
const sources = document.querySelectorAll("script.document");
const state = {
  measure: index.measure,
  a: index.a,
  b: index.b, // the system beside it; -1: none
  type: "",
  query: "",
  hidden: new Set(), // classes
  doc: -1,
  selected: -1,
};

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
const bdi = (text, className = "") => make("bdi", { textContent: text, className });
const quiet = (text, tag = "span") => make(tag, { className: "quiet", textContent: text });
const withNumbers = (list) => list.map((one, number) => [one, number]);
const figure = (number) => number.toLocaleString("en");
const counted = (number, noun) => `${figure(number)} ${noun}${number === 1 ? "" : "s"}`;

const loaded = new Map();
function load(number) {
  if (!loaded.has(number)) {
    const own = JSON.parse(sources[number].textContent);
    own.number = number;
    own.mentions = own.mentions.map((side) => side.map(
      ([id, place, text, kind, cluster, attributes, line, span]) =>
        ({ id, place, text, kind, cluster, attributes, line, span })));
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

/** The id of a cluster; one that is local to its document is shown without the document's name. */
function bare(own, name) {
  const document_ = `${index.documents[own.number]}:`;
  return name.startsWith(document_) ? name.slice(document_.length) : name;
}
/** The mentions of a cluster, or the mention, of this id, each with its number. */
function membersOf(own, side, name) {
  return withNumbers(own.mentions[side] || []).filter(([one]) => one.cluster === name || one.id === name);
}
const linksOf = (own, side) => own.links[side] || [];
function linksAt(own, side, mention) {
  const names = [mention.cluster, mention.id];
  return linksOf(own, side).filter(([, from, to]) => names.includes(from) || names.includes(to));
}
function endOf(own, side, name) {
  const members = membersOf(own, side, name);
  return members.length ? `${textOf(own, members[0][0])} (${bare(own, name)})` : bare(own, name);
}
const linkWords = (own, side, [kind, from, to]) => `${kind}: ${endOf(own, side, from)} → ${endOf(own, side, to)}`;

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
