import { randomBytes } from 'node:crypto';

import type { Failure } from './core/breaker.js';
import { Core, kModes } from './core/core.js';
import type { Away } from './core/core.js';
import { costOf } from './core/mirror.js';
import type { Cost, Decision, HandBack } from './core/mirror.js';
import { parse, wordsOf } from './core/specs.js';
import type { Specs } from './core/specs.js';
import { failureOf, isReply } from './errors.js';
import type { Words } from './replies.js';
import type { Change, State } from './state.js';
import { answerOf, verdictOf } from './verdict.js';
import type { Verdict } from './verdict.js';
import type { Weir } from './weir.js';

const kProbeMs = 1000;
const kShadowIndex = 5; // the field of a reply to SHADOW that names the limit that would deny
const kAllAllow = -1;

export function newId(): string {
  return randomBytes(12).toString('hex');
}

export function costWord(cost: Cost): string {
  return String(cost); // a list is joined by commas
}

export function largest(cost: Cost): number {
  return typeof cost === 'number' ? cost : Math.max(...cost);
}

export interface EngineOptions {
  readonly away?: Away | undefined;
  readonly processes?: number | undefined;
  readonly fallback?: string | readonly string[] | undefined;
  readonly keysMax?: number | undefined;
}

export interface Asking {
  readonly key: string;
  /** The instant of performance.now() by which it is over. */
  readonly end: number;
  /** It waits in weir. */
  readonly waits?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One limiter's limits, its core, and what is counted of it. */
export class Engine {
  readonly words: Words;
  readonly specs: Specs | null; // null: a policy's
  readonly policy: string | null;
  readonly core: Core;
  readonly #weir: Weir;
  readonly #onChange: (change: Change) => void;
  #changed = performance.now();
  #awayMs = 0;
  #asked = 0;
  #here = 0;
  #probes = 0;
  #lastKey = 'weir:probe';

  constructor(weir: Weir, limits: string | readonly string[], options: EngineOptions, onChange: (change: Change) => void) {
    const { away = 'local', processes, fallback, keysMax } = options;
    if (!kModes.includes(away)) throw new TypeError(`away is one of ${kModes.join(', ')}, got '${away}'`);
    this.words = wordsOf(limits);
    this.specs = parse(this.words);
    const named = this.words.findIndex((word) => word.toUpperCase() === 'POLICY');
    this.policy = this.specs ? null : this.words[named + 1] ?? null;
    this.core = new Core(this.specs, { away, processes, keysMax, jitter: Math.random });
    if (!this.specs && fallback !== undefined) this.core.assume(parse(wordsOf(fallback)));
    this.#weir = weir;
    this.#onChange = onChange;
  }

  state(): State {
    const { breaker } = this.core;
    const forMs = performance.now() - this.#changed;
    return { away: breaker.away, cause: breaker.cause, forMs, awayMs: this.#awayMs + (breaker.away ? forMs : 0),
      absences: breaker.absences, asked: this.#asked, decidedHere: this.#here, probes: this.#probes,
      share: this.core.share, keys: this.core.mirror.size };
  }

  // Away and back.

  #change(away: boolean, cause: Failure): void {
    const now = performance.now();
    const lastedMs = now - this.#changed;
    this.#changed = now;
    if (!away) this.#awayMs += lastedMs;
    this.#onChange({ away, cause, lastedMs });
  }

  /** weir has replied to a request in time, whatever it was asked. */
  replied(): void {
    this.core.replied();
  }

