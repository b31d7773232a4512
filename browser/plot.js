/* A plot of one signal over time: several runs, values under the pointer, zoom by dragging, double click shows all. */
"use strict";

const WIDE = 640, TALL = 200, LEFT = 64, BOTTOM = 24, TOP = 8, RIGHT = 8;

/* About five round numbers in an interval. */
function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

function short(value) { return Number(value.toPrecision(5)).toString(); }

class Plot {
  /* parent: element; label: text of the signal with its unit; remove: called by the close button */
  constructor(parent, label, remove) {
    this.figure = parent.appendChild(document.createElement("figure"));
    const caption = this.figure.appendChild(document.createElement("figcaption"));
    caption.textContent = label + " ";
    const close = caption.appendChild(document.createElement("button"));
    close.textContent = "×";
    close.title = "remove this plot";
    close.onclick = () => { this.figure.remove(); remove(); };
    this.svg = this.figure.appendChild(this.element("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", "aria-label": label }));
    this.value = this.figure.appendChild(document.createElement("output"));
    this.zoomed = null;
    this.svg.onpointermove = (event) => this.hover(event);
    this.svg.onpointerleave = () => this.draw(this.runs);
    this.svg.onpointerdown = (event) => { this.from = this.time(event); this.svg.setPointerCapture(event.pointerId); };
    this.svg.onpointerup = (event) => this.zoom(event);
    this.svg.ondblclick = () => { this.zoomed = null; this.draw(this.runs); };
  }

  element(name, attributes, parent) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent ? parent.appendChild(made) : made;
  }

  /* runs: [{colour, time, values}] with arrays of equal length */
  draw(runs) {
    this.runs = runs;
    this.svg.replaceChildren();
    const ends = this.zoomed || [Math.min(...runs.map((r) => r.time[0])), Math.max(...runs.map((r) => r.time[r.time.length - 1]))];
    const inside = runs.flatMap((r) => Array.from(r.values).filter((v, k) => r.time[k] >= ends[0] && r.time[k] <= ends[1] && isFinite(v)));
    let low = Math.min(...inside), high = Math.max(...inside);
    if (!(high > low)) [low, high] = [low - 1, low + 1];
    const [t0, t1] = ends[1] > ends[0] ? ends : [ends[0], ends[0] + 1];
    this.x = (t) => LEFT + (t - t0) / (t1 - t0) * (WIDE - LEFT - RIGHT);
    this.y = (v) => TOP + (high - v) / (high - low) * (TALL - TOP - BOTTOM);
    this.span = [t0, t1];
    for (const t of ticks(t0, t1)) this.mark(this.x(t), TOP, this.x(t), TALL - BOTTOM, short(t), this.x(t), TALL - 6, "middle");
    for (const v of ticks(low, high)) this.mark(LEFT, this.y(v), WIDE - RIGHT, this.y(v), short(v), LEFT - 6, this.y(v) + 4, "end");
    for (const { colour, time, values } of runs) {
      const points = Array.from(values, (v, k) => [time[k], v]).filter(([t, v]) => t >= t0 && t <= t1 && isFinite(v));
      const path = points.map(([t, v]) => `${this.x(t).toFixed(1)},${this.y(v).toFixed(1)}`).join(" ");
      this.element("polyline", { points: path, fill: "none", stroke: colour, "stroke-width": 1.6 }, this.svg);
    }
    this.value.textContent = "";
  }

  mark(x1, y1, x2, y2, text, x, y, anchor) {
    this.element("line", { x1, y1, x2, y2, class: "grid" }, this.svg);
    this.element("text", { x, y, "text-anchor": anchor }, this.svg).textContent = text;
  }

  time(event) {
    const box = this.svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * WIDE;
    const [t0, t1] = this.span;
    return Math.min(t1, Math.max(t0, t0 + (x - LEFT) / (WIDE - LEFT - RIGHT) * (t1 - t0)));
  }

  hover(event) {
    const at = this.time(event);
    this.svg.querySelectorAll(".cursor").forEach((old) => old.remove());
    this.element("line", { x1: this.x(at), x2: this.x(at), y1: TOP, y2: TALL - BOTTOM, class: "cursor" }, this.svg);
    const values = this.runs.map((run) => {
      let k = run.time.findIndex((t) => t >= at);
      if (k < 0) k = run.time.length - 1;
      this.element("circle", { cx: this.x(run.time[k]), cy: this.y(run.values[k]), r: 3, fill: run.colour, class: "cursor" }, this.svg);
      return short(run.values[k]);
    });
    this.value.textContent = `t = ${short(at)} s: ${values.join(", ")}`;
  }

  zoom(event) {
    const to = this.time(event), [t0, t1] = this.span;
    if (this.from === undefined || Math.abs(to - this.from) < 0.01 * (t1 - t0)) return;
    this.zoomed = [Math.min(this.from, to), Math.max(this.from, to)];
    this.draw(this.runs);
  }
}
