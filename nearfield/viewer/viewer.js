// The model in three dimensions: bodies, ports, cuts through grid and media. Data: the JSON of #scene (scene.py).
"use strict";
(() => {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const $ = (id) => document.getElementById(id);
  const KINDS = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  const unpack = (array) => {
    const text = atob(array.data), bytes = new Uint8Array(text.length);
    for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
    return new KINDS[array.type](bytes.buffer);
  };
  const AXES = ["x", "y", "z"];
  const PREFIXES = [[1e-9, "nm"], [1e-6, "µm"], [1e-3, "mm"], [1, "m"], [1e3, "km"]];
  const metres = (length) => {
    if (!scene.metric) return `${+length.toPrecision(4)}`; // in the unit of whoever made the field
    const size = Math.abs(length);
    if (size < 1e-15) return "0 m";
    let found = PREFIXES[0];
    for (const each of PREFIXES) if (size >= 0.9995 * each[0]) found = each;
    return `${+(length / found[0]).toPrecision(4)} ${found[1]}`;
  };

  // ---- the stage -------------------------------------------------------------------------------------------------
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  } catch (error) {
    $("message").textContent = "This browser shows no WebGL 2, which the picture needs; the lists on the right are whole.";
    $("message").hidden = false;
  }
  const stage = $("stage"), world = new THREE.Scene();
  world.background = new THREE.Color("#f4f6f8");
  const camera = new THREE.PerspectiveCamera(35, 1, 0.05, 200);
  camera.up.set(0, 0, 1);
  world.add(new THREE.HemisphereLight(0xffffff, 0xaab4c0, 2.4));
  const lamp = new THREE.DirectionalLight(0xffffff, 1.4);
  camera.add(lamp);
  world.add(camera);
  const groups = {};
  for (const name of ["bodies", "port", "source", "element", "monitor", "layers", "planes", "frame", "cuts"]) {
    groups[name] = new THREE.Group();
    world.add(groups[name]);
  }
  const planes = AXES.map((_, axis) => new THREE.Plane(new THREE.Vector3().setComponent(axis, -1), 1e6));
  let controls = null, asked = false;
  const draw = () => {
    if (!asked && renderer) {
      asked = true;
      requestAnimationFrame(() => { asked = false; renderer.render(world, camera); });
    }
  };

  // ---- bodies ----------------------------------------------------------------------------------------------------
  const MANY = 30000; // triangles past which a body has no drawn edges
  const bodies = scene.bodies.map((body) => {
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(unpack(body.corners), 3));
    shape.setIndex(new THREE.BufferAttribute(unpack(body.index), 1));
    const metal = body.opaque || body.colour === "#A85B2A";
    const look = new THREE.MeshStandardMaterial({
      color: body.colour, side: THREE.DoubleSide, flatShading: true, metalness: metal ? 0.1 : 0, roughness: 0.6,
      transparent: !metal, opacity: metal ? 1 : 0.45, depthWrite: metal, clippingPlanes: planes,
      polygonOffset: true, polygonOffsetFactor: body.flat ? -1 : 1, polygonOffsetUnits: body.flat ? -16 : 16,
    });
    const mesh = new THREE.Mesh(shape, look);
    mesh.renderOrder = metal ? 0 : 1;
    mesh.userData = body;
    groups.bodies.add(mesh);
    if (body.triangles < MANY && !body.plain) {
      const line = new THREE.LineBasicMaterial({ color: "#26323d", transparent: true, opacity: 0.55, clippingPlanes: planes });
      mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(shape, 25), line));
    }
    return mesh;
  });

  // ---- ports, sources, monitors, boundaries ----------------------------------------------------------------------
  const boxLines = (lower, upper, colour, opacity = 1) => {
    const size = AXES.map((_, axis) => Math.max(upper[axis] - lower[axis], 1e-6));
    const shape = new THREE.EdgesGeometry(new THREE.BoxGeometry(...size));
    const lines = new THREE.LineSegments(shape, new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity }));
    lines.position.set(...AXES.map((_, axis) => (upper[axis] + lower[axis]) / 2));
    return lines;
  };
  const boxFaces = (lower, upper, colour, opacity) => {
    const size = AXES.map((_, axis) => Math.max(upper[axis] - lower[axis], 1e-5));
    const look = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity, depthWrite: false, side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(...size), look);
    mesh.position.set(...AXES.map((_, axis) => (upper[axis] + lower[axis]) / 2));
    return mesh;
  };
  const label = (text, colour, at, size = 0.32) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext("2d");
    pen.fillStyle = "white";
    pen.beginPath(); pen.arc(32, 32, 30, 0, 7); pen.fill();
    pen.strokeStyle = colour; pen.lineWidth = 4; pen.stroke();
    pen.fillStyle = colour; pen.font = "bold 46px sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.fillText(text, 32, 35);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    const look = new THREE.SpriteMaterial({ map: texture, depthTest: false });
    const sprite = new THREE.Sprite(look);
    sprite.position.set(...at);
    sprite.scale.set(size, size, 1);
    sprite.renderOrder = 10;
    return sprite;
  };
  const objects = scene.objects.map((object) => {
    const group = new THREE.Group();
    const strong = object.group !== "monitor";
    const point = AXES.every((_, axis) => object.upper[axis] - object.lower[axis] < 1e-9);
    const grown = point ? 0.06 : 0;
    const lower = object.lower.map((v) => v - grown), upper = object.upper.map((v) => v + grown);
    const faces = boxFaces(lower, upper, object.colour, strong ? 0.45 : object.kind === "far-field" ? 0.05 : 0.16);
    faces.userData = object;
    group.add(faces, boxLines(lower, upper, object.colour, strong ? 1 : 0.7));
    for (const arrow of object.arrows) {
      const length = arrow.what === "polarity" ? 0.9 : 1.4;
      const colour = arrow.what === "polarity" ? object.colour : "#1F2933";
      const along = new THREE.Vector3(...arrow.along), head = new THREE.Vector3(...arrow.from);
      const drawn = new THREE.ArrowHelper(along, head, length, colour, 0.28, 0.14);
      for (const part of [drawn.line, drawn.cone]) { // seen through the metal that a port lies under
        part.material.depthTest = false;
        part.renderOrder = 9;
      }
      group.add(drawn);
    }
    const apart = 0.2; // signs of a gap of one cell would lie on each other
    if (object.signs.length === 2) {
      const [a, b] = object.signs.map((sign) => new THREE.Vector3(...sign.at));
      const between = b.clone().sub(a), middle = a.clone().add(b).multiplyScalar(0.5);
      const half = Math.max(between.length() / 2, apart);
      between.normalize();
      group.add(label("−", object.colour, middle.clone().addScaledVector(between, -half).toArray()));
      group.add(label("+", object.colour, middle.clone().addScaledVector(between, half).toArray()));
    }
    group.userData = object;
    groups[object.group].add(group);
    return group;
  });
  const WALLS = { pec: "#A85B2A", pmc: "#6D3B8E", periodic: "#0072B2", bloch: "#0072B2" };
  for (const layer of scene.layers) {
    const colour = WALLS[layer.kind] || "#7B8794", open = layer.kind === "cpml";
    const faces = boxFaces(layer.lower, layer.upper, colour, open ? 0.1 : 0.06);
    faces.userData = { name: layer.name, text: open ? `absorbs, ${layer.cells} cells` : "wall", kind: layer.kind };
    groups.layers.add(faces, boxLines(layer.lower, layer.upper, colour, 0.35));
  }
  const grid = scene.grid.map(unpack);
  const ends = grid.map((line) => [line[0], line[line.length - 1]]);
  groups.frame.add(boxLines(ends.map((e) => e[0]), ends.map((e) => e[1]), "#52606D"));
  AXES.forEach((name, axis) => {
    const from = new THREE.Vector3(...ends.map((e) => e[0])), along = new THREE.Vector3().setComponent(axis, 1);
    const colour = ["#C0392B", "#27864B", "#2460A7"][axis];
    groups.frame.add(new THREE.ArrowHelper(along, from, 1.2, colour, 0.25, 0.12));
    groups.frame.add(label(name, colour, from.clone().addScaledVector(along, 1.45).toArray(), 0.34));
  });
  for (const plane of scene.planes) {
    const lower = ends.map((e) => e[0]), upper = ends.map((e) => e[1]);
    lower[plane.axis] = upper[plane.axis] = plane.at;
    const faces = boxFaces(lower, upper, plane.kind === "electric" ? "#A85B2A" : "#6D3B8E", 0.14);
    faces.userData = { name: `plane of symmetry across ${AXES[plane.axis]}`, text: plane.kind, kind: "symmetry" };
    groups.planes.add(faces);
  }

  // ---- cuts: media or cells a wavelength, with the grid's lines -----------------------------------------------------
  const map = scene.map, media = unpack(map.media), places = map.places.map(unpack), cellsAt = map.cells.map(unpack);
  const nearest = (sorted, value) => {
    let low = 0, high = sorted.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= value) low = middle; else high = middle;
    }
    return Math.abs(sorted[low] - value) <= Math.abs(sorted[high] - value) ? low : high;
  };
  const HEAT = [[6, "#7a0403"], [10, "#d93807"], [15, "#fb8022"], [20, "#d2e935"], [30, "#46f884"], [50, "#28bceb"], [1e9, "#4145ab"]];
  const heat = (number) => HEAT.find((each) => number < each[0])[1];
  const rgb = (text) => [1, 3, 5].map((n) => parseInt(text.slice(n, n + 2), 16));
  const colourAt = (index, mode) => {
    const medium = media[index[0] + map.shape[0] * (index[1] + map.shape[1] * index[2])];
    if (mode === "media") return map.colours[medium] ? rgb(map.colours[medium]) : [255, 255, 255, 0]; // the background lets one see on
    const wavelength = map.wavelengths[medium];
    if (!wavelength) return [205, 205, 205];
    const cell = Math.max(...AXES.map((_, axis) => cellsAt[axis][index[axis]]));
    return rgb(heat(wavelength / cell));
  };
  const MOST_LINES = 600; // of the grid, drawn along each axis of a cut
  const cutState = AXES.map(() => ({ on: false, at: 0, flip: false }));
  const cutPicture = (axis, at, mode) => {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3], size = 512, canvas = document.createElement("canvas");
    const spans = [u, v].map((side) => ends[side][1] - ends[side][0]), longest = Math.max(...spans);
    [canvas.width, canvas.height] = spans.map((span) => Math.max(16, Math.round((size * span) / longest)));
    const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height);
    const index = [0, 0, 0];
    index[axis] = nearest(places[axis], at);
    const columns = Array.from({ length: canvas.width }, (_, n) => nearest(places[u], ends[u][0] + ((n + 0.5) * spans[0]) / canvas.width));
    for (let row = 0; row < canvas.height; row++) {
      index[v] = nearest(places[v], ends[v][1] - ((row + 0.5) * spans[1]) / canvas.height);
      for (let column = 0; column < canvas.width; column++) {
        index[u] = columns[column];
        const colour = colourAt(index, mode), place = 4 * (row * canvas.width + column);
        for (let n = 0; n < 3; n++) image.data[place + n] = colour[n];
        image.data[place + 3] = colour.length > 3 ? colour[3] : 255;
      }
    }
    pen.putImageData(image, 0, 0);
    return canvas;
  };
  const quad = (axis, at) => {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3], corners = [];
    for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
      const corner = [0, 0, 0];
      corner[axis] = at; corner[u] = ends[u][a]; corner[v] = ends[v][b];
      corners.push(...corner);
    }
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    shape.setAttribute("uv", new THREE.BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2));
    shape.setIndex([0, 1, 2, 0, 2, 3]);
    return shape;
  };
  const gridLines = (axis, at) => {
    const found = [], shown = [1, 1];
    [1, 2].forEach((shift, n) => {
      const side = (axis + shift) % 3, other = 3 - axis - side, line = grid[side];
      shown[n] = Math.ceil(line.length / MOST_LINES);
      for (let k = 0; k < line.length; k += shown[n]) {
        for (const end of ends[other]) {
          const point = [0, 0, 0];
          point[axis] = at; point[side] = line[k]; point[other] = end;
          found.push(...point);
        }
      }
    });
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(new Float32Array(found), 3));
    return [new THREE.LineSegments(shape, new THREE.LineBasicMaterial({ color: "#1F2933", transparent: true, opacity: 0.28 })), shown];
  };
  const drawCuts = () => {
    for (const child of [...groups.cuts.children]) {
      groups.cuts.remove(child);
      child.geometry.dispose();
      if (child.material.map) child.material.map.dispose();
      child.material.dispose();
    }
    const mode = $("cut-shows").value, notes = [];
    AXES.forEach((name, axis) => {
      const cut = cutState[axis], sign = cut.flip ? -1 : 1;
      planes[axis].normal.set(0, 0, 0).setComponent(axis, -sign);
      planes[axis].constant = cut.on ? sign * cut.at + 1e-4 : 1e6;
      $(`at-${name}`).textContent = `${name} = ${metres(cut.at * scene.metres_a_unit + scene.origin[axis])}`;
      if (!cut.on) return;
      if (mode !== "none") {
        const texture = new THREE.CanvasTexture(cutPicture(axis, cut.at, mode));
        texture.colorSpace = THREE.SRGBColorSpace;
        texture.magFilter = THREE.NearestFilter;
        const look = new THREE.MeshBasicMaterial({ map: texture, alphaTest: 0.5, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
        const mesh = new THREE.Mesh(quad(axis, cut.at), look);
        mesh.userData = { cut: axis };
        groups.cuts.add(mesh);
      }
      if ($("lines").checked) {
        const [lines, shown] = gridLines(axis, cut.at);
        groups.cuts.add(lines);
        if (Math.max(...shown) > 1) notes.push(`${name}: one grid line in ${Math.max(...shown)} drawn`);
      }
    });
    if (Math.max(...map.every) > 1 && mode !== "none" && cutState.some((cut) => cut.on)) {
      notes.push(`media of one cell in ${map.every.join(" x ")} along x, y, z`);
    }
    $("cut-note").textContent = notes.join("; ");
    $("heat").hidden = mode !== "cells";
    draw();
  };

  // ---- lists and switches ----------------------------------------------------------------------------------------
  const element = (tag, parent, text = "", kind = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = kind;
    parent.append(made);
    return made;
  };
  const row = (parent, name, colour, title, shown, change) => {
    const line = element("label", parent, "", "row"), box = element("input", line);
    box.type = "checkbox"; box.checked = shown;
    box.addEventListener("change", () => { change(box.checked); draw(); });
    if (colour) element("span", line, "", "swatch").style.background = colour;
    element("span", line, name, "name").title = title;
    return box;
  };
  document.title = scene.title || "Model";
  $("title").textContent = scene.title || "Untitled model";
  if (scene.problem) { $("problem").textContent = `Would be refused: ${scene.problem}`; $("problem").hidden = false; }
  // other words, of pages that show no model: by the element's id; options of cuts that have none go
  for (const [id, text] of Object.entries(scene.words || {})) $(id).textContent = text;
  if (scene.cuts) {
    for (const option of [...$("cut-shows").options]) {
      if (scene.cuts[option.value]) option.textContent = scene.cuts[option.value]; else option.remove();
    }
  }
  const boxes = {};
  for (const medium of scene.media) {
    const own = bodies.filter((mesh) => mesh.userData.medium === medium.name);
    const part = element("details", $("bodies"));
    part.open = own.length <= 12;
    const head = element("summary", part), all = element("input", head);
    all.type = "checkbox"; all.checked = true;
    element("span", head, "", "swatch").style.background = medium.colour;
    element("b", head, medium.name);
    element("small", head, medium.text);
    const inner = own.map((mesh) => {
      const box = row(part, mesh.userData.name, "", mesh.userData.text, true, (on) => { mesh.visible = on; });
      boxes[mesh.userData.name] = box;
      return box;
    });
    all.addEventListener("change", () => {
      inner.forEach((box, n) => { box.checked = own[n].visible = all.checked; });
      draw();
    });
  }
  const SWITCHES = [["port", "ports"], ["source", "sources"], ["element", "lumped elements"], ["monitor", "monitors"],
    ["layers", "CPML and walls"], ["planes", "planes of symmetry"], ["frame", "box and axes"]];
  for (const [name, text] of SWITCHES) {
    const own = groups[name].children;
    if (!own.length) continue;
    groups[name].visible = name !== "layers" && name !== "monitor";
    boxes[text] = row($("things"), text, "", "", groups[name].visible, (on) => { groups[name].visible = on; });
    for (const each of own.filter((part) => part.userData.group)) {
      row(element("div", $("things"), "", "inner"), each.userData.name, each.userData.colour, each.userData.text, true, (on) => { each.visible = on; });
    }
  }
  const table = (parent, rows) => rows.forEach(([what, value]) => {
    const line = element("tr", parent);
    element("th", line, what); element("td", line, value);
  });
  table($("facts"), scene.facts);
  table($("moved"), scene.moved.map((each) => [each.what, each.effect]));
  if (scene.moved_more) table($("moved"), [["", `and ${scene.moved_more} more, which \`nearfield check --json\` lists`]]);
  $("moved-part").hidden = !scene.moved.length;
  scene.warnings.forEach((text) => element("li", $("warnings"), text));
  $("warnings-part").hidden = !scene.warnings.length;
  HEAT.forEach(([limit, colour], n) => {
    const line = element("span", $("heat"), "", "heat");
    element("span", line, "", "swatch").style.background = colour;
    element("span", line, n === 0 ? `under ${limit}` : limit > 1e6 ? `over ${HEAT[n - 1][0]}` : `to ${limit}`);
  });
  element("p", $("heat"), map.frequency ? `cells a wavelength in each medium at ${map.frequency}` : "nothing is excited, so there is no wavelength");
  AXES.forEach((name, axis) => {
    const line = element("div", $("cuts"), "", "cut"), cut = cutState[axis];
    const on = element("input", line), slider = element("input", line), flip = element("button", line, "⇄");
    const text = element("span", line);
    text.id = `at-${name}`;
    on.type = "checkbox"; on.id = `cut-${name}`;
    slider.type = "range"; slider.min = 0; slider.max = grid[axis].length - 1; slider.step = 1;
    slider.id = `slide-${name}`;
    slider.value = Math.round((grid[axis].length - 1) / 2);
    flip.title = "show the other side";
    cut.at = grid[axis][+slider.value];
    slider.addEventListener("input", () => { cut.at = grid[axis][+slider.value]; cut.on = on.checked = true; drawCuts(); });
    on.addEventListener("change", () => { cut.on = on.checked; drawCuts(); });
    flip.addEventListener("click", () => { cut.flip = !cut.flip; drawCuts(); });
  });
  $("cut-shows").addEventListener("change", drawCuts);
  $("lines").addEventListener("change", drawCuts);

  // ---- looking ---------------------------------------------------------------------------------------------------
  const look = (direction) => {
    const radius = 0.5 * Math.hypot(...ends.map((end) => end[1] - end[0])), half = (camera.fov * Math.PI) / 360;
    const distance = (1.02 * radius) / Math.sin(Math.atan(Math.tan(half) * Math.min(1, camera.aspect)));
    const away = new THREE.Vector3(...direction).normalize().multiplyScalar(distance);
    if (controls) controls.target.set(0, 0, 0);
    camera.position.copy(away);
    camera.lookAt(0, 0, 0);
    if (controls) controls.update();
    draw();
  };
  const VIEWS = { "3-D": [1, -1.5, 0.9], x: [1, 0, 1e-4], y: [0, -1, 1e-4], z: [0, -1e-4, 1] };
  for (const [name, direction] of Object.entries(VIEWS)) {
    element("button", $("views"), name).addEventListener("click", () => look(direction));
  }
  const ray = new THREE.Raycaster(), tip = $("tip");
  const BIG = 60000; // triangles past which the pointer asks the bounds alone
  const under = (x, y) => {
    ray.setFromCamera(new THREE.Vector2((2 * x) / stage.clientWidth - 1, 1 - (2 * y) / stage.clientHeight), camera);
    const wanted = [...bodies.filter((mesh) => mesh.visible && mesh.userData.triangles < BIG)];
    for (const name of ["port", "source", "element", "monitor", "layers", "planes"]) {
      if (groups[name].visible) groups[name].traverse((part) => { if (part.isMesh && part.userData.text) wanted.push(part); });
    }
    const open = (hit) => planes.every((plane) => plane.distanceToPoint(hit.point) >= -1e-3) || !bodies.includes(hit.object);
    const hits = ray.intersectObjects(wanted, false).filter((hit) => hit.object.visible && hit.object.parent.visible && open(hit));
    for (const mesh of bodies.filter((each) => each.visible && each.userData.triangles >= BIG)) {
      const box = new THREE.Box3(new THREE.Vector3(...mesh.userData.lower), new THREE.Vector3(...mesh.userData.upper));
      const at = ray.ray.intersectBox(box, new THREE.Vector3());
      if (at) hits.push({ object: mesh, point: at, distance: at.distanceTo(camera.position) });
    }
    const near = (hit) => hit.distance - (hit.object.userData.flat ? 0.01 : 0); // a sheet before the face it lies on
    return hits.sort((a, b) => near(a) - near(b))[0];
  };
  const point = (x, y) => {
    const hit = under(x, y);
    tip.hidden = !hit;
    if (!hit) return null;
    const data = hit.object.userData, at = hit.point.toArray().map((v, axis) => metres(v * scene.metres_a_unit + scene.origin[axis]));
    tip.textContent = `${data.name}${data.medium ? `, ${data.medium}` : ""}\n${data.text || ""}${data.from ? `\nfrom ${data.from}` : ""}\nat ${at.join(", ")}`;
    tip.style.left = `${Math.min(x + 14, stage.clientWidth - 250)}px`;
    tip.style.top = `${Math.min(y + 14, stage.clientHeight - 90)}px`;
    return tip.textContent;
  };
  const fit = () => {
    camera.aspect = stage.clientWidth / Math.max(1, stage.clientHeight);
    camera.updateProjectionMatrix();
    if (renderer) renderer.setSize(stage.clientWidth, stage.clientHeight);
    draw();
  };
  if (renderer) {
    renderer.localClippingEnabled = true;
    renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    stage.prepend(renderer.domElement);
    controls = new THREE.OrbitControls(camera, renderer.domElement);
    controls.addEventListener("change", draw);
    let moving = false;
    renderer.domElement.addEventListener("pointermove", (event) => {
      if (event.buttons || moving) { tip.hidden = true; return; }
      moving = true;
      requestAnimationFrame(() => { moving = false; point(event.offsetX, event.offsetY); });
    });
    renderer.domElement.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  window.addEventListener("resize", fit);
  fit();
  look(VIEWS["3-D"]);
  drawCuts();
  // For tests and for the curious: what is drawn, without the mouse
  window.nearfield = {
    scene, camera, bodies, objects, groups, cutState, boxes, look, point, drawCuts,
    tools: { element, row, unpack, draw, world },
    picture: () => { renderer.render(world, camera); return renderer.domElement.toDataURL("image/png"); },
  };
  document.body.dataset.ready = "yes";
})();