  #failed(failure: Failure): void {
    if (this.core.failed(performance.now(), failure)) this.#change(true, failure);
  }

  /** Whether weir is asked, and what is handed back before. While it is away this begins a probe when it is time. */
  plan(key: string): { readonly handBack: HandBack | null } | null {
    this.#lastKey = key;
    const plan = this.core.plan(key, performance.now(), newId);
    if (!plan && this.core.breaker.beginProbe(performance.now())) void this.#probe();
    return plan;
  }

  /** RL.PEEK of the limiter's kind; where what writes was refused, a take of nothing, which writes as well. */
  async #probe(): Promise<void> {
    this.#probes += 1;
    const cause = this.core.breaker.cause!;
    const begin = performance.now();
    const words = [this.#lastKey, ...this.words];
    const command = cause === 'no writes' ? ['RL.TAKE', ...words, 'COST', '0'] : ['RL.PEEK', ...words];
    let failure: Failure | null;
    try {
      const [reply] = await this.#weir.send({ commands: [command], key: this.#lastKey,
        end: begin + Math.min(kProbeMs, 2 * this.#weir.deadlineMs) });
      failure = reply instanceof Error ? failureOf(reply) : null;
    } catch (error) {
      failure = failureOf(error); // a fault of the program is told to its next call
    }
    if (failure === 'late') this.#weir.renew();
    if (this.core.breaker.probed(performance.now(), failure === null)) this.#change(false, cause);
  }

  // Asking weir.

  /** When a call that begins now is over, and all that it asks. */
  deadline(): number {
    return performance.now() + this.#weir.deadlineMs;
  }

  /**
   * The replies, or null if weir does not answer by the end; the last one's error is thrown if it is the program's. Where
   * there is no time any more nothing is asked, which says nothing of weir.
   */
  async ask(commands: readonly Words[], { key, end, waits = false, signal }: Asking): Promise<unknown[] | null> {
    let failure: Failure | null = null;
    for (let left = this.#weir.retries + 1; left > 0; left -= 1) {
      const now = performance.now();
      if (now >= end) break;
      try {
        const replies = await this.#weir.send({ commands, key, signal, waits,
          end: waits ? end : now + (end - now) / left });
        const last = replies.at(-1);
        if (last instanceof Error) throw last;
        this.replied();
        return replies;
      } catch (error) {
        const found = signal?.aborted ? null : failureOf(error);
        if (!found && isReply(error)) this.replied();
        if (!found) throw error;
        failure = found;
        if (found === 'no writes') break;
      }
    }
    if (failure) this.#failed(failure);
    return null;
  }

  /** With SHADOW it charges what is there, and is never counted as a denial, which could ban the key. */
  handBackWords(key: string, { costs, id }: HandBack): Words {
    const cost = costs.length === 1 ? [String(costs[0]), 'UPTO'] : [costWord(costs)];
    return ['RL.TAKE', key, ...this.words, 'COST', ...cost, 'SHADOW', 'ID', id];
  }

  /**
   * In a request of its own, before a call that is no take and within its time. False if weir does not answer: then it is
   * not asked for more, which it would grant beside what was granted here.
   */
  async handBack(asking: Asking, back: HandBack | null): Promise<boolean> {
    if (!back) return true;
    const replies = await this.ask([this.handBackWords(asking.key, back)], asking);
    return replies !== null && this.handedBack(asking, back, replies[0]);
  }

  /** Of several limits each has its own cost, all or none; denied, all are charged with the most, up to what is there. */
  async handedBack({ key, end }: Asking, back: HandBack, reply: unknown): Promise<boolean> {
    if (reply instanceof Error) return false;
    if (back.costs.length > 1 && (reply as number[])[kShadowIndex] !== kAllAllow) {
      const most = String(largest(back.costs));
      const words = ['RL.TAKE', key, ...this.words, 'COST', most, 'UPTO', 'SHADOW', 'ID', `${back.id}u`];
      if (!await this.ask([words], { key, end })) return false;
    }
    this.core.handedBack(key, back);
    return true;
  }

  /** The verdict of a reply with FULL, and the mirror charged with what it grants. */
  learn(key: string, reply: unknown, cost: Cost): Verdict {
    const { verdict, resetsMs, blocked, bannedMs, callers } = answerOf(reply, this.specs, cost);
    const granted = typeof cost === 'number' ? verdict.granted : cost;
    this.#asked += 1;
    this.core.answered(key, performance.now(), verdict.allowed ? granted : 0, {
      specs: verdict.specs, resetsMs, blocked, bannedMs, callers });
    return verdict;
  }

  /** weir has granted so much in an answer without FULL, which does not tell the limits. */
  note(key: string, granted: number): void {
    this.#asked += 1;
    this.core.answered(key, performance.now(), granted);
  }

  /** A verdict without weir. */
  decide(key: string, cost: Cost, { upto = false, charge = true } = {}): Verdict {
    const now = performance.now();
    if (charge) this.#here += 1;
    let decision = this.core.decide(key, cost, now, charge);
    const left = decision.views[decision.index]?.remaining ?? 0;
    if (upto && !decision.allowed && left > 0) {
      cost = Math.min(costOf(cost, 0), left);
      decision = this.core.decide(key, cost, now, charge);
    }
    return this.#verdictHere(decision, cost);
  }

  /** A booking without weir: whether there is one, and what a take would have been told. */
  book(key: string, cost: number, maxWaitMs: number): { readonly isBooked: boolean; readonly verdict: Verdict } {
    this.#here += 1;
    const { isBooked, decision } = this.core.book(key, cost, maxWaitMs, performance.now());
    return { isBooked, verdict: this.#verdictHere(decision, cost) };
  }

  #verdictHere(decision: Decision, cost: Cost): Verdict {
    const { away } = this.core;
    return verdictOf(decision, away === 'strict' ? 'local' : away, largest(cost), this.policy);
  }

  charge(key: string, cost: number): void {
    this.core.charge(key, cost, performance.now());
  }

  giveBack(key: string, cost: number): void {
    this.core.giveBack(key, cost, performance.now());
  }
}
