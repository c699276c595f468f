<?php
// phpredis and predis as an application uses them: see README.md for what each check means.

require __DIR__ . '/connect.php';

$all_bytes = implode('', array_map('chr', range(0, 255)));
$client = connect();
$before = [];

function throttle($client, string $key, int ...$numbers): array
{
    return send($client, 'CL.THROTTLE', $key, ...$numbers);
}

say('version ' . library_version());

check('handshake', function () use ($client) {
    expect(in_array(plain($client->ping()), [true, 'PONG'], true), true);
    expect($client->echo('a b'), 'a b');
    expect(array_slice(send($client, 'ROLE'), 0, 2), ['master', 0]);
});

check('client-name', function () use ($client) {
    $named = connect();
    $named->client('setname', 'named-client');
    $names = array_map(fn ($row) => $row['name'], $client->client('list'));
    expect(array_values(array_filter($names)), ['named-client']);
});

check('binary', function () use ($client, $all_bytes) {
    foreach (['', "\0", $all_bytes, "\r\n$5\r\n", str_repeat($all_bytes, 4096)] as $value) {
        expect(plain($client->set("bin:$all_bytes", $value)), true);
        expect($client->get("bin:$all_bytes") === $value, true, 'the same bytes');
    }
    expect($client->strlen("bin:$all_bytes"), 1 << 20);
    expect(plain($client->get('absent')), false);
});

check('pipeline', function () use ($client) {
    $pipe = LIBRARY === 'predis' ? $client->pipeline() : $client->multi(Redis::PIPELINE);
    $wanted = [];
    for ($index = 0; $index < 500; $index++) {
        $pipe->set("pipe:$index", $index);
        $pipe->get("pipe:$index");
        array_push($wanted, true, (string) $index);
    }
    $replies = LIBRARY === 'predis' ? $pipe->execute() : $pipe->exec();
    expect(array_map('plain', $replies), $wanted);
});

check('transaction', function () use ($client) {
    $multi = LIBRARY === 'predis' ? $client->transaction() : $client->multi();
    $multi->incr('pipe:1');
    $multi->hset('h', 'f', 1);
    $multi->hgetall('h');
    $replies = LIBRARY === 'predis' ? $multi->execute() : $multi->exec();
    expect($replies, [2, 1, ['f' => '1']]);
    $client->watch('pipe:1');
    connect()->incr('pipe:1');
    $client->multi();
    $client->incr('pipe:1');
    expect(plain($client->exec()), false, 'after a write by another');
});

check('expiry', function () use ($client) {
    expect(plain($client->set('ttl', 'x')), true);
    expect([$client->ttl('ttl'), $client->ttl('absent')], [-1, -2]);
    expect((int) $client->expire('ttl', 100), 1);
    expect_between(99, $client->ttl('ttl'), 100);
    expect_between(99000, $client->pttl('ttl'), 100000);
    expect((int) $client->persist('ttl'), 1);
    expect(plain($client->psetex('soon', 30, 'x')), true);
    usleep(60000);
    expect([plain($client->get('soon')), $client->exists('soon')], [false, 0]);
});

check('incr-concurrent', function () {
    $replies = together(function () {
        $mine = connect();
        return array_map(fn () => $mine->incr('count'), range(1, 100));
    });
    $numbers = array_merge(...$replies);
    sort($numbers);
    expect($numbers === range(1, CALLERS * 100), true, 'every number once');
});

check('scan', function () use ($client) {
    $wanted = array_map(fn ($index) => "scan:$index", range(0, 999));
    $client->mset(array_fill_keys($wanted, 'x'));
    $found = [];
    if (LIBRARY === 'predis') {
        foreach (new Predis\Collection\Iterator\Keyspace($client, 'scan:*', 50) as $key) {
            $found[] = $key;
        }
    } else {
        $client->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
        $cursor = null;
        while (($keys = $client->scan($cursor, 'scan:*', 50)) !== false) {
            array_push($found, ...$keys);
        }
    }
    $found = array_unique($found);
    sort($found);
    sort($wanted);
    expect($found, $wanted);
});

check('script', function () use ($client) {
    $text = 'return {KEYS[1], ARGV[1] * 2, 3.9, redis.call("get", "absent")}';
    $sha = $client->script('load', $text);
    expect($sha, sha1($text));
    $reply = LIBRARY === 'predis' ? $client->evalsha($sha, 1, 'k', 21)
        : $client->evalSha($sha, ['k', 21], 1);
    expect(array_map('plain', $reply), ['k', 42, 3, false]);
});

check('throttle-figures', function () use ($client) {
    need_weir();
    expect(throttle($client, 'user:42', 15, 30, 60), [0, 16, 15, -1, 2]);
    $left = array_map(fn () => throttle($client, 'five', 4, 1, 10)[2], range(1, 5));
    expect($left, [4, 3, 2, 1, 0]);
    $denied = throttle($client, 'five', 4, 1, 10);
    expect(array_slice($denied, 0, 3), [1, 5, 0]);
    expect_between(9, $denied[3], 10);
});

