/* Replaces the figures over time by plots with values under the pointer and zoom (browser/plot.js). */
"use strict";

const LAST = 65532;  // Level of the upper limit of an axis.
const MARKS = new Map([[65533, -Infinity], [65534, Infinity], [65535, NaN]]);  // Below the axis, above it, and a gap.

function unpackLevels(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Uint16Array(bytes.buffer);
}

function between(levels, low, high, back) {
  return Float64Array.from(levels, (level) => (MARKS.has(level) ? MARKS.get(level) : back(low + level / LAST * (high - low))));
}

function startFigures() {
  const { figures, arrays } = JSON.parse(document.getElementById("figure-data").textContent);
  const levels = arrays.map(unpackLevels);
  for (const [name, panels] of Object.entries(figures)) {
    const figure = document.getElementById(name), fixed = figure && figure.querySelector(".scroll");
    if (!fixed || !panels.length) continue;
    const grid = document.createElement("div"), legend = document.createElement("p");
    grid.className = "plot-grid";
    legend.className = "plot-legend";
    const known = new Map(panels.flatMap(({ lines }) => lines.map(({ label, colour }) => [label, colour])));
    for (const [label, colour] of known) {
      const mark = Object.assign(document.createElement("i"), { style: `background: ${colour}` });
      legend.append(mark, label);
    }
    fixed.before(legend, grid);
    fixed.hidden = true;
    for (const { title, low, high, begin, end, logarithmic, lines } of panels) {
      const plot = new Plot(grid, title, null, { low, high, logarithmic });
      plot.draw(lines.map(({ label, colour, width, dashed, time, values }) => ({
        label, colour, width, dashed,
        time: between(levels[time], begin, end, (t) => t),
        values: between(levels[values], low, high, logarithmic ? (v) => 10 ** v : (v) => v),
      })));
    }
  }
}

startFigures();
