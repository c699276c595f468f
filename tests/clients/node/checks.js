// The checks of every plain Node client. A client is handed over as an object that does each thing
// in the client's own way, so that the client's own encoding and decoding is what is tried:
//
//   version, errorClass        connect({ username, password }) -> a connected client of it
//   call(c, ...args)           any command, strings back      pipeline(c, list) -> replies
//   setBinary / getBinary      Buffers                        scan(c, pattern) -> keys
//   info(c) -> text            libName, or null               close(c)
'use strict';

const { orders, Skip, say, pause, range, sorted, check, equal, between, refused, needWeir,
  needDurable, restartServer, done } = require('./report');

const kCallers = 16;
const kWriters = 4;
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const big = Buffer.concat(Array(4096).fill(allBytes));
const kept = {};  // what a check before the restart left for those behind it

// A map arrives as an object, as a Map or as a flat list, by client and protocol.
function asObject(reply) {
  if (reply instanceof Map) return Object.fromEntries(reply);
  if (!Array.isArray(reply)) return { ...reply };
  return Object.fromEntries(range(reply.length / 2).map((i) => [reply[2 * i], reply[2 * i + 1]]));
}

function makeChecks(client, library) {
  const call = (...args) => library.call(client, ...args);
  const throttle = async (key, ...numbers) =>
    (await call('CL.THROTTLE', key, ...numbers.map(String))).map(Number);

  // Every caller has a connection of its own: on one, a client would send them one after another.
  async function together(count, body) {
    const clients = await Promise.all(range(count).map(() => library.connect({})));
    const results = await Promise.all(clients.map(body));
    await Promise.all(clients.map(library.close));
    return results.flat();
  }

  async function handshake() {
    const hello = asObject(await call('HELLO'));
    equal([hello.proto, hello.mode, hello.role], [orders.protocol, 'standalone', 'master']);
    equal(await call('PING'), 'PONG');
    equal(await call('ECHO', 'a b'), 'a b');
  }

  async function clientList() {
    if (!library.libName) throw new Skip('this library sends no CLIENT SETINFO');
    if (!orders.isWeir) throw new Skip('Redis 7.0 has no CLIENT SETINFO');
    const id = await call('CLIENT', 'ID');
    const mine = (await call('CLIENT', 'LIST')).split('\n').find((row) => row.startsWith(`id=${id} `));
    equal(mine.match(/lib-name=\S*/)[0], `lib-name=${library.libName}`);
    equal(mine.match(/lib-ver=\S*/)[0], `lib-ver=${library.version}`);
  }

  async function binary() {
    for (const value of [Buffer.alloc(0), Buffer.from([0]), allBytes, Buffer.from('\r\n$5\r\n'), big]) {
      equal(await library.setBinary(client, allBytes, value), 'OK');
      const got = await library.getBinary(client, allBytes);
      equal(Buffer.compare(got, value), 0, `${value.length} bytes`);
    }
    equal(await call('GET', 'absent'), null);
  }

  async function pipeline() {
    const commands = range(500).flatMap((i) => [['SET', `pipe:${i}`, String(i)], ['GET', `pipe:${i}`]]);
    equal(await library.pipeline(client, commands), range(500).flatMap((i) => ['OK', String(i)]));
  }

  async function expiry() {
    await call('SET', 'ttl', 'x');
    equal([await call('TTL', 'ttl'), await call('TTL', 'absent')], [-1, -2]);
    equal(await call('EXPIRE', 'ttl', '100'), 1);
    between(99, await call('TTL', 'ttl'), 100);
    between(99000, await call('PTTL', 'ttl'), 100000);
    equal(await call('PERSIST', 'ttl'), 1);
    await call('SET', 'soon', 'x', 'PX', '30');
    await pause(60);
    equal([await call('GET', 'soon'), await call('EXISTS', 'soon')], [null, 0]);
  }

  async function incrConcurrent() {
    const replies = await together(kCallers, (mine) =>
      Promise.all(range(100).map(() => library.call(mine, 'INCR', 'count'))));
    equal(sorted(replies), range(kCallers * 100).map((index) => index + 1));
  }

  async function scan() {
    await call('MSET', ...range(1000).flatMap((index) => [`scan:${index}`, 'x']));
    const found = await library.scan(client, 'scan:*');
    equal(sorted(new Set(found.map((key) => Number(key.split(':')[1])))), range(1000));
  }

  async function throttleFigures() {
    needWeir();
    equal(await throttle('user:42', 15, 30, 60), [0, 16, 15, -1, 2]);
    for (const left of [4, 3, 2, 1, 0]) equal((await throttle('five', 4, 1, 10))[2], left);
    const denied = await throttle('five', 4, 1, 10);
    equal(denied.slice(0, 3), [1, 5, 0]);
    between(9, denied[3], 10);
  }

  async function throttleConcurrent() {
    needWeir();
    const replies = await together(kCallers, (mine) => Promise.all(range(20).map(async () =>
      (await library.call(mine, 'CL.THROTTLE', 'crowd', '99', '1', '3600'))[0])));
    equal(replies.filter((limited) => Number(limited) === 0).length, 100, 'admitted');
  }

  async function errors() {
    await call('SET', 'text', 'x');
    await refused(library.errorClass, 'not an integer', () => call('INCR', 'text'));
    await refused(library.errorClass, 'unknown command', () => call('NOSUCH'));
    await refused(library.errorClass, 'WRONGTYPE', () => orders.isWeir
      ? throttle('text', 1, 1, 1) : call('LPUSH', 'text', 'y'));
    equal(await call('GET', 'text'), 'x');
  }

  async function password() {
    await call('CONFIG', 'SET', 'requirepass', 's e c r e t');
    try {
      const known = await library.connect({ password: 's e c r e t' });
      equal(await library.call(known, 'PING'), 'PONG');
      await library.close(known);
      await refused(Error, 'WRONGPASS', () => library.connect({ password: 'wrong' }));
    } finally {
      await call('CONFIG', 'SET', 'requirepass', '');
    }
  }

  // The user that weir's README shows logs in with the client's defaults, and may only ask.
  async function role() {
    needWeir();
    await call('ACL', 'SETUSER', 'shop', 'on', '>phrase', '+@ratelimit', '+ping', '+select',
      '+client|setinfo', '+client|setname', '~shop:*');
    const shop = await library.connect({ username: 'shop', password: 'phrase' });
    const ask = (...args) => library.call(shop, ...args);
    equal(await ask('PING'), 'PONG');
    equal(Number((await ask('CL.THROTTLE', 'shop:1', '9', '1', '1000'))[0]), 0);
    await refused(Error, 'rl.reset', () => ask('RL.RESET', 'shop:1'));
    await refused(Error, '@ratelimitadmin',
      () => ask('RL.TAKE', 'shop:1', 'GCRA', '1/1s', 'FORCE'));
    await library.close(shop);
  }

  async function info() {
    const fields = Object.fromEntries((await library.info(client)).split('\r\n')
      .filter((line) => line.includes(':')).map((line) => line.split(/:(.*)/)));
    equal([fields.redis_mode, fields.role, fields.loading, fields.tcp_port],
      ['standalone', 'master', '0', String(orders.port)]);
    between(7, parseInt(fields.redis_version, 10), 99, 'redis_version');
  }

  // Four callers count and are killed in the middle; they go on by themselves.
  async function restart() {
    await library.setBinary(client, Buffer.from('kept'), allBytes);
    await call('SET', 'kept:ttl', 'x', 'EX', '1000');
    for (const _ of range(orders.isWeir ? 4 : 0)) await throttle('limit', 9, 1, 1000);
    kept.at = Date.now();
    let upAt = 0;
    const writers = together(kWriters, async (mine) => {
      let acknowledged = 0;
      for (let resumed = 0; resumed < 10;) {
        try {
          await library.call(mine, 'INCR', 'traffic');
          acknowledged += 1;
          resumed += upAt ? 1 : 0;
        } catch (error) {
          if (upAt && Date.now() > upAt + 10000) throw error;
          await pause(10);
        }
      }
      return acknowledged;
    });
    await pause(300);
    await restartServer();
    upAt = Date.now();
    kept.acknowledged = (await writers).reduce((sum, one) => sum + one, 0);
  }

  async function reconnect() {
    equal(await call('PING'), 'PONG');
    equal(asObject(await call('HELLO')).proto, orders.protocol);
  }

  async function dataKept() {
    needDurable();
    equal(Buffer.compare(await library.getBinary(client, Buffer.from('kept')), allBytes), 0, 'kept');
    between(900, await call('TTL', 'kept:ttl'), 999);
    equal(new Set(await library.scan(client, 'scan:*')).size, 1000);
    const stored = Number(await call('GET', 'traffic'));
    between(kept.acknowledged, stored, kept.acknowledged + kWriters, 'stored writes');
  }

  async function limiterKept() {
    needWeir();
    needDurable();
    const reply = await throttle('limit', 9, 1, 1000, 0);
    equal(reply.slice(0, 4), [0, 10, 6, -1]);
    const passed = (Date.now() - kept.at) / 1000;
    between(4000 - passed - 1, reply[4], 4001 - passed, 'reset_after');
    for (const limited of [0, 0, 0, 0, 0, 0, 1]) {
      equal((await throttle('limit', 9, 1, 1000))[0], limited);
    }
  }

  return { handshake, clientList, binary, pipeline, expiry, incrConcurrent, scan, throttleFigures,
    throttleConcurrent, errors, password, role, info, restart, reconnect, dataKept, limiterKept };
}

async function runAll(library) {
  say(`version ${library.version}`);
  const client = await library.connect({});
  for (const [name, body] of Object.entries(makeChecks(client, library))) {
    await check(name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase()), body);
  }
  done();
}

module.exports = { runAll };
