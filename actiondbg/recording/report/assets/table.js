// Tables that are sorted by a click on a column's title.

/**
 * Fill a place with a table.
 * columns: {title, value(row), show(row), text: sorted as text, hint, share: a bar behind it}.
 * options: sort: the title of the column to sort by, ascending, shown: rows at first,
 *   detail(row): what a click on the row's first button opens, empty: said when there are no rows.
 */
function sortable(target, all, given, options = {}) {
  const columns = given.filter((one) => run.timed || !one.isTime);
  const shownAtFirst = options.shown || 25;
  const state = { by: columns.find((one) => one.title === options.sort) || columns[0],
    ascending: Boolean(options.ascending), shown: shownAtFirst, rows: all };
  if (!all.length) {
    target.append(h("p", { class: "quiet" }, options.empty || "There are none."));
    return { show: () => {} };
  }
  const body = h("tbody");
  const heads = columns.map((column) => h("th", { scope: "col", class: column.text ? "" : "n" },
    h("button", { type: "button", title: column.hint, onclick: () => sortBy(column) }, column.title)));
  const more = h("p", { class: "more" });
  const top = new Map(columns.filter((one) => one.share).map((one) =>
    [one, Math.max(...all.map(one.value), 1)]));
  target.append(h("div", { class: "wide" }, h("table", { class: "sortable" },
    options.caption ? h("caption", null, options.caption) : "",
    h("thead", null, h("tr", null, heads)), body)), more);

  function sortBy(column) {
    state.ascending = state.by === column ? !state.ascending : Boolean(column.text);
    state.by = column;
    fill();
  }

  function compare(one, other) {
    const [a, b] = [state.by.value(one), state.by.value(other)];
    const order = state.by.text ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
    return (state.ascending ? order : -order) || one - other;
  }

  function cell(column, row) {
    const shown = column.show ? column.show(row) : column.value(row);
    const made = h("td", { class: column.text ? column.class || "" : "n" },
      typeof shown === "number" ? number(shown) : shown);
    if (column.share) {
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
    body.replaceChildren(...sorted.slice(0, state.shown).map(line));
    const rest = sorted.length - state.shown;
    more.replaceChildren(...(rest > 0 ? [
      button(`Show ${number(Math.min(rest, 200))} more`, () => grow(200)),
      button(`Show all ${number(sorted.length)}`, () => grow(Infinity)),
    ] : []));
  }

  function grow(by) {
    state.shown += by;
    fill();
  }

  fill();
  return { show: (chosen) => { state.rows = chosen; state.shown = shownAtFirst; fill(); } };
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
