/* Runs a co-simulation FMU that was compiled to WebAssembly (shim.c) and records its variables.
   The page starts a worker from the source text of `Fmu`, `simulate` and `work`, so these use no other names. */
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

  /* Frames of all bodies: seven numbers per body, position in m and quaternion x, y, z, w.
     coordinates: numbers; geometry: block of the parameters that the frames depend on, as read last */
  frames(coordinates, geometry, bodies) {
    this.pose = this.pose || { q: this.functions.browser_allocate(8 * coordinates.length), at: this.functions.browser_allocate(56 * bodies) };
    new Float64Array(this.functions.memory.buffer, this.pose.q, coordinates.length).set(coordinates);
    this.functions.browser_frames(this.pose.q, geometry.values, this.pose.at);
    return new Float64Array(this.functions.memory.buffer, this.pose.at, 7 * bodies);
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

/* Simulates from 0 to `stop`. Returns the times reached, the outputs, and the frames of all bodies.

   request: guid, stop (s), count (number of output times), tolerance, parameters {references, values},
   inputs {references, values}, outputs, coordinates, geometry (value references), bodies
   progress: called with the fraction that is done */
function simulate(module, request, progress) {
  const fmu = new Fmu(module, request.guid), { stop, count, outputs, coordinates, bodies } = request;
  const inputs = fmu.block(request.inputs.references), recorded = fmu.block(outputs);
  const positions = fmu.block(coordinates), geometry = fmu.block(request.geometry);
  const rows = new Float64Array(count * outputs.length), frames = new Float32Array(count * 7 * bodies);
  const path = new Float64Array(count * coordinates.length), step = stop / (count - 1);
  let reached = 0, failure = "";
  try {
    fmu.initialize(request.parameters, request.tolerance, stop);
    if (inputs.n) fmu.set(inputs, request.inputs.values);
    fmu.start();
    fmu.get(geometry);
    for (let k = 0; k < count; k++) {
      if (k) fmu.step((k - 1) * step, step);
      rows.set(fmu.get(recorded), k * outputs.length);
      const q = Array.from(fmu.get(positions));
      path.set(q, k * coordinates.length);
      frames.set(fmu.frames(q, geometry, bodies), k * 7 * bodies);
      reached = k + 1;
      progress(reached / count);
    }
  } catch (error) {
    failure = error.message;
  }
  return { rows, frames, path, reached, failure, step };
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
