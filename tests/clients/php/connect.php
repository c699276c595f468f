<?php
// Connections of the library that CLIENTS_LIBRARY names: phpredis or predis.

require __DIR__ . '/report.php';

define('LIBRARY', getenv('CLIENTS_LIBRARY'));
if (LIBRARY === 'predis') {
    require_once 'Predis/autoload.php';
}

function library_version(): string
{
    return LIBRARY === 'predis' ? Predis\Client::VERSION : phpversion('redis');
}

function connect(?string $password = null)
{
    if (LIBRARY === 'predis') {
        return new Predis\Client(array_filter(['host' => HOST, 'port' => PORT,
            'password' => $password, 'read_write_timeout' => 10]));
    }
    $client = new Redis();
    $client->connect(HOST, PORT, 10.0);
    if ($password !== null) {
        $client->auth($password);
    }
    return $client;
}

/** A command as the library takes one that it has no function for. */
function send($client, ...$words)
{
    if (LIBRARY === 'predis') {
        $reply = $client->executeRaw($words, $is_error);
        return $is_error ? throw new Exception($reply) : $reply;
    }
    $client->clearLastError();
    $reply = $client->rawCommand(...$words);
    return $client->getLastError() ? throw new Exception($client->getLastError()) : $reply;
}

/** Predis says OK with an object and 0 or 1 where phpredis says true and false. */
function plain($reply)
{
    if ($reply instanceof Predis\Response\Status) {
        return $reply->getPayload() === 'OK' ? true : $reply->getPayload();
    }
    return $reply === null ? false : $reply;
}
