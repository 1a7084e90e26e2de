// Parts of a page that take a second to work out come after the rest of it.
"use strict";
(() => {
  const load = async (place) => {
    const response = await fetch(place.dataset.part);
    if (response.status === 202) { setTimeout(() => load(place), 2000); return; }
    const found = new DOMParser().parseFromString(await response.text(), "text/html");
    const told = found.querySelector("main .problem p");
    if (response.ok) {
      place.replaceChildren(...found.body.childNodes);
      window.recrawlLocalTimes(place);
    }
    else place.textContent = told ? told.textContent : "This part could not be loaded.";
    place.dataset.loaded = response.ok ? "yes" : "no";
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-part]").forEach((place) => load(place));
  });
})();
