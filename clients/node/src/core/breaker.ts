/** Whether weir is away: when to stop asking it, and when to ask whether it is back. Instants are milliseconds. */

const kLateInARow = 2;
const kLateOfLast = 5;
const kLast = 10;
const kProbeMs = 1000;
const kProbeLastsMs = 2000; // a probe of which nothing is heard for so long is no longer waited for

/**
 * How weir failed to answer a call: `gone`, refused, cut, or answered that it does not serve; `no writes`, it serves
 * what reads alone (MISCONF, OOM); `late`, nothing came in time.
 */
export type Failure = 'gone' | 'no writes' | 'late';

// First words of errors by which a server says that it does not serve. All others are the program's.
const kGone = new Set(['READONLY', 'MASTERDOWN', 'LOADING', 'CLUSTERDOWN', 'TRYAGAIN', 'BUSY']);
const kNoWrites = new Set(['MISCONF', 'OOM']);
const kMaxClients = 'ERR max number of clients';

/** What an error reply means; null if it is a fault of the program, which is thrown. */
export function failureOfWords(text: string): Failure | null {
  const word = text.split(' ', 1)[0]!;
  if (kNoWrites.has(word)) return 'no writes';
  return kGone.has(word) || text.startsWith(kMaxClients) ? 'gone' : null;
}

/** There, or away since an instant for a reason. `jitter` answers numbers from 0 to 1. */
export class Breaker {
  cause: Failure | null = null; // null: weir is there
  since = 0;
  absences = 0;
  #late: boolean[] = []; // of the last calls
  #lateInARow = 0;
  #nextProbe = 0;
  #probeSince: number | null = null;
  readonly #jitter: () => number;

  constructor(jitter: () => number) {
    this.#jitter = jitter;
  }

  get away(): boolean {
    return this.cause !== null;
  }

  /** A call was answered in time. */
  answered(): void {
    this.#note(false);
    this.#lateInARow = 0;
  }

  /** A call was not answered. True if weir counts as away from now on. */
  failed(now: number, failure: Failure): boolean {
    if (this.away) return false;
    if (failure === 'late') {
      this.#note(true);
      this.#lateInARow += 1;
      if (this.#lateInARow < kLateInARow && this.#late.filter(Boolean).length < kLateOfLast) return false;
    }
    this.cause = failure;
    this.since = now;
    this.absences += 1;
    this.#probeSince = null;
    this.#schedule(now);
    return true;
  }

  /** Whether the caller is to probe now: one at a time, about one a second. */
  beginProbe(now: number): boolean {
    const isLost = this.#probeSince !== null && now - this.#probeSince >= kProbeLastsMs;
    if (!this.away || now < this.#nextProbe || (this.#probeSince !== null && !isLost)) return false;
    this.#probeSince = now;
    return true;
  }

  /** The probe's outcome. True if weir is back. */
  probed(now: number, answered: boolean): boolean {
    if (!this.away) return false;
    this.#probeSince = null;
    this.#schedule(now);
    if (answered) {
      this.cause = null;
      this.since = now;
      this.#late = [];
      this.#lateInARow = 0;
    }
    return answered;
  }

  #note(late: boolean): void {
    this.#late.push(late);
    if (this.#late.length > kLast) this.#late.shift();
  }

  #schedule(now: number): void {
    this.#nextProbe = now + kProbeMs * (0.8 + 0.4 * this.#jitter());
  }
}
