// As away_caller.py, for the JavaScript limiter, which lies beside it as limiter.js.
const { Limiter } = require('./limiter');

const [port, key, ...keys] = process.argv.slice(2);
const newLimiter = () => new Limiter('127.0.0.1', Number(port), 10, 10, 2);

async function takeEach() {
  for (const each of keys) {
    const limiter = newLimiter();
    await new Promise((done) => { limiter.weir.once('ready', done); });
    const said = await limiter.take(each).then((allowed) => (allowed ? 1 : 0), () => 'raised');
    console.log(each, said);
  }
  process.exit(0);
}

async function takeOn() {
  const limiter = newLimiter();
  for (;;) {
    const at = Date.now();
    const allowed = await limiter.take(key);
    const took = Date.now() - at;
    console.log(at, allowed ? 1 : 0, took);
    await new Promise((done) => { setTimeout(done, Math.max(0, 20 - took)); });
  }
}

if (key === 'each') takeEach(); else takeOn();
