// The charts of the report, drawn as SVG from the JSON island #data. Plain DOM; all text goes in as text
// nodes, never as markup. Charts are redrawn when their width changes.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svgSpace = document.getElementById("svg").namespaceURI;
  const tip = document.getElementById("tip");
  const dashes = ["", "7 4", "2 4", "10 3 2 3"];
  const hidden = data.evaluations.map(() => new Set());
  const chosen = data.evaluations.map(() => 0);

  // ---- small helpers -------------------------------------------------------------------------------
  function svg(parent, name, attributes = {}, text) {
    const node = document.createElementNS(svgSpace, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  }
  function html(parent, name, className, text) {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  }
  const colour = (index) => `var(--c${index})`;
  const known = (value) => value !== null && value !== undefined;
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  function duration(s) {
    if (s < 59.95) return s < 10 && s % 1 ? s.toFixed(1) + " s" : Math.round(s) + " s";
    if (s < 3599.5)
      return (
        Math.floor(Math.round(s) / 60) + "m " + String(Math.round(s) % 60).padStart(2, "0") + "s"
      );
    const minutes = Math.round(s / 60);
    if (minutes < 1440)
      return Math.floor(minutes / 60) + "h " + String(minutes % 60).padStart(2, "0") + "m";
    const hours = Math.round(s / 3600);
    return Math.floor(hours / 24) + "d " + String(hours % 24).padStart(2, "0") + "h";
  }
  // For axes, in the largest unit that divides `step`: "10 s", "5 min", "4 h", "2 d".
  function roundDuration(s, step = s) {
    for (const [unit, name] of [
      [86400, "d"],
      [3600, "h"],
      [60, "min"],
    ]) {
      if (step >= unit && step % unit === 0) return s / unit + " " + name;
    }
    return s + " s";
  }
  const number = (digits) => (value) => value.toFixed(digits);
  const compact = (value) =>
    Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3)
      ? value.toExponential(1)
      : String(+value.toPrecision(3));
  const scientific = (value) => (value ? value.toExponential(1).replace(".0", "") : "0");
  const percent = (value) => (value * 100).toFixed(value < 0.995 && value > 0.9 ? 1 : 0) + " %";

  // ---- axes ----------------------------------------------------------------------------------------
  function linear(low, high, from, to) {
    const span = high - low || 1;
    const scale = (v) => from + ((v - low) / span) * (to - from);
    scale.invert = (p) => low + ((p - from) / (to - from)) * span;
    return scale;
  }
  function logarithmic(low, high, from, to) {
    const inner = linear(Math.log(low), Math.log(high), from, to);
    const scale = (v) => inner(Math.log(v));
    scale.invert = (p) => Math.exp(inner.invert(p));
    return scale;
  }
  // For counts of any size: 0 to 1 is as long as from 1 to e.
  function fromZero(low, high, from, to) {
    const inner = linear(Math.asinh(low), Math.asinh(high), from, to);
    const scale = (v) => inner(Math.asinh(v));
    scale.invert = (p) => Math.sinh(inner.invert(p));
    return scale;
  }
  function niceStep(span, count) {
    const rough = span / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].find((f) => f * power >= rough * 0.999) * power;
  }
  function ticks(low, high, step) {
    const result = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
      result.push(+(k * step).toPrecision(12));
    return result;
  }
  function timeStep(span, count) {
    const steps = [60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 432000, 864000];
    return steps.find((s) => s >= span / count) || niceStep(span / 864000, count) * 864000;
  }
  const logTimes = [0.1, 1, 10, 60, 600, 3600, 14400, 86400, 345600, 1382400, 5529600];

  // A drawing area with grid, axes and labels; returns what curves and the cross-hair need.
  function frame(plot, { height, left = 52, right = 14, bottom = 42, x, y }) {
    const width = Math.max(plot.clientWidth, 240);
    const root = svg(plot, "svg", {
      viewBox: `0 0 ${width} ${height}`,
      height,
      "aria-hidden": "true",
    });
    const area = { left, right: width - right, top: 10, bottom: height - bottom };
    const sx = (x.log ? logarithmic : linear)(x.low, x.high, area.left, area.right);
    const sy = (y.scale || (y.log ? logarithmic : linear))(y.low, y.high, area.bottom, area.top);
    for (const v of y.ticks) {
      svg(root, "line", { class: "grid", x1: area.left, x2: area.right, y1: sy(v), y2: sy(v) });
      svg(root, "text", { x: area.left - 9, y: sy(v) + 4, "text-anchor": "end" }, y.format(v));
    }
    svg(root, "line", {
      class: "axis",
      x1: area.left,
      x2: area.right,
      y1: area.bottom,
      y2: area.bottom,
    });
    for (const v of x.ticks) {
      svg(root, "line", {
        class: "axis",
        x1: sx(v),
        x2: sx(v),
        y1: area.bottom,
        y2: area.bottom + 4,
      });
      svg(root, "text", { x: sx(v), y: area.bottom + 18, "text-anchor": "middle" }, x.format(v));
    }
    if (x.label)
      svg(root, "text", { x: area.right, y: area.bottom + 36, "text-anchor": "end" }, x.label);
    return { root, area, sx, sy, width, height };
  }

  function curve({ root, sx, sy }, points, series) {
    let path = "";
    let pen = false;
    for (const [x, y] of points) {
      if (!known(y) || !known(x)) {
        pen = false;
        continue;
      }
      path += (pen ? "L" : "M") + sx(x).toFixed(1) + " " + sy(y).toFixed(1);
      pen = true;
    }
    return svg(root, "path", {
      class: "curve",
      d: path,
      style: `stroke:${colour(series.colour)}`,
      "stroke-width": series.reference ? 3 : 1.75,
      "stroke-dasharray": dashes[series.dash % dashes.length],
    });
  }

  // ---- the tip -------------------------------------------------------------------------------------
  function showTip(title, rows, pageX, pageY) {
    tip.replaceChildren();
    html(tip, "b", "", title);
    for (const row of rows) {
      const line = html(tip, "div");
      html(line, "i").style.background = colour(row.colour);
      html(line, "span", "", row.name);
      html(line, "span", "", row.text);
    }
    tip.hidden = false;
    const wide = document.documentElement.clientWidth;
    const flip = pageX + 18 + tip.offsetWidth > wide - 8;
    tip.style.left = Math.max(8, flip ? pageX - 18 - tip.offsetWidth : pageX + 18) + "px";
    tip.style.top = pageY - tip.offsetHeight / 2 + "px";
  }
  const hideTip = () => {
    tip.hidden = true;
  };

  // Follows the pointer, or the arrow keys, along x. `at(position)` draws and returns nothing.
  function follow(plot, area, at, leave) {
    let position = null;
    const end = () => {
      position = null;
      leave();
    };
    plot.tabIndex = 0;
    plot.onpointermove = (event) => {
      position = event.clientX - plot.getBoundingClientRect().left;
      if (position < area.left || position > area.right) return end();
      at(position, event.pageX, event.pageY);
    };
    plot.onpointerleave = end;
    plot.onblur = end;
    plot.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const box = plot.getBoundingClientRect();
      position = clamp(
        (position ?? (area.left + area.right) / 2) + step * (event.shiftKey ? 40 : 8),
        area.left,
        area.right,
      );
      at(position, box.left + window.scrollX + position, box.top + window.scrollY + box.height / 2);
    };
  }

  // A line chart: series {name, colour, dash, reference, points}; x and y as in frame() plus `tip`.
  function lines(plot, series, options) {
    plot.replaceChildren();
    if (options.legend && series.length > 1) {
      const names = html(plot, "div", "names");
      for (const s of series) {
        const name = html(names, "span");
        key(name, s);
        html(name, "span", "", s.name);
      }
    }
    const f = frame(plot, options);
    if (known(options.one)) {
      svg(f.root, "line", {
        class: "one",
        x1: f.area.left,
        x2: f.area.right,
        y1: f.sy(options.one),
        y2: f.sy(options.one),
      });
      svg(
        f.root,
        "text",
        { x: f.area.right, y: f.sy(options.one) - 6, "text-anchor": "end" },
        options.oneLabel,
      );
    }
    for (const s of [...series].sort((a, b) => (a.reference ? 1 : 0) - (b.reference ? 1 : 0)))
      curve(f, s.points, s);
    const cross = svg(f.root, "line", {
      class: "cross",
      y1: f.area.top,
      y2: f.area.bottom,
      visibility: "hidden",
    });
    follow(
      plot,
      f.area,
      (position, pageX, pageY) => {
        const x = f.sx.invert(position);
        const rows = series
          .map((s) => ({ ...s, value: (options.valueAt || nearest)(s, x) }))
          .filter((s) => known(s.value))
          .sort((a, b) => b.value - a.value)
          .map((s) => ({ ...s, text: options.y.tip(s.value) }));
        cross.setAttribute("x1", position);
        cross.setAttribute("x2", position);
        cross.setAttribute("visibility", "visible");
        if (rows.length) showTip(options.x.tip(x), rows, pageX, pageY);
        else hideTip();
      },
      () => {
        cross.setAttribute("visibility", "hidden");
        hideTip();
      },
    );
    return f;
  }
  function nearest(series, x) {
    let best = null;
    let distance = Infinity;
    for (const [px, py] of series.points) {
      if (known(py) && Math.abs(px - x) < distance) {
        best = py;
        distance = Math.abs(px - x);
      }
    }
    return best;
  }

  // ---- the charts of an evaluation -----------------------------------------------------------------
  const shown = (index) => data.evaluations[index].policies.filter((p, i) => !hidden[index].has(i));

  function ratios(plot, index) {
    plot.replaceChildren();
    const policies = shown(index).filter((p) => !p.reference && known(p.mean));
    const row = 38;
    const height = 24 + row * Math.max(policies.length, 1) + 44;
    const all = policies
      .flatMap((p) => [...p.ratios, p.low, p.high, p.mean])
      .filter((v) => known(v) && v > 0);
    const low = Math.min(0.9, ...all) * 0.95;
    const high = Math.max(1.1, ...all) * 1.05;
    const longest = Math.max(0, ...policies.map((p) => p.name.length));
    const left = clamp(longest * 7.6 + 16, 60, 170);
    const candidates =
      high / low > 30
        ? [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]
        : high / low > 4
          ? [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
          : high / low > 1.6
            ? [0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2]
            : ticks(low, high, niceStep(high - low, 5));
    const f = frame(plot, {
      height,
      left,
      right: 16,
      bottom: 44,
      x: {
        log: true,
        low,
        high,
        ticks: candidates.filter((v) => v >= low && v <= high),
        format: compact,
        label: "ratio of average JCT, log scale",
      },
      y: { low: 0, high: 1, ticks: [], format: String },
    });
    const one = f.sx(1);
    svg(f.root, "line", { class: "one", x1: one, x2: one, y1: f.area.top, y2: f.area.bottom });
    policies.forEach((p, i) => {
      const y = f.area.top + 10 + row * (i + 0.5);
      svg(
        f.root,
        "text",
        { class: "strong", x: 0, y: y + 5 },
        p.name.length > 21 ? p.name.slice(0, 20) + "…" : p.name,
      );
      for (const ratio of p.ratios) {
        if (!known(ratio) || ratio <= 0) continue;
        svg(f.root, "circle", {
          cx: f.sx(ratio),
          cy: y,
          r: 3,
          style: `fill:${colour(p.colour)}`,
          opacity: 0.33,
        });
      }
      if (known(p.low)) {
        svg(f.root, "line", {
          x1: f.sx(Math.max(p.low, low)),
          x2: f.sx(p.high),
          y1: y,
          y2: y,
          style: `stroke:${colour(p.colour)}`,
          "stroke-width": 2.5,
        });
        for (const end of [Math.max(p.low, low), p.high]) {
          svg(f.root, "line", {
            x1: f.sx(end),
            x2: f.sx(end),
            y1: y - 6,
            y2: y + 6,
            style: `stroke:${colour(p.colour)}`,
            "stroke-width": 2.5,
          });
        }
      }
      svg(f.root, "circle", {
        cx: f.sx(p.mean),
        cy: y,
        r: 5.5,
        style: `fill:${colour(p.colour)};stroke:var(--paper)`,
        "stroke-width": 1.5,
      });
      const strip = svg(f.root, "rect", {
        x: 0,
        y: y - row / 2,
        width: f.width,
        height: row,
        fill: "transparent",
      });
      strip.addEventListener("pointermove", (event) =>
        showTip(
          p.name,
          [
            { name: "mean ratio", text: p.mean.toFixed(3), colour: p.colour },
            ...(known(p.low)
              ? [
                  {
                    name: "95 % interval",
                    text: `${p.low.toFixed(3)} to ${p.high.toFixed(3)}`,
                    colour: p.colour,
                  },
                ]
              : []),
            { name: "workloads", text: String(p.ratios.length), colour: p.colour },
          ],
          event.pageX,
          event.pageY,
        ),
      );
      strip.addEventListener("pointerleave", hideTip);
    });
  }

  function cdf(plot, index) {
    const series = shown(index)
      .filter((p) => p.jct.length)
      .map((p) => ({
        ...p,
        points: p.jct.map((t, i) => [Math.max(t, 0.1), (p.finished * i) / (p.jct.length - 1)]),
      }));
    const times = series.flatMap((s) => [s.points[0][0], s.points.at(-1)[0]]);
    const low = times.length ? Math.min(...times) : 1;
    const high = Math.max(times.length ? Math.max(...times) : 10, low * 2);
    lines(plot, series, {
      height: 330,
      left: 52,
      x: {
        log: true,
        low,
        high,
        ticks: logTimes.filter((t) => t >= low && t <= high),
        format: roundDuration,
        label: "job completion time, log scale",
        tip: (x) => "done within " + duration(x),
      },
      y: {
        low: 0,
        high: 1,
        ticks: [0, 0.25, 0.5, 0.75, 1],
        format: (v) => v * 100 + " %",
        tip: percent,
      },
      valueAt(s, x) {
        const after = s.points.findIndex(([t]) => t > x);
        if (after === 0) return 0;
        if (after < 0) return s.finished;
        const [[t0, y0], [t1, y1]] = [s.points[after - 1], s.points[after]];
        return y0 + (t1 > t0 ? ((y1 - y0) * (x - t0)) / (t1 - t0) : 0);
      },
    });
  }

  function timeAxis(length, count) {
    const span = Math.max(length, 1);
    const step = timeStep(span, count);
    return {
      low: 0,
      high: span,
      ticks: ticks(0, span, step),
      format: (v) => (v ? roundDuration(v, step) : "0"),
    };
  }
  const overTime = (timeline, values) =>
    values.map((v, i) => [((i + 0.5) * (timeline.end - timeline.begin)) / values.length, v]);

  function queue(plot, index) {
    const evaluation = data.evaluations[index];
    const timeline = evaluation.timelines[chosen[index]];
    const series = evaluation.policies
      .map((p, i) => ({ ...p, points: overTime(timeline, timeline.waiting[i]) }))
      .filter((p, i) => !hidden[index].has(i));
    const waiting = series.flatMap((s) => s.points.filter(([, y]) => y > 0));
    if (!waiting.length) {
      plot.replaceChildren();
      html(plot, "p", "note", "No job waited.");
      return;
    }
    const top = Math.max(1, ...waiting.map(([, y]) => y));
    const end = 1.02 * Math.max(...waiting.map(([x]) => x));
    for (const s of series) s.points = s.points.filter(([x]) => x <= end);
    lines(plot, series, {
      height: 300,
      left: 52,
      x: {
        ...timeAxis(end, plot.clientWidth / 90),
        label: "time since the first submit",
        tip: (x) => "after " + duration(x),
      },
      y: {
        scale: fromZero,
        low: 0,
        high: top * 1.1,
        ticks: [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 1e4, 3e4, 1e5].filter((v) => v <= top * 1.1),
        format: String,
        tip: (v) => compact(v) + " waiting",
      },
    });
  }

  function nodes(plot, index) {
    const evaluation = data.evaluations[index];
    const timeline = evaluation.timelines[chosen[index]];
    const series = evaluation.policies
      .map((p, i) => ({
        ...p,
        points: overTime(timeline, timeline.nodes[i]).filter(([, y]) => known(y)),
      }))
      .filter((p, i) => p.points.length && !hidden[index].has(i));
    const top = Math.max(1, ...series.flatMap((s) => s.points.map(([, y]) => y)));
    lines(plot, series, {
      height: 240,
      left: 52,
      x: {
        ...timeAxis(timeline.end - timeline.begin, plot.clientWidth / 90),
        label: "time since the first submit",
        tip: (x) => "after " + duration(x),
      },
      y: {
        low: 0,
        high: top * 1.1,
        ticks: ticks(0, top, Math.ceil(top / 4)),
        format: String,
        tip: (v) => compact(v) + " nodes",
      },
    });
  }

  function gpus(plot, index) {
    const evaluation = data.evaluations[index];
    const timeline = evaluation.timelines[chosen[index]];
    const capacity = evaluation.gpus || Math.max(1, ...timeline.gpus.flat().map((v) => v || 0));
    plot.replaceChildren();
    plot.classList.add("panels");
    const panels = evaluation.policies
      .map((p, i) => ({ ...p, values: timeline.gpus[i] }))
      .filter((p, i) => !hidden[index].has(i))
      .map((p) => {
        const box = html(plot, "div");
        const head = html(box, "div", "panel-name");
        html(head, "span", "", p.name).style.fontWeight = p.reference ? 650 : 400;
        const reading = html(head, "span");
        const drawing = html(box, "div");
        const f = frame(drawing, {
          height: 104,
          left: 34,
          right: 6,
          bottom: 24,
          x: timeAxis(timeline.end - timeline.begin, drawing.clientWidth / 70),
          y: { low: 0, high: capacity, ticks: [0, capacity], format: String },
        });
        const points = overTime(timeline, p.values).filter(([, y]) => known(y));
        if (points.length) {
          const line = points
            .map(([x, y]) => f.sx(x).toFixed(1) + " " + f.sy(y).toFixed(1))
            .join("L");
          svg(f.root, "path", {
            d: `M${f.sx(points[0][0]).toFixed(1)} ${f.area.bottom}L${line}L${f.sx(points.at(-1)[0]).toFixed(1)} ${f.area.bottom}Z`,
            style: `fill:${colour(p.colour)}`,
            opacity: 0.22,
          });
          svg(f.root, "path", {
            class: "curve",
            d: "M" + line,
            style: `stroke:${colour(p.colour)}`,
            "stroke-width": 1.25,
          });
        }
        const cross = svg(f.root, "line", {
          class: "cross",
          y1: f.area.top,
          y2: f.area.bottom,
          visibility: "hidden",
        });
        return { ...p, f, drawing, cross, reading };
      });
    const leave = () =>
      panels.forEach((p) => {
        p.cross.setAttribute("visibility", "hidden");
        p.reading.textContent = "";
      });
    for (const panel of panels) {
      follow(
        panel.drawing,
        panel.f.area,
        (position) => {
          const time = panel.f.sx.invert(position);
          for (const p of panels) {
            const at = clamp(
              Math.floor((time / (timeline.end - timeline.begin)) * p.values.length),
              0,
              p.values.length - 1,
            );
            const x = p.f.sx(time);
            p.cross.setAttribute("x1", x);
            p.cross.setAttribute("x2", x);
            p.cross.setAttribute("visibility", "visible");
            p.reading.textContent = known(p.values[at])
              ? `${compact(p.values[at])} GPUs after ${duration(time)}`
              : "finished";
          }
        },
        leave,
      );
    }
  }

  // ---- sweeps ----------------------------------------------------------------------------------------
  // A figure of all series against the sweep's numeric factor; times go on a log scale when they differ much.
  function sweepChart(plot, sweep, key, format, { time } = {}) {
    const bounds = [];
    const series = sweep.series.map((s) => ({
      ...s,
      points: s.points.map((p) => [p.x, p[key]]),
      bars: key === "jct" ? s.points.filter((p) => known(p.low)) : [],
    }));
    for (const s of series) {
      bounds.push(...s.points.map(([, y]) => y).filter(known));
      for (const bar of s.bars) bounds.push(Math.max(bar.low, 0), bar.high);
    }
    if (!bounds.length) {
      plot.replaceChildren();
      html(plot, "p", "note", "No job ended.");
      return;
    }
    const positive = bounds.filter((v) => v > 0);
    const log = Boolean(time) && positive.length > 0 && Math.max(...positive) / Math.min(...positive) > 10;
    const low = log ? Math.min(...positive) / 1.2 : 0;
    const high = (Math.max(...bounds) || 1) * (log ? 1.2 : 1.05);
    if (log) for (const s of series) s.points = s.points.map(([x, y]) => [x, known(y) ? Math.max(y, low) : y]);
    const xs = sweep.series.flatMap((s) => s.points.map((p) => p.x));
    const first = Math.min(...xs);
    const last = Math.max(...xs);
    const step = time ? timeStep(high, 5) : niceStep(high, 5);
    const f = lines(plot, series, {
      height: 300,
      left: 62,
      legend: true,
      x: {
        low: first,
        high: last,
        ticks: ticks(first, last, niceStep(last - first, plot.clientWidth / 70)),
        format: compact,
        label: sweep.x,
        tip: (x) => `${sweep.x} ${compact(x)}`,
      },
      y: {
        log,
        low,
        high,
        ticks: log ? logTimes.filter((t) => t >= low && t <= high) : ticks(low, high, step),
        format: time ? (v) => (v ? roundDuration(v, log ? v : step) : "0") : format,
        tip: format,
      },
    });
    for (const s of series) {
      for (const bar of s.bars) {
        svg(f.root, "line", {
          x1: f.sx(bar.x),
          x2: f.sx(bar.x),
          y1: f.sy(Math.max(bar.low, low)),
          y2: f.sy(bar.high),
          style: `stroke:${colour(s.colour)}`,
          "stroke-width": 1.5,
          opacity: 0.6,
        });
      }
    }
  }
  // Share of the jobs below a value, of all series that have quantiles of it.
  function sweepCdf(plot, sweep, key, { log, ticksOf, format, label, tip }) {
    const series = sweep.series
      .filter((s) => s[key] && s[key].length)
      .map((s) => ({
        ...s,
        points: s[key].map((v, i) => [log ? Math.max(v, 0.1) : v, i / (s[key].length - 1)]),
      }));
    if (!series.length) {
      plot.replaceChildren();
      html(plot, "p", "note", "No job ended.");
      return;
    }
    const low = log ? Math.min(...series.map((s) => s.points[0][0])) : 0;
    const high = Math.max(...series.map((s) => s.points.at(-1)[0]), low * 2);
    lines(plot, series, {
      height: 300,
      left: 52,
      legend: true,
      x: { log, low, high, ticks: ticksOf(low, high), format, label, tip },
      y: { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: (v) => v * 100 + " %", tip: percent },
      valueAt(s, x) {
        const after = s.points.findIndex(([v]) => v > x);
        if (after === 0) return 0;
        if (after < 0) return 1;
        const [[v0, y0], [v1, y1]] = [s.points[after - 1], s.points[after]];
        return y0 + (v1 > v0 ? ((y1 - y0) * (x - v0)) / (v1 - v0) : 0);
      },
    });
  }
  const sweeps = {
    sweep_jct_cdf: (plot, s) =>
      sweepCdf(plot, s, "jct_cdf", {
        log: true,
        ticksOf: (low, high) => logTimes.filter((t) => t >= low && t <= high),
        format: roundDuration,
        label: "job completion time, log scale",
        tip: (x) => "done within " + duration(x),
      }),
    sweep_fairness_cdf: (plot, s) =>
      sweepCdf(plot, s, "fairness_cdf", {
        ticksOf: (low, high) => ticks(low, high, niceStep(high, plot.clientWidth / 70)),
        format: compact,
        label: "finish-time fairness",
        tip: (x) => "at most " + compact(x),
      }),
    sweep_makespan: (plot, s) => sweepChart(plot, s, "makespan", duration, { time: true }),
    sweep_fairness: (plot, s) => sweepChart(plot, s, "fairness", compact),
    sweep_jct: (plot, s) => sweepChart(plot, s, "jct", duration, { time: true }),
    sweep_p95: (plot, s) => sweepChart(plot, s, "p95", duration, { time: true }),
    sweep_queueing: (plot, s) => sweepChart(plot, s, "queueing", duration, { time: true }),
    sweep_gpus: (plot, s) => sweepChart(plot, s, "gpus", percent),
  };

  // ---- forecasts of lengths ------------------------------------------------------------------------
  function lengths(plot, of) {
    const exact = { name: "as it should be", colour: 7, dash: 2, points: [[0, 0], [1, 1]] };
    const tenths = ticks(0, 1, 0.2);
    lines(plot, [...of.series, exact], {
      height: 320,
      left: 52,
      legend: true,
      x: {
        low: 0,
        high: 1,
        ticks: tenths,
        format: (v) => Math.round(v * 100) + " %",
        label: "quantile of the length model",
        tip: (x) => "quantile " + percent(x),
      },
      y: { low: 0, high: 1, ticks: tenths, format: (v) => Math.round(v * 100) + " %", tip: percent },
      valueAt(s, x) {
        const after = s.points.findIndex(([v]) => v > x);
        if (after <= 0) return s.points[after < 0 ? s.points.length - 1 : 0][1];
        const [[x0, y0], [x1, y1]] = [s.points[after - 1], s.points[after]];
        return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
      },
    });
  }

  // ---- training ------------------------------------------------------------------------------------
  function curveChart(
    plot,
    table,
    xName,
    columns,
    { height = 220, one, oneLabel, format = compact, floor } = {},
  ) {
    const rows = Math.max(0, ...columns.map((c) => (table[c.key] || []).length));
    const xs = table[xName] || Array.from({ length: rows }, (_, i) => i + 1);
    const series = columns
      .filter((c) => table[c.key])
      .map((c) => ({
        ...c,
        points: table[c.key].map((y, i) => [xs[i], y]).filter(([, y]) => known(y)),
      }));
    const values = series.flatMap((s) => s.points.map(([, y]) => y));
    if (!values.length) {
      plot.replaceChildren();
      html(plot, "p", "note", "Not recorded in this run.");
      return;
    }
    const bounds = known(one) ? [...values, one] : values;
    let low = known(floor) ? floor : Math.min(...bounds);
    let high = Math.max(...bounds);
    const margin = (high - low || Math.abs(high) || 1) * 0.06;
    if (!known(floor)) low -= margin;
    high += margin;
    const first = Math.min(...xs);
    const last = Math.max(...xs, first + 1);
    lines(plot, series, {
      height,
      left: 58,
      one,
      oneLabel,
      legend: true,
      x: {
        low: first,
        high: last,
        ticks: ticks(first, last, Math.max(1, niceStep(last - first, plot.clientWidth / 110))),
        format: compact,
        label: xName,
        tip: (x) => `${xName} ${Math.round(x)}`,
      },
      y: {
        low,
        high,
        ticks: ticks(low, high, niceStep(high - low, 4)),
        format,
        tip: format === compact ? (v) => String(+v.toPrecision(4)) : format,
      },
    });
  }
  const training = {
    learning: (plot, t) =>
      curveChart(
        plot,
        t.curve,
        "iteration",
        [
          { key: "train_ratio", name: "training workloads", colour: 4, dash: 0 },
          {
            key: "validation_ratio",
            name: "validation workloads",
            colour: 0,
            dash: 0,
            reference: true,
          },
        ],
        { height: 320, one: 1, oneLabel: "teacher", format: number(2) },
      ),
    learning_rate: (plot, t) =>
      curveChart(
        plot,
        t.curve,
        "iteration",
        [{ key: "learning_rate", name: "learning rate", colour: 1, dash: 0 }],
        { floor: 0, format: scientific },
      ),
    agreement: (plot, t) =>
      curveChart(
        plot,
        t.pretrain,
        "epoch",
        [{ key: "agreement", name: "agreement", colour: 0, dash: 0 }],
        { format: percent },
      ),
    loss: (plot, t) =>
      curveChart(plot, t.pretrain, "epoch", [
        { key: "loss", name: "training decisions", colour: 4, dash: 0 },
        { key: "held_out_loss", name: "held-out decisions", colour: 0, dash: 0, reference: true },
      ]),
  };

  // ---- putting them on the page --------------------------------------------------------------------
  const perEvaluation = { ratios, cdf, queue, gpus, nodes };
  function draw(plot) {
    const { chart, index } = plot.dataset;
    if (chart in perEvaluation) perEvaluation[chart](plot, +index);
    else if (chart === "lengths") lengths(plot, data.lengths[+index]);
    else if (chart in sweeps) sweeps[chart](plot, data.sweeps[+index]);
    else training[chart](plot, data.trainings[+index]);
  }
  const plots = [...document.querySelectorAll("[data-chart]")];
  const redraw = (index) =>
    plots
      .filter((p) => p.dataset.chart in perEvaluation && +p.dataset.index === index)
      .forEach(draw);

  function key(parent, series) {
    const picture = svg(parent, "svg", {
      width: 22,
      height: 10,
      viewBox: "0 0 22 10",
      "aria-hidden": "true",
    });
    svg(picture, "line", {
      x1: 1,
      x2: 21,
      y1: 5,
      y2: 5,
      style: `stroke:${colour(series.colour)}`,
      "stroke-width": series.reference ? 4 : 2.5,
      "stroke-dasharray": dashes[series.dash % dashes.length],
    });
  }
  document.querySelectorAll("[data-legend]").forEach((bar) => {
    const index = +bar.dataset.legend;
    data.evaluations[index].policies.forEach((policy, i) => {
      const button = html(bar, "button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      key(button, policy);
      html(button, "span", "", policy.name);
      button.onclick = () => {
        const on = hidden[index].delete(i);
        if (!on) hidden[index].add(i);
        button.setAttribute("aria-pressed", String(on));
        redraw(index);
      };
    });
  });
  document.querySelectorAll("[data-workload]").forEach((select) => {
    select.onchange = () => {
      chosen[+select.dataset.workload] = +select.value;
      redraw(+select.dataset.workload);
    };
  });
  const widths = new Map();
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (widths.get(target) === target.clientWidth) continue;
      widths.set(target, target.clientWidth);
      draw(target);
    }
  });
  plots.forEach((plot) => {
    draw(plot);
    widths.set(plot, plot.clientWidth);
    observer.observe(plot);
  });
})();
