// Bottleneck with its limiters clustered over two processes.
'use strict';

const { orders, pause, range, equal, between, refused, needWeir,
  needDurable } = require('./report');
const { ask, stored, keys, until, restart, scriptsKept, kScriptsLost,
  runChecks } = require('./library');
const { Bottleneck, Pair, datastore } = require('./bottleneck_sides');

const kScripts = ['init', 'register_client', 'submit', 'register', 'free'];
const isIoredis = orders.via === 'ioredis';
const kErrorNamed = 'Redis 7 puts ERR before the error the library waits for';

// The most jobs at once.
function peak(notes) {
  const steps = notes.map(({ what, at }) => [at, what === 'begin' ? 1 : -1])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0;
  return Math.max(...steps.map(([, step]) => now += step));
}

async function main() {
  const pair = new Pair();
  const begun = (name) => pair.of(name, 'begin').length;
  const settings = (name, field) => ask('HGET', `b_${name}_settings`, field);

  async function make(name, options, count = 1) {
    await pair.both('make', { name, count, options });
    return pair.limiter(name);
  }

  async function begin(name, jobs, ms = 0) {
    await pair.both('schedule', { name, jobs, ms });
  }

  // So many began, and no more.
  async function exactly(name, count) {
    await until(() => begun(name) >= count, 5000);
    await pause(150);
    equal(begun(name), count, 'begun');
  }

  async function reservoir() {
    const limiter = await make('pool', { reservoir: 5, timeout: 60000 });
    await begin('pool', 10);
    await exactly('pool', 5);
    equal([await limiter.currentReservoir(), await limiter.check()], [0, false]);
    equal(await limiter.incrementReservoir(3), 3);
    await exactly('pool', 8);
    equal([await limiter.running(), await limiter.done()], [0, 8]);
    equal(new Set(pair.of('pool', 'begin').map(({ side }) => side)).size, 2, 'processes');
    equal(await limiter.clusterQueued(), 12);
  }

  async function storedAs() {
    equal(await settings('pool', 'version'), '2.19.5');
    equal([await settings('pool', 'reservoir'), await settings('pool', 'done')], ['0', '8']);
    const types = { settings: 'hash', client_running: 'zset', client_num_queued: 'hash',
      client_last_registered: 'zset', client_last_seen: 'zset' };
    equal(await keys('b_pool_*'), Object.keys(types).map((name) => `b_pool_${name}`).sort());
    for (const [name, type] of Object.entries(types)) {
      await stored(`b_pool_${name}`, type, 50000, 65000);
    }
  }

  async function reservoirRefresh() {
    await make('refresh', { reservoir: 2, reservoirRefreshAmount: 2, reservoirRefreshInterval: 500,
      heartbeatInterval: 50 });
    await begin('refresh', 3);
    await exactly('refresh', 6);
    const times = pair.of('refresh', 'begin').map(({ at }) => at).sort();
    for (const i of range(4)) between(350, times[i + 2] - times[i], 1500, 'ms to the next but one');
  }

  async function reservoirIncrease() {
    const limiter = await make('increase', { reservoir: 0, reservoirIncreaseAmount: 2,
      reservoirIncreaseInterval: 250, reservoirIncreaseMaximum: 5, heartbeatInterval: 50 });
    await until(async () => (await limiter.currentReservoir()) >= 2, 2000);
    await until(async () => (await limiter.currentReservoir()) === 5, 2000);
    await pause(300);
    equal(await limiter.currentReservoir(), 5);
  }

  async function maxConcurrent() {
    await make('narrow', { maxConcurrent: 3 });
    await begin('narrow', 8, 40);
    await until(() => pair.of('narrow', 'end').length === 16);
    equal(peak([...pair.of('narrow', 'begin'), ...pair.of('narrow', 'end')]), 3);
    equal(await ask('HGET', 'b_narrow_settings', 'running'), '0');
  }

  async function minTime() {
    await make('spaced', { minTime: 40 });
    await begin('spaced', 6);
    await exactly('spaced', 12);
    const times = pair.of('spaced', 'begin').map(({ at }) => at);
    between(11 * 40 - 20, Math.max(...times) - Math.min(...times), 5000, 'ms for 12 jobs');
  }

  async function concurrent() {
    await make('crowd', { reservoir: 100 }, 8);
    await begin('crowd', 20);
    await exactly('crowd', 100);
    equal(await settings('crowd', 'reservoir'), '0');
    await pair.both('drop', { name: 'crowd' });
  }

  async function overflow() {
    const limiter = await make('overflow', { maxConcurrent: 1, highWater: 2,
      strategy: Bottleneck.strategy.OVERFLOW });
    const results = await Promise.allSettled(range(6).map(() => limiter.schedule(() => pause(60))));
    equal(results.map(({ reason }) => reason?.message), [undefined, undefined, undefined,
      ...Array(3).fill('This job has been dropped by Bottleneck')]);
  }

  async function block() {
    const limiter = await make('block', { maxConcurrent: 1, highWater: 1, penalty: 1000,
      strategy: Bottleneck.strategy.BLOCK });
    const results = await Promise.allSettled(range(4).map(() => limiter.schedule(() => pause(60))));
    equal(results.map(({ status }) => status), ['fulfilled', 'rejected', 'rejected', 'rejected']);
    await refused(Bottleneck.BottleneckError, 'dropped', () => limiter.schedule(() => pause(1)));
    await pause(1050);
    await limiter.schedule(() => pause(1));
  }

  async function expiration() {
    const limiter = await make('late', { maxConcurrent: 1 });
    await refused(Bottleneck.BottleneckError, 'timed out after 100 ms',
      () => limiter.schedule({ expiration: 100 }, () => pause(400)));
    await until(async () => (await limiter.running()) === 0, 2000);
  }

  const heard = (text) => new Set(pair.of('pool', 'message')
    .filter((note) => note.text === text).map(({ side }) => side)).size;

  async function messages() {
    await pair.limiter('pool').publish('to all');
    await until(() => heard('to all') === 2);
    equal(pair.of('pool', 'message').length, 2);
  }

  async function group() {
    const all = new Bottleneck.Group({ ...datastore(), id: 'group', maxConcurrent: 1 });
    equal(await Promise.all(['a', 'b'].map((key) => all.key(key).schedule(async () => key))),
      ['a', 'b']);
    equal((await all.clusterKeys()).sort(), ['a', 'b']);
    equal([await all.deleteKey('a'), await all.clusterKeys()], [true, ['b']]);
    await all.disconnect(false);
  }

  const noErrors = () => equal(pair.notes.filter(({ what }) => what === 'error'), []);

  async function overweight() {
    needWeir(kErrorNamed);
    const limiter = await make('heavy', { maxConcurrent: 2 });
    await refused(Bottleneck.BottleneckError, 'weight of 3 to a limiter having a maxConcurrent ' +
      'setting of 2', () => limiter.schedule({ weight: 3 }, () => pause(1)));
  }

  // A server that lost the settings is told them anew, and both processes register again.
  async function settingsLost() {
    needWeir(kErrorNamed);
    await make('lost', { reservoir: 4 });
    await begin('lost', 1);
    await exactly('lost', 2);
    equal(await settings('lost', 'reservoir'), '2');
    await ask('DEL', ...await keys('b_lost_*'));
    await begin('lost', 3);
    await exactly('lost', 2 + 4);
    equal(await settings('lost', 'reservoir'), '0');
  }

  async function restarted() {
    await make('kept', { reservoir: 6 });
    await begin('kept', 1);
    await exactly('kept', 2);
    const { connection } = pair.limiter('kept')._store;
    await restart(null, kScripts.map((name) => isIoredis
      ? connection.client.scriptsSet[name].sha : connection.shas[name]));
  }

  // The library over node_redis loads its scripts once, and never again.
  async function limiterKept() {
    needDurable();
    if (!isIoredis) needWeir(kScriptsLost);
    equal(await settings('kept', 'reservoir'), '4');
    await begin('kept', 5);
    await exactly('kept', 6);
    equal(await settings('kept', 'reservoir'), '0');
  }

  // Each process subscribes again when it is connected again, and not before.
  async function messagesAgain() {
    await until(async () => {
      await pair.limiter('pool').publish('again');
      return heard('again') === 2;
    });
  }

  await runChecks({ reservoir, stored: storedAs, reservoirRefresh, reservoirIncrease, maxConcurrent,
    minTime, concurrent, overflow, block, expiration, messages, group, noErrors,
    overweight, settingsLost, restart: restarted, limiterKept, messagesAgain, scriptsKept });
}

main();
