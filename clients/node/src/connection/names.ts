/**
 * Looking up names of hosts. A look-up holds one of the few threads that the process has for files and names, and may
 * take as long as the system's resolver likes: of each name there is one at a time, however often it is asked for.
 */

import dns from 'node:dns';
import { isIP } from 'node:net';

const pending = new Map<string, Promise<void>>();

/** Resolves when the system can tell the host's addresses; rejects with its error. */
export function known(host: string): Promise<void> {
  if (isIP(host)) return Promise.resolve();
  let found = pending.get(host);
  if (!found) {
    found = new Promise<void>((resolve, reject) => {
      dns.lookup(host, (error) => error ? reject(error) : resolve());
    }).finally(() => pending.delete(host));
    pending.set(host, found);
  }
  return found;
}
