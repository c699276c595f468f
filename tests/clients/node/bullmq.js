// BullMQ: its rate limiter, alone and with a worker that obeys it.
'use strict';

const { Queue, Worker } = require('bullmq');
const { orders, Skip, range, equal, between, needDurable } = require('./report');
const { ask, stored, until, restart, runChecks } = require('./library');

const connection = { host: orders.host, port: orders.port, protocol: orders.protocol,
  retryStrategy: () => 50, maxRetriesPerRequest: null };

async function main() {
  const queue = (name) => {
    const made = new Queue(name, { connection });
    made.on('error', () => {});
    return made;
  };
  const limited = queue('limited');
  const workers = [];

  // A job's way through a queue is told in a stream.
  async function needStreams() {
    const [known] = await ask('COMMAND', 'INFO', 'XADD');
    if (!known) throw new Skip('weir has no streams, which BullMQ writes its events to');
  }

  // Workers, and when each job began.
  function work(name, count, options) {
    const begun = [];
    for (const _ of range(count)) {
      workers.push(new Worker(name, async () => { begun.push(Date.now()); },
        { connection, concurrency: 4, ...options }));
      workers.at(-1).on('error', () => {});
    }
    return begun;
  }

  async function rateLimit() {
    equal(await limited.getRateLimitTtl(), -2);
    await limited.rateLimit(20000);
    equal(await ask('GET', 'bull:limited:limiter'), String(Number.MAX_SAFE_INTEGER));
    await stored('bull:limited:limiter', 'string', 17000, 20000);
    between(17000, await limited.getRateLimitTtl(), 20000, 'getRateLimitTtl');
    between(17000, await limited.getRateLimitTtl(5), 20000, 'getRateLimitTtl');
    equal([await limited.removeRateLimitKey(), await limited.getRateLimitTtl(5)], [1, 0]);
  }

  async function globalRateLimit() {
    await limited.setGlobalRateLimit(3, 5000);
    equal(await limited.getGlobalRateLimit(), { max: 3, duration: 5000 });
    equal(await ask('HMGET', 'bull:limited:meta', 'max', 'duration'), ['3', '5000']);
    await ask('SET', 'bull:limited:limiter', 2, 'PX', 5000);
    equal(await limited.getRateLimitTtl(), 0);
    await ask('SET', 'bull:limited:limiter', 3, 'PX', 5000);
    between(3000, await limited.getRateLimitTtl(), 5000, 'getRateLimitTtl');
    await limited.removeGlobalRateLimit();
    equal(await limited.getGlobalRateLimit(), null);
    await limited.removeRateLimitKey();
  }

  // A window of 4 jobs opens with its first one, whoever of the workers has it.
  async function workersLimited() {
    await needStreams();
    const jobs = queue('jobs');
    await jobs.addBulk(range(12).map((index) => ({ name: 'job', data: { index } })));
    const begun = work('jobs', 4, { limiter: { max: 4, duration: 500 } });
    await until(() => begun.length >= 4);
    await stored('bull:jobs:limiter', 'string', 1, 500);
    await until(() => begun.length === 12);
    begun.sort();
    for (const first of [0, 4]) between(450, begun[first + 4] - begun[first], 2000, 'a window');
    await until(async () => (await jobs.getJobCounts('completed')).completed === 12);
  }

  async function restarted() {
    await limited.rateLimit(20000);
    await restart(null);
    await queue('after').rateLimit(1000);
  }

  async function limiterKept() {
    needDurable();
    between(10000, await limited.getRateLimitTtl(), 19000, 'getRateLimitTtl');
  }

  async function workersGoOn() {
    await needStreams();
    const begun = work('jobs', 1, { limiter: { max: 4, duration: 500 } });
    await queue('jobs').addBulk(range(3).map((index) => ({ name: 'job', data: { index } })));
    await until(async () => (await queue('jobs').getJobCounts('completed')).completed >= 3);
    between(0, begun.length, 3, 'jobs of the new worker');
  }

  await runChecks({ rateLimit, globalRateLimit, workersLimited, restart: restarted, limiterKept,
    workersGoOn });
}

main();
