/* Stands in the page that a host shows for an address that leads nowhere. Earlier builds had evidence on pages by number:
   `evidence/m/loop-core-2.html#u12` is `evidence/m/loop-core.html#u12` now. Any other address becomes that of the page
   itself, from which its links lead on. */
"use strict";
{
  const [, root, path] = /^(.*?\/)((?:agreement|data|evidence|imported|models|published|tasks)\/.+|[^/]*)$/.exec(location.pathname);
  const numbered = /^(evidence\/[^/]+\/.+)-\d+\.html$/.exec(path);
  if (numbered) location.replace(`${root}${numbered[1]}.html${location.hash}`);
  else if (path !== "404.html") location.replace(`${root}404.html`);
}
