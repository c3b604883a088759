// Timelines: the events of the open document, in the order in time that the links of each side imply.

let timelineMeasure = -1;
function drawTimeline(own) {
  const sides = slots().map((slot) => [slot, own.timelines?.[sideOf(slot)]]).filter(([, timeline]) => timeline);
  $("timeline").hidden = !sides.length;
  if (!sides.length) return;
  if (timelineMeasure !== state.measure) { // it is shown at once beside outcomes that are links
    timelineMeasure = state.measure;
    $("timeline").open = instancesOf(own.number).some((one) => one.items.some((item) => item?.form === "link"));
  }
  const counts = sides.map(([slot, [events]]) => `${nameOf(slot)} ${events.length}`);
  const wrong = sides.reduce((sum, [, [, contradictions]]) => sum + contradictions.length, 0);
  $("timeline").querySelector("summary").textContent = `Timeline: ${counts.join(", ")}${wrong ? `; ${counted(wrong, "contradiction")}` : ""}`;
  $("timeline").querySelector("div").replaceChildren(...sides.map(([slot, timeline]) => timelineOf(own, slot, timeline)));
}
function timelineOf(own, slot, [events, contradictions]) {
  const side = sideOf(slot);
  const steps = 1 + Math.max(0, ...events.map(([, , end]) => end));
  const inWrong = new Set(contradictions.flatMap(([link]) => linksOf(own, side)[link].slice(1)));
  const rows = events.map(([mentions, start, end, unknown]) => {
    const all = mentions.map((number) => own.mentions[side][number]);
    const isWrong = all.some(({ id, cluster }) => inWrong.has(id) || inWrong.has(cluster));
    const tone = mentions.map((number) => toneOf(slot, number)).sort(heavier)[0];
    const bar = make("span", { className: "span" });
    Object.assign(bar.style, { marginInlineStart: `${100 * start / steps}%`, width: `${100 * (end + 1 - start) / steps}%` });
    const more = mentions.length > 1 ? ` ×${mentions.length}` : "";
    const data = { go: keyOf(slot, mentions[0]), mentions: mentions.map((number) => keyOf(slot, number)).join(" "), unknown };
    return make("li", {}, make("button", { type: "button", className: `lane t-${tone}`, data },
      make("span", { className: "event" }, ...(isWrong ? [sign("wrong"), " "] : []), bdi(textOf(own, all[0])), quiet(more)),
      make("span", { className: `track slot-${slot}` }, bar)));
  });
  const wrongs = contradictions.map(([link, ...against]) => make("li", { className: "t-wrong" }, sign("wrong"), " ",
    bdi(linkWords(own, side, linksOf(own, side)[link])), quiet(` contradicts ${["the links before it", "gold"].filter((_, index) => against[index]).join(", and ")}`)));
  return make("section", {}, make("h4", {}, bdi(nameOf(slot))), make("ol", {}, ...rows), make("ul", {}, ...wrongs));
}
/** Pale are the events whose order relative to that of a row is not known. */
function compareLane(row) {
  const unknown = BigInt(`0x${row.dataset.unknown}`);
  [...row.closest("ol").children].forEach((other, number) =>
    other.classList.toggle("pale", ((unknown >> BigInt(number)) & 1n) === 1n));
}

$("timeline").addEventListener("pointerover", (event) => laneAt(event) && pointAtLane(laneAt(event)));
$("timeline").addEventListener("focusin", (event) => laneAt(event) && pointAtLane(laneAt(event)));
$("timeline").addEventListener("pointerout", leaveLane);
$("timeline").addEventListener("focusout", leaveLane);
$("timeline").addEventListener("click", goTo);
function laneAt(event) {
  return event.target.closest(".lane");
}
function pointAtLane(row) {
  point(row);
  $("tip").style.left = `${Math.max(8, row.getBoundingClientRect().left - $("tip").offsetWidth - 24)}px`; // rows stay in view
  compareLane(row);
}
function leaveLane() {
  unpoint();
  $("timeline").querySelectorAll(".pale").forEach((row) => row.classList.remove("pale"));
}
