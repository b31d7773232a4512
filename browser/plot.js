/* A plot of one signal over time: several runs, values under the pointer, zoom by dragging, double click shows all. */
"use strict";

const WIDE = 640, TALL = 200, LEFT = 64, BOTTOM = 24, TOP = 8, RIGHT = 8, DASH = 8;

/* About five round numbers in an interval. */
function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

function short(value) { return Number(value.toPrecision(5)).toString(); }

/* Text of a value; infinite values are outside of the axis. */
function named(value) {
  if (Number.isNaN(value)) return "–";
  return isFinite(value) ? short(value) : value > 0 ? "above the axis" : "below the axis";
}

class Plot {
  /* parent: element; label: text of the signal with its unit; remove: called by the close button, null without one;
     limits: {low, high, logarithmic} of the vertical axis before a zoom, logarithms of values if it is logarithmic */
  constructor(parent, label, remove, limits = {}) {
    this.limits = limits;
    this.figure = parent.appendChild(document.createElement("div"));
    this.figure.className = "plot";
    const caption = this.figure.appendChild(document.createElement("p"));
    caption.textContent = label + " ";
    if (remove) {
      const close = caption.appendChild(document.createElement("button"));
      close.textContent = "×";
      close.title = "remove this plot";
      close.onclick = () => { this.figure.remove(); remove(); };
    }
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

  /* Place of a value on the vertical axis; infinite for a value above or below the axis. */
  level(v) { return this.limits.logarithmic && v > -Infinity ? Math.log10(v) : v; }

  /* Lower and upper end of the vertical axis for levels: the given limits, or those of the levels if these are zoomed. */
  ends(levels) {
    const { low = -Infinity, high = Infinity } = this.limits;
    let least = Infinity, most = -Infinity;
    for (const v of levels) if (isFinite(v)) { least = Math.min(least, v); most = Math.max(most, v); }
    const given = isFinite(low) && isFinite(high);
    if (given && (!this.zoomed || !(most - least > 1e-5 * (high - low)))) return [low, high];  // A zoom does not enlarge rounding errors.
    return most > least ? [least, most] : [(isFinite(least) ? least : 0) - 1, (isFinite(least) ? least : 0) + 1];
  }

  /* runs: [{colour, time, values, label, width, dashed}] with arrays of equal length; the last three are optional */
  draw(runs) {
    this.runs = runs;
    this.svg.replaceChildren();
    const whole = [Math.min(...runs.map((r) => r.time[0])), Math.max(...runs.map((r) => r.time[r.time.length - 1]))];
    const [t0, t1] = this.zoomed || (whole[1] > whole[0] ? whole : [whole[0], whole[0] + 1]);
    const lines = runs.map((run) => ({ ...run, points: this.inside(run.time, run.values, t0, t1) }));
    const [low, high] = this.ends(lines.flatMap(({ points }) => points.map(([, v]) => v)));
    this.x = (t) => LEFT + (t - t0) / (t1 - t0) * (WIDE - LEFT - RIGHT);
    this.y = (v) => TOP + (high - Math.min(high, Math.max(low, v))) / (high - low) * (TALL - TOP - BOTTOM);
    this.span = [t0, t1];
    for (const t of ticks(t0, t1)) this.mark(this.x(t), TOP, this.x(t), TALL - BOTTOM, short(t), this.x(t), TALL - 6, "middle");
    for (const v of this.levels(low, high)) this.mark(LEFT, this.y(v), WIDE - RIGHT, this.y(v), this.text(v), LEFT - 6, this.y(v) + 4, "end");
    const striped = lines.filter(({ dashed }) => dashed);
    for (const line of lines) {
      const path = line.points.filter(([, v]) => !Number.isNaN(v)).map(([t, v]) => `${this.x(t).toFixed(1)},${this.y(v).toFixed(1)}`).join(" ");
      // Dashes of several curves are at different places, so that curves which agree form one striped line.
      const place = striped.indexOf(line), gap = DASH * Math.max(1, striped.length - 1);
      const dashes = place < 0 ? "" : `; stroke-dasharray: ${DASH} ${gap}; stroke-dashoffset: ${-place * DASH}`;
      this.element("polyline", { points: path, fill: "none", style: `stroke: ${line.colour}; stroke-width: ${line.width || 1.6}${dashes}` }, this.svg);
    }
    this.value.textContent = "";
  }

  /* Times and levels of a curve in an interval, and one point beyond each end. */
  inside(time, values, t0, t1) {
    const found = [];
    for (let k = 0; k < time.length; k++) {
      if ((k + 1 < time.length && time[k + 1] < t0) || (k > 0 && time[k - 1] > t1)) continue;
      found.push([Math.min(t1, Math.max(t0, time[k])), this.level(values[k])]);
    }
    return found;
  }

  levels(low, high) {
    const found = ticks(low, high);
    return this.limits.logarithmic ? found.filter((v) => Number.isInteger(v)) : found;
  }

  text(level) { return this.limits.logarithmic ? `1e${level}` : short(level); }

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
      if (isFinite(run.values[k])) this.element("circle", { cx: this.x(run.time[k]), cy: this.y(this.level(run.values[k])), r: 3, style: `fill: ${run.colour}`, class: "cursor" }, this.svg);
      return `${run.label ? run.label + " " : ""}${named(run.values[k])}`;
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
