/* Runs a co-simulation FMU that was compiled to WebAssembly (shim.c) and records its variables. */
"use strict";

const REAL = 8, REFERENCE = 4;  // bytes of a number and of a value reference

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
    const at = this.functions.browser_allocate(n * (REAL + REFERENCE));
    new Uint32Array(this.functions.memory.buffer, at + n * REAL, n).set(references);
    return { n, values: at, references: at + n * REAL };
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
    this.pose = this.pose || { q: this.functions.browser_allocate(coordinates.length * REAL), at: this.functions.browser_allocate(7 * bodies * REAL) };
    new Float64Array(this.functions.memory.buffer, this.pose.q, coordinates.length).set(coordinates);
    this.functions.browser_frames(this.pose.q, geometry.values, this.pose.at);
    return new Float64Array(this.functions.memory.buffer, this.pose.at, 7 * bodies);
  }

  /* parameters: {references, values}; tolerance relative; stop in s */
  initialize(parameters, tolerance, stop) {
    const f = this.functions;
    this.check(f.fmi2SetupExperiment(this.instance, 1, tolerance, 0, 1, stop));
    if (parameters.references.length) this.set(this.block(parameters.references), parameters.values);
    this.check(f.fmi2EnterInitializationMode(this.instance));
  }

  start() { this.check(this.functions.fmi2ExitInitializationMode(this.instance)); }

  step(time, duration) { this.check(this.functions.fmi2DoStep(this.instance, time, duration, 1)); }
}

/* Simulates from 0 to `stop` and returns the recorded values, one row of `outputs.length` numbers per time.

   request: guid, stop (s), count (number of output times), tolerance, parameters {references, values},
   inputs {references, values: a function of time that returns one number per reference}, outputs: value references
   progress: called with the fraction that is done */
function simulate(module, request, progress = () => {}) {
  const fmu = new Fmu(module, request.guid), { stop, count, outputs } = request;
  const inputs = fmu.block(request.inputs.references), recorded = fmu.block(outputs);
  const feed = (time) => { if (inputs.n) fmu.set(inputs, request.inputs.values(time)); };
  const rows = new Float64Array(count * outputs.length), step = stop / (count - 1);
  let reached = 0, failure = "";
  try {
    fmu.initialize(request.parameters, request.tolerance, stop);
    feed(0);
    fmu.start();
    for (let k = 0; k < count; k++) {
      if (k) fmu.step((k - 1) * step, k * step - (k - 1) * step);
      rows.set(fmu.get(recorded), k * outputs.length);
      reached = k + 1;
      feed(k * step);
      progress(k / (count - 1));
    }
  } catch (error) {
    failure = error.message;
  }
  return { rows: rows.subarray(0, reached * outputs.length), reached, failure };
}
