<?php
// Symfony's rate limiters: their state in its cache on Redis, their turns by its lock on Redis.

require __DIR__ . '/connect.php';
require_once 'Symfony/Component/RateLimiter/autoload.php';
require_once 'Symfony/Component/Cache/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

const POLICIES = ['fixed_window', 'sliding_window', 'token_bucket'];

function limiter(string $policy, string $key, int $limit, string $interval): LimiterInterface
{
    $redis = connect();
    $options = ['id' => $policy, 'policy' => $policy, 'limit' => $limit];
    $options += $policy === 'token_bucket'
        ? ['rate' => ['interval' => $interval, 'amount' => $limit]] : ['interval' => $interval];
    $storage = new CacheStorage(new RedisAdapter($redis, 'limits'));
    $locks = new LockFactory(new RedisStore($redis));
    return (new RateLimiterFactory($options, $storage, $locks))->create($key);
}

/** [accepted, remaining] of so many calls. */
function calls(LimiterInterface $limiter, int $count): array
{
    return array_map(function () use ($limiter) {
        $limit = $limiter->consume();
        return [$limit->isAccepted(), $limit->getRemainingTokens()];
    }, range(1, $count));
}

$plain = connect();
$before = [];

say('version ' . getenv('CLIENTS_VERSION'));

foreach (POLICIES as $policy) {
    $name = str_replace('_', '-', $policy);

    check("$name-figures", function () use ($policy, $plain) {
        $limiter = limiter($policy, 'a', 3, '100 seconds');
        $begin = time();
        expect(calls($limiter, 4), [[true, 2], [true, 1], [true, 0], [false, 0]]);
        $retry = $limiter->consume()->getRetryAfter()->getTimestamp();
        expect_between($begin + 30, $retry, $begin + 101, 'retryAfter');
        $keys = $plain->keys('limits:*');
        expect(count($keys), 1, 'keys');
        expect_between(90, $plain->ttl($keys[0]), 200, 'seconds to live');
        $limiter->reset();
        expect(count($plain->keys('*')), 0, 'keys after a reset');
        expect(calls($limiter, 1), [[true, 2]]);
        $limiter->reset();
    });

    check("$name-window", function () use ($policy) {
        $limiter = limiter($policy, 'b', 2, '1 second');
        expect(array_column(calls($limiter, 3), 0), [true, true, false]);
        usleep(2100000);
        expect(array_column(calls($limiter, 3), 0), [true, true, false]);
        $limiter->reset();
    });

    check("$name-concurrent", function () use ($policy) {
        $replies = together(fn () => array_column(
            calls(limiter($policy, 'crowd', 20, '1 hour'), 3), 0));
        expect(tally($replies)['true'] ?? 0, 20, 'admitted');
        limiter($policy, 'crowd', 20, '1 hour')->reset();
    });
}

check('locks', function () use ($plain) {
    $locks = new LockFactory(new RedisStore(connect()));
    $first = $locks->createLock('door', 10);
    $second = $locks->createLock('door', 10);
    expect([$first->acquire(), $second->acquire()], [true, false]);
    expect_between(9000, $plain->pttl('door'), 10000, 'milliseconds to live');
    $first->release();
    expect($second->acquire(), true);
    $second->release();
});

check('restart', function () use (&$before) {
    foreach (POLICIES as $policy) {
        $before[$policy] = calls(limiter($policy, 'kept', 5, '1 hour'), 3);
    }
    restart_server();
});

check('limiter-kept', function () use (&$before) {
    need_durable();
    foreach (POLICIES as $policy) {
        expect($before[$policy], [[true, 4], [true, 3], [true, 2]]);
        expect(calls(limiter($policy, 'kept', 5, '1 hour'), 3),
            [[true, 1], [true, 0], [false, 0]], $policy);
    }
});

say('done');
