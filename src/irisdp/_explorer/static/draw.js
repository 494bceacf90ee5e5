// Draws the graph of the room Design with the pointer. It only edits the text fields, which say the same without it.
"use strict";

(() => {
  const edgeText = document.getElementById("field-graph");
  const colourText = document.getElementById("field-colors");
  if (!edgeText || !colourText) return;

  const WIDTH = 480, HEIGHT = 320, MOST = 60, RADIUS = 20;
  const SVG = "http://www.w3.org/2000/svg";
  const HINTS = {
    join: "Press an empty place for a node; press two nodes to join or part them.",
    colour: "Press a node to change its colour.",
    remove: "Press a node to remove it.",
  };
  const places = new Map();
  let nodes = [], edges = [], colours = new Map(), names = ["no", "yes"], chosen = null, mode = "join";

  const words = (line) => line.replace(/--|->|[,;]/g, " ").split(/\s+/).filter(Boolean);
  const simple = () => !/["{[]/.test(edgeText.value) && !/["{[]|\.\./.test(colourText.value) && nodes.length <= MOST;

  function readText() {
    const found = new Set(), joined = new Map();
    const join = (one, other) => { if (one !== other) joined.set([one, other].sort().join(" "), [one, other]); };
    for (const line of edgeText.value.split("\n")) {
      if (/^\s*#/.test(line)) continue;
      const [first, second] = line.replace(/\s#(\s.*)?$/, "").split(":");
      const head = second === undefined ? [] : words(first), tail = words(second === undefined ? first : second);
      for (const word of [...head, ...tail]) found.add(word);
      if (head.length) for (const other of tail) join(head[0], other);
      else for (let k = 0; k + 1 < tail.length; k++) join(tail[k], tail[k + 1]);
    }
    nodes = [...found];
    edges = [...joined.values()];
    colours = new Map();
    let rest = null;
    for (const line of colourText.value.split("\n")) {
      const [head, tail] = line.split(":").map((part) => part.trim());
      if (!tail) continue;
      if (head === "*") rest = tail; else colours.set(head, tail);
    }
    if (rest !== null) for (const node of nodes) if (!colours.has(node)) colours.set(node, rest);
    names = [...new Set([...colours.values(), "no", "yes"])].slice(0, 2);
  }

  function writeText() {
    const joined = new Set(edges.flat());
    edgeText.value = [...nodes.filter((node) => !joined.has(node)), ...edges.map((pair) => pair.join(" "))].join("\n");
    for (const node of nodes) if (!colours.has(node)) colours.set(node, names[0]);
    colourText.value = nodes.map((node) => `${node}: ${colours.get(node)}`).join("\n");
    for (const text of [edgeText, colourText]) text.dispatchEvent(new Event("input", { bubbles: true }));
    draw();
  }

  function make(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function place(node, number) {
    if (places.has(node)) return;
    const turn = (2 * Math.PI * number) / Math.max(nodes.length, 3) - Math.PI / 2;
    places.set(node, [WIDTH / 2 + 180 * Math.cos(turn), HEIGHT / 2 - 6 + 118 * Math.sin(turn)]);
  }

  function draw() {
    board.replaceChildren();
    told.textContent = simple() ? HINTS[mode] : "This text says more than can be drawn here; it counts all the same.";
    if (!simple()) return;
    nodes.forEach(place);
    for (const [one, other] of edges) {
      const [[x1, y1], [x2, y2]] = [places.get(one), places.get(other)];
      board.append(make("line", { x1, y1, x2, y2, class: "edge" }));
    }
    for (const node of nodes) {
      const [x, y] = places.get(node), colour = colours.get(node) || "", second = colour === names[1];
      const shape = second
        ? make("rect", { x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS })
        : make("circle", { cx: x, cy: y, r: RADIUS });
      shape.setAttribute("class", `node${node === chosen ? " chosen" : ""}${second ? " second" : ""}`);
      board.append(shape, make("text", { x, y: y + 6, class: second ? "name second" : "name" }, node.slice(0, 4)));
      if (colour) board.append(make("text", { x, y: y + RADIUS + 18, class: "colour" }, colour.slice(0, 10)));
    }
  }

  function fresh() {
    for (let k = 0; ; k++) {
      const name = k < 26 ? String.fromCharCode(97 + k) : `n${k}`;
      if (!nodes.includes(name)) return name;
    }
  }

  function press(event) {
    if (!simple()) return;
    const box = board.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH, y = ((event.clientY - box.top) / box.height) * HEIGHT;
    const near = (node) => Math.hypot(places.get(node)[0] - x, places.get(node)[1] - y) < 1.4 * RADIUS;
    const hit = nodes.find(near);
    if (hit === undefined) {
      if (mode !== "join" || nodes.length >= MOST) return;
      const name = fresh();
      nodes.push(name);
      places.set(name, [x, y]);
      if (chosen !== null) edges.push([chosen, name]);
      chosen = null;
    } else if (mode === "colour") {
      colours.set(hit, colours.get(hit) === names[1] ? names[0] : names[1]);
    } else if (mode === "remove") {
      nodes = nodes.filter((node) => node !== hit);
      edges = edges.filter((pair) => !pair.includes(hit));
      colours.delete(hit);
    } else if (chosen === null || chosen === hit) {
      chosen = chosen === hit ? null : hit;
      draw();
      return;
    } else {
      const same = (pair) => pair.includes(chosen) && pair.includes(hit);
      edges = edges.some(same) ? edges.filter((pair) => !same(pair)) : [...edges, [chosen, hit]];
      chosen = null;
    }
    writeText();
  }

  const whole = document.createElement("details");
  whole.className = "draw";
  const summary = document.createElement("summary");
  summary.textContent = "Draw it";
  const modes = document.createElement("div");
  modes.className = "modes";
  modes.setAttribute("role", "group");
  modes.setAttribute("aria-label", "What pressing does");
  for (const [name, label] of [["join", "Nodes and edges"], ["colour", "Colours"], ["remove", "Remove"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = label;
    button.setAttribute("aria-pressed", String(name === mode));
    button.addEventListener("click", () => {
      mode = name;
      chosen = null;
      for (const one of modes.children) one.setAttribute("aria-pressed", String(one === button));
      draw();
    });
    modes.append(button);
  }
  const board = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "board", role: "img" });
  board.setAttribute("aria-label", "The graph of the text above, to be drawn with a pointer; the text does the same.");
  const told = document.createElement("p");
  told.className = "help";
  board.addEventListener("click", press);
  whole.append(summary, modes, board, told);
  edgeText.closest(".field").append(whole);
  const again = () => { readText(); draw(); };
  whole.addEventListener("toggle", () => whole.open && again());
  for (const text of [edgeText, colourText]) {
    text.addEventListener("input", (event) => event.isTrusted && whole.open && again());
  }
})();
