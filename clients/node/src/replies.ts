/** Replies of either client and protocol. */

/** A command's words. */
export type Words = readonly string[];

export function text(value: unknown): unknown {
  return Buffer.isBuffer(value) ? value.toString('utf8') : value;
}

/** A map of RESP3, whatever the client makes of it, or flat pairs of RESP2. */
export function mapOf(reply: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (Array.isArray(reply)) {
    for (let index = 0; index + 1 < reply.length; index += 2) found[String(text(reply[index]))] = text(reply[index + 1]);
    return found;
  }
  const pairs = reply instanceof Map ? reply.entries() : Object.entries(reply as object);
  for (const [name, value] of pairs) found[String(text(name))] = text(value);
  return found;
}
