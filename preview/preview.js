/* Live preview: shows what the server says about the file, and asks it for poses. */
(function () {
"use strict";

const Player = window.MechanismPlayer;
const KINDS = ["coordinates", "parameters", "inputs"];
const NOISE = 1e-6;  // Coordinates below this size are shown as zero, rad or m.
const SAME = 1e-12;  // Difference of a coordinate from its initial value that counts as rounding.

function element(tag, name, text, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  made.append(...inside);
  return made;
}

function short(value) {
  if (value === null) return "–";
  return Number(value.toPrecision(5)).toString();
}

function join(path) { return path.join("\u0000"); }

// ---- A slider with a number ----

class Dial {
  constructor(data, act) {
    this.data = data;
    this.range = element("input");
    Object.assign(this.range, { type: "range", min: data.low, max: data.high, step: "any" });
    this.number = element("input");
    Object.assign(this.number, { type: "number", step: "any" });
    this.unit = element("span", "unit");
    const name = element("span", "name", data.name);
    name.title = [data.name, data.text].filter(Boolean).join(": ");
    this.row = element("label", "dial", "", name, this.range, this.number, this.unit);
    for (const input of [this.range, this.number]) input.setAttribute("aria-label", data.name);
    this.range.addEventListener("input", () => act(Number(this.range.value)));
    this.number.addEventListener("change", () => { if (this.number.value !== "") act(Number(this.number.value)); });
    this.show(data.value);
  }

  show(value) {
    this.value = value;
    if (value < Number(this.range.min)) this.range.min = value;
    if (value > Number(this.range.max)) this.range.max = value;
    this.range.value = value;
    if (document.activeElement !== this.number || this.number.value === "" || Number(this.number.value) !== value) this.number.value = this.data.group && Math.abs(value) < NOISE ? 0 : short(value);
    this.unit.textContent = this.data.unit === "rad" ? `${Number((value * 180 / Math.PI).toFixed(1))}°` : this.data.unit;
    this.row.classList.toggle("moved", Math.abs(value - this.data.value) > SAME);
  }
}

// ---- The page ----

class Preview {
  constructor(root) {
    this.root = root;
    this.player = null;
    this.moved = { coordinates: {}, parameters: {}, inputs: {} };
    this.dials = { coordinates: new Map(), parameters: new Map(), inputs: new Map() };
    this.opened = new Map();
    this.case = root.dataset.case;
    this.number = 0;
    this.version = 0;
    this.problems = [];
    this.remarks = [];
    this.part("case").addEventListener("change", (event) => this.choose(event.target.value));
    this.part("initial").addEventListener("click", () => { this.moved.coordinates = {}; this.ask(); });
    this.part("settle").addEventListener("click", () => this.ask({ settle: true }));
    this.events = new EventSource("events");
    this.events.onmessage = () => this.ask();
    this.events.onerror = () => this.say("lost", "the server has ended");
  }

  part(name) { return this.root.querySelector("." + name); }

  choose(name) {
    this.case = name;
    this.moved = { coordinates: {}, parameters: {}, inputs: {} };
    this.ask();
  }

  // ---- questions; of several questions that wait, only the last one is asked ----

  ask(more = {}) {
    this.waiting = more;
    if (!this.asking) this.next();
  }

  async next() {
    while (this.waiting) {
      const question = { case: this.case, scene: this.number, ...this.moved, ...this.waiting };
      this.waiting = null;
      this.asking = true;
      try {
        this.show(await this.post("show", question));
      } catch (error) {
        this.say("faulty", error.message);
      }
      this.asking = false;
    }
  }

  async post(place, question) {
    const answer = await fetch(place, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  async check(version) {
    try {
      const found = await this.post("check", { case: this.case });
      if (found.version !== this.version) return;
      this.remarks = found.remarks || [];
      const known = new Set(this.problems.map(({ text }) => text));
      this.problems.push(...found.problems.filter(({ text }) => !known.has(text)));
      this.facts(found);
      this.complain();
      this.root.dataset.checked = version;
    } catch (error) {
      this.say("faulty", error.message);
    }
  }

  // ---- answers ----

  show(answer) {
    const isNew = answer.version !== this.version, before = this.problems.length;
    this.version = answer.version;
    if (answer.scene) this.load(answer);
    else if (!answer.pose && !this.player) this.part("about").textContent = "no valid description yet";
    if (answer.pose) this.pose(answer.pose);
    if (isNew) this.remarks = [];
    this.isPresent = answer.is_present;
    if (isNew || answer.problems.length || before) this.problems = answer.problems;
    if (isNew) this.file(answer);
    this.complain();
    if (isNew) this.check(answer.version);
    this.root.dataset.version = this.version;
    if (isNew) this.root.dataset.shown = performance.timeOrigin + performance.now();
  }

  file({ file, name, description, cases, tree, excerpt }) {
    document.title = `${name || file}: preview`;
    this.part("about").textContent = [name, description].filter(Boolean).join(": ");
    this.part("cases").hidden = !cases.length;
    this.part("case").replaceChildren(...["", ...cases].map((each) => new Option(each || "none", each, false, each === this.case)));
    this.nodes = tree;
    const lines = excerpt.map(({ number, text, is_faulty }) => element(is_faulty ? "b" : "span", "", `${String(number).padStart(4)}  ${text}\n`));
    this.part("excerpt").replaceChildren(...lines);
    this.part("excerpt").hidden = !lines.length;
  }

  load(answer) {
    this.number = answer.number;
    const changed = this.forget(answer);
    if (this.player) this.player.load(answer.scene);
    else this.player = new Player(document.getElementById("player"), answer.scene);
    document.getElementById("player").player = this.player;
    this.part("links").replaceChildren(...answer.links.map(([name, colour]) => {
      const spot = element("i");
      spot.style.background = colour;
      return element("li", "", "", spot, name);
    }));
    for (const kind of KINDS) this.sliders(kind, answer[kind]);
    if (changed) this.ask();
  }

  // Sliders keep their values after a save, unless the file's own value has changed.
  forget(answer) {
    let changed = false;
    for (const kind of KINDS) {
      const now = new Map(answer[kind].map((data) => [data.name, data.described]));
      const other = (name) => this.dials[kind].has(name) && this.dials[kind].get(name).data.described !== now.get(name);
      const names = Object.keys(this.moved[kind]);
      const lost = kind === "coordinates" && [...this.dials[kind].keys()].some(other) ? names : names.filter(other);
      for (const name of lost) delete this.moved[kind][name];
      changed = changed || lost.length > 0;
    }
    return changed;
  }

  sliders(kind, list) {
    const groups = new Map();
    this.dials[kind] = new Map(list.map((data) => [data.name, new Dial(data, (value) => this.turn(kind, data, value))]));
    for (const dial of this.dials[kind].values()) {
      if (dial.data.name in this.moved[kind]) dial.show(this.moved[kind][dial.data.name]);
      const group = dial.data.group || "";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(dial.row);
    }
    const parts = [...groups].sort(([a], [b]) => (b === "joints") - (a === "joints")).map(([group, rows]) => this.group(kind, group, rows, groups.size > 1 && group !== "joints"));
    this.part(kind).replaceChildren(...(parts.length ? parts : [element("p", "unit", "none")]));
  }

  group(kind, name, rows, folded) {
    if (!folded) return element("div", "", "", ...rows);
    const details = element("details", "", "", element("summary", "", `${name} (${rows.length})`), ...rows);
    return this.remember(details, `${kind} ${name}`, false);
  }

  turn(kind, data, value) {
    this.dials[kind].get(data.name).show(value);
    if (kind === "inputs" && data.coordinate) {  // A driven joint follows its input.
      this.moved.inputs[data.name] = value;
      return this.ask({ move: { name: data.coordinate, value } });
    }
    if (kind === "coordinates") return this.ask({ move: { name: data.name, value } });
    if (value === data.described) delete this.moved[kind][data.name];
    else this.moved[kind][data.name] = value;
    this.ask();
  }

  pose({ q, frames, forces, note, table, lengths, residual }) {
    if (!this.player) return;
    this.player.forget();  // The arrows of each pose are relative to the largest force in this pose.
    const marks = this.player.marks.map((_, k) => k);
    this.player.pose(Player.unpacked(frames, Float32Array), 0, { marks, data: Player.unpacked(forces, Float32Array) });
    [...this.dials.coordinates.values()].forEach((dial, k) => {
      dial.show(q[k]);
      if (Math.abs(q[k] - dial.data.value) > SAME) this.moved.coordinates[dial.data.name] = q[k];
      else delete this.moved.coordinates[dial.data.name];
    });
    this.root.dataset.residual = residual;
    this.part("note").textContent = note;
    const loads = table.map(({ kind, name, force, unit }) => row([name], [kind, "muted"], [`${short(force)} ${unit}`, "number"]));
    this.part("forces-table").replaceChildren(...(loads.length ? loads : [row(["none"])]));
    this.part("lengths").replaceChildren(...lengths.map(({ what, name, value }) => row([name], [what, "muted"], [`${short(value)} m`, "number"])));
  }

  facts({ dof, start, initial_state: initial }) {
    const parts = [];
    if (start) parts.push(element("p", "", `${dof} degrees of freedom. ${start}`));
    if (initial) {
      const accelerations = initial.accelerations.map(({ coordinate, value, unit }) => row([coordinate], ["acceleration", "muted"], [`${short(value)} ${unit}`, "number"]));
      const modes = initial.modes.slice(0, 3).map(({ coordinate, frequency, damping }) => row([coordinate], [`mode, damping ratio ${short(damping)}`, "muted"], [`${short(frequency)} Hz`, "number"]));
      parts.push(element("table", "", "", ...accelerations, ...modes));
    }
    this.part("facts").replaceChildren(...(parts.length ? parts : [element("p", "unit", "no valid initial state")]));
  }

  // ---- problems, and the tree with them ----

  complain() {
    const flagged = [...this.problems.map((each) => ({ ...each, kind: "problem" })), ...this.remarks.map((each) => ({ ...each, kind: "remark" }))];
    this.part("problems").replaceChildren(...flagged.map((each) => {
      const item = complaint("li", each);
      item.addEventListener("click", () => this.reveal(each.path));
      return item;
    }));
    const count = this.problems.length;
    if (count) this.say("faulty", `${count} ${count === 1 ? "problem" : "problems"}${this.player && !this.isPresent ? "; last valid state shown" : ""}`);
    else if (this.remarks.length) this.say("remarks", `valid, ${this.remarks.length} ${this.remarks.length === 1 ? "remark" : "remarks"}`);
    else this.say("", "valid");
    this.drawTree(flagged);
  }

  say(kind, text) {
    this.part("state").className = `badge state ${kind}`;
    this.part("state").textContent = text;
  }

  drawTree(flagged) {
    const at = new Map();
    for (const each of flagged) at.set(join(each.path), [...(at.get(join(each.path)) || []), each]);
    const beneath = (path) => flagged.find((each) => join(each.path) === path || join(each.path).startsWith(path + "\u0000"));
    const whole = (at.get("") || []).map((each) => complaint("div", each));
    this.part("tree").replaceChildren(...whole, ...(this.nodes || []).flatMap((node) => this.node(node, [], at, beneath)));
  }

  node(node, above, at, beneath) {
    const path = [...above, node.key], key = join(path), own = (at.get(key) || []).map((each) => complaint("div", each));
    const worst = beneath(key), flag = worst ? (worst.kind === "problem" ? " flagged" : " noted") : "";
    if (!node.inner.length) {
      const value = element("div", "value" + flag, "", element("i", "", node.title + " = "), node.text);
      value.title = node.text;
      value.dataset.path = key;
      return [value, ...own];
    }
    const inner = node.inner.flatMap((each) => this.node(each, path, at, beneath));
    const details = element("details", flag.trim(), "", element("summary", "", node.title), ...own, ...inner);
    details.dataset.path = key;
    return [this.remember(details, "tree " + key, !!worst)];
  }

  // Keep a folded part open if the user has opened it.
  remember(details, key, isOpen) {
    details.open = this.opened.has(key) ? this.opened.get(key) || isOpen : isOpen;
    details.addEventListener("toggle", () => { if (details.open !== isOpen || this.opened.has(key)) this.opened.set(key, details.open); });
    return details;
  }

  reveal(path) {
    const target = [...this.part("tree").querySelectorAll("[data-path]")].find((each) => each.dataset.path === join(path)) || this.part("tree");
    for (let each = target; each && each !== this.root; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.scrollIntoView({ block: "center" });
  }
}

function row(...cells) {
  return element("tr", "", "", ...cells.map(([text, name]) => element("td", name, text)));
}

function complaint(tag, { where, text, kind }) {
  return element(tag, kind, "", element("span", "where", where ? where + ": " : ""), text);
}

document.getElementById("preview").preview = new Preview(document.getElementById("preview"));
})();
