// The outcomes of the open document as a list, the selected one as a card, and all links.

const OWN_LINKS = ["mention", "element"]; // items whose mentions are shown with their clusters and links

/** What an instance is about, in one line, and what else to know. */
function summaryOf(own, one) {
  const slot = one.items.findIndex((item) => item !== null);
  const item = one.items[slot];
  if (!item) return ["", ""];
  const side = own.mentions[sideOf(slot)];
  const texts = item.parts.map((part) => part.map((number) => textOf(own, side[number])).join(", "));
  const first = side[item.parts.flat()[0]];
  const more = item.elsewhere.length ? ` and ${counted(item.elsewhere.length, "mention")} elsewhere` : "";
  const title = texts.join(item.form === "link" ? " → " : " · ") || item.about || item.label;
  const place = first && (own.text === null || item.form === "mention") ? offsetsOf(first) : "";
  let about = [item.label];
  if (item.form === "mention") about = attributesOf(first);
  else if (item.form !== "link") about = [`${item.form} ${bare(own, item.label)}`.trim(), item.about];
  return [title + more, [about.filter(Boolean).join(", "), place].filter(Boolean).join(" · ")];
}
function drawItems(own) {
  const all = instancesOf(own.number);
  const shown = withNumbers(all).filter(([one]) => isShown(one));
  $("items-title").textContent = `Outcomes (${shown.length === all.length ? "" : `${shown.length} of `}${all.length})`;
  $("items").classList.toggle("long", shown.length > 1000);
  $("items").replaceChildren(...shown.map(([one, number]) => {
    const [title, about] = summaryOf(own, one);
    const below = [one.label, about].filter(Boolean).join(" · ");
    return make("li", {},
      make("button", { type: "button", className: `item t-${one.tone}`, data: { number }, "aria-pressed": "false" },
        sign(one.tone), make("span", { className: "what" }, bdi(title, "title"), quiet(below))));
  }));
  if (!shown.length) $("items").append(quiet(all.length ? "Nothing passes the filters." : "No outcomes of this measure.", "li"));
}

function drawLinks(own) {
  const lists = slots().map((slot) => [slot, linksOf(own, sideOf(slot))]);
  $("links").hidden = lists.every(([, links]) => !links.length);
  const counts = lists.map(([slot, links]) => `${nameOf(slot)} ${links.length}`);
  $("links").querySelector("summary").textContent = `Links: ${counts.join(", ")}`;
  $("links").querySelector("div").replaceChildren(...lists.filter(([, links]) => links.length).map(([slot, links]) =>
    make("section", {},
      make("h4", {}, bdi(nameOf(slot))),
      make("ul", {}, ...links.map((link) => make("li", {}, bdi(linkWords(own, sideOf(slot), link))))))));
}

function drawCard(own) {
  const one = instancesOf(own.number)[state.selected];
  $("card").hidden = !one;
  $("card").replaceChildren();
  if (!one) return;
  const close = make("button", { type: "button", id: "close", className: "plain", "aria-label": "Close", textContent: "×" });
  const link = make("a", { href: addressOf(state.selected), textContent: "Link", title: "The address of this view, to share" });
  $("card").append(
    make("div", { className: "card-top" }, make("strong", {}, sign(one.tone), ` ${one.label}`), link, close),
    ...one.items.map((item, slot) => cardSection(own, one, item, slot)),
    ...one.notes.filter(Boolean).map((note) => quiet(note, "p")));
}
function cardSection(own, one, item, slot) {
  const heading = make("h4", {}, make("span", { className: `layer slot-${slot} t-${one.tones[slot]}` }, bdi(nameOf(slot))));
  if (!item) return make("section", {}, heading, quiet("nothing", "p"));
  const about = item.about && item.form !== "link" ? ` (${item.about})` : "";
  const title = item.form === "mention" ? null : make("p", {}, `${item.form} `, bdi(bare(own, item.label)), about);
  const gold = one.items[0];
  const expected = slot > 0 && gold?.form === "mention" ? attributesOf(own.mentions[0][gold.parts[0][0]]) : null;
  const rows = item.parts.flatMap((part, place) => [
    ...(item.form === "link" && place > 0 ? [make("li", { className: "arrow", textContent: "→" })] : []),
    ...part.map((number) => memberRow(own, slot, number, expected, OWN_LINKS.includes(item.form))),
  ]);
  return make("section", {}, heading, title, make("ul", {}, ...rows, ...item.elsewhere.map((place) => elsewhereRow(slot, place))));
}
/** A mention with its attributes; those that are not `expected` are marked. */
function memberRow(own, slot, number, expected, withLinks) {
  const side = sideOf(slot);
  const mention = own.mentions[side][number];
  const attributes = attributesOf(mention).map((value) => (expected === null || expected.includes(value)
    ? make("span", { className: "value", textContent: value })
    : make("span", { className: "value differs", textContent: `≠ ${value}` })));
  const where = [offsetsOf(mention), mention.line === null ? "" : `line ${mention.line}`].filter(Boolean).join(", ");
  const go = make("button", { type: "button", className: "plain", data: { go: keyOf(slot, number) } }, bdi(textOf(own, mention)));
  return make("li", {}, go, " ", ...attributes, quiet(` ${where}${withLinks ? clusterWords(own, side, mention) : ""}`),
    ...(withLinks ? linksAt(own, side, mention) : []).map((link) => quiet(linkWords(own, side, link), "div")));
}
function clusterWords(own, side, mention) {
  if (mention.cluster === null) return "";
  return ` · cluster ${bare(own, mention.cluster)}, ${counted(membersOf(own, side, mention.cluster).length, "mention")} here`;
}
function elsewhereRow(slot, [number, mention]) {
  const other = load(number);
  const words = `${textOf(other, other.mentions[sideOf(slot)][mention])} in ${index.documents[number]}`;
  return make("li", {}, make("button", { type: "button", className: "plain", data: { document: number } }, bdi(words)));
}
