// What the overview says first moves without a reload: figures, what needs attention, words.
"use strict";
(() => {
  const write = (place, text) => { if (text !== undefined && place.textContent !== text) place.textContent = text; };
  const made = (name, text) => {
    const found = document.createElement(name);
    found.textContent = text;
    return found;
  };
  // Whoever stands on a link there stays on it.
  const replace = (place, children) => {
    const link = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    if (place.textContent.replace(/\s/g, "") !== children.map((each) => each.textContent).join("").replace(/\s/g, "")) {
      place.replaceChildren(...children);
      if (link) place.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
    }
  };
  const alertOf = ({ level, sentence, link }) => {
    const line = document.createElement("li");
    line.className = level;
    const words = made(link ? "a" : "span", sentence);
    if (link) words.href = link;
    line.append(words);
    return line;
  };

  const source = new EventSource("/api/v1/live");
  source.addEventListener("figures", (event) => {
    const now = JSON.parse(event.data);
    for (const place of document.querySelectorAll("[data-live]")) write(place, now.figures[place.dataset.live]);
    for (const place of document.querySelectorAll("[data-note]")) write(place, now.notes[place.dataset.note]);
    const attention = document.getElementById("attention");
    attention.hidden = !now.alerts.length;
    replace(attention.querySelector("ul"), now.alerts.map(alertOf));
    replace(document.getElementById("words"), now.words.flatMap(([subject, sentence]) => [made("dt", subject), made("dd", sentence)]));
    window.recrawlAsOf(now.as_of, now.stale);
  });
  source.addEventListener("error", () => window.recrawlAsOf("", true));
  addEventListener("pagehide", () => source.close());
})();
