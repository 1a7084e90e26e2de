// Draws what [data-chart] names, in the colours of the page, with a table of the same figures.
"use strict";
(() => {
  const draw = async (place) => {
    const address = new URL(place.dataset.chart, location.href);
    if (window.recrawlIsDark()) address.searchParams.set("dark", "1");
    const response = await fetch(address);
    if (response.status === 202) { setTimeout(() => draw(place), 2000); return; }
    if (!response.ok) { place.textContent = "This chart could not be loaded."; place.dataset.drawn = "no"; return; }
    const found = await response.json();
    place.replaceChildren();
    if (!found.chart) { place.textContent = found.summary; place.dataset.drawn = "yes"; return; }
    const picture = document.createElement("div");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", found.summary);
    place.append(picture);
    await vegaEmbed(picture, found.chart, { actions: false, ast: true, defaultStyle: false, renderer: "svg", tooltip: false, logLevel: 1 });
    // The label says it, and the table below; Vega's own marks say it worse.
    picture.querySelector("svg").setAttribute("aria-hidden", "true");
    if (found.table) place.append(tableOf(found.table));
    place.dataset.drawn = "yes";
  };

  const tableOf = (table) => {
    const details = document.createElement("details");
    details.className = "data";
    const summary = document.createElement("summary");
    summary.textContent = "The same as a table";
    const body = document.createElement("table");
    const row = (cells, kind, into) => {
      const line = into.insertRow();
      for (const cell of cells) {
        const made = document.createElement(kind);
        if (kind === "th") made.scope = "col";
        made.textContent = cell;
        line.append(made);
      }
    };
    row(table.head, "th", body.createTHead());
    const rows = body.createTBody();
    for (const cells of table.rows) row(cells, "td", rows);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(body);
    details.append(summary, scroll);
    return details;
  };

  const all = () => document.querySelectorAll("[data-chart]").forEach((place) => draw(place));
  document.addEventListener("DOMContentLoaded", all);
  document.addEventListener("themechange", all);
})();
