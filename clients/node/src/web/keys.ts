/** Who a request is counted for. */

import { BlockList, isIP, isIPv6 } from 'node:net';

/** A request as keys see it. */
export interface Caller {
  /** The address at the other end of the connection. */
  readonly peer: string | null;
  readonly header: (name: string) => string | null;
  readonly method: string;
  readonly path: string;
  /** Who has logged in, where the framework knows. */
  readonly user: string | null;
  /** The framework's own: the request of Express, Fastify and Nest, the context of Hono. */
  readonly request: unknown;
}

export type Key = (caller: Caller) => string | Promise<string>;

export interface AddressOptions {
  /** The proxies in front, as addresses or networks (10.0.0.0/8). Default none. */
  readonly trusted?: readonly string[] | undefined;
  /** Where they write the caller's address. Default X-Forwarded-For. */
  readonly header?: string | undefined;
}

/**
 * The caller's address; of IPv6 the first 64 bits, since one caller has as many addresses as it likes. From a trusted
 * proxy the header is read from its end, up to the first address that is none of them: what stands before that anybody
 * may have written.
 */
export function byAddress({ trusted = [], header = 'X-Forwarded-For' }: AddressOptions = {}): Key {
  const proxies = networks(trusted);
  const isTrusted = (address: string) => proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (caller) => {
    let found = addressOf(caller.peer ?? '');
    if (!found) return 'address:unknown';
    const hops = isTrusted(found) ? (caller.header(header) ?? '').split(',') : [];
    for (const word of hops.reverse()) {
      const hop = addressOf(word);
      if (!hop) break;
      found = hop;
      if (!isTrusted(hop)) break;
    }
    return `address:${groupOf(found)}`;
  };
}

function networks(names: readonly string[]): BlockList {
  const list = new BlockList();
  for (const name of names) {
    const [address = '', bits] = name.split('/');
    if (!isIP(address)) throw new TypeError(`trusted names addresses and networks, got '${name}'`);
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** An address as proxies write it: with a port, in brackets, IPv4 as IPv6; canonical, or null if it is none. */
function addressOf(word: string): string | null {
  let address = word.trim().replaceAll('"', '');
  if (address.startsWith('[')) address = address.slice(1).split(']', 1)[0]!;
  else if (address.split(':').length === 2) address = address.split(':', 1)[0]!;
  address = address.split('%', 1)[0]!;
  if (!isIPv6(address)) return isIP(address) ? address : null;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical) ?? [];
  if (high === undefined) return canonical;
  const bytes = [high, low!].flatMap((pair) => [parseInt(pair, 16) >> 8, parseInt(pair, 16) & 255]);
  return bytes.join('.');
}

function groupOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  const network = new URL(`http://[${groups.slice(0, 4).join(':')}::]`).hostname.slice(1, -1);
  return `${network}/64`;
}

/** The value of a header, such as an API key; callers without it by `otherwise`, which is their address. */
export function byHeader(name: string, otherwise: Key = byAddress()): Key {
  return (caller) => {
    const value = caller.header(name);
    return value ? `header:${value}` : otherwise(caller);
  };
}

/** Who has logged in; others by `otherwise`, which is their address. */
export function byUser(otherwise: Key = byAddress()): Key {
  return (caller) => caller.user ? `user:${caller.user}` : otherwise(caller);
}

/** Each method and path of a caller by itself. */
export function perRoute(key: Key = byAddress()): Key {
  return async (caller) => `${await key(caller)}:${caller.method}:${caller.path}`;
}

/** Of what frameworks call the user of a request: a text, or an object with an id. */
export function nameOfUser(user: unknown): string | null {
  const { id, sub } = (typeof user === 'object' && user ? user : { id: user }) as { id?: unknown; sub?: unknown };
  const name = id ?? sub;
  return typeof name === 'string' || typeof name === 'number' ? String(name) : null;
}
