// What the page's figures do beyond being there: values under the pointer, policies and choices shown,
// zoom, and files. Figures are drawn before (figure_svg.cc); their numbers are CSV texts in the JSON
// island #data. Text goes in as text nodes, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");
  const svgSpace = document.querySelector("svg.figure").namespaceURI;

  // ---- numbers for people --------------------------------------------------------------------------
  function duration(s) {
    if (s < 59.95) return s < 10 && s % 1 ? s.toFixed(1) + " s" : Math.round(s) + " s";
    if (s < 3599.5)
      return Math.floor(Math.round(s) / 60) + "m " + String(Math.round(s) % 60).padStart(2, "0") + "s";
    const minutes = Math.round(s / 60);
    if (minutes < 1440)
      return Math.floor(minutes / 60) + "h " + String(minutes % 60).padStart(2, "0") + "m";
    const hours = Math.round(s / 3600);
    return Math.floor(hours / 24) + "d " + String(hours % 24).padStart(2, "0") + "h";
  }
  const shown = {
    s: duration,
    share: (v) => (v * 100).toFixed(1) + " %",
    1: (v) => String(+v.toPrecision(4)),
    row: String,
  };

  // ---- the numbers of a figure ---------------------------------------------------------------------
  function records(text) {
    const rows = [];
    let row = [""];
    let quoted = false;
    for (let i = 0; i < text.length; ++i) {
      const c = text[i];
      if (quoted && c === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
      else if (c === '"') quoted = !quoted;
      else if (c === "," && !quoted) row.push("");
      else if (c === "\n" && !quoted) {
        rows.push(row);
        row = [""];
      } else row[row.length - 1] += c;
    }
    return rows;
  }
  const read = new Map();
  // {boxes, panels: name -> [record, ...]}, read when it is first asked for.
  function numbersOf(key) {
    if (!read.has(key)) {
      const [head, ...rows] = records(data.figures[key].csv);
      const panels = new Map();
      for (const row of rows) {
        if (!panels.has(row[0])) panels.set(row[0], []);
        panels.get(row[0]).push(row);
      }
      read.set(key, { boxes: head[1] === "row", panels });
    }
    return read.get(key);
  }

  // ---- axes ----------------------------------------------------------------------------------------
  const stretch = {
    linear: [(v) => v, (v) => v],
    log: [Math.log, Math.exp],
    asinh: [Math.asinh, Math.sinh],
  };
  function axisOf(text, from, to) {
    const [scale, low, high, unit] = text.split(" ");
    const [there, back] = stretch[scale];
    const begin = there(+low);
    const span = there(+high) - begin || 1;
    return {
      unit,
      low: +low,
      high: +high,
      place: (v) => from + ((there(v) - begin) / span) * (to - from),
      value: (p) => back(begin + ((p - from) / (to - from)) * span),
    };
  }
  function panelOf(group) {
    const [left, top, right, bottom] = group.dataset.area.split(" ").map(Number);
    const x = axisOf(group.dataset.zoomed || group.dataset.x, left, right);
    const y = axisOf(group.dataset.y, bottom, top);
    return { group, left, top, right, bottom, x, y, name: group.dataset.name };
  }
  // The panel of a drawing that holds a place, in the drawing's own pixels.
  function panelAt(drawing, px, py) {
    for (const group of drawing.querySelectorAll(".panel")) {
      if (group.classList.contains("off")) continue;
      const p = panelOf(group);
      if (px >= p.left && px <= p.right && py >= p.top && py <= p.bottom) return p;
    }
    return null;
  }
  function placeIn(drawing, event) {
    const box = drawing.getBoundingClientRect();
    const scale = drawing.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  // ---- the tip -------------------------------------------------------------------------------------
  function add(parent, name, text) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  }
  function showTip(title, rows, pageX, pageY) {
    tip.replaceChildren();
    add(tip, "b", title);
    for (const row of rows) {
      const line = add(tip, "div");
      if (row.colour) add(line, "i").style.background = row.colour;
      add(line, "span", row.name);
      add(line, "span", row.text);
    }
    tip.hidden = false;
    const flip = pageX + 18 + tip.offsetWidth > document.documentElement.clientWidth - 8;
    tip.style.left = Math.max(8, flip ? pageX - 18 - tip.offsetWidth : pageX + 18) + "px";
    tip.style.top = Math.max(4, pageY - tip.offsetHeight / 2) + "px";
  }
  let crossed = null;
  function cross(panel, px) {
    if (crossed) crossed.remove();
    crossed = null;
    if (!panel) return;
    crossed = document.createElementNS(svgSpace, "path");
    crossed.setAttribute("class", "axis");
    crossed.setAttribute("d", `M${px} ${panel.top}V${panel.bottom}`);
    panel.group.appendChild(crossed);
  }
  function leave() {
    tip.hidden = true;
    cross(null);
  }

  const colourOf = (drawing, name) => {
    for (const series of drawing.querySelectorAll(".series"))
      if (series.dataset.name === name) return getComputedStyle(series).color;
    return "";
  };
  // The last point up to x of steps, else the nearest.
  function valueAt(points, x, steps) {
    let best = null;
    for (const point of points) {
      if (point[3] === "") continue;
      const distance = steps ? (+point[2] <= x ? x - point[2] : Infinity) : Math.abs(point[2] - x);
      if (distance < Infinity && (!best || distance <= best.distance)) best = { distance, point };
    }
    return best && best.point;
  }
  function told(drawing, key, panel, px, py) {
    const numbers = numbersOf(key);
    const rows = numbers.panels.get(panel.name) || [];
    const x = panel.x.value(px);
    const names = (panel.group.dataset.rows || "").split("\n");
    const row = names[Math.floor(((py - panel.top) / (panel.bottom - panel.top)) * names.length)];
    if (numbers.boxes) {
      const here = rows.filter((r) => r[1] === row && +r[2] <= x && x < +r[3]);
      return {
        title: row,
        rows: here.map((r) => ({
          name: r[5],
          text: `${shown[panel.x.unit](+r[2])} to ${shown[panel.x.unit](+r[3])}`,
        })),
      };
    }
    const off = new Set([...drawing.querySelectorAll(".series.off")].map((s) => s.dataset.name));
    const series = new Map();
    for (const r of rows) {
      if (off.has(r[1])) continue;
      if (!series.has(r[1])) series.set(r[1], []);
      series.get(r[1]).push(r);
    }
    const lines = [];
    if (panel.y.unit === "row") {
      for (const [name, points] of series) {
        for (const point of points.filter((p) => p[3] === row).slice(-1)) {
          const interval = point[4] ? ` [${shown[panel.x.unit](+point[4])}, ${shown[panel.x.unit](+point[5])}]` : "";
          lines.push({ name, text: shown[panel.x.unit](+point[2]) + interval, colour: colourOf(drawing, name) });
        }
      }
      return { title: row, rows: lines };
    }
    const steps = panel.group.dataset.steps === "1";
    for (const [name, points] of series) {
      const point = valueAt(points, x, steps);
      if (!point) continue;
      const interval = point[4] ? ` [${shown[panel.y.unit](+point[4])}, ${shown[panel.y.unit](+point[5])}]` : "";
      lines.push({ name, value: +point[3], text: shown[panel.y.unit](+point[3]) + interval, colour: colourOf(drawing, name) });
    }
    lines.sort((a, b) => b.value - a.value);
    return { title: shown[panel.x.unit](x), rows: lines };
  }
  function point(plot, drawing, px, py, pageX, pageY) {
    const panel = panelAt(drawing, px, py);
    if (!panel) return leave();
    const { title, rows } = told(drawing, plot.dataset.figure, panel, px, py);
    cross(panel.y.unit === "row" ? null : panel, px);
    if (rows.length) showTip(title, rows, pageX, pageY);
    else tip.hidden = true;
  }

  // ---- zoom ----------------------------------------------------------------------------------------
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000];
  function tickText(v, step) {
    for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "min"]])
      if (step % unit === 0) return v / unit + " " + name;
    return v + " s";
  }
  // Shows x from low to high in every panel of a figure's drawings; times in seconds.
  function zoom(plot, low, high) {
    for (const group of plot.querySelectorAll(".panel")) {
      const whole = panelOf({ dataset: { ...group.dataset, zoomed: "" } });
      const from = Math.max(low, whole.x.low);
      const to = Math.min(high, whole.x.high);
      if (!(to - from > 1)) return;
      const inner = group.querySelector(".inner");
      if (!inner) return;
      const [p0, p1] = [whole.x.place(from), whole.x.place(to)];
      inner.setAttribute("viewBox", `${p0} ${whole.top} ${p1 - p0} ${whole.bottom - whole.top}`);
      group.dataset.zoomed = `linear ${from} ${to} ${whole.x.unit}`;
      const x = panelOf(group).x;
      const ticks = group.querySelector(".ticks");
      ticks.replaceChildren();
      const step = steps.find((s) => s >= (to - from) / ((whole.right - whole.left) / 75)) || 8640000;
      for (let v = Math.ceil(from / step) * step; v <= to; v += step) {
        const mark = ticks.appendChild(document.createElementNS(svgSpace, "path"));
        mark.setAttribute("class", "axis");
        mark.setAttribute("d", `M${x.place(v)} ${whole.bottom}v4`);
        const text = ticks.appendChild(document.createElementNS(svgSpace, "text"));
        text.setAttribute("x", x.place(v));
        text.setAttribute("y", whole.bottom + 18);
        text.setAttribute("text-anchor", "middle");
        text.textContent = tickText(v, step);
      }
    }
  }
  function zoomBy(plot, factor) {
    const group = plot.querySelector(".panel");
    const whole = panelOf({ dataset: { ...group.dataset, zoomed: "" } }).x;
    const now = panelOf(group).x;
    const middle = (now.low + now.high) / 2;
    const half = factor ? ((now.high - now.low) / 2) * factor : Infinity;
    zoom(plot, Math.max(middle - half, whole.low), Math.min(middle + half, whole.high));
  }

  // ---- on the page ---------------------------------------------------------------------------------
  const drawingOf = (plot) => [...plot.querySelectorAll("svg.figure")].find((s) => s.getClientRects().length);
  document.querySelectorAll(".plot").forEach((plot) => {
    let begun = null;
    let at = null;
    plot.tabIndex = 0;
    plot.addEventListener("pointermove", (event) => {
      const drawing = drawingOf(plot);
      const [px, py] = placeIn(drawing, event);
      at = [px, py];
      point(plot, drawing, px, py, event.pageX, event.pageY);
    });
    plot.addEventListener("pointerleave", leave);
    plot.addEventListener("blur", leave);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const drawing = drawingOf(plot);
      const panel = panelOf(drawing.querySelector(".panel"));
      at = at || [(panel.left + panel.right) / 2, (panel.top + panel.bottom) / 2];
      at[0] = Math.min(Math.max(at[0] + step * (event.shiftKey ? 40 : 8), panel.left), panel.right);
      const box = drawing.getBoundingClientRect();
      const scale = box.width / drawing.viewBox.baseVal.width;
      point(plot, drawing, at[0], at[1], box.left + scrollX + at[0] * scale, box.top + scrollY + at[1] * scale);
    });
    if (!plot.querySelector(".inner")) return;
    plot.addEventListener("pointerdown", (event) => {
      const drawing = drawingOf(plot);
      const [px, py] = placeIn(drawing, event);
      const panel = panelAt(drawing, px, py);
      begun = panel && panel.x.value(px);
    });
    plot.addEventListener("pointerup", (event) => {
      const drawing = drawingOf(plot);
      const [px] = placeIn(drawing, event);
      const x = panelOf(drawing.querySelector(".panel")).x;
      const end = x.value(px);
      if (begun !== null && Math.abs(end - begun) > (x.high - x.low) / 50)
        zoom(plot, Math.min(begun, end), Math.max(begun, end));
      begun = null;
    });
    plot.addEventListener("dblclick", () => zoomBy(plot, 0));
  });
  document.querySelectorAll("[data-toggle]").forEach((button) => {
    button.onclick = () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const part of button.closest("section").querySelectorAll(".figure [data-name]"))
        if (part.dataset.name === button.dataset.toggle) part.classList.toggle("off", !on);
    };
  });
  document.querySelectorAll("[data-choose]").forEach((select) => {
    select.onchange = () => {
      // Choices of one kind in one section go together.
      for (const other of select.closest("section").querySelectorAll("select")) {
        if (other.dataset.choose !== select.dataset.choose) continue;
        const at = [...other.options].findIndex((o) => o.text === select.selectedOptions[0].text);
        if (at < 0) continue;
        other.selectedIndex = at;
        other.closest("figure").querySelectorAll(".choice").forEach((choice, i) => {
          choice.hidden = i !== at;
        });
      }
    };
  });
  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  const chosen = (button) => button.closest("figure").querySelector(".choice:not([hidden]) .plot");
  document.querySelectorAll("[data-save]").forEach((button) => {
    button.onclick = () => {
      const plot = chosen(button);
      const { name, csv } = data.figures[plot.dataset.figure];
      if (button.dataset.save === "csv") return save(name + ".csv", "text/csv", csv);
      const copy = drawingOf(plot).cloneNode(true);
      copy.querySelectorAll(".off").forEach((part) => part.remove());
      const style = document.createElementNS(svgSpace, "style");
      style.textContent = data.paper_style;
      copy.prepend(style);
      save(name + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(copy));
    };
  });
  document.querySelectorAll("[data-zoom]").forEach((button) => {
    button.onclick = () => zoomBy(chosen(button), +button.dataset.zoom);
  });
})();
