// Rankings are sorted by the column whose header is clicked; undefined scores stay last.

for (const { tHead, tBodies: [body] } of document.querySelectorAll(".ranking")) {
  const heads = [...tHead.rows[0].cells];
  heads[0].setAttribute("aria-sort", "ascending");
  heads.forEach((head, column) => {
    if (head.classList.contains("chart")) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "plain" });
    button.append(...head.childNodes);
    head.append(button);
    const isNumber = head.classList.contains("number");
    const first = isNumber && column > 0 ? "descending" : "ascending"; // a rank is a number, too
    const other = { ascending: "descending", descending: "ascending" }[first];
    const valueOf = (row) => {
      const text = row.cells[column].textContent.trim();
      return isNumber ? parseFloat(text) : text;
    };
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const compare = (x, y) => {
        if (!isNumber) return sign * x.localeCompare(y);
        return Number.isNaN(x) - Number.isNaN(y) || sign * (x - y) || 0;
      };
      body.append(...[...body.rows].sort((one, two) => compare(valueOf(one), valueOf(two))));
    });
  });
}
