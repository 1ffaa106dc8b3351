"use strict";
// Elements, numbers as text, and tables that are sorted by a click on a column's title.

/** Make an element. Text is text, never HTML: names in a recording may hold anything. */
function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== ""));
  return element;
}

const integers = new Intl.NumberFormat("en-US");
const number = (value) => integers.format(value);

function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Fill a place with a table.
 * columns: {title, value(row), show(row), text: sorted as text, hint, bar: a bar behind it,
 *   isHidden}; without a value, a column is not sorted.
 * options: sort: the title of the column to sort by, ascending, shown: rows at first,
 *   filter(row): the text that a box for words above the table searches, line(row): the row's
 *   element, detail(row): what a click on the row's first button opens, empty: shown instead of a
 *   table without rows.
 * Returns show(rows), and search(words) where there is a filter.
 */
function sortable(target, all, given, options = {}) {
  const columns = given.filter((one) => !one.isHidden);
  const shownAtFirst = options.shown || 25;
  const state = { by: columns.find((one) => one.title === options.sort),
    ascending: Boolean(options.ascending), shown: shownAtFirst, rows: all };
  if (!all.length) {
    target.append(h("p", { class: "quiet" }, options.empty || "There are none."));
    return { show: () => {}, search: () => {} };
  }
  const body = h("tbody");
  const heads = columns.map((column) => h("th", { scope: "col", class: column.text ? "" : "n" },
    column.value ? h("button", { type: "button", title: column.hint, onclick: () => sortBy(column) },
      column.title) : column.title));
  const more = h("p", { class: "more" });
  const top = new Map(columns.filter((one) => one.bar).map((one) =>
    [one, Math.max(...all.map(one.value), 1)]));
  const [box, held] = [h("input", { type: "search", placeholder: "filter",
    "aria-label": "words of a row", oninput: () => search(box.value) }), h("span", { class: "quiet" })];
  if (options.filter) target.append(h("div", { class: "controls" }, box, held));
  target.append(h("div", { class: "wide" }, h("table", { class: "sortable" },
    options.caption ? h("caption", null, options.caption) : "",
    h("thead", null, h("tr", null, heads)), body)), more);

  function sortBy(column) {
    state.ascending = state.by === column ? !state.ascending : Boolean(column.text);
    state.by = column;
    fill();
  }

  function compare(one, other) {
    if (!state.by) return one - other;
    const [a, b] = [state.by.value(one), state.by.value(other)];
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1;
    const order = state.by.text ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
    return (state.ascending ? order : -order) || one - other;
  }

  function cell(column, row) {
    const shown = column.show ? column.show(row) : column.value(row);
    const made = h("td", { class: column.text ? column.class || "" : "n" },
      typeof shown === "number" ? number(shown) : shown);
    if (column.bar) {
      made.classList.add("share");
      made.style.setProperty("--share", `${(100 * column.value(row)) / top.get(column)}%`);
    }
    return made;
  }

  function line(row) {
    const cells = columns.map((column) => cell(column, row));
    const made = h("tr", null, cells);
    if (options.detail && options.detail(row)) {
      const opener = h("button", { type: "button", class: "opener", "aria-expanded": "false",
        "aria-label": "details", onclick: () => open(made, opener, row) });
      cells[0].prepend(opener);
    }
    return made;
  }

  function open(made, opener, row) {
    const isOpen = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) made.nextSibling.remove();
    else made.after(h("tr", { class: "detail" },
      h("td", { colspan: columns.length }, options.detail(row)())));
  }

  function fill() {
    const sorted = [...state.rows].sort(compare);
    columns.forEach((column, at) => {
      const order = state.ascending ? "ascending" : "descending";
      if (column === state.by) heads[at].setAttribute("aria-sort", order);
      else heads[at].removeAttribute("aria-sort");
    });
    body.replaceChildren(...sorted.slice(0, state.shown).map(options.line || line));
    const rest = sorted.length - state.shown;
    held.textContent = rest > 0 ? `${number(state.shown)} of ${plural(sorted.length, "row")}`
      : plural(sorted.length, "row");
    more.replaceChildren(...(rest > 0 ? [
      button(`Show ${number(Math.min(rest, 200))} more`, () => grow(200)),
      button(`Show all ${number(sorted.length)}`, () => grow(Infinity)),
    ] : []));
  }

  function grow(by) {
    state.shown += by;
    fill();
  }

  function show(chosen) {
    state.rows = chosen;
    state.shown = shownAtFirst;
    fill();
  }

  /** Show the rows with all words. */
  function search(text) {
    box.value = text;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    show(words.length ? all.filter((row) => {
      const searched = options.filter(row).toLowerCase();
      return words.every((word) => searched.includes(word));
    }) : all);
  }

  fill();
  return { show, search };
}

function button(title, onclick) {
  return h("button", { type: "button", onclick }, title);
}

/** Buttons of which one is pressed. */
function choice(target, titles, choose) {
  const made = titles.map((title, at) => h("button", {
    type: "button", "aria-pressed": String(at === 0), onclick: () => press(at) }, title));
  function press(at) {
    made.forEach((one, place) => one.setAttribute("aria-pressed", String(place === at)));
    choose(at);
  }
  target.append(h("div", { class: "bar" }, made));
}

/** Let the tables of a class, which are complete, be sorted: by data-value where a cell has one. */
function sortTables(kind) {
  for (const table of document.querySelectorAll(`table.${kind}`)) {
    const made = [...table.tBodies[0].rows];
    const columns = [...table.tHead.rows[0].cells].map((head, at) => {
      const value = (row) => made[row].cells[at].dataset.value ?? made[row].cells[at].textContent;
      return { title: head.textContent, value, text: !head.classList.contains("n") };
    });
    const place = h("div", { class: kind });
    table.replaceWith(place);
    sortable(place, made.map((_, row) => row), columns,
      { shown: Infinity, line: (row) => made[row] });
  }
}
