<?php
// What every PHP program of tests/clients shares: its orders, its report, its callers.
// The lines it writes are described in harness/session.py.

const HOST = '127.0.0.1';
const CALLERS = 16;
define('PORT', (int) getenv('CLIENTS_PORT'));
define('IS_WEIR', getenv('CLIENTS_SERVER') === 'weir');
define('IS_DURABLE', getenv('CLIENTS_DURABLE') === '1');

// Deprecations of a library under a newer PHP are no finding about the server.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);

/** This server or library cannot be asked, for the reason given. */
class Skip extends Exception
{
}

function say(string $line): void
{
    fwrite(STDOUT, $line . "\n");
}

function shown($value): string
{
    return substr(json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE), 0, 300);
}

function expect($got, $wanted, string $what = 'got'): void
{
    if ($got !== $wanted) {
        throw new Exception("$what " . shown($got) . ', wanted ' . shown($wanted));
    }
}

function expect_between($low, $got, $high, string $what = 'got'): void
{
    if ($got < $low || $got > $high) {
        throw new Exception("$what " . shown($got) . ", wanted $low to $high");
    }
}

/** The library's own exception, with the server's words in it. */
function expect_error(string $kind, string $text, callable $call): void
{
    try {
        $got = $call();
    } catch (Throwable $error) {
        if ($error instanceof $kind && strpos($error->getMessage(), $text) !== false) {
            return;
        }
        throw new Exception(get_class($error) . ' ' . $error->getMessage() . ", wanted $text");
    }
    throw new Exception('got ' . shown($got) . ", wanted an error with $text");
}

function check(string $name, callable $body): void
{
    try {
        $body();
        say("ok $name");
    } catch (Skip $skip) {
        say("skip $name: " . $skip->getMessage());
    } catch (Throwable $error) {
        $why = get_class($error) . ': ' . $error->getMessage();
        say("not ok $name: " . substr(preg_replace('/\s+/', ' ', $why), 0, 600));
    }
}

function need_weir(): void
{
    if (!IS_WEIR) {
        throw new Skip('Redis has no CL.THROTTLE');
    }
}

function need_durable(): void
{
    if (!IS_DURABLE) {
        throw new Skip('the server keeps nothing over a restart');
    }
}

/**
 * Has so many processes run `$body(index)`, each of which connects for itself; PHP has no threads.
 * The answer is a function that waits for them and has their results.
 */
function started(callable $body, int $callers = CALLERS): callable
{
    $pipes = [];
    for ($index = 0; $index < $callers; $index++) {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        if (($pid = pcntl_fork()) === 0) {
            try {
                $result = $body($index);
            } catch (Throwable $error) {
                $result = $error->getMessage();
            }
            fwrite($pair[1], json_encode($result));
            // No destructor of what the parent opened may run here.
            posix_kill(getmypid(), SIGKILL);
        }
        fclose($pair[1]);
        $pipes[$pid] = $pair[0];
    }
    return function () use ($pipes) {
        $results = [];
        foreach ($pipes as $pid => $pipe) {
            $results[] = json_decode(stream_get_contents($pipe), true);
            pcntl_waitpid($pid, $status);
        }
        return $results;
    };
}

function together(callable $body, int $callers = CALLERS): array
{
    return started($body, $callers)();
}

/** How often each value is among the results of all callers. */
function tally(array $results): array
{
    $counts = [];
    foreach ($results as $result) {
        if (!is_array($result)) {
            throw new Exception('a caller ended with ' . shown($result));
        }
        foreach ($result as $value) {
            $key = var_export($value, true);
            $counts[$key] = ($counts[$key] ?? 0) + 1;
        }
    }
    return $counts;
}

function now(): float
{
    return hrtime(true) / 1e9;
}

/** Has the server killed and started again; returns when it answers. */
function restart_server(): void
{
    say('restart');
    if (fgets(STDIN) === false) {
        exit("the server did not come back\n");
    }
}
