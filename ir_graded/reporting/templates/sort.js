"use strict";
// Print opens the closed sections, and they close again after it.
(() => {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const section of opened) section.open = true;
  });
  addEventListener("afterprint", () => {
    for (const section of opened) section.open = false;
  });
})();
// Each header becomes a button that sorts its table: numbers largest first, words from A; then the other way.
(() => {
  const said = document.getElementById("said");
  const words = new Intl.Collator("en", { numeric: true });
  const content = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();

  function compare(a, b, numeric) {
    return numeric ? Number(a) - Number(b) : words.compare(a, b);
  }

  function sort(table, head, at) {
    const numeric = head.dataset.kind === "number";
    const before = head.getAttribute("aria-sort");
    const first = numeric ? "descending" : "ascending";
    const second = numeric ? "ascending" : "descending";
    const direction = before === first ? second : first;
    const sign = direction === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [content(row, at), row]);
    // What is missing stays last, whichever way.
    rows.sort(([a], [b]) => (a === "") - (b === "") || sign * compare(a, b, numeric));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    said.textContent = `Sorted by ${head.textContent.trim()}, ${direction}`;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, at));
      head.append(button);
    });
  }
})();
