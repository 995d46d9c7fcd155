/* Addresses of single tasks on this page, as earlier builds had them, lead to the page of the task's suite. */
"use strict";
{
  const [discipline, set, ...task] = location.hash.slice(1).split("/");
  const suite = decodeURIComponent(`${discipline}/${set}`);
  const section = [...document.querySelectorAll("[data-suite]")].find((one) => one.dataset.suite === suite);
  if (section && task.length) location.replace(`${section.dataset.page}#${task.join("/")}`);
}
