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

// series: [{name, kind (a class), of: (point) => value}]; a line ends where a value is not known.
// `show` writes values.
export function lines(width, points, series, show, title) {
  const values = points.flatMap((point) => series.map((each) => each.of(point))).filter(Number.isFinite);
  const top = ceiling(Math.max(0, ...values));
  const end = points.at(-1)?.at ?? Date.now();
  const begin = Math.min(points[0]?.at ?? end, end - 60000);
  const x = (at) => LEFT + (at - begin) / (end - begin) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const grid = [0, 0.5, 1].map((share) => [
    svg("path", {class: "axis", d: `M${LEFT} ${y(share * top)}H${width - RIGHT}`}),
    svg("text", {x: LEFT - 6, y: y(share * top) + 4, "text-anchor": "end"}, show(share * top))]);
  const ago = (at) => Math.round((end - at) / 1000);
  const times = [begin, (begin + end) / 2, end].map((at, i) =>
    svg("text", {x: x(at), y: HEIGHT - 5, "text-anchor": ["start", "middle", "end"][i]},
      ago(at) === 0 ? "now" : `${ago(at)} s ago`));
  const paths = series.map((each) => {
    let d = "", drawn = false;
    for (const point of points) {
      const value = each.of(point);
      if (Number.isFinite(value)) d += `${drawn ? "L" : "M"}${x(point.at).toFixed(1)} ${y(value).toFixed(1)}`;
      drawn = Number.isFinite(value);
    }
    return svg("path", {class: `curve ${each.kind}`, d: d || "M0 0"});
  });
  return [
    svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": title}, grid, times, paths),
    h("div", {class: "legend"}, series.map((each) => {
      const now = points.length === 0 ? NaN : each.of(points.at(-1));
      return h("span", {}, h("i", {class: each.kind}), `${each.name}: ${show(now)}`);
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
