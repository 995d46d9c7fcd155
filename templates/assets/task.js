/* Leads the address of a task on to the page of its suite that has it now: pages are cut by how hard the tasks are. */
"use strict";
{
  const { load, anchor } = window.triathlon,
    wanted = location.hash.slice(1);
  window.triathlonTasks = ({ suites }) => {
    const [, , step, names] = suites.find(([, page]) => location.pathname.includes(`/${page}/`));
    const place = names.findIndex((name) => anchor(name) === wanted);
    if (place >= 0) location.replace(`${Math.floor(place / step) + 1}.html#${wanted}`);
  };
  if (wanted && !document.getElementById(wanted)) load("../../data/tasks.js");
}
