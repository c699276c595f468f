"""All that a server holds, read in a few pipelines."""

from wire import decode, encode

DATABASES = 16
ORDERED = (b"listpack", b"intset", b"quicklist", b"skiplist")  # forms whose order is to be the same
CONTENT = {
    b"+string": lambda key: (b"GET", key),
    b"+hash": lambda key: (b"HGETALL", key),
    b"+set": lambda key: (b"SMEMBERS", key),
    b"+list": lambda key: (b"LRANGE", key, b"0", b"-1"),
    b"+zset": lambda key: (b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"),
}


def ask_all(connection, requests):
    if not requests:
        return []
    return connection.exchange([b"".join(encode(*words) for words in requests)], len(requests))


def places_of(connection):
    """Pairs of a database and a key."""
    requests = [request for database in range(DATABASES)
                for request in ((b"SELECT", b"%d" % database), (b"KEYS", b"*"))]
    replies = ask_all(connection, requests)
    return [(database, key) for database, keys in enumerate(replies[1::2]) for key in decode(keys)]


def ask_of_places(connection, places, ask):
    """The replies to what `ask` makes of each place's number and key; each takes one request more."""
    requests = []
    for number, (database, key) in enumerate(places):
        requests += [(b"SELECT", b"%d" % database), *ask(number, key)]
    return ask_all(connection, requests)


def arranged(kind, form, content):
    if kind == b"+string":
        return content
    flat = decode(content)
    if form in ORDERED:
        return form, flat
    return form, sorted(zip(flat[::2], flat[1::2]) if kind == b"+hash" else flat)


def read_state(connection):
    """(database, key) -> (what it holds, when it ends)."""
    places = places_of(connection)
    facts = ask_of_places(connection, places, lambda number, key: (
        (b"TYPE", key), (b"OBJECT", b"ENCODING", key), (b"PEXPIRETIME", key)))
    kinds = [raw.rstrip() for raw in facts[1::4]]
    contents = ask_of_places(connection, places, lambda number, key: (
        CONTENT.get(kinds[number], lambda key: (b"TYPE", key))(key),))
    ask_all(connection, [(b"SELECT", b"0")])
    return {place: (arranged(kinds[number], decode(facts[4 * number + 2]), contents[2 * number + 1])
                    if kinds[number] in CONTENT else kinds[number],
                    decode(facts[4 * number + 3]))
            for number, place in enumerate(places)}
