<?php
// Laravel's limiters: Redis::throttle() and Redis::funnel(), and the RateLimiter of its cache.

require __DIR__ . '/connect.php';
require_once 'Illuminate/Redis/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Container/autoload.php';

use Illuminate\Cache\RateLimiter;
use Illuminate\Cache\RedisStore;
use Illuminate\Cache\Repository;
use Illuminate\Container\Container;
use Illuminate\Contracts\Redis\LimiterTimeoutException;
use Illuminate\Redis\Limiters\ConcurrencyLimiter;
use Illuminate\Redis\Limiters\DurationLimiter;
use Illuminate\Redis\RedisManager;

function manager(): RedisManager
{
    return new RedisManager(new Container(), LIBRARY,
        ['default' => ['host' => HOST, 'port' => PORT, 'database' => 0]]);
}

function limiter(RedisManager $redis): RateLimiter
{
    return new RateLimiter(new Repository(new RedisStore($redis, 'app')));
}

/** [acquired, remaining] of so many calls. */
function calls(DurationLimiter $limiter, int $count): array
{
    return array_map(fn () => [$limiter->acquire(), $limiter->remaining], range(1, $count));
}

$redis = manager();
$plain = connect();
$before = [];

say('version ' . getenv('CLIENTS_VERSION'));

check('duration-figures', function () use ($redis, $plain) {
    $limiter = new DurationLimiter($redis->connection(), 'throttle:a', 3, 100);
    $begin = time();
    expect(calls($limiter, 5), [[true, 2], [true, 1], [true, 0], [false, 0], [false, 0]]);
    expect_between($begin + 100, (int) $limiter->decaysAt, time() + 100, 'decaysAt');
    expect($limiter->tooManyAttempts(), true);
    $fields = $plain->hgetall('throttle:a');
    expect([array_keys($fields), $fields['count']], [['start', 'end', 'count'], '5']);
    expect((int) $fields['end'] - (int) $fields['start'], 100);
    expect_between(199, $plain->ttl('throttle:a'), 200, 'seconds to live');
    $limiter->clear();
    expect($limiter->tooManyAttempts(), false, 'of a cleared limiter');
    expect(calls($limiter, 1), [[true, 2]]);
});

check('duration-window', function () use ($redis) {
    $limiter = new DurationLimiter($redis->connection(), 'throttle:b', 2, 1);
    expect(array_column(calls($limiter, 3), 0), [true, true, false]);
    // Limits are whole seconds, compared as strings with fractions of them.
    usleep(2100000);
    expect(calls($limiter, 2), [[true, 1], [true, 0]]);
});

check('duration-block', function () use ($redis) {
    $throttle = fn () => $redis->connection()->throttle('throttle:c')->allow(1)->every(100);
    expect($throttle()->block(0)->then(fn () => 'ran', fn () => 'late'), 'ran');
    expect($throttle()->block(0)->then(fn () => 'ran', fn () => 'late'), 'late');
    expect_error(LimiterTimeoutException::class, '',
        fn () => $throttle()->block(0)->then(fn () => 'ran'));
});

check('duration-concurrent', function () {
    $replies = together(function () {
        $limiter = new DurationLimiter(manager()->connection(), 'throttle:all', 100, 3600);
        return array_column(calls($limiter, 20), 0);
    });
    expect(tally($replies)['true'] ?? 0, 100, 'admitted');
});

check('concurrency-figures', function () use ($redis, $plain) {
    $funnel = fn ($then) => $redis->connection()->funnel('funnel:a')->limit(2)->releaseAfter(60)
        ->block(0)->then($then, fn () => 'full');
    $inside = $funnel(fn () => [$funnel(fn () => $funnel(fn () => 'third')),
        $plain->ttl('funnel:a1'), strlen($plain->get('funnel:a1'))]);
    expect($inside, ['full', 60, 20]);
    expect($plain->exists('funnel:a1') + $plain->exists('funnel:a2'), 0, 'released');
});

check('concurrency-concurrent', function () use ($plain) {
    $replies = together(function () {
        $limiter = new ConcurrencyLimiter(manager()->connection(), 'funnel:all', 5, 60);
        try {
            return [$limiter->block(0)];
        } catch (LimiterTimeoutException $full) {
            return [false];
        }
    });
    expect(tally($replies)['true'] ?? 0, 5, 'admitted');
    expect(count($plain->keys('funnel:all*')), 5, 'slots');
});

check('concurrency-released', function () use ($redis) {
    $limiter = new ConcurrencyLimiter($redis->connection(), 'funnel:b', 1, 1);
    expect($limiter->block(0), true);
    expect_error(LimiterTimeoutException::class, '', fn () => $limiter->block(0));
    usleep(1100000);
    expect($limiter->block(0), true, 'after releaseAfter');
});

check('cache-limiter', function () use ($redis, $plain) {
    $limiter = limiter($redis);
    expect(array_map(fn () => $limiter->hit('login', 100), range(1, 3)), [1, 2, 3]);
    expect([$limiter->remaining('login', 5), $limiter->tooManyAttempts('login', 3)], [2, true]);
    expect_between(99, $limiter->availableIn('login'), 100, 'availableIn');
    expect($plain->get('app:login'), '3');
    expect_between(99, $plain->ttl('app:login'), 100, 'seconds to live');
    expect_between(99, $plain->ttl('app:login:timer'), 100, 'seconds to live');
    $limiter->clear('login');
    expect([$limiter->attempts('login'), count($plain->keys('app:*'))], [0, 0]);
});

check('cache-limiter-window', function () use ($redis) {
    $limiter = limiter($redis);
    $attempts = fn () => array_map(fn () => $limiter->attempt('short', 2, fn () => 'ran', 1),
        range(1, 3));
    expect($attempts(), ['ran', 'ran', false]);
    usleep(1100000);
    expect($attempts(), ['ran', 'ran', false]);
});

check('cache-limiter-concurrent', function () {
    // The first hit makes the key in several steps, and two first ones may both make it.
    limiter(manager())->hit('crowd', 3600);
    $replies = together(function () {
        $limiter = limiter(manager());
        return array_map(fn () => $limiter->hit('crowd', 3600), range(1, 20));
    });
    $numbers = array_merge(...$replies);
    sort($numbers);
    expect($numbers === range(2, 321), true, 'every number once');
});

check('lock', function () use ($redis) {
    $store = new RedisStore($redis, 'app');
    $first = $store->lock('door', 10);
    expect([$first->get(), $store->lock('door', 10)->get()], [true, false]);
    expect([$first->release(), $store->lock('door', 10)->get()], [true, true]);
});

check('restart', function () use ($redis, &$before) {
    $limiter = new DurationLimiter($redis->connection(), 'throttle:kept', 5, 3600);
    $before['calls'] = calls($limiter, 3);
    limiter($redis)->hit('kept', 3600);
    restart_server();
});

check('limiter-kept', function () use (&$before) {
    need_durable();
    expect($before['calls'], [[true, 4], [true, 3], [true, 2]]);
    $redis = manager();
    $limiter = new DurationLimiter($redis->connection(), 'throttle:kept', 5, 3600);
    expect(calls($limiter, 3), [[true, 1], [true, 0], [false, 0]]);
    expect(limiter($redis)->hit('kept', 3600), 2);
});

say('done');
