import { wordsOf } from './core/specs.js';
import { mapOf, text } from './replies.js';
import type { Weir } from './weir.js';

const kMs = 5000; // administration may take longer than a decision

/** A named policy, as RL.POLICY GET answers it. */
export interface Policy {
  readonly limits: string;
  readonly onchange: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

/** RL.POLICY. Errors are thrown: nothing of this is decided while weir is away. */
export class Policies {
  readonly #weir: Weir;

  /** @internal */
  constructor(weir: Weir) {
    this.#weir = weir;
  }

  /** Makes or changes a policy; `limits` may end in SHADOW, PERCENT and ONCHANGE. */
  async set(name: string, limits: string | readonly string[]): Promise<void> {
    await this.#call('SET', name, ...wordsOf(limits));
  }

  /** null if there is none. */
  async get(name: string): Promise<Policy | null> {
    const reply = await this.#call('GET', name);
    return reply === null ? null : mapOf(reply) as Policy;
  }

  /** Whether there was one. */
  async delete(name: string): Promise<boolean> {
    return Boolean(await this.#call('DEL', name));
  }

  /** Names. */
  async list(): Promise<string[]> {
    return (await this.#call('LIST') as unknown[]).map((name) => String(text(name)));
  }

  async #call(...words: string[]): Promise<unknown> {
    const [reply] = await this.#weir.send({ commands: [['RL.POLICY', ...words]], end: performance.now() + kMs });
    if (reply instanceof Error) throw reply;
    return reply;
  }
}
