// What the reader does.

/** Count and draw again; the open document stays open if it passes the filters. An `item` of it is then selected. */
function refresh(item = -1) {
  const wanted = state.doc;
  count(() => {
    fillTypes();
    fillClasses();
    fillList();
    drawLegend();
    open(tally.listed.includes(state.doc) ? state.doc : tally.listed[0] ?? Math.max(state.doc, 0));
    if (state.doc === wanted && instancesOf(wanted)[item]) select(item);
  });
}
/** Other outcomes are to be shown. */
function changed({ hidden = [], item = -1 } = {}) {
  state.hidden = new Set(hidden);
  instances = new Map();
  fillSystems();
  refresh(item);
}

$("measure").addEventListener("change", (event) => {
  state.measure = Number(event.target.value);
  changed();
});
$("system-a").addEventListener("change", (event) => {
  state.a = Number(event.target.value);
  if (state.a === state.b) state.b = -1;
  changed({ hidden: state.hidden });
});
$("system-b").addEventListener("change", (event) => {
  const wasAlone = state.b < 0;
  state.b = Number(event.target.value);
  changed({ hidden: wasAlone || state.b < 0 ? [] : state.hidden });
});
$("type").addEventListener("change", (event) => {
  state.type = event.target.value;
  refresh();
});
$("clusters").addEventListener("change", () => {
  const { doc, selected } = state;
  open(doc);
  if (selected >= 0) select(selected);
});
$("classes").addEventListener("change", ({ target: { checked, value } }) => {
  if (checked) state.hidden.delete(value);
  else state.hidden.add(value);
  refresh();
  $("classes").querySelector(`input[value="${CSS.escape(value)}"]`)?.focus();
});
let typing;
$("search").addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    state.query = event.target.value.trim().toLowerCase();
    refresh();
  }, 120);
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
  else goTo(event);
});
$("next").addEventListener("click", () => move(1));
$("previous").addEventListener("click", () => move(-1));
for (const button of document.querySelectorAll("button[data-show]")) {
  button.addEventListener("click", () => {
    const { view, outcome, system } = JSON.parse(button.dataset.show);
    Object.assign(state, { measure: view, a: system, b: -1, type: "", query: "" });
    $("search").value = "";
    fillMeasures();
    changed({ hidden: index.outcomes.map(([name]) => name).filter((name) => name !== outcome) });
    $("documents").scrollIntoView();
    $("document-title").focus({ preventScroll: true });
  });
}

const pieceAt = (event) => event.target.closest(".piece");
$("text").addEventListener("pointerover", (event) => (pieceAt(event) ? point(pieceAt(event)) : unpoint()));
$("text").addEventListener("pointerleave", unpoint);
$("text").addEventListener("focusin", (event) => pieceAt(event) && point(pieceAt(event)));
$("text").addEventListener("focusout", unpoint);
$("text").addEventListener("click", (event) => pieceAt(event) && choose(pieceAt(event)));
$("text").addEventListener("keydown", (event) => {
  if (!pieceAt(event) || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  choose(pieceAt(event));
});
addEventListener("scroll", unpoint, { passive: true });

const KEYS = {
  n: () => move(1),
  j: () => move(1),
  p: () => move(-1),
  k: () => move(-1),
  "]": () => moveDocument(1),
  "[": () => moveDocument(-1),
  "/": () => $("search").focus(),
  "?": () => $("help").showModal(),
};
function escape_(event) {
  if (event.target === $("search") && state.query) {
    $("search").value = state.query = "";
    refresh();
  } else if (!$("tip").hidden) unpoint();
  else if (state.selected >= 0) select(-1);
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("help").open) return;
  if (event.key === "Escape") return escape_(event);
  const isTyping = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (isTyping || !KEYS[event.key] || !$("shortcuts").checked) return;
  event.preventDefault();
  KEYS[event.key]();
});

$("keys").addEventListener("click", () => $("help").showModal());
$("close-help").addEventListener("click", () => $("help").close());
addEventListener("hashchange", openAddress);

$("controls").hidden = $("reader").hidden = false;
if (!openAddress()) {
  fillMeasures();
  changed();
}
