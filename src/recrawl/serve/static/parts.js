// Parts of a page that take a second to work out come after the rest of it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll("[data-part]")) {
    fetch(place.dataset.part).then(async (response) => {
      const text = await response.text();
      const found = new DOMParser().parseFromString(text, "text/html");
      place.replaceChildren(...(response.ok ? found.body : found.querySelector("main")).childNodes);
      place.dataset.loaded = response.ok ? "yes" : "no";
    });
  }
});
