// How the manual's search ranks what it finds: pages of tasks first, pages about the project last.
// Sphinx reads it through html_search_scorer; the numbers other than `score` are its own defaults.
"use strict";
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(howto\/|start$|index$|notebooks\/|tutorials\/|background\/|glossary$)/.test(page)) return score + 12;
    if (/^(project|proofs|formal)\//.test(page)) return score - 12;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
