/** The names of limits in the HTTP fields that are made here. */

import { isUnnamed } from './core/specs.js';

const kUnnamed = 'default';

/** As weir gives them: what AS says, else the policy, or `default`. */
export function namesOf(given: readonly string[], policy: string | null): string[] {
  const unnamed = policy === null ? kUnnamed : plain(policy);
  const names = new Map<number, string>();
  const areUnnamed = given.map(isUnnamed);
  for (const turn of [false, true]) {
    given.forEach((name, index) => {
      if (areUnnamed[index] === turn) names.set(index, free(turn ? unnamed : name, new Set(names.values())));
    });
  }
  return given.map((_, index) => names.get(index)!);
}

/** The name, or the first of name-2, name-3 and so on that is not taken yet. */
function free(name: string, taken: ReadonlySet<string>): string {
  let found = name;
  for (let number = 2; taken.has(found); number += 1) found = `${name}-${number}`;
  return found;
}

/** A string of structured fields, whose characters all stand for themselves. */
function plain(text: string): string {
  return [...Buffer.from(text)].map((byte) => {
    const letter = String.fromCharCode(byte);
    const isPlain = byte >= 0x20 && byte < 0x7f && !'"\\%'.includes(letter);
    return isPlain ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
