// The address of what is shown: `#document/item`, and after a question mark what differs from the first view.

const measureNames = index.measures.map(({ protocol, label }) => `${protocol} ${label}`);

function addressOf(item) {
  const view = new URLSearchParams();
  if (state.measure !== index.measure) view.set("measure", measureNames[state.measure]);
  if (state.a !== index.a) view.set("system", index.systems[state.a]);
  if (state.b !== index.b) view.set("beside", index.systems[state.b] ?? "");
  if (state.type) view.set("type", state.type);
  if (state.query) view.set("search", state.query);
  [...state.hidden].filter((name) => tally.seen.has(name)).forEach((name) => view.append("hide", name));
  const place = `#${encodeURIComponent(index.documents[state.doc])}/${item < 0 ? "" : item + 1}`;
  return view.size ? `${place}?${view}` : place;
}

/** Show the address in the browser, once the reader pauses: browsers limit how often it may change. */
let pausing;
function showAddress() {
  clearTimeout(pausing);
  pausing = setTimeout(() => history.replaceState(null, "", addressOf(state.selected)), 200);
}

/** Show what the address says, if it is one of a document; return whether it is. */
function openAddress() {
  const [place, query] = location.hash.slice(1).split("?");
  const [document_, item] = place.split("/");
  const number = index.documents.findIndex((id) => encodeURIComponent(id) === document_);
  if (item === undefined || number < 0) return false;
  const view = new URLSearchParams(query);
  const chosen = (name, list, first) => (view.has(name) ? list.indexOf(view.get(name)) : first);
  state.doc = number;
  state.measure = Math.max(chosen("measure", measureNames, index.measure), 0);
  state.a = Math.max(chosen("system", index.systems, index.a), 0);
  state.b = chosen("beside", index.systems, index.b);
  state.type = view.get("type") ?? "";
  state.query = $("search").value = view.get("search") ?? "";
  fillMeasures();
  $("documents").scrollIntoView();
  changed({ hidden: view.getAll("hide"), item: Number(item) - 1 });
  return true;
}
