/* Stands in the page that a host shows for an address that leads nowhere: the address becomes that of the page itself,
   from which its links lead on. */
"use strict";
{
  const [, root, path] = /^(.*?\/)((?:data|evidence|imported|models|published|tasks)\/.+|[^/]*)$/.exec(location.pathname);
  if (path !== "404.html") location.replace(`${root}404.html`);
}
