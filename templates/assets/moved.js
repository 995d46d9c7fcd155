/* Stands in the page that a host shows for an address that leads nowhere: the address becomes that of the page itself,
   from which its links lead on. */
"use strict";
{
  const { pathname } = location; /* where the site itself lies below such a folder, the last one counts */
  const inFolder = /^(.*\/)(?:data|evidence|imported|models|published|tasks)\/.+/.exec(pathname);
  const [, root] = inFolder ?? /^(.*\/)/.exec(pathname);
  if (!pathname.endsWith("/404.html")) location.replace(`${root}404.html`);
}
