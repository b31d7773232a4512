/* Controls of a page whose FMU runs in the browser: inputs, parameters, runs, plots. */
"use strict";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const KEYS = [["KeyQ", "KeyA"], ["KeyW", "KeyS"], ["KeyE", "KeyD"], ["KeyR", "KeyF"], ["KeyT", "KeyG"], ["KeyU", "KeyJ"]];
const LINK_DELAY = 300;  // ms from the last change to a new link; browsers refuse frequent changes of the link
const LONGEST_STEP = 0.05;  // s of the model in one picture, so that a slow browser stays in control

function bytesOf(text) { return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)); }

async function moduleOf(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/* A number with a slider: of an input or a parameter. */
class Dial {
  constructor(parent, data, changed, hint) {
    this.data = data;
    const row = parent.appendChild(document.createElement("label"));
    row.title = data.text;
    row.append(`${data.name}${data.unit ? ", " + data.unit : ""}${hint ? " (" + hint + ")" : ""}`);
    this.slider = row.appendChild(Object.assign(document.createElement("input"), { type: "range", step: "any" }));
    this.field = row.appendChild(Object.assign(document.createElement("input"), { type: "number", step: "any" }));
    [this.slider.min, this.slider.max] = data.span;
    this.changed = changed;
    this.slider.oninput = () => this.set(Number(this.slider.value));
    this.field.onchange = () => this.set(this.field.value === "" ? this.now : Number(this.field.value));
    this.row = row;
    this.show(data.value);
  }

  get value() { return this.now; }

  get isChanged() { return this.now !== this.data.value; }

  show(value) {
    const { least, most } = this.data;
    this.now = Math.min(most ?? Infinity, Math.max(least ?? -Infinity, value));
    this.slider.value = this.now;
    this.field.value = Number(this.now.toPrecision(7));
    this.row.classList.toggle("changed", this.isChanged);
  }

  set(value) {
    this.show(value);
    this.changed();
  }

  nudge(share) { this.set(this.now + share * (this.slider.max - this.slider.min)); }
}

/* The live part of a page. */
class Live {
  constructor(element, data, player) {
    Object.assign(this, { element, data, player, runs: [], plots: new Map(), held: new Set(), driving: null });
    const changed = () => this.remember();
    this.inputs = data.inputs.map((input, k) => new Dial(this.part("inputs"), input, changed, KEYS[k] && KEYS[k].map((key) => key.slice(3)).join("/")));
    this.parameters = data.parameters.map((parameter) => new Dial(this.part("list"), parameter, changed));
    this.part("inputs").hidden = !data.inputs.length;
    if (data.course) this.part("inputs").querySelector("legend").textContent = "Inputs (over time as in the file; constant once a slider has moved)";
    this.part("stop").value = data.stop;
    for (const { name } of data.outputs) this.part("signals").appendChild(new Option(name, name));
    this.listen();
    this.recall();
  }

  part(name) { return this.element.querySelector("." + name); }

  say(text) { this.part("state").textContent = text; }

  listen() {
    this.part("simulate").onclick = () => this.attempt(this.simulate());
    this.part("drive").onclick = () => (this.driving ? this.stop() : this.attempt(this.drive()));
    this.part("defaults").onclick = () => { [...this.inputs, ...this.parameters].forEach((dial) => dial.show(dial.data.value)); this.remember(); };
    this.part("search").oninput = () => this.filter();
    this.part("signals").onchange = ({ target }) => {
      this.plot(target.value);
      target.value = "";  // so that a signal can be chosen again after its plot has been closed
      this.remember();
    };
    document.addEventListener("keydown", (event) => this.key(event, true));
    document.addEventListener("keyup", (event) => this.key(event, false));
    this.filter();
  }

  /* The description's own parameters are always in the list, others if they are searched for. */
  filter() {
    const text = this.part("search").value.toLowerCase();
    for (const dial of this.parameters) {
      const found = text && `${dial.data.name} ${dial.data.text}`.toLowerCase().includes(text);
      dial.row.hidden = !(found || dial.isChanged || (!text && dial.data.named));
    }
  }

  key(event, down) {
    if (!this.driving || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) && event.target.type !== "range") return;
    if (!KEYS.flat().includes(event.code)) return;
    event.preventDefault();
    if (down) this.held.add(event.code); else this.held.delete(event.code);
  }

  /* Shows the error of an activity that fails. */
  attempt(activity) { return activity.catch((error) => this.say(`This browser cannot simulate: ${error.message}`)); }

  // ---- requests and runs ----

  request(stop, count, changed = true) {
    const { data } = this, dials = changed ? this.parameters.filter((dial) => dial.isChanged) : [];
    return {
      guid: data.guid, stop, count, tolerance: data.tolerance,
      parameters: { references: dials.map((d) => d.data.reference), values: dials.map((d) => d.value) },
      inputs: { references: data.inputs.map((i) => i.reference), values: changed ? this.inputs.map((d) => d.value) : data.inputs.map((i) => i.value) },
      outputs: data.outputs.map((o) => o.reference), coordinates: data.coordinates, geometry: data.geometry, bodies: data.bodies,
      axes: data.axes, arrows: data.arrows, course: this.course(changed),
    };
  }

  /* Inputs over time of the report's run; an input whose slider has moved is constant. Null without such a run. */
  course(changed) {
    const { course } = this.data;
    if (!course || !changed) return course;
    const { time } = course;
    return { time, values: course.values.map((own, k) => (this.inputs[k].isChanged ? time.map(() => this.inputs[k].value) : own)) };
  }

  async module() {
    this.compiled = this.compiled || moduleOf(this.data.module);
    return this.compiled;
  }

  /* Runs a request in a worker of its own. */
  async run(request, progress = () => {}) {
    const source = [Fmu, inputsAt, simulate, work].map(String).join("\n") + "\nwork(self);";
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(address), module = await this.module();
    return new Promise((done, fail) => {
      worker.onmessage = ({ data }) => {
        if (data.part !== undefined) return progress(data.part);
        worker.terminate();
        URL.revokeObjectURL(address);
        done(data.result);
      };
      worker.onerror = (event) => fail(new Error(event.message));
      worker.postMessage({ module, request });
    });
  }

  async simulate() {
    this.stop();
    const stop = Number(this.part("stop").value);
    if (!(stop > 0)) return this.say("The stop time must be a positive number.");
    const { count } = this.player.scene.time, begin = performance.now();
    const result = await this.run(this.request(stop, count), (part) => this.say(`Simulating: ${Math.round(100 * part)} %`));
    const seconds = (performance.now() - begin) / 1000, reached = (result.reached - 1) * result.step;
    this.keep(result);
    this.say(result.failure ? `The run ended at ${short(reached)} s: ${result.failure}` : `Simulated ${short(stop)} s in ${seconds.toFixed(2)} s.`);
  }

  changes() {
    const named = [...this.inputs, ...this.parameters].filter((dial) => dial.isChanged);
    return named.map((dial) => `${dial.data.name} = ${short(dial.value)}`).join(", ") || "defaults";
  }

  keep(result) {
    const n = this.data.outputs.length, times = Array.from({ length: result.reached }, (_, k) => k * result.step);
    const column = (k) => Float64Array.from(times, (_, i) => result.rows[i * n + k]);
    const name = this.record(this.changes(), times, column);
    if (result.reached > 1) {
      const frames = result.frames.slice(0, 7 * this.data.bodies * result.reached);
      this.player.add(name, frames, result.reached, times[result.reached - 1], this.forces(result.forces));
    }
  }

  /* Adds a run to the list and the plots, and returns its name. column: function of an output's index that returns its values */
  record(changes, time, column) {
    const number = (this.last = (this.last || 0) + 1), name = `run ${number}`;
    this.runs.push({ name, changes, time, column, shown: true, colour: COLOURS[(number - 1) % COLOURS.length] });
    if (!this.plots.size) this.data.plotted.forEach((signal) => this.plot(signal));
    this.list();
    this.redraw();
    return name;
  }

  list() {
    const body = this.part("runs");
    body.replaceChildren();
    for (const run of this.runs) {
      const row = body.insertRow();
      const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: run.shown });
      box.onchange = () => { run.shown = box.checked; this.redraw(); };
      const mark = Object.assign(document.createElement("i"), { style: `background: ${run.colour}` });
      row.insertCell().append(box, mark, ` ${run.name}`);
      row.insertCell().textContent = run.changes;
      const save = Object.assign(document.createElement("button"), { type: "button", textContent: "CSV" });
      save.onclick = () => this.download(run);
      const drop = Object.assign(document.createElement("button"), { type: "button", textContent: "remove" });
      drop.onclick = () => { this.runs = this.runs.filter((other) => other !== run); this.player.remove(run.name); this.list(); this.redraw(); };
      row.insertCell().append(save, " ", drop);
    }
    this.part("kept").hidden = !this.runs.length;
  }

  download(run) {
    const columns = this.data.outputs.map((_, k) => run.column(k));
    const lines = run.time.map((t, i) => [t, ...columns.map((values) => values[i])].join(","));
    const text = [["time", ...this.data.outputs.map((o) => o.name)].join(","), ...lines].join("\n") + "\n";
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${this.data.name}_${run.name.replace(" ", "_")}.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /* Forces as the player has them: `marks` are the indices of its arrows. */
  forces(data) { return { marks: this.data.arrows.map(({ mark }) => mark), data }; }

  // ---- plots ----

  plot(name) {
    const k = this.data.outputs.findIndex((output) => output.name === name);
    if (k < 0 || this.plots.has(name)) return;
    const { unit, text } = this.data.outputs[k];
    const made = new Plot(this.part("plots"), `${name}${unit ? ", " + unit : ""}: ${text}`, () => { this.plots.delete(name); this.remember(); });
    this.plots.set(name, { plot: made, k });
    this.redraw();
  }

  redraw() {
    const shown = this.runs.filter((run) => run.shown && run.time.length > 1);
    for (const { plot, k } of this.plots.values()) {
      plot.figure.hidden = !shown.length;
      if (shown.length) plot.draw(shown.map((run) => ({ colour: run.colour, time: run.time, values: run.column(k) })));
    }
  }

  // ---- driving ----

  async drive() {
    const module = await this.module(), { data } = this;
    if (this.driving) return;  // a second click before the module was ready
    const fmu = new Fmu(module, data.guid), request = this.request(data.stop, 2);
    const blocks = { inputs: fmu.block(request.inputs.references), outputs: fmu.block(request.outputs), q: fmu.block(data.coordinates), geometry: fmu.block(data.geometry), arrows: fmu.block(data.arrows.flatMap(({ references }) => references)) };
    try {
      fmu.initialize(request.parameters, data.tolerance, null);
      if (blocks.inputs.n) fmu.set(blocks.inputs, request.inputs.values);
      fmu.start();
      fmu.get(blocks.geometry);
    } catch (error) {
      return this.say(`The run cannot begin: ${error.message}`);
    }
    this.driving = { fmu, blocks, time: 0, last: null, rows: [], times: [] };
    this.part("drive").textContent = "Stop";
    this.player.play(false);
    this.say(this.inputs.length ? "Driving: move the sliders, or hold the keys beside the names." : "Driving: the description has no inputs; change parameters and start again.");
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const drive = this.driving;
    if (!drive) return;
    const duration = drive.last === null ? 0 : Math.min((now - drive.last) / 1000, LONGEST_STEP);
    drive.last = now;
    KEYS.slice(0, this.inputs.length).forEach(([up, down], k) => {
      if (this.held.has(up)) this.inputs[k].nudge(duration);
      if (this.held.has(down)) this.inputs[k].nudge(-duration);
    });
    try {
      if (drive.blocks.inputs.n) drive.fmu.set(drive.blocks.inputs, this.inputs.map((dial) => dial.value));
      if (duration > 0) drive.fmu.step(drive.time, duration);
    } catch (error) {
      this.stop();
      return this.say(`The run ended at ${short(drive.time)} s: ${error.message}`);
    }
    drive.time += duration;
    drive.times.push(drive.time);
    drive.rows.push(Float64Array.from(drive.fmu.get(drive.blocks.outputs)));
    const { bodies, axes, arrows } = this.data, pose = drive.fmu.frames(Array.from(drive.fmu.get(drive.blocks.q)), drive.blocks.geometry, bodies, axes);
    const forces = arrows.length ? drive.fmu.forces(arrows, drive.blocks.arrows, pose.axes) : new Float32Array(0);
    this.player.pose(pose.bodies, drive.time, this.forces(forces));
    requestAnimationFrame((then) => this.tick(then));
  }

  stop() {
    const drive = this.driving;
    if (!drive) return;
    this.driving = null;
    this.held.clear();
    this.part("drive").textContent = "Drive";
    this.player.pose(null);
    if (drive.times.length < 2) return;
    this.record("driven", drive.times, (k) => Float64Array.from(drive.rows, (row) => row[k]));
  }

  // ---- agreement with the report ----

  /* Largest difference of the coordinates from the report's run, relative to their ranges; null if there is none. */
  async agreement() {
    const { report, coordinates } = this.data;
    if (!report) return null;
    const result = await this.run(this.request(report.stop, report.count, false));
    const expected = new Float64Array(bytesOf(report.path).buffer), n = coordinates.length;
    if (result.failure || result.reached < report.count) return Infinity;
    let worst = 0;
    for (let k = 0; k < n; k++) {
      for (let i = 0; i < report.count; i++) worst = Math.max(worst, Math.abs(result.path[i * n + k] - expected[i * n + k]) / report.scales[k]);
    }
    return worst;
  }

  async compare() {
    const worst = await this.agreement();
    this.element.dataset.agreement = worst === null ? "" : worst;
    const distance = worst ? `differs from the report's by at most ${worst.toExponential(1)} of each coordinate's range` : "is equal to the report's";
    if (worst !== null) this.say(`With the parameters of the description, this browser's run ${distance}.`);
  }

  // ---- the state in the page's link ----

  remember() {
    this.filter();
    clearTimeout(this.linking);
    this.linking = setTimeout(() => this.link(), LINK_DELAY);
  }

  link() {
    const changed = (dials) => Object.fromEntries(dials.filter((d) => d.isChanged).map((d) => [d.data.name, d.value]));
    const state = { i: changed(this.inputs), p: changed(this.parameters), s: [...this.plots.keys()] };
    const empty = !Object.keys(state.i).length && !Object.keys(state.p).length && !state.s.length;
    history.replaceState(null, "", empty ? location.pathname + location.search : "#live=" + encodeURIComponent(JSON.stringify(state)));
  }

  recall() {
    const found = /#live=(.*)$/.exec(location.hash);
    if (!found) return;
    try {
      const state = JSON.parse(decodeURIComponent(found[1]));
      for (const dial of this.inputs) if (dial.data.name in state.i) dial.show(Number(state.i[dial.data.name]));
      for (const dial of this.parameters) if (dial.data.name in state.p) dial.show(Number(state.p[dial.data.name]));
      for (const name of state.s) this.plot(name);
      this.filter();
      this.attempt(this.simulate());
    } catch (error) {
      this.say("The link's state cannot be read: " + error.message);
    }
  }
}

function startLive() {
  const element = document.getElementById("live"), player = document.getElementById("player").player;
  if (!player) return;
  const live = new Live(element, JSON.parse(document.getElementById("live-data").textContent), player);
  element.live = live;
  live.attempt(live.compare());
}

startLive();
