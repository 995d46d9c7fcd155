/* Leads the address of a task on to the page of its suite that has it now: pages are cut by how hard the tasks are. */
"use strict";
{
  const { load, anchor } = window.triathlon,
    wanted = location.hash.slice(1),
    folder = location.pathname.split("/").slice(-3, -1).join("/");
  window.triathlonTasks = ({ suites }) => {
    const pages = suites.flatMap(([, pages]) => Object.entries(pages));
    const isThere = ([page, names]) => page.startsWith(`${folder}/`) && names.some((name) => anchor(name) === wanted);
    const [page] = pages.find(isThere) ?? [];
    if (page) location.replace(`../../${page}#${wanted}`);
  };
  if (wanted && !document.getElementById(wanted)) load("../../data/tasks.js");
}
