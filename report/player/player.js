/* Shows a scene (payload.py) by three.js: mechanism, ghost of the reference run, forces and paths. */
(function () {
"use strict";

const T = THREE;
const GHOST = 0x808a99, FORCE = 0xc2410c, MOMENT = 0x7c3aed, CLOSURE = 0xe0a100, PATH = 0x0072b2;
const ARROW = 0.24, FAINTEST = 0.01;  // Length of the largest force, as a share of the extent; smaller shares of it than FAINTEST are not drawn.
const NAMED = 0.05;  // Smallest share of the largest force whose arrow has its value beside it.
const ZERO = new T.Vector3(), UP = new T.Vector3(0, 1, 0);

function unpacked(text, Kind) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Kind(bytes.buffer);
}

// ---- Solids ----

function geometryOf(shape) {
  const [x, y, z] = shape.size;
  if (shape.kind === "box") return new T.BoxGeometry(x, y, z);
  if (shape.kind === "cylinder") return new T.CylinderGeometry(x / 2, x / 2, z, 28).rotateX(Math.PI / 2);
  if (shape.kind === "sphere") return new T.SphereGeometry(x / 2, 24, 16);
  const geometry = new T.BufferGeometry();
  geometry.setAttribute("position", new T.BufferAttribute(unpacked(shape.vertices, Float32Array), 3));
  geometry.setIndex(new T.BufferAttribute(unpacked(shape.faces, Uint32Array), 1));
  const split = geometry.scale(x, x, x).toNonIndexed();
  split.computeVertexNormals();
  return split;
}

function solid(shape, material) {
  const mesh = new T.Mesh(geometryOf(shape), material);
  mesh.position.fromArray(shape.position);
  mesh.quaternion.fromArray(shape.quaternion);
  return mesh;
}

function bodies(scene, count, materialOf, edged) {
  const groups = Array.from({ length: count }, () => new T.Group());
  for (const shape of scene.shapes) {
    const mesh = solid(shape, materialOf(shape));
    if (edged && shape.kind === "box") {
      const ink = new T.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 });
      mesh.add(new T.LineSegments(new T.EdgesGeometry(mesh.geometry), ink));
    }
    groups[shape.body].add(mesh);
  }
  return groups;
}

/* Three digits of a value with its unit and the prefix k or M. */
function withUnit(value, unit) {
  const [prefix, size] = value >= 0.9995e6 ? ["M", 1e6] : value >= 999.5 ? ["k", 1e3] : ["", 1];
  return `${Number((value / size).toPrecision(3))} ${prefix}${unit}`;
}

function plain(colour, on = {}) {
  return new T.MeshLambertMaterial({ color: colour, ...on });
}

// ---- A run: frames of all bodies at any time ----

class Motion {
  /* data: seven numbers per scale, frame and body; pace: frames of this motion in one frame of the scene;
     forces: {marks, data} with three numbers per frame and arrow, null if the scene's forces belong to this motion */
  constructor({ name, count, bodies, frames, data, scales = 1, pace = 1, forces = null }) {
    Object.assign(this, { name, count, bodies, frames, data, scales, pace, forces });
    this.position = Array.from({ length: bodies }, () => new T.Vector3());
    this.turned = Array.from({ length: bodies }, () => new T.Quaternion());
  }

  go(scale, frame) {
    const own = frame * this.pace, last = this.frames - 1, k = Math.min(Math.floor(own), last), part = own - k;
    const next = new T.Vector3(), turn = new T.Quaternion();
    for (let b = 0; b < this.bodies; b++) {
      const here = 7 * ((Math.min(scale, this.scales - 1) * this.frames + k) * this.bodies + b);
      const there = k < last ? here + 7 * this.bodies : here;
      this.position[b].fromArray(this.data, here).lerp(next.fromArray(this.data, there), part);
      this.turned[b].fromArray(this.data, here + 3).slerp(turn.fromArray(this.data, there + 3), part);
    }
  }

