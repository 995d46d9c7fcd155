/* Put into each page by `triathlon serve --watch`: loads the page again once the site was rebuilt. The server answers
   /_changed.js late: when there is a newer version, or with nothing after a while. */
"use strict";
(() => {
  const { version } = document.currentScript.dataset;
  const wait = () => {
    const script = document.createElement("script");
    script.src = `/_changed.js?version=${version}&${Date.now()}`;
    script.addEventListener("load", wait);
    script.addEventListener("error", () => setTimeout(wait, 1000));
    document.head.append(script);
  };
  addEventListener("load", wait);
})();
