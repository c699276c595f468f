// How long a call has taken of its own accord, on a machine that is busy with other things, too.
import { readdirSync, readFileSync } from 'node:fs';

export const kPatient = { deadlineMs: 120_000 }; // where it is not asked whether it is in time
export const kSlackMs = 500;
const kTasks = '/proc/self/task';

/** Milliseconds for which threads of this process have been ready to run, and had no processor. */
export function keptWaitingMs() {
  let total = 0;
  for (const task of readdirSync(kTasks)) {
    try {
      total += Number(readFileSync(`${kTasks}/${task}/schedstat`, 'ascii').split(' ')[1]);
    } catch { /* it has ended */ }
  }
  return total / 1e6;
}

/** The longest of what was timed, less what the process was kept waiting meanwhile. */
export class Stopwatch {
  longestMs = 0;

  async time(work) {
    const kept = keptWaitingMs();
    const begin = performance.now();
    const found = await work();
    const takenMs = performance.now() - begin;
    this.longestMs = Math.max(this.longestMs, takenMs - (keptWaitingMs() - kept));
    return found;
  }
}

/** While the work runs, timers that are set for `from` milliseconds go off after `to`. */
export async function hurried(from, to, work) {
  const set = globalThis.setTimeout;
  globalThis.setTimeout = (callback, ms, ...more) => set(callback, ms === from ? to : ms, ...more);
  try {
    return await work();
  } finally {
    globalThis.setTimeout = set;
  }
}
