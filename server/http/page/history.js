// What the metrics were, sample by sample, and what they were a second in between; and what weir
// itself has kept, minute by minute, of the time before.

const SAMPLES_MAX = 300;  // ten minutes
const samples = [];       // {at (ms), metrics}

export const value = (metrics, name, labels = {}) => {
  let sum = NaN;
  for (const sample of metrics.get(name) ?? []) {
    if (Object.entries(labels).some(([label, wanted]) => sample.labels[label] !== wanted)) continue;
    sum = (Number.isNaN(sum) ? 0 : sum) + sample.value;
  }
  return sum;
};

// The points of the charts: {at, allowed, denied, shadow, errors, p50, p99, turn, commit}, NaN where nothing is
// known.
const points = [];
export const history = () => points;

const MINUTES_MAX = 1440;
const MINUTE_MS = 60000;
const minutes = [];       // points of weir's, each in the middle of its minute, and {endS}
export const lastMinute = () => minutes.at(-1)?.endS ?? 0;

// What GET /history answers.
export function addMinutes({names, rows}) {
  for (const [endS, ...values] of rows) {
    const point = {at: endS * 1000 - MINUTE_MS / 2, endS};
    names.forEach((name, i) => { point[name] = values[i] ?? NaN; });
    minutes.push(point);
  }
  minutes.splice(0, Math.max(0, minutes.length - MINUTES_MAX));
}

// The points of the last `spanMs`: the page's own where the time is short, weir's where nobody looked
// or the time is long.
export function pointsOf(spanMs) {
  const begin = Date.now() - spanMs;
  const last = minutes.at(-1)?.at ?? 0;
  const isShort = spanMs <= SAMPLES_MAX * 2000;
  const own = points.filter((each) => each.at >= begin && (isShort || each.at > last));
  const seen = (at) => isShort && own.some((each) => Math.abs(each.at - at) < MINUTE_MS / 2);
  const kept = minutes.filter((each) => each.at >= begin && !seen(each.at));
  return [...kept, ...own].sort((one, other) => one.at - other.at);
}

export function add(metrics) {
  const sample = {at: Date.now(), metrics};
  const before = samples.at(-1);
  samples.push(sample);
  if (samples.length > 2) samples.shift();
  if (before === undefined) return;
  points.push({
    at: sample.at,
    allowed: rate("weir_verdicts_total", {outcome: "allowed"}),
    denied: rate("weir_verdicts_total", {outcome: "denied"}),
    shadow: rate("weir_verdicts_total", {outcome: "shadow_denied"}),
    errors: rate("weir_error_count_total") || 0,
    p50: quantile("weir_decision_duration_seconds", 0.5),
    p99: quantile("weir_decision_duration_seconds", 0.99),
    turn: quantile("weir_turn_duration_seconds", 0.99),
    commit: quantile("weir_commit_duration_seconds", 0.99),
    wait: quantile("weir_command_wait_duration_seconds", 0.99),
  });
  if (points.length > SAMPLES_MAX) points.shift();
}

// Forgets what was: weir was away, or has begun anew.
export function interrupt() { samples.length = 0; }

export const latest = () => samples.at(-1)?.metrics;

// How much a counter grew a second between the last two samples. A counter that fell began anew.
export function rate(name, labels = {}) {
  if (samples.length < 2) return NaN;
  const [before, now] = samples;
  const grown = value(now.metrics, name, labels) - value(before.metrics, name, labels);
  const whole = grown < 0 ? value(now.metrics, name, labels) : grown;
  return whole / ((now.at - before.at) / 1000);
}

// Below which so large a share of the last two seconds' samples is. A histogram knows how many lie
// between two of its bounds; they are taken to lie there evenly, on a scale of powers.
function quantile(name, share) {
  if (samples.length < 2) return NaN;
  const [before, now] = samples;
  const grown = [];  // of all commands together, where the histogram is one for each
  const add = (sample, sign) => {
    for (const {labels, value} of sample.metrics.get(`${name}_bucket`) ?? []) {
      const bound = Number(labels.le.replace("+Inf", "Infinity"));
      const found = grown.find((each) => each.bound === bound);
      if (found === undefined) grown.push({bound, count: sign * value});
      else found.count += sign * value;
    }
  };
  add(now, 1);
  add(before, -1);
  grown.sort((one, other) => one.bound - other.bound);
  const total = grown.at(-1)?.count ?? 0;
  if (total <= 0) return NaN;
  const i = grown.findIndex((each) => each.count >= share * total);
  const {bound, count} = grown[i];
  if (bound === Infinity) return NaN;
  const under = grown[i - 1] ?? {bound: bound / 2, count: 0};
  return under.bound * (bound / under.bound) ** ((share * total - under.count) / (count - under.count));
}