  /* Force of one arrow at a frame of the scene, N or N·m; null if the motion does not have it. */
  force(mark, frame) {
    const { marks, data } = this.forces, slot = marks.indexOf(mark), size = 3 * marks.length;
    if (slot < 0) return null;
    const own = Math.min(frame * this.pace, data.length / size - 1), k = Math.floor(own), next = new T.Vector3();
    const force = new T.Vector3().fromArray(data, k * size + 3 * slot);
    return force.lerp(next.fromArray(data, Math.min(k + 1, data.length / size - 1) * size + 3 * slot), own - k);
  }

  place(at, into = new T.Vector3()) {
    into.fromArray(at.at);
    return at.body < 0 ? into : into.applyQuaternion(this.turned[at.body]).add(this.position[at.body]);
  }

  show(groups) {
    groups.forEach((group, b) => {
      group.position.copy(this.position[b]);
      group.quaternion.copy(this.turned[b]);
    });
  }

  path(at, scale) {
    const along = new Float32Array(3 * this.count);
    for (let k = 0; k < this.count; k++) {
      this.go(scale, k / this.pace);
      this.place(at).toArray(along, 3 * k);
    }
    return along;
  }
}

// ---- What lies between bodies ----

function stretch(mesh, from, to) {
  const way = to.clone().sub(from), length = way.length();
  mesh.visible = length > 1e-9;
  if (!mesh.visible) return;
  mesh.position.copy(from).addScaledVector(way, 0.5);
  mesh.quaternion.setFromUnitVectors(UP, way.divideScalar(length));
  mesh.scale.set(1, length, 1);
}

const IN_FRONT = { depthTest: false, transparent: true };  // Draws parts in front of the bodies that would hide them.

function bar(radius, colour, options) {
  return new T.Mesh(new T.CylinderGeometry(radius, radius, 1, 16), plain(colour, options));
}

class Arrow extends T.Group {
  constructor(extent, moment) {
    super();
    const front = plain(moment ? MOMENT : FORCE, IN_FRONT);
    this.shaft = new T.Mesh(new T.CylinderGeometry(0.006 * extent, 0.006 * extent, 1, 12), front);
    this.heads = (moment ? [0, 0.035] : [0]).map((back) => {
      const head = new T.Mesh(new T.ConeGeometry(0.018 * extent, 0.045 * extent, 16), front);
      head.userData.back = back * extent + 0.0225 * extent;
      return head;
    });
    this.add(this.shaft, ...this.heads);
    this.children.forEach((part) => { part.renderOrder = 3; });
    this.largest = ARROW * extent;
  }

  point(at, force, ends) {
    const size = force.length();
    this.visible = size > FAINTEST;
    if (!this.visible) return;
    const length = size * this.largest, way = force.clone().divideScalar(size);
    const tip = ends ? at.clone() : at.clone().addScaledVector(way, length);
    this.end = ends ? tip.clone().addScaledVector(way, -length) : tip;
    stretch(this.shaft, tip.clone().addScaledVector(way, -length), tip);
    for (const head of this.heads) {
      head.position.copy(tip).addScaledVector(way, -head.userData.back);
      head.quaternion.setFromUnitVectors(UP, way);
      head.scale.setScalar(Math.min(1, length / (0.09 * this.largest / ARROW)));
    }
  }
}

const STANDS = {
  support(extent, up) {
    const cone = new T.Mesh(new T.ConeGeometry(0.022 * extent, 0.05 * extent, 4), plain(GHOST));
    cone.quaternion.setFromUnitVectors(UP, up);
    const foot = new T.Group();
    cone.position.copy(up).multiplyScalar(-0.025 * extent);
    foot.add(cone);
    return { object: foot, move(a, b) { foot.position.copy(b); } };
  },
  line(extent) {
    const rod = bar(0.008 * extent, CLOSURE);
    return { object: rod, move(a, b) { stretch(rod, a, b); } };
  },
  plane(extent, up, axis) {
    const look = { transparent: true, opacity: 0.35, side: T.DoubleSide };
    const sheet = new T.Mesh(new T.PlaneGeometry(0.3 * extent, 0.3 * extent), plain(GHOST, look));
    sheet.quaternion.setFromUnitVectors(new T.Vector3(0, 0, 1), new T.Vector3().fromArray(axis).normalize());
    const normal = new T.Vector3().fromArray(axis).normalize();
    return { object: sheet, move(a, b) { sheet.position.copy(a).addScaledVector(normal, b.clone().sub(a).dot(normal)); } };
  },
};

