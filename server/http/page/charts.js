// Charts as SVG, drawn anew at each sample.
import {h, svg} from "./dom.js";

const HEIGHT = 200, LEFT = 56, RIGHT = 8, TOP = 10, BOTTOM = 22;

// A chart is as wide as its place, so its words are as large as others.
export const widthOf = (element) => Math.max(260, Math.round(element.clientWidth) || 900);

// A round number that is no less than the largest value: 1, 2 or 5 times a power of ten.
export function ceiling(largest) {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= largest * 0.9999);
}

// A piece of a line of that class, for a legend.
export const stroke = (kind) => svg("svg", {viewBox: "0 0 30 8", "aria-hidden": "true"}, svg("path", {class: kind, d: "M0 4H30"}));

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;
const TICKS = [10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR];
const GAP_MS = 130 * SECOND;  // two minutes of the server and a bit: nothing is known in between

const clock = (at, withSeconds) => new Date(at).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit",
  ...(withSeconds ? {second: "2-digit"} : {}), hourCycle: "h23"});

// Answers the instants of an axis, round ones of the local clock, no more than fit.
export function ticksOf(begin, end, width) {
  const most = Math.max(2, Math.floor(width / 90));
  const step = TICKS.find((each) => (end - begin) / each <= most) ?? TICKS.at(-1);
  const zone = new Date(end).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let at = Math.ceil((begin - zone) / step) * step + zone; at <= end; at += step) ticks.push(at);
  return {ticks, withSeconds: step < MINUTE};
}

// A scale from 0 on, and one by powers of ten: {of: (value) -> share of the height, marks: values}.
function linear(values) {
  const top = ceiling(Math.max(0, ...values));
  return {of: (value) => value / top, marks: [0, top / 2, top]};
}
function logarithmic(values) {
  const above = values.filter((value) => value > 0);
  const low = above.length === 0 ? -6 : Math.floor(Math.log10(Math.min(...above)) + 1e-9);
  const high = above.length === 0 ? -3 : Math.max(low + 1, Math.ceil(Math.log10(Math.max(...above)) - 1e-9));
  const marks = Array.from({length: high - low + 1}, (_, i) => 10 ** (low + i));
  return {of: (value) => (value > 0 ? Math.max(0, (Math.log10(value) - low) / (high - low)) : 0), marks};
}

// series: [{name, kind (a class), of: (point) => value}]; a line ends where a value is not known.
// `show` writes values. options: {spanMs: at most so long, log: by powers of ten}.
export function lines(width, points, series, show, title, {spanMs, log = false}) {
  const values = points.flatMap((point) => series.map((each) => each.of(point))).filter(Number.isFinite);
  const scale = (log ? logarithmic : linear)(values);
  const end = points.at(-1)?.at ?? Date.now();
  const begin = Math.max(end - spanMs, Math.min(points[0]?.at ?? end, end - MINUTE));
  const x = (at) => LEFT + (at - begin) / (end - begin) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - scale.of(value)) * (HEIGHT - TOP - BOTTOM);
  const grid = scale.marks.map((mark) => [
    svg("path", {class: "axis", d: `M${LEFT} ${y(mark).toFixed(1)}H${width - RIGHT}`}),
    svg("text", {x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end"}, show(mark))]);
  const {ticks, withSeconds} = ticksOf(begin, end, width - LEFT - RIGHT);
  const times = ticks.map((at) => [
    svg("path", {class: "axis", d: `M${x(at).toFixed(1)} ${HEIGHT - BOTTOM}v4`}),
    svg("text", {class: "time", x: x(at), y: HEIGHT - 5,
      "text-anchor": x(at) > width - 40 ? "end" : x(at) < LEFT + 20 ? "start" : "middle"}, clock(at, withSeconds))]);
  const paths = series.map((each) => {
    let d = "", before = null;
    for (const point of points) {
      const value = each.of(point);
      const known = Number.isFinite(value) && point.at >= begin;
      const goesOn = before !== null && point.at - before <= GAP_MS;
      if (known) d += `${goesOn ? "L" : "M"}${x(point.at).toFixed(1)} ${y(value).toFixed(1)}`;
      before = known ? point.at : null;
    }
    return svg("path", {class: `curve ${each.kind}`, d: d || "M0 0"});
  });
  return [
    svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": title}, grid, times, paths),
    h("div", {class: "legend"}, series.map((each) => {
      const now = points.length === 0 ? NaN : each.of(points.at(-1));
      return h("span", {}, stroke(`curve ${each.kind}`), `${each.name}: ${show(now)}`);
    })),
  ];
}

// A bucket that is full to that share.
export function bucket(share, label) {
  const level = Math.max(0, Math.min(1, share)) * 84;
  return svg("svg", {viewBox: "0 0 88 108", role: "img", "aria-label": label},
    svg("path", {class: "level", d: bucketPath(level)}),
    svg("path", {class: "bucket", d: "M6 8L16 100H72L82 8"}));
}

function bucketPath(level) {
  if (level <= 0) return "M17 99H71";
  const slope = (height) => 10 * height / 92;
  const top = 99 - level;
  return `M17 99H71L${71 + slope(level)} ${top}H${17 - slope(level)}Z`;
}

// One limit of a key: what was seen of it, beside what the limit predicts. `curves` are
// {low: [{at, value}], high: [...]}, where between the two nothing is known.
export function remaining(width, samples, curves, capacity, end, title) {
  const begin = samples[0].at;
  const bottom = Math.min(0, ...samples.map((each) => each.value));
  const x = (at) => LEFT + (Math.min(at, end) - begin) / (end - begin) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (value - bottom) / Math.max(1, capacity - bottom)) * (HEIGHT - TOP - BOTTOM);
  const path = (points) => points.map((each, i) =>
    `${i === 0 ? "M" : "L"}${x(each.at).toFixed(1)} ${y(each.value).toFixed(1)}`).join("");
  const parts = [0, capacity].map((value) => [
    svg("path", {class: "axis", d: `M${LEFT} ${y(value)}H${width - RIGHT}`}),
    svg("text", {x: LEFT - 6, y: y(value) + 4, "text-anchor": "end"}, String(value))]);
  for (const {low, high} of curves) {
    if (high.length > 0 && high !== low)
      parts.push(svg("path", {class: "band", d: `${path(low)}${path([...high].reverse()).replace("M", "L")}Z`}));
    parts.push(svg("path", {class: "predicted", d: path(low)}));
  }
  parts.push(svg("path", {class: "curve sampled", d: path(samples)}));
  const last = samples.at(-1);
  parts.push(svg("circle", {class: "sample", cx: x(last.at), cy: y(last.value), r: 4}));
  const seconds = Math.round((end - begin) / 1000);
  parts.push(svg("text", {x: LEFT, y: HEIGHT - 5}, "opened"),
    svg("text", {x: width - RIGHT, y: HEIGHT - 5, "text-anchor": "end"}, `${seconds} s later`));
  return svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": title}, parts);
}
