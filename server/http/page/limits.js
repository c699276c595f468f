// What a limit is, in a sentence, and what it will have left if nobody takes anything.

const PERIODS = {ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000};

// "GCRA 100/1h BURST 9" -> {name, count, periodMs, options}. A period may have several parts: 1h30m.
export function parse(parameters) {
  const words = parameters.split(" ");
  const [count, period] = (words[1] ?? "").split("/");
  let periodMs = 0;
  for (const [, number, unit] of (period ?? "").matchAll(/(\d+)(ms|[smhd])/g))
    periodMs += Number(number) * PERIODS[unit];
  const options = {};
  for (let i = 2; i + 1 < words.length; i += 2) options[words[i]] = words[i + 1];
  return {name: words[0], count: Number(count), periodMs, period, options};
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const every = (limit) => (limit.period === undefined ? "" : `${plural(limit.count, "permit")} in ${limit.period}`);

const SENTENCES = {
  GCRA: (limit, capacity) => `${every(limit)}, coming back one by one; ${plural(capacity, "permit")} at once when it is full.`,
  TOKENBUCKET: (limit, capacity) => `A bucket of ${capacity}, filled with ${every(limit)}.`,
  LEAKY: (limit, capacity) => `A funnel for ${capacity} that lets ${every(limit)} through.`,
  FIXED: (limit) => `${plural(limit.count, "permit")} in each window${limit.period ? ` of ${limit.period}` : ""}${limit.options.ALIGN ? ` (${limit.options.ALIGN})` : ""}; all come back at once when it ends.`,
  SLIDINGLOG: (limit) => `Never more than ${every(limit)}, wherever the period begins; each permit comes back one period after it was taken.`,
  SLIDINGWINDOW: (limit) => `No more than ${every(limit)}, counted in parts of the period; permits come back part by part.`,
  SLIDINGCOUNTER: (limit) => `About ${every(limit)}: the window before fades out evenly.`,
  BURSTY: (limit) => `${every(limit)}; a request may cost more than there is, and the next ones pay for it.`,
  WARMUP: (limit) => `${every(limit)}, slower while it is cold.`,
  CONCURRENCY: (limit) => `At most ${limit.count} at the same time; a place is free when its lease is released or ends.`,
};

export function explain(parameters, capacity) {
  const limit = parse(parameters);
  return (SENTENCES[limit.name] ?? (() => ""))(limit, capacity);
}

// Algorithms whose permits come back one by one at an even pace, and at once. Of others it is known
// only that all are back at the reset, and that none goes by itself.
const EVEN = new Set(["GCRA", "LEAKY"]);

// Answers what will be left from `at` to `end`: {low, high}, lists of {at, value}, the same list where
// it is known exactly. A limit is one of RL.INFO: {parameters, limit, remaining, reset_after_ms}.
export function predict(limit, at, end) {
  const {name, count, periodMs, options} = parse(limit.parameters);
  const capacity = limit.limit, left = limit.remaining;
  const full = at + limit.reset_after_ms;
  const flat = [{at, value: left}, {at: end, value: left}];
  if (name === "CONCURRENCY" || capacity < 0 || limit.reset_after_ms <= 0) return {low: flat, high: flat};
  if (name === "FIXED") {
    if (full >= end) return {low: flat, high: flat};
    const step = [{at, value: left}, {at: full, value: left}, {at: full, value: capacity}, {at: end, value: capacity}];
    return {low: step, high: step};
  }
  const is_even = EVEN.has(name) || (name === "TOKENBUCKET" && options.REFILL !== "INTERVAL");
  if (is_even && count > 0 && periodMs > 0) {
    const each = periodMs / count;  // a permit is back so long before the next
    const missing = (t) => Math.ceil(Math.max(0, full - t) / each - 1e-6);
    const value = (t) => Math.max(Math.min(left, capacity), capacity - missing(t));
    const stop = Math.min(full, end);
    const line = [{at, value: left}];
    const steps = Math.min(capacity - left, Math.floor((stop - at) / each) + 1);
    if (steps <= 200) {
      for (let back = full - Math.floor((full - at) / each) * each; back <= stop + 1; back += each)
        line.push({at: back, value: line.at(-1).value}, {at: back, value: value(back + 1)});
    } else {
      line.push({at: stop, value: value(stop)});
    }
    line.push({at: end, value: value(end)});
    return {low: line, high: line};
  }
  const low = full >= end ? flat
    : [{at, value: left}, {at: full, value: left}, {at: full, value: capacity}, {at: end, value: capacity}];
  const high = [{at, value: capacity}, {at: end, value: capacity}];
  return {low, high};
}