class Mark {
  /* peaks: largest force and moment of all runs, which have the longest arrows; they grow with the runs of the page */
  constructor(data, number, extent, up, peaks) {
    Object.assign(this, { data, number, peaks });
    this.forces = unpacked(data.forces, Float32Array);
    this.arrow = new Arrow(extent, data.kind === "moment");
    [this.kind, this.unit] = data.kind === "moment" ? ["moment", "N·m"] : ["force", "N"];
    this.unitPeak = peaks[this.kind];
    const make = STANDS[data.kind];
    this.stand = make ? make(extent, up, data.axis) : null;
  }

  go(motion, frame, shown) {
    const a = motion.place(this.data.a), force = motion.forces ? motion.force(this.number, frame) : this.recorded(frame);
    this.value = force ? force.length() : 0;
    this.share = this.value / this.peaks[this.kind];
    this.arrow.point(a, (force || ZERO.clone()).divideScalar(this.peaks[this.kind]), this.data.kind === "support" || this.data.kind === "plane");
    this.arrow.visible = this.arrow.visible && shown;
    if (!this.stand) return;
    this.stand.object.visible = true;
    this.stand.move(a, this.data.b ? motion.place(this.data.b) : a);
  }

  /* Force in the scene's own runs, which have it in shares of the scene's largest. */
  recorded(frame) {
    const last = this.forces.length / 3 - 1, k = Math.min(Math.floor(frame), last), next = Math.min(k + 1, last);
    const force = new T.Vector3().fromArray(this.forces, 3 * k);
    return force.lerp(new T.Vector3().fromArray(this.forces, 3 * next), frame - k).multiplyScalar(this.unitPeak);
  }
}

// ---- Symbols of frames, joint axes and centres of mass ----

const SHOWN = { frame: "frames", turn: "axes", slide: "axes", mass: "masses" };  // Controls of the symbols.
const AXIS = 0x16a34a, MASS = 0xbe185d;

// An axis along z, with a head in the positive direction.
function axis(extent) {
  const group = new T.Group(), shaft = bar(0.003 * extent, AXIS, IN_FRONT);
  const head = new T.Mesh(new T.ConeGeometry(0.01 * extent, 0.03 * extent, 12), plain(AXIS, IN_FRONT));
  shaft.scale.y = 0.2 * extent;
  shaft.rotation.x = head.rotation.x = Math.PI / 2;
  head.position.z = 0.115 * extent;
  return group.add(shaft, head);
}

const AIDS = {
  frame: (extent) => new T.AxesHelper(0.1 * extent),
  turn: (extent) => axis(extent).add(new T.Mesh(new T.TorusGeometry(0.028 * extent, 0.003 * extent, 8, 32), plain(AXIS, IN_FRONT))),
  slide: axis,
  mass: (extent) => new T.Mesh(new T.OctahedronGeometry(0.016 * extent), plain(MASS, IN_FRONT)),
};

// Return the memory of a world's objects to the graphics processor.
function release(world) {
  world.traverse((object) => {
    if (object.geometry) object.geometry.dispose();
    if (object.material) object.material.dispose();
  });
}

// ---- The camera ----

