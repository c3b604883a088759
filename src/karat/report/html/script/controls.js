// Filters, and the list of documents.

function fill(select_, options, chosen) {
  const made = options.map(([value, label]) => make("option", { value, textContent: label, selected: value === chosen }));
  select_.replaceChildren(...made);
}
function fillMeasures() {
  const groups = new Map();
  index.measures.forEach(({ label, protocol }, number) => {
    if (!groups.has(protocol)) groups.set(protocol, []);
    groups.get(protocol).push(make("option", { value: number, textContent: label, selected: number === state.measure }));
  });
  const nodes = [...groups].flatMap(([label, options]) => (groups.size === 1 ? options : make("optgroup", { label }, ...options)));
  $("measure").replaceChildren(...nodes);
}
function fillSystems() {
  const systems = index.systems.map((name, number) => [number, name]);
  fill($("system-a"), systems, state.a);
  fill($("system-b"), [[-1, "no other"], ...systems.filter(([number]) => number !== state.a)], state.b);
}
function fillTypes() {
  const types = [...new Set([...tally.types, state.type])].filter(Boolean).sort();
  fill($("type"), [["", "all"], ...types.map((type) => [type, type])], state.type);
  $("type").parentElement.hidden = types.length === 0;
}

/** The classes to choose from: name, label, tone and what it is. */
function classes() {
  if (state.b >= 0) return Object.entries(PAIRED).map(([name, [label, tone]]) => [name, label(), tone, ""]);
  const order = ["missed", "spurious", "wrong", "other", "right"];
  const known = new Map(index.outcomes.map((one) => [one[0], one]));
  return [...known.values()].filter(([name]) => tally.seen.has(name)).sort((x, y) => order.indexOf(x[2]) - order.indexOf(y[2]));
}
function fillClasses() {
  const chips = classes().map(([name, label, tone, about]) => make("label", { className: "chip", title: about },
    make("input", { type: "checkbox", checked: !state.hidden.has(name), value: name }),
    sign(tone), ` ${label} `,
    make("span", { className: "number", textContent: figure(tally.totals.get(name) || 0) })));
  $("classes").replaceChildren(make("legend", { textContent: "Show" }), ...chips);
}

function fillList() {
  const { listed, errors, repeated, total } = tally;
  $("list").replaceChildren(...listed.map((number) => {
    const [id, here] = [index.documents[number], errors[number] + repeated[number]];
    const label = `${id}, ${counted(here, "error")}`;
    return make("li", {},
      make("button", { type: "button", className: "document-row", data: { number }, "aria-label": label },
        bdi(id), make("span", { className: here ? "count" : "count zero", textContent: figure(here) })));
  }));
  const missing = state.query ? `Nothing found for “${$("search").value.trim()}”.` : "No document passes the filters.";
  if (!listed.length) $("list").append(quiet(missing, "li"));
  const of = listed.length === sources.length ? "" : `${figure(listed.length)} of `;
  $("list-count").textContent = `${of}${counted(sources.length, "document")}, ${counted(total, "error")}`;
}
function markOpen() {
  for (const row of $("list").querySelectorAll("button")) {
    const isOpen = Number(row.dataset.number) === state.doc;
    if (!isOpen) row.removeAttribute("aria-current");
    else {
      row.setAttribute("aria-current", "true");
      reveal(row, $("list"));
    }
  }
}
/** Scroll a list, and nothing else, until a row of it can be seen. */
function reveal(node, scroller) {
  const [inner, outer] = [node.getBoundingClientRect(), scroller.getBoundingClientRect()];
  if (inner.top < outer.top) scroller.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) scroller.scrollTop += inner.bottom - outer.bottom;
}
