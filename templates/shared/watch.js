/* Put into each page by `triathlon serve --watch`: asks every second, and loads the page again once the site was
   rebuilt. */
"use strict";
(() => {
  const { version } = document.currentScript.dataset;
  const ask = () => {
    const script = document.createElement("script");
    script.src = `/_changed.js?version=${version}&${Date.now()}`;
    for (const end of ["load", "error"]) script.addEventListener(end, () => script.remove());
    document.head.append(script);
  };
  setInterval(ask, 1000);
})();