class Orbit {
  constructor(camera, canvas, scene, changed) {
    Object.assign(this, { camera, canvas, scene, changed });
    this.up = new T.Vector3().setComponent(scene.vertical, 1);
    camera.up.copy(this.up);
    this.reset();
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); canvas.focus({ preventScroll: true }); });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas) return;  // Until a click on the picture, the wheel scrolls the page.
      event.preventDefault();
      this.zoom(Math.exp(0.001 * event.deltaY));
    }, { passive: false });
  }

  reset() {
    this.azimuth = this.scene.azimuth * Math.PI / 180;
    this.height = 20 * Math.PI / 180;
    this.target = new T.Vector3();
    this.whole = true;
    this.update();
  }

  // Return the distance from which the whole box around the motion is visible.
  fit(aspect) {
    const way = this.way(), right = new T.Vector3().crossVectors(this.up, way).normalize();
    const above = new T.Vector3().crossVectors(way, right), tall = Math.tan(this.camera.fov * Math.PI / 360);
    const least = 0.5 * this.scene.extent, corner = new T.Vector3();
    let distance = least / tall;
    for (let k = 0; k < 8; k++) {
      corner.fromArray(this.scene.half).multiply(new T.Vector3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
      const wide = Math.abs(corner.dot(right)) / (tall * aspect), high = Math.abs(corner.dot(above)) / tall;
      distance = Math.max(distance, corner.dot(way) + 1.1 * Math.max(wide, high));
    }
    return distance;
  }

  way() {
    const flat = Math.cos(this.height), way = new T.Vector3();
    const towards = [flat * Math.cos(this.azimuth), flat * Math.sin(this.azimuth), Math.sin(this.height)];
    towards.forEach((part, k) => way.setComponent((k + this.scene.vertical + 1) % 3, part));
    return way;
  }

  // The scene has changed: see the same part of the world, or the whole scene again.
  follow(scene) {
    const moved = new T.Vector3().fromArray(this.scene.centre).sub(new T.Vector3().fromArray(scene.centre));
    if (!this.whole) this.target.add(moved);
    this.up.set(0, 0, 0).setComponent(scene.vertical, 1);
    this.camera.up.copy(this.up);
    this.scene = scene;
    this.update();
  }

  update() {
    if (this.whole) this.distance = this.fit(this.camera.aspect);
    this.camera.position.copy(this.target).addScaledVector(this.way(), this.distance);
    this.camera.near = this.distance / 100;
    this.camera.far = this.distance * 20;
    this.camera.lookAt(this.target);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.changed();
  }

  drag(event) {
    if (!event.buttons) return;
    this.whole = false;
    if (event.buttons === 1 && !event.shiftKey) return this.turn(-0.008 * event.movementX, 0.008 * event.movementY);
    const step = this.distance * Math.tan(this.camera.fov * Math.PI / 360) * 2 / this.canvas.clientHeight;
    this.target.addScaledVector(new T.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0), -step * event.movementX);
    this.target.addScaledVector(new T.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1), step * event.movementY);
    this.update();
  }

  turn(around, over) {
    this.whole = false;
    this.azimuth += around;
    this.height = Math.max(-1.5, Math.min(1.5, this.height + over));
    this.update();
  }

  zoom(factor) {
    this.whole = false;
    this.distance *= factor;
    this.update();
  }
}

// ---- The player ----

function drawnBySoftware() {
  const context = document.createElement("canvas").getContext("webgl"), named = context && context.getExtension("WEBGL_debug_renderer_info");
  return !!named && /swiftshader|llvmpipe|software/i.test(context.getParameter(named.UNMASKED_RENDERER_WEBGL));
}

