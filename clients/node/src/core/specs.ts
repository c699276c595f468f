/** Limits as the mirror knows them: read from a request's words, or from what weir answered. */

/** `interval` is a bucket that takes no bookings. */
export type Kind = 'bucket' | 'interval' | 'fixed' | 'sliding' | 'leases';

/** One limit. `count` permits come in `periodMs`; at most `capacity` are there at once. */
export interface Spec {
  readonly kind: Kind;
  readonly name: string;
  readonly count: number;
  readonly periodMs: number;
  readonly capacity: number;
}

export type Specs = readonly Spec[];

const kMs: Record<string, number> = { us: 0.001, ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3, w: 604800e3 };
const kLongUnits: Record<string, string> = { sec: 's', second: 's', min: 'm', minute: 'm', hour: 'h', day: 'd', week: 'w' };
const kCalendarMs: Record<string, number> = {
  MINUTE: 60e3, HOUR: 3600e3, DAY: 86400e3, WEEK: 604800e3, MONTH: 31 * 86400e3, QUARTER: 92 * 86400e3, YEAR: 366 * 86400e3,
};
const kKinds: Record<string, Kind> = {
  GCRA: 'bucket', TOKENBUCKET: 'bucket', LEAKY: 'bucket', BURSTY: 'bucket', WARMUP: 'bucket', FIXED: 'fixed',
  SLIDINGLOG: 'sliding', SLIDINGWINDOW: 'sliding', SLIDINGCOUNTER: 'sliding', CONCURRENCY: 'leases',
};
const kAlgorithms = Object.keys(kKinds);
const kRate = /^(\d+)\/(\d*)([A-Za-z]+)$/;

/** Milliseconds of a duration such as 30s; throws TypeError if it is none. */
export function durationMs(text: string): number {
  const [, count, word] = /^(\d*)([A-Za-z]+)$/.exec(text) ?? [];
  if (word === undefined) throw new TypeError(`a duration must be an integer and a unit, got '${text}'`);
  const ms = kMs[word] ?? kMs[kLongUnits[word.toLowerCase().replace(/s$/, '')] ?? ''];
  if (ms === undefined) throw new TypeError(`a duration has the units us ms s m h d w, got '${text}'`);
  return Number(count || 1) * ms;
}

/** Whether a limit has the name that FULL gives it where AS gives it none: its algorithm and its place. */
export function isUnnamed(name: string, index: number): boolean {
  return kAlgorithms.some((algorithm) => name === `${algorithm.toLowerCase()}${index}`);
}

/** Limits as words of a request. */
export function wordsOf(limits: string | readonly string[]): string[] {
  return typeof limits === 'string' ? limits.split(/\s+/).filter(Boolean) : limits.map(String);
}

/**
 * The limits that these words mean, or null if a policy is among them: weir alone knows its limits. What weir would
 * refuse is not refused here, save where nothing can be made of it (TypeError).
 */
export function parse(words: readonly string[]): Specs | null {
  const rest = [...words];
  const specs: Spec[] = [];
  while (rest.length) {
    const word = rest[0]!.toUpperCase();
    if (word === 'POLICY') return null;
    const algorithm = kKinds[word] && !kRate.test(word) ? word : 'GCRA';
    if (kKinds[word]) rest.shift();
    specs.push(limitOf(algorithm, rest, specs.length));
  }
  if (!specs.length) throw new TypeError('limits are missing');
  return specs;
}

function limitOf(algorithm: string, rest: string[], index: number): Spec {
  const [count, given] = rateOf(rest);
  const options = new Map<string, string>();
  while (rest.length && !beginsLimit(rest)) {
    const option = rest.shift()!.toUpperCase();
    const value = rest.shift();
    if (value === undefined) throw new TypeError(`${option} needs a value`);
    options.set(option, value);
  }
  let periodMs = given ?? kCalendarMs[(options.get('ALIGN') ?? '').toUpperCase()] ?? 0;
  if (algorithm === 'CONCURRENCY') periodMs = durationMs(options.get('LEASE') ?? '1s');
  if (!periodMs) throw new TypeError(`limit ${index} (${algorithm}) needs a period`);
  const kind = options.get('REFILL')?.toUpperCase() === 'INTERVAL' ? 'interval' : kKinds[algorithm]!;
  return { kind, name: options.get('AS') ?? `${algorithm.toLowerCase()}${index}`, count, periodMs,
    capacity: capacityOf(algorithm, count, periodMs, options) };
}

function beginsLimit(rest: readonly string[]): boolean {
  const word = rest[0]!.toUpperCase();
  return word in kKinds || word === 'POLICY' || kRate.test(word) || (rest.length > 2 && rest[1]!.toUpperCase() === 'PER');
}

function rateOf(rest: string[]): [number, number | undefined] {
  const word = rest.shift();
  if (word === undefined) throw new TypeError('a rate is missing');
  const [, count, periods, unit] = kRate.exec(word) ?? [];
  if (count !== undefined) return [Number(count), durationMs(`${periods}${unit}`)];
  if (!/^\d+$/.test(word)) {
    throw new TypeError(`a limit must come here: a rate such as 100/1m, an algorithm or POLICY, got '${word}'`);
  }
  if (rest.length < 2 || rest[0]!.toUpperCase() !== 'PER') return [Number(word), undefined];
  rest.shift();
  let period = rest.shift()!;
  if (/^\d+$/.test(period) && rest.length) period += rest.shift()!;
  return [Number(word), durationMs(period)];
}

function capacityOf(algorithm: string, count: number, periodMs: number, options: ReadonlyMap<string, string>): number {
  const burst = options.get('BURST');
  if (algorithm === 'GCRA' && burst !== undefined) return Number(burst) + 1;
  if (algorithm === 'BURSTY') return Math.max(1, count * durationMs(options.get('MAXBURST') ?? '1s') / periodMs);
  if (algorithm === 'WARMUP') return 1;
  return Number(options.get('CAPACITY') ?? count);
}

/** One limit of an answer with FULL. */
export interface AnsweredLimit {
  readonly name: string;
  readonly algorithm: string;
  readonly capacity: number;
  readonly remaining: number;
  readonly reset_ms: number;
  readonly window_ms: number;
}

/**
 * The limits of an answer with HEADERS. The counts are in its RateLimit-Policy field, which has an item for each limit, in
 * their order, under names of its own.
 */
export function specsOfAnswer(limits: readonly AnsweredLimit[], policyField: string): Specs {
  const counts = [...policyField.matchAll(/";q=(\d+)/g)].map(([, count]) => Number(count));
  const areTold = counts.length === limits.length;
  return limits.map((limit, index) => ({ kind: kKinds[limit.algorithm] ?? 'bucket', name: limit.name,
    count: areTold ? counts[index]! : limit.capacity, periodMs: limit.window_ms || 1, capacity: limit.capacity }));
}

export function sameSpecs(left: Specs, right: Specs): boolean {
  return left === right || (left.length === right.length && left.every((one, index) => {
    const other = right[index]!;
    return one.kind === other.kind && one.name === other.name && one.count === other.count
      && one.periodMs === other.periodMs && one.capacity === other.capacity;
  }));
}
