// Results on the model: patterns as surfaces, fields and currents on planes, a slider over frequency for each.
"use strict";
(() => {
  const view = window.nearfield, results = view.scene.results;
  if (!results || !results.items.length) return;
  const { element, row, unpack, draw, world } = view.tools;
  const group = new THREE.Group();
  world.add(group);
  const maps = Object.fromEntries(Object.entries(results.colours).map(([name, packed]) => [name, unpack(packed)]));
  const home = document.getElementById("results");
  document.getElementById("results-part").hidden = false;

  const surface = (item) => {
    const theta = unpack(item.theta), phi = unpack(item.phi), levels = item.levels.map(unpack), map = maps[item.colours];
    const count = theta.length * phi.length, places = new Float32Array(3 * count), shades = new Float32Array(3 * count);
    const index = [];
    for (let t = 0; t + 1 < theta.length; t++) {
      for (let p = 0; p + 1 < phi.length; p++) {
        const a = t * phi.length + p, b = a + phi.length;
        index.push(a, b, a + 1, b, b + 1, a + 1);
      }
    }
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(places, 3));
    shape.setAttribute("color", new THREE.BufferAttribute(shades, 3));
    shape.setIndex(index);
    const look = new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, transparent: true, opacity: 0.8 });
    const mesh = new THREE.Mesh(shape, look), colour = new THREE.Color();
    const update = (number) => {
      for (let t = 0; t < theta.length; t++) {
        for (let p = 0; p < phi.length; p++) {
          const at = t * phi.length + p, level = levels[number][at], radius = (item.radius * (level - 1)) / 254;
          places[3 * at] = item.centre[0] + radius * Math.sin(theta[t]) * Math.cos(phi[p]);
          places[3 * at + 1] = item.centre[1] + radius * Math.sin(theta[t]) * Math.sin(phi[p]);
          places[3 * at + 2] = item.centre[2] + radius * Math.cos(theta[t]);
          colour.setRGB(map[3 * level] / 255, map[3 * level + 1] / 255, map[3 * level + 2] / 255, THREE.SRGBColorSpace);
          shades.set([colour.r, colour.g, colour.b], 3 * at);
        }
      }
      shape.attributes.position.needsUpdate = shape.attributes.color.needsUpdate = true;
      shape.computeBoundingSphere();
    };
    return { mesh, update };
  };

  const plane = (item) => {
    const levels = item.levels.map(unpack), map = maps[item.colours], [width, height] = item.shape;
    const [u, v] = [0, 1, 2].filter((axis) => axis !== item.axis), corners = [];
    for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
      const corner = [...item.lower];
      corner[u] = (a ? item.upper : item.lower)[u];
      corner[v] = (b ? item.upper : item.lower)[v];
      corners.push(...corner);
    }
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    shape.setAttribute("uv", new THREE.BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2));
    shape.setIndex([0, 1, 2, 0, 2, 3]);
    const canvas = document.createElement("canvas");
    canvas.width = width; canvas.height = height;
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.magFilter = THREE.NearestFilter;
    const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
    const look = new THREE.MeshBasicMaterial({
      map: texture, alphaTest: 0.5, side: THREE.DoubleSide,
      polygonOffset: true, polygonOffsetFactor: item.kind === "current" ? -4 : -2, polygonOffsetUnits: -32,
    });
    const mesh = new THREE.Mesh(shape, look);
    const update = (number) => {
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          const level = levels[number][row * width + column], at = 4 * ((height - 1 - row) * width + column);
          for (let n = 0; n < 3; n++) image.data[at + n] = map[3 * level + n];
          image.data[at + 3] = level ? 255 : 0;
        }
      }
      pen.putImageData(image, 0, 0);
      texture.needsUpdate = true;
    };
    return { mesh, update };
  };

  view.results = results.items.map((item, position) => {
    const { mesh, update } = item.kind === "pattern" ? surface(item) : plane(item);
    mesh.userData = { name: item.name, text: item.scale };
    mesh.visible = position === 0;
    group.add(mesh);
    const box = row(home, item.name, "", item.scale, mesh.visible, (on) => { mesh.visible = on; });
    const line = element("div", home, "", "cut"), slider = element("input", line), text = element("span", line);
    slider.type = "range"; slider.min = 0; slider.max = item.labels.length - 1; slider.step = 1;
    slider.value = Math.floor((item.labels.length - 1) / 2);
    const show = () => { update(+slider.value); text.textContent = item.labels[+slider.value]; draw(); };
    slider.addEventListener("input", () => { mesh.visible = box.checked = true; show(); });
    show();
    element("p", home, item.scale, "note");
    return { item, mesh, box, slider, text };
  });
  draw();
})();