class Player {
  constructor(element, scene) {
    this.element = element;
    this.canvas = element.querySelector("canvas");
    this.renderer = new T.WebGLRenderer({ canvas: this.canvas, antialias: !drawnBySoftware(), alpha: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.rendered = 0;
    this.playing = false;
    this.camera = new T.PerspectiveCamera(30, 1, 0.1, 1000);
    this.camera.add(new T.DirectionalLight(0xffffff, 0.55));
    this.orbit = new Orbit(this.camera, this.canvas, scene, () => { this.dirty = true; });
    this.load(scene);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.resize();
    this.seen = true;
    new IntersectionObserver((entries) => { this.seen = entries[entries.length - 1].isIntersecting; }).observe(element);
    requestAnimationFrame((now) => this.tick(now));
  }

  // Show a scene, in place of the one before; the user's view of the world remains.
  load(scene) {
    if (this.world) release(this.world);
    this.scene = scene;
    this.motions = scene.motions.map((data) => new Motion({ ...data, data: unpacked(data.data, Float32Array), frames: scene.time.count, scales: scene.scales.length }));
    this.truth = this.motions[this.motions.length - 1];
    this.driven = null;
    this.frame = 0;
    this.build();
    this.world.add(this.camera);
    this.orbit.follow(scene);
    this.retrace();
  }

  build() {
    const { scene } = this, count = this.truth.bodies;
    this.world = new T.Scene();
    this.world.add(new T.HemisphereLight(0xffffff, 0x9aa2ad, 0.72));
    const up = new T.Vector3().setComponent(scene.vertical, 1);
    this.groups = bodies(scene, count, (shape) => plain(shape.colour), true);
    this.ghosts = this.motions.length > 1 ? this.veiled() : [];
    for (const frame of scene.axes) this.fix(new T.AxesHelper(0.08 * scene.extent), frame);
    this.aids = scene.aids.map((aid) => ({ kind: aid.kind, object: this.fix(AIDS[aid.kind](scene.extent), aid) }));
    this.bars = scene.bars.map((data) => data.kind === "slide" ? { data, mesh: bar(0.006 * scene.extent, GHOST), knots: [] }
      : { data, mesh: bar(0.009 * scene.extent, CLOSURE, IN_FRONT), knots: this.knots() });
    this.peaks = { ...scene.peaks };
    this.marks = scene.marks.map((data, k) => new Mark(data, k, scene.extent, up, this.peaks));
    this.dots = scene.points.map(() => new T.Mesh(new T.SphereGeometry(0.014 * scene.extent, 20, 12), new T.MeshBasicMaterial({ color: PATH })));
    this.paths = scene.points.map(() => [0.35, 1].map((opacity) => new T.Line(new T.BufferGeometry(), new T.LineBasicMaterial({ color: PATH, transparent: true, opacity }))));
    this.world.add(...this.groups, ...this.ghosts, ...this.dots, ...this.paths.flat());
    for (const { mesh, knots } of this.bars) this.world.add(mesh, ...knots);
    for (const mark of this.marks) this.world.add(mark.arrow, ...(mark.stand ? [mark.stand.object] : []));
    this.world.add(this.ground(up));
    this.labels = this.labelled().map((label) => ({ ...label, text: document.createElement("span") }));
    for (const { text, name } of this.labels) text.textContent = name;
    this.values = this.marks.map(() => Object.assign(document.createElement("span"), { className: "value" }));
    this.control("names").replaceChildren(...this.labels.map(({ text }) => text), ...this.values);
  }

  // Attach a symbol to the body of a frame, or to the ground.
  fix(object, { body, at, quaternion }) {
    object.position.fromArray(at);
    object.quaternion.fromArray(quaternion);
    (body < 0 ? this.world : this.groups[body]).add(object);
    return object;
  }

  // Names in the picture; a page without aids shows those of points only.
  labelled() {
    const { points, aids, marks } = this.scene, kinds = { line: "lines", plane: "planes" };
    const named = points.map(({ name, ...at }) => ({ name, shown: "points", ends: [at] }));
    if (!aids.length) return named;
    const elements = marks.filter(({ kind }) => kinds[kind]);
    return [
      ...named,
      ...elements.map(({ name, kind, a, b }) => ({ name, shown: kinds[kind], ends: kind === "line" && b ? [a, b] : [a] })),
      ...aids.filter(({ kind }) => kind === "frame").map(({ name, body, at }) => ({ name, shown: "frames", ends: [{ body, at }] })),
    ];
  }

  veiled() {
    const veil = plain(GHOST, { transparent: true, opacity: 0.3, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
    return bodies(this.scene, this.truth.bodies, () => veil, false);
  }

  knots() {
    return [0, 1].map(() => new T.Mesh(new T.SphereGeometry(0.016 * this.scene.extent, 20, 12), plain(CLOSURE, IN_FRONT)));
  }

  ground(up) {
    const { half, vertical, extent } = this.scene, wide = Math.max(2.6 * Math.hypot(...half), extent);
    const power = 10 ** Math.floor(Math.log10(wide / 4)), step = power * (wide / 4 / power >= 5 ? 5 : wide / 4 / power >= 2 ? 2 : 1);
    const cells = 2 * Math.ceil(wide / step / 2);
    const grid = new T.GridHelper(cells * step, cells, GHOST, GHOST);
    grid.material.transparent = true;
    grid.material.opacity = 0.3;
    grid.quaternion.setFromUnitVectors(UP, up);
    grid.position.setComponent(vertical, -half[vertical] - 0.002 * extent);
    return grid;
  }

  // ---- controls ----

  control(name) { return this.element.querySelector("." + name); }

  ticked(name) {
    const box = this.control(name);
    return box ? box.checked : true;
  }

  chosen(name) {
    const list = this.control(name);
    return list ? Number(list.value) : 0;
  }

  get motion() { return this.driven || this.motions[this.motions.length > 1 ? this.chosen("run") : 0]; }

  // ---- runs that the page makes (browser/live.js) ----

  /* data: seven numbers per frame and body, world frame; stop: time of the last frame, s; forces: see Motion */
  add(name, data, count, stop, forces) {
    const { bodies } = this.truth, frames = data.length / 7 / bodies;
    this.shift(data);
    this.raise(forces);
    const pace = (frames - 1) / stop / this.rate;
    this.motions.splice(this.motions.length - 1, 0, new Motion({ name, count, bodies, frames, data, pace, forces }));
    if (!this.ghosts.length) this.world.add(...(this.ghosts = this.veiled()));
    const { time } = this.scene, steps = Math.ceil(this.rate * (stop - time.begin));
    if (stop > time.end) Object.assign(time, { end: time.begin + steps / this.rate, count: 1 + steps });  // The rate stays.
    if (this.control("scrub")) this.control("scrub").max = time.count - 1;
    this.choices(this.motions.length - 2);
    this.go(0);
    this.play(true);
  }

  remove(name) {
    const k = this.motions.findIndex((motion) => motion.name === name);
    if (k < 0) return;
    this.motions.splice(k, 1);
    this.choices(Math.max(0, this.motions.length - 2));
  }

  /* Shows one instant of a run that goes on, or the recorded runs again if there are no numbers. */
  pose(data, time, forces) {
    const { bodies } = this.truth;
    if (data && !this.driven) this.driven = new Motion({ name: "driven", count: Infinity, bodies, frames: 1, data: new Float32Array(7 * bodies), forces });
    if (!data) this.driven = null;
    else {
      this.driven.data.set(data);
      this.shift(this.driven.data);
      this.driven.forces = forces;
      this.raise(forces);
      this.clock = time;
    }
    this.dirty = true;
  }

  /* Lets the next forces determine the lengths of the arrows alone. */
  forget() {
    this.peaks.force = this.peaks.moment = 1e-300;
  }

  /* Scales the arrows so that the largest force or moment of the runs has the longest. */
  raise({ marks, data }) {
    for (let k = 0; k < data.length; k += 3) {
      const { kind } = this.marks[marks[(k / 3) % marks.length]];
      this.peaks[kind] = Math.max(this.peaks[kind], Math.hypot(data[k], data[k + 1], data[k + 2]) || 0);
    }
  }

  /* From the world's origin to the scene's centre. */
  shift(data) {
    for (let k = 0; k < data.length; k += 7) this.scene.centre.forEach((middle, axis) => { data[k + axis] -= middle; });
  }

  choices(chosen) {
    const label = this.element.querySelector(".runs"), list = this.control("run");
    list.replaceChildren(...this.motions.slice(0, Math.max(1, this.motions.length - 1)).map((motion, k) => new Option(motion.name, k, false, k === chosen)));
    label.hidden = this.motions.length < 2;
    this.retrace();
  }

  listen() {
    const on = (name, what, act) => { if (this.control(name)) this.control(name).addEventListener(what, act); };
    on("play", "click", () => this.play(!this.playing));
    on("scrub", "input", (event) => { this.play(false); this.go(Number(event.target.value)); });
    on("home", "click", () => this.orbit.reset());
    for (const box of this.element.querySelectorAll("input[type=checkbox]")) box.addEventListener("change", () => { this.dirty = true; });
    for (const name of ["run", "scale"]) on(name, "change", () => this.retrace());
    const keys = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => this.orbit.turn(-0.1, 0), ArrowRight: () => this.orbit.turn(0.1, 0),
      ArrowUp: () => this.orbit.turn(0, 0.1), ArrowDown: () => this.orbit.turn(0, -0.1),
      "+": () => this.orbit.zoom(0.9), "-": () => this.orbit.zoom(1 / 0.9),
    };
    this.canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  play(on) {
    if (!this.control("play")) return;
    this.playing = on;
    if (on && this.frame >= this.scene.time.count - 1) this.frame = 0;
    this.control("play").textContent = on ? "❚❚" : "▶";
    this.last = null;
  }

  get rate() {
    const { begin, end, count } = this.scene.time;
    return Math.max(count - 1, 1) / (end - begin || 1);
  }

  show(time) {
    this.play(false);
    this.go((time - this.scene.time.begin) * this.rate);
    this.render();
  }

  go(frame) {
    this.frame = Math.max(0, Math.min(frame, this.scene.time.count - 1));
    this.dirty = true;
  }

  retrace() {
    this.scene.points.forEach((point, k) => {
      const along = this.motion.path(point, this.chosen("scale"));
      for (const line of this.paths[k]) line.geometry.setAttribute("position", new T.BufferAttribute(along, 3));
      for (const line of this.paths[k]) line.geometry.computeBoundingSphere();
    });
    this.dirty = true;
  }

  // ---- pictures ----

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.orbit.update();
  }

  tick(now) {
    requestAnimationFrame((then) => this.tick(then));
    if (this.playing && this.seen) {
      if (this.last !== null) {
        const gone = this.frame + (now - this.last) / 1000 * this.chosen("speed") * this.rate;
        this.go(this.scene.cyclic ? gone % (this.scene.time.count - 1) : gone);
        this.keepUp(now - this.last);
      }
      this.last = now;
      if (this.frame >= this.scene.time.count - 1 && !this.scene.cyclic) this.rest(now);
    }
    if (this.dirty && this.seen) this.render();
  }

  // Reduce the resolution below 30 pictures per second; `pace` is the mean time per picture, ms.
  keepUp(lasted) {
    this.pace = 0.9 * (this.pace || 16) + 0.1 * Math.min(lasted, 200);
    const ratio = this.renderer.getPixelRatio();
    if (this.pace < 32 || ratio <= 0.5) return;
    this.pace = 16;
    this.renderer.setPixelRatio(Math.max(0.5, 0.8 * ratio));
  }

  rest(now) {
    // Pause at the end, then start again.
    this.ended = this.ended || now;
    if (now - this.ended < 700) return;
    this.ended = 0;
    this.go(0);
  }

  render() {
    this.dirty = false;
    const { motion, truth, frame } = this, scale = this.chosen("scale");
    truth.go(scale, frame);
    truth.show(this.ghosts);
    motion.go(scale, frame);
    this.ghosts.forEach((ghost, b) => { ghost.visible = !this.driven && this.ticked("ghost") && this.differs(b, frame); });
    motion.show(this.groups);
    for (const group of this.groups) group.visible = frame * motion.pace <= motion.count - 1 || !this.ghosts.length;
    for (const { data, mesh, knots } of this.bars) {
      const a = motion.place(data.a), b = motion.place(data.b);
      stretch(mesh, a, b);
      knots.forEach((knot, k) => knot.position.copy(k ? b : a));
    }
    for (const mark of this.marks) {
      mark.go(motion, frame, this.ticked("forces"));
      if (mark.stand && !this.ticked(`${mark.data.kind}s`)) mark.stand.object.visible = false;
    }
    for (const { kind, object } of this.aids) object.visible = this.ticked(SHOWN[kind]);
    this.scene.points.forEach((point, k) => {
      motion.place(point, this.dots[k].position);
      this.dots[k].visible = this.ticked("points");
      this.paths[k].forEach((line) => { line.visible = !this.driven && this.ticked("paths"); });
      this.paths[k][1].geometry.setDrawRange(0, Math.floor(frame * motion.pace) + 1);
    });
    this.renderer.render(this.world, this.camera);
    this.rendered += 1;
    this.write();
  }

  // Whether the ghost of a body is visibly apart from the body.
  differs(b, frame) {
    const { motion, truth } = this, near = 5e-4;
    const away = motion.position[b].distanceTo(truth.position[b]) > near * this.scene.extent;
    return away || motion.turned[b].angleTo(truth.turned[b]) > near || frame * motion.pace > motion.count - 1;
  }

  write() {
    const { begin, end } = this.scene.time, time = this.driven ? this.clock : begin + this.frame / this.rate;
    const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(end - begin || 1))));
    const now = performance.now();
    if (this.control("clock") && !(this.playing && now - this.written < 80)) {  // The clock changes slowly enough to be read.
      this.written = now;
      this.control("clock").textContent = this.scene.cyclic ? Math.round(360 * time) + "°" : time.toFixed(digits) + " s";
      this.control("scrub").value = this.frame;
    }
    this.taken = [];
    const { motion } = this, middle = new T.Vector3();
    for (const { text, shown, ends } of this.labels) {
      middle.set(0, 0, 0);
      for (const end of ends) middle.addScaledVector(motion.place(end), 1 / ends.length);
      text.hidden = !this.ticked(shown);
      if (!text.hidden) this.put(text, middle);
    }
    const order = this.marks.map((_, k) => k).sort((a, b) => this.marks[b].share - this.marks[a].share);
    for (const k of order) {
      const { arrow, share, value, unit } = this.marks[k], label = this.values[k];
      label.hidden = !(arrow.visible && share > NAMED);
      if (label.hidden) continue;
      label.textContent = withUnit(value, unit);
      this.put(label, arrow.end);
    }
  }

