// Opening documents, selecting outcomes, moving from error to error, and pointing at mentions.

let isStarted = false;
function open(number, { focus = false } = {}) {
  const own = load(number);
  if (isStarted) showAddress();
  isStarted = true;
  state.doc = number;
  state.selected = -1;
  $("document-title").replaceChildren(bdi(index.documents[number]));
  drawText(own);
  drawItems(own);
  drawLinks(own);
  drawTimeline(own);
  drawCard(own);
  markOpen();
  showPosition();
  if (focus) $("document-title").focus();
}

const piecesOf = (one) => one.items.flatMap((item, slot) =>
  (item ? item.parts.flat().flatMap((number) => pieces.get(keyOf(slot, number)) || []) : []));
function select(number, { scroll = true } = {}) {
  state.selected = number;
  document.querySelectorAll(".piece.selected").forEach((node) => node.classList.remove("selected"));
  const row = $("items").querySelector(`[data-number="${number}"]`);
  $("items").querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
  row?.setAttribute("aria-pressed", "true");
  drawCard(load(state.doc));
  showPosition();
  showAddress();
  const one = instancesOf(state.doc)[number];
  if (!one) return;
  const nodes = piecesOf(one);
  nodes.forEach((node) => node.classList.add("selected"));
  if (row) reveal(row, $("items"));
  if (scroll) (nodes[0] || row)?.scrollIntoView({ block: "center" });
}
/** Show the mention in the text that a button names. */
function goTo(event) {
  const go = event.target.closest("button")?.dataset.go;
  pieces.get(go)?.[0].scrollIntoView({ block: "center" });
}
function showPosition() {
  const { errors, listed, total } = tally;
  const at = errorsOf(state.doc).indexOf(state.selected);
  const before = listed.slice(0, Math.max(listed.indexOf(state.doc), 0)).reduce((sum, number) => sum + errors[number], 0);
  const words = at < 0 ? counted(total, "error") : `Error ${figure(before + at + 1)} of ${figure(total)}`;
  const none = listed.length ? "No errors" : ""; // the list says that nothing was found
  $("position").textContent = total === 0 ? none : words;
  $("next").disabled = $("previous").disabled = total === 0;
}

function move(step) {
  const { errors, listed, total } = tally;
  if (!total) return;
  const here = listed.includes(state.doc) ? errorsOf(state.doc) : [];
  const at = here.indexOf(state.selected);
  const wanted = at >= 0 ? here[at + step] : step > 0 ? here[0] : undefined;
  if (wanted !== undefined) return select(wanted);
  let place = listed.indexOf(state.doc);
  do place = (place + step + listed.length) % listed.length; while (!errors[listed[place]]);
  if (listed[place] !== state.doc) open(listed[place]);
  select(errorsOf(state.doc).at(step > 0 ? 0 : -1));
}
function moveDocument(step) {
  const { listed } = tally;
  if (listed.length) open(listed[(listed.indexOf(state.doc) + step + listed.length) % listed.length], { focus: true });
}

/** Pointing at a piece shows its mentions, and marks those of their clusters, and those linked with them. */
function point(node) {
  unpoint();
  const own = load(state.doc);
  const tip = $("tip");
  const mark = (slot, number, name) => pieces.get(keyOf(slot, number))?.forEach((one) => one.classList.add(name));
  tip.replaceChildren(...node.dataset.mentions.split(" ").flatMap((key) => {
    const [slot, number] = key.split(":").map(Number);
    const side = sideOf(slot);
    const mention = own.mentions[side][number];
    const links = linksAt(own, side, mention);
    const names = [mention.cluster, mention.id];
    links.flatMap(([, from, to]) => membersOf(own, side, names.includes(from) ? to : from))
      .forEach(([, other]) => mark(slot, other, "linked"));
    const members = mention.cluster === null ? [[mention, number]] : membersOf(own, side, mention.cluster);
    members.forEach(([, other]) => mark(slot, other, "coreferent"));
    const words = [...attributesOf(mention), toneWords(slot, number)].join(", ");
    const first = make("p", {}, make("b", {}, bdi(nameOf(slot))), `: ${words}`, quiet(clusterWords(own, side, mention)));
    return [first, ...links.map((link) => quiet(linkWords(own, side, link), "p"))];
  }));
  tip.hidden = false;
  const box = node.getBoundingClientRect();
  const [widest, below] = [document.documentElement.clientWidth - tip.offsetWidth - 8, box.bottom + 10];
  tip.style.left = `${Math.max(8, Math.min(box.left, widest))}px`;
  tip.style.top = `${below + tip.offsetHeight > innerHeight ? Math.max(8, box.top - tip.offsetHeight - 8) : below}px`;
}
function unpoint() {
  $("tip").hidden = true;
  document.querySelectorAll(".coreferent, .linked").forEach((node) => node.classList.remove("coreferent", "linked"));
}
/** Select the outcome of a piece; if it has several, the worst first, then one after another. */
function choose(node) {
  const keys = node.dataset.mentions.split(" ");
  const touches = (item, slot) => item?.parts.flat().some((number) => keys.includes(keyOf(slot, number)));
  const touching = withNumbers(instancesOf(state.doc)).filter(([one]) => isShown(one) && one.items.some(touches));
  if (!touching.length) return;
  touching.sort(([x], [y]) => heavier(x.tone, y.tone));
  const at = touching.findIndex(([, number]) => number === state.selected);
  select(touching[(at + 1) % touching.length][1], { scroll: false });
}