check('throttle-concurrent', function () {
    need_weir();
    $replies = together(function () {
        $mine = connect();
        return array_map(fn () => throttle($mine, 'crowd', 99, 1, 3600)[0], range(1, 20));
    });
    expect(tally($replies), tally([array_fill(0, 100, 0), array_fill(0, 220, 1)]), 'admitted');
});

check('errors', function () use ($client) {
    $client->set('text', 'x');
    foreach ([[['INCR', 'text'], 'not an integer'], [['NOSUCH'], 'unknown command'],
        [['LPUSH', 'text', 'y'], 'WRONGTYPE'], [['EVALSHA', str_repeat('f', 40), '0'], 'NOSCRIPT']
    ] as [$words, $text]) {
        expect_error(Exception::class, $text, fn () => send($client, ...$words));
    }
    if (LIBRARY === 'predis') {
        expect_error(Predis\Response\ServerException::class, 'not an integer',
            fn () => $client->incr('text'));
    } else {
        expect($client->incr('text'), false);
        // This version leaves a zero byte at the end.
        expect(rtrim($client->getLastError(), "\0"), 'ERR value is not an integer or out of range');
    }
    expect($client->get('text'), 'x');
});

check('password', function () use ($client) {
    send($client, 'CONFIG', 'SET', 'requirepass', 's e c r e t');
    try {
        expect((bool) connect('s e c r e t')->ping(), true);
        $kind = LIBRARY === 'predis' ? Predis\PredisException::class : RedisException::class;
        expect_error($kind, 'WRONGPASS', fn () => connect('wrong')->ping());
        expect_error($kind, 'NOAUTH', fn () => connect()->ping());
    } finally {
        send($client, 'CONFIG', 'SET', 'requirepass', '');
    }
});

check('info', function () use ($client) {
    $fields = $client->info();
    $fields = LIBRARY === 'predis' ? array_merge(...array_values($fields)) : $fields;
    $fields = array_map('strval', array_filter($fields, 'is_scalar'));
    $wanted = ['redis_mode' => 'standalone', 'role' => 'master', 'loading' => '0',
        'tcp_port' => (string) PORT];
    expect(array_replace($wanted, array_intersect_key($fields, $wanted)), $wanted);
    expect((int) $fields['redis_version'] >= 7, true);
});

/** Counts until ten increments went through after the restart; how many were acknowledged. */
function count_over(string $flag): int
{
    $mine = connect();
    $acknowledged = $resumed = 0;
    while ($resumed < 10) {
        try {
            $mine ??= connect();
            if ($mine->incr('traffic') === false) {
                throw new Exception($mine->getLastError());
            }
            $acknowledged++;
            $resumed += (int) file_exists($flag);
        } catch (Exception $error) {
            $mine = null;
            if (file_exists($flag) && time() > filemtime($flag) + 10) {
                throw $error;
            }
            usleep(10000);
        }
    }
    return $acknowledged;
}

check('restart', function () use ($client, $all_bytes, &$before) {
    $client->set('kept', $all_bytes);
    $client->setex('kept:ttl', 1000, 'x');
    for ($call = 0; $call < 4 && IS_WEIR; $call++) {
        throttle($client, 'limit', 9, 1, 1000);
    }
    $before['at'] = now();
    $flag = tempnam(sys_get_temp_dir(), 'clients');
    unlink($flag);
    $counters = started(fn () => count_over($flag), 4);
    usleep(300000);
    restart_server();
    touch($flag);
    $sent = $counters();
    unlink($flag);
    expect(array_filter($sent, 'is_int'), $sent, 'acknowledged');
    $before['acknowledged'] = array_sum($sent);
});

check('reconnect', function () use (&$client) {
    for ($try = 0; $try < 3; $try++) {
        try {
            return expect((bool) $client->ping(), true);
        } catch (Exception $error) {
            // One per broken connection is the library's way of telling.
            LIBRARY === 'predis' && $client->disconnect();
        }
    }
    throw new Exception('still no connection after three tries');
});

check('data-kept', function () use ($client, $all_bytes, &$before) {
    need_durable();
    expect($client->get('kept') === $all_bytes, true, 'the same bytes');
    expect_between(900, $client->ttl('kept:ttl'), 999);
    $sent = $before['acknowledged'];
    expect_between($sent, (int) $client->get('traffic'), $sent + 4, 'stored writes');
});

check('limiter-kept', function () use ($client, &$before) {
    need_weir();
    need_durable();
    $reply = throttle($client, 'limit', 9, 1, 1000, 0);
    expect(array_slice($reply, 0, 4), [0, 10, 6, -1]);
    $passed = now() - $before['at'];
    expect_between(4000 - $passed - 1, $reply[4], 4001 - $passed, 'reset_after');
});

say('done');
