/* Runs a co-simulation FMU that was compiled to WebAssembly (shim.c) and records its variables.
   The page starts a worker from the source text of `Fmu`, `inputsAt`, `simulate` and `work`, so these use no other names. */
"use strict";

/* One instance of the FMU in a WebAssembly module. */
class Fmu {
  /* module: WebAssembly.Module; guid: from modelDescription.xml */
  constructor(module, guid) {
    this.functions = new WebAssembly.Instance(module, {}).exports;
    this.functions._initialize();
    this.instance = this.functions.browser_instantiate(this.text(guid));
    this.check(this.instance ? 0 : 3);
  }

  text(value) {
    const bytes = new TextEncoder().encode(value), at = this.functions.browser_allocate(bytes.length + 1);
    new Uint8Array(this.functions.memory.buffer).set(bytes, at);
    return at;
  }

  get message() {
    const bytes = new Uint8Array(this.functions.memory.buffer, this.functions.browser_message());
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  check(status) {
    if (status > 1) throw new Error(this.message || "the FMU failed without a message");
  }

  /* A block of memory that holds value references and room for their values. */
  block(references) {
    const n = references.length;
    const at = this.functions.browser_allocate(12 * n);
    new Uint32Array(this.functions.memory.buffer, at + 8 * n, n).set(references);
    return { n, values: at, references: at + 8 * n };
  }

  numbers(block) { return new Float64Array(this.functions.memory.buffer, block.values, block.n); }

  set(block, values) {
    this.numbers(block).set(values);
    this.check(this.functions.fmi2SetReal(this.instance, block.references, block.n, block.values));
  }

  get(block) {
    this.check(this.functions.fmi2GetReal(this.instance, block.references, block.n, block.values));
    return this.numbers(block);
  }

  /* Frames of all bodies: seven numbers per body, position in m and quaternion x, y, z, w; and axes: three per axis.
     coordinates: numbers; geometry: block of the parameters that the frames depend on, as read last */
  frames(coordinates, geometry, bodies, axes) {
    const size = 7 * bodies + 3 * axes;
    this.pose = this.pose || { q: this.functions.browser_allocate(8 * coordinates.length), at: this.functions.browser_allocate(8 * size) };
    new Float64Array(this.functions.memory.buffer, this.pose.q, coordinates.length).set(coordinates);
    this.functions.browser_frames(this.pose.q, geometry.values, this.pose.at);
    const all = new Float64Array(this.functions.memory.buffer, this.pose.at, size);
    return { bodies: all.subarray(0, 7 * bodies), axes: all.subarray(7 * bodies) };
  }

  /* Force of each arrow: three numbers, world axes, N or N·m.
     arrows: [{references, axial}]; block: of all references of the arrows; axes: of the axial arrows, one after the other */
  forces(arrows, block, axes) {
    const values = this.get(block), found = new Float32Array(3 * arrows.length);
    let at = 0, axis = 0;
    arrows.forEach(({ axial }, k) => {
      for (let i = 0; i < 3; i++) found[3 * k + i] = axial ? values[at] * axes[axis + i] : values[at + i];
      at += axial ? 1 : 3;
      axis += axial ? 3 : 0;
    });
    return found;
  }

  /* One step, or several that end at the instants of inputs over time.
     inputs: block; course: {time, values} with the values of each input at the times, linear in between, or null */
  advance(time, duration, inputs, course) {
    if (!course) return this.step(time, duration);
    const end = time + duration, near = 1e-9 * duration;
    const stops = [...new Set(course.time)].filter((t) => t > time + near && t < end - near);
    let begin = time;
    for (const stop of [...stops, end]) {
      const [now, then] = [begin, stop].map((t) => inputsAt(course, t, begin));
      this.set(inputs, now);
      this.slopes(inputs, then.map((value, k) => (value - now[k]) / (stop - begin)));
      this.step(begin, stop - begin);
      begin = stop;
    }
    this.set(inputs, inputsAt(course, end, end));
  }

  slopes(block, values) {
    const { memory } = this.functions;
    this.orders = this.orders || this.functions.browser_allocate(4 * block.n);
    this.rates = this.rates || this.functions.browser_allocate(8 * block.n);
    new Int32Array(memory.buffer, this.orders, block.n).fill(1);
    new Float64Array(memory.buffer, this.rates, block.n).set(values);
    this.check(this.functions.fmi2SetRealInputDerivatives(this.instance, block.references, block.n, this.orders, this.rates));
  }

  /* parameters: {references, values}; tolerance relative; stop in s, or null for a run without end */
  initialize(parameters, tolerance, stop) {
    const f = this.functions;
    this.check(f.fmi2SetupExperiment(this.instance, 1, tolerance, 0, stop === null ? 0 : 1, stop || 0));
    if (parameters.references.length) this.set(this.block(parameters.references), parameters.values);
    this.check(f.fmi2EnterInitializationMode(this.instance));
  }

  start() { this.check(this.functions.fmi2ExitInitializationMode(this.instance)); }

  step(time, duration) { this.check(this.functions.fmi2DoStep(this.instance, time, duration, 1)); }
}

/* Values of all inputs at time t, s, on the linear piece that is active after the time `since`, s. */
function inputsAt({ time, values }, t, since) {
  const margin = 1e-12 * (time[time.length - 1] - time[0]);
  let k = 1;
  while (k < time.length - 1 && time[k] <= since + margin) k++;
  while (time[k] === time[k - 1]) k--;
  const part = (t - time[k - 1]) / (time[k] - time[k - 1]);
  return values.map((own) => own[k - 1] + part * (own[k] - own[k - 1]));
}

/* Simulates from 0 to `stop`. Returns the times reached, the outputs, the frames of all bodies, and the forces.

   request: guid, stop (s), count (number of output times), tolerance, parameters {references, values},
   inputs {references, values}, course (inputs over time, or null), outputs, coordinates, geometry (value references),
   bodies, axes (numbers), arrows
   progress: called with the fraction that is done */
function simulate(module, request, progress) {
  const fmu = new Fmu(module, request.guid), { stop, count, outputs, coordinates, bodies, axes, arrows, course } = request;
  const drawn = fmu.block(arrows.flatMap(({ references }) => references)), forces = new Float32Array(count * 3 * arrows.length);
  const inputs = fmu.block(request.inputs.references), recorded = fmu.block(outputs);
  const positions = fmu.block(coordinates), geometry = fmu.block(request.geometry);
  const rows = new Float64Array(count * outputs.length), frames = new Float32Array(count * 7 * bodies);
  const path = new Float64Array(count * coordinates.length), step = stop / (count - 1);
  let reached = 0, failure = "";
  try {
    fmu.initialize(request.parameters, request.tolerance, stop);
    if (inputs.n) fmu.set(inputs, course ? inputsAt(course, 0, 0) : request.inputs.values);
    fmu.start();
    fmu.get(geometry);
    for (let k = 0; k < count; k++) {
      if (k) fmu.advance((k - 1) * step, step, inputs, course);
      rows.set(fmu.get(recorded), k * outputs.length);
      const q = Array.from(fmu.get(positions));
      path.set(q, k * coordinates.length);
      const pose = fmu.frames(q, geometry, bodies, axes);
      frames.set(pose.bodies, k * 7 * bodies);
      if (arrows.length) forces.set(fmu.forces(arrows, drawn, pose.axes), k * 3 * arrows.length);
      reached = k + 1;
      progress(reached / count);
    }
  } catch (error) {
    failure = error.message;
  }
  return { rows, frames, path, forces, reached, failure, step };
}

/* Main function of the worker: answers each request with progress and a result. */
function work(scope) {
  scope.onmessage = ({ data }) => {
    let last = 0;
    const result = simulate(data.module, data.request, (part) => {
      if (part - last < 0.02) return;
      last = part;
      scope.postMessage({ id: data.id, part });
    });
    scope.postMessage({ id: data.id, result });
  };
}
