// SPDX-License-Identifier: Apache-2.0
// Copyright the lockstep authors

// The index of a run of scenarios. The tables are complete without this script, which only hides rows.
"use strict";
(function () {
const verdict = document.getElementById("verdict"), word = document.getElementById("word");
const rows = [...document.querySelectorAll("tr[data-verdict]")];
const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
const listed = rows.filter((row) => row.closest("#scenarios")).length;

function filter() {
    const wanted = verdict.value, part = word.value.toLowerCase();
    let shown = 0;
    rows.forEach((row, i) => {
        row.hidden = (wanted !== "" && row.dataset.verdict !== wanted) || !names[i].includes(part);
        if (!row.hidden && row.closest("#scenarios")) shown++;
    });
    document.getElementById("shown").textContent = shown === listed ? "" : shown + " of " + listed + " scenarios";
}

document.querySelector(".tools").hidden = false;
verdict.value = "";
word.value = "";
verdict.addEventListener("change", filter);
word.addEventListener("input", filter);
})();