  /* Puts a label beside a point, or hides the label if another one is there. */
  put(label, point) {
    const [x, y] = this.onScreen(point);
    label.hidden = !this.taken.every(([left, top]) => Math.abs(left - x) > 60 || Math.abs(top - y) > 18);
    if (!label.hidden) this.taken.push([x, y]);
    label.style.transform = `translate(${x + 9}px, ${y - 22}px)`;
  }

  // Return the position of a point (relative to the centre, m) in the picture, CSS pixels from the upper left corner.
  onScreen(point) {
    const seen = point.clone().project(this.camera);
    return [(seen.x + 1) / 2 * this.canvas.clientWidth, (1 - seen.y) / 2 * this.canvas.clientHeight];
  }

  // Return the position of a point in the world frame, m, in the picture, CSS pixels.
  project(world) {
    return this.onScreen(new T.Vector3().fromArray(world).sub(new T.Vector3().fromArray(this.scene.centre)));
  }
}

function start(element) {
  try {
    const player = new Player(element, JSON.parse(document.getElementById("scene").textContent));
    element.player = player;
    const asked = /[#&]t=([-+.0-9e]+)/.exec(location.hash);
    if (asked) player.show(Number(asked[1]));
    else if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play(true);
  } catch (error) {
    element.querySelector(".none").hidden = false;
    if (window.WebGL2RenderingContext) console.warn(error);
  }
}

Player.unpacked = unpacked;
window.MechanismPlayer = Player;  // for pages that receive their scenes from a server
if (document.getElementById("scene")) start(document.getElementById("player"));
})();
