// Figures that move without a reload.
"use strict";
(() => {
  const source = new EventSource("/api/v1/live");
  source.addEventListener("figures", (event) => {
    const figures = JSON.parse(event.data);
    for (const place of document.querySelectorAll("[data-live]")) {
      const figure = figures[place.dataset.live];
      if (figure !== undefined && place.textContent !== figure) place.textContent = figure;
    }
  });
  addEventListener("pagehide", () => source.close());
})();
