// How much more than the limit passes over an outage, in all windows and all processes together.
//
//     node tests/support/bound.js     a table: each mode and fault for 20 s, even and skewed load, a wrong number of processes
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Limiter, Weir } from 'weir-client';

import { pause, WeirServer } from './weirs.js';

export const kRate = 10;
export const kBurst = 10;
export const kProcesses = 4;
const kLimits = `TOKENBUCKET ${kRate}/1s CAPACITY ${kBurst}`;
const kWarmMs = 1500;
const kAfterMs = 3000;
const kEvenMs = Array(kProcesses).fill(40);
const kSkewedMs = [10, 200, 200, 200];
const kTableEvenMs = Array(kProcesses).fill(20); // as in the tables of the other languages
const kTableOutageMs = 20_000;

const kSelf = fileURLToPath(import.meta.url);
const now = () => Number(process.hrtime.bigint()) / 1e6; // one clock for all processes

/** In a process: takes until time is over, and prints the instants before and after each grant. */
async function work(url, away, processes, pauseMs, ms) {
  const weir = new Weir(url);
  const limiter = new Limiter(weir, kLimits, { away, processes });
  while ((await limiter.take('k')).source !== 'weir') await pause(50);
  process.stdout.write('ready\n');
  await new Promise((resolve) => { process.stdin.once('data', resolve); });
  const end = now() + ms;
  while (now() < end) {
    const before = now();
    const { allowed } = await limiter.take('k');
    if (allowed) process.stdout.write(`${before} ${now()}\n`);
    await pause(pauseMs);
  }
  process.exit();
}

/**
 * The most that passed in any window beyond kBurst and kRate in its length. A grant is two instants, between which it was
 * made; windows are as long as they may have been, so this is what passed for certain.
 */
export function excess(grants) {
  const sorted = [...grants].sort((one, other) => one[1] - other[1]);
  let most = 0;
  for (let first = 0; first < sorted.length; first += 1) {
    for (let last = first; last < sorted.length; last += 1) {
      const seconds = Math.max(0, sorted[last][1] - sorted[first][0]) / 1000;
      most = Math.max(most, last - first + 1 - kBurst - kRate * seconds);
    }
  }
  return most;
}

class Worker {
  constructor(t, ...orders) {
    this.child = spawn(process.execPath, [kSelf, ...orders.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => this.child.kill('SIGKILL'));
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async ready() {
    if ((await this.lines.next()).value !== 'ready') throw new Error('a process has ended');
  }

  async grants() {
    const found = [];
    for await (const line of this.lines) found.push(line.split(' ').map(Number));
    return found;
  }
}

/**
 * Permits beyond the limit until weir was back, and in all; and grants while it was away. `begin` and `end` are of the
 * outage, `processes` is what each is told.
 */
export async function measure(t, { away, begin, end, outageMs, pausesMs = kEvenMs, processes = kProcesses }) {
  const server = await WeirServer.of(t);
  const ms = kWarmMs + outageMs + kAfterMs;
  const workers = pausesMs.map((pauseMs) => new Worker(t, server.url, away, processes, pauseMs, ms));
  for (const worker of workers) await worker.ready();
  const grants = Promise.all(workers.map((worker) => worker.grants()));
  for (const { child } of workers) child.stdin.write('go\n');
  await pause(kWarmMs);
  const from = now();
  await begin(server);
  await pause(outageMs);
  const to = now();
  await end(server);
  const all = (await grants).flat();
  const before = all.filter(([, after]) => after < to);
  return { beyond: excess(before), inAll: excess(all), meanwhile: before.filter(([, after]) => from < after).length };
}

export const kKilled = { begin: (server) => server.kill(), end: (server) => server.start() };
export const kStopped = { begin: (server) => server.signal('SIGSTOP'), end: (server) => server.signal('SIGCONT') };

async function table() {
  const rows = [['local', kKilled, kTableEvenMs], ['local', kKilled, kSkewedMs], ['local', kStopped, kTableEvenMs],
    ['strict', kKilled, kTableEvenMs], ['strict', kStopped, kTableEvenMs], ['local', kKilled, kTableEvenMs, kProcesses / 2],
    ['local', kKilled, kTableEvenMs, kProcesses * 2]];
  console.log('away   weir is load   processes beyond the limit a second');
  for (const [away, fault, pausesMs, processes = kProcesses] of rows) {
    const ends = [];
    const { inAll, meanwhile } = await measure({ after: (end) => ends.push(end) },
      { away, ...fault, outageMs: kTableOutageMs, pausesMs, processes });
    console.log([away.padEnd(6), fault === kKilled ? 'killed ' : 'stopped', pausesMs === kSkewedMs ? 'skewed' : 'even  ',
      String(processes).padStart(9), inAll.toFixed(1).padStart(16), (meanwhile * 1000 / kTableOutageMs).toFixed(1).padStart(8)].join(' '));
    for (const end of ends) await end();
  }
  process.exit();
}

if (process.argv[1] === kSelf) {
  const [url, away, processes, pauseMs, ms] = process.argv.slice(2);
  await (url ? work(url, away, Number(processes), Number(pauseMs), Number(ms)) : table());
}
