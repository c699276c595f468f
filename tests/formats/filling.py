"""What a stored directory holds. Each kind of data is filled in two steps: `before` the write-back, so
that it lies in files of the state, and `after` it, so that the log has changes of it and new keys.

A kind answers facts as well: ids and the like that a test needs to go on with the directory.
"""

import hashlib

from directory import harness

YEAR_2100_MS = 4_102_444_800_000
LONG = "x" * 50_000
LIBRARY = """#!lua name=%s
redis.register_function('%s_get', function(keys) return redis.call('GET', keys[1]) end)
redis.register_function{function_name='%s_sum', flags={'no-writes'},
  callback=function(keys, args) return args[1] + args[2] end}
"""
SCRIPT = "return {KEYS[1], ARGV[1], 'kept'}"

# One of each algorithm, and those of its options that change what is stored.
LIMITS = {
    "gcra": "GCRA 100/1m BURST 20",
    "gcra-remainder": "GCRA 7/1s BURST 20",
    "bucket": "TOKENBUCKET 10/1m CAPACITY 30 INITIAL 12",
    "bucket-interval": "TOKENBUCKET 10/1h CAPACITY 30 REFILL INTERVAL",
    "leaky": "LEAKY 10/1m CAPACITY 30",
    "fixed": "FIXED 10/1h",
    "fixed-epoch": "FIXED 10/1h ALIGN EPOCH",
    "fixed-month": "FIXED 1000 ALIGN MONTH OFFSET +08:00",
    "log": "SLIDINGLOG 20/1h",
    "window": "SLIDINGWINDOW 20/1h BUCKETS 6 PERBUCKET 9",
    "counter": "SLIDINGCOUNTER 20/1m",
    "bursty": "BURSTY 10/1m MAXBURST 3m",
    "warmup": "WARMUP 10/1m OVER 5m COLD 4",
    "concurrency": "CONCURRENCY 9 LEASE 2h",
    "several": "GCRA 100/1m BURST 20 FIXED 1000 ALIGN DAY SLIDINGLOG 40/1h CONCURRENCY 8 LEASE 1h",
    "twice": "SLIDINGLOG 5/1m SLIDINGLOG 50/1h GCRA 7/1s BURST 20",
}
HELD = {"held:fixed": "FIXED 100/1h", "held:gcra": "GCRA 100/1h BURST 99",
        "held:settled": "SLIDINGCOUNTER 100/1h"}
EFFECTS = {"e:shadow": "FIXED 5/1h SHADOW", "e:some": "FIXED 5/1h PERCENT 40", "e:none": "UNLIMITED",
           "e:all": "BLOCKED", "e:strict": "FIXED 5/1h BAN 10m AFTER 3 WITHIN 1m"}
BOOKED = "GCRA 1/1m BURST 9"
FUNNEL = "LEAKY 2/1m CAPACITY 10"


def many(client, requests):
    for words in requests:
        client.call(*words)


def before_values(client, facts):
    many(client, [
        ("SET", "s:small", "hello"), ("SET", "s:empty", ""), ("SET", "s:number", "-42"),
        ("SET", "s:large", LONG), ("SET", "s:binary", bytes(range(256))),
        ("SET", "s:ends", "later", "PXAT", YEAR_2100_MS), ("SET", "s:changed", "old"),
        ("SET", "s:deleted", "old"),
        ("HSET", "h:small", "a", "1", "b", "2"), ("RPUSH", "l:small", "a", "b", "c"),
        ("SADD", "set:small", "x", "y", "1"), ("ZADD", "z:small", 1, "a", 2.5, "b", "-inf", "c"),
        ("SADD", "set:dropped", *range(300)), ("RPUSH", "l:replaced", *range(200)),
        ("HSET", "h:renamed", "f", "v", "g", "w"), ("SET", "over", "a string first")])
    many(client, [("HSET", "h:large", f"field:{i}", f"value {i}") for i in range(1500)])
    many(client, [("RPUSH", "l:large", f"element {i}") for i in range(1500)])
    many(client, [("SADD", "set:large", f"member {i}") for i in range(1500)])
    many(client, [("ZADD", "z:large", i * 0.5 - 300, f"member {i}") for i in range(1500)])
    many(client, [("PEXPIREAT", key, YEAR_2100_MS) for key in ("h:large", "z:small", "l:small")])


def after_values(client, facts):
    many(client, [
        ("SET", "s:changed", "new"), ("DEL", "s:deleted", "set:dropped"), ("PERSIST", "s:ends"),
        ("APPEND", "s:small", " again"), ("SET", "s:late", "in the log", "PXAT", YEAR_2100_MS),
        ("HSET", "h:large", "field:7", "changed", "late", "1"), ("HDEL", "h:large", "field:8"),
        ("LPUSH", "l:large", "front"), ("RPOP", "l:large"), ("LSET", "l:large", 5, "changed"),
        ("LINSERT", "l:large", "BEFORE", "element 100", "between"), ("LTRIM", "l:large", 0, 1400),
        ("SREM", "set:large", "member 3"), ("SADD", "set:large", "late"),
        ("ZADD", "z:large", 1e9, "member 5", "-1e300", "late"), ("ZREM", "z:large", "member 6"),
        ("DEL", "l:replaced"), ("SADD", "l:replaced", "a", "set"), ("DEL", "over"),
        ("HSET", "over", "a", "hash now"), ("RENAME", "h:renamed", "h:name"),
        ("RPUSH", "l:late", *range(100)), ("EXPIRE", "set:small", 1000)])


def reads_values():
    keys = ["s:small", "s:empty", "s:number", "s:large", "s:binary", "s:ends", "s:changed",
            "s:deleted", "s:late"]
    reads = [["GET", key] for key in keys] + [["PEXPIRETIME", key] for key in (
        "s:ends", "s:late", "h:large", "z:small", "l:small", "set:small")]
    for name in ("h:small", "h:large", "h:name", "h:renamed", "over"):
        reads += [["TYPE", name], ["HLEN", name], ["HGETALL", name]]
    for name in ("l:small", "l:large", "l:late"):
        reads += [["LLEN", name], ["LRANGE", name, "0", "-1"], ["LINDEX", name, "5"]]
    for name in ("set:small", "set:large", "set:dropped", "l:replaced"):
        reads += [["TYPE", name], ["SCARD", name], ["SMEMBERS", name]]
    for name in ("z:small", "z:large"):
        reads += [["ZCARD", name], ["ZRANGE", name, "0", "-1", "WITHSCORES"],
                  ["ZRANK", name, "member 700"], ["ZRANGE", name, "0", "3", "WITHSCORES"]]
    return reads


def before_databases(client, facts):
    many(client, [("SELECT", 9), ("SET", "soon", "gone by then", "PX", 3_000), ("SET", "stays", 1)])
    for database in (1, 2, 15):
        client.call("SELECT", database)
        many(client, [("SET", f"key:{i}", f"{database} {i}") for i in range(50)])
        client.call("RL.TAKE", "limiter", "FIXED", "10/1h", "COST", database % 7)
    client.call("SELECT", 0)


def after_databases(client, facts):
    client.call("SELECT", 2)
    many(client, [("FLUSHDB",), ("SET", "key:1", "after the flush")])
    client.call("SELECT", 0)
    many(client, [("SWAPDB", 1, 15), ("SET", "moved", "m"), ("MOVE", "moved", 7)])


def before_limiters(client, facts):
    for name, limits in LIMITS.items():
        for cost in (1, 3):
            client.call("RL.TAKE", f"rl:{name}", *limits.split(), "COST", cost)
    many(client, [("CL.THROTTLE", "cell", 15, 30, 60),
                  ("RL.TAKE", "rl:ends", "FIXED", "10/1h"), ("EXPIRE", "rl:ends", 900),
                  ("SET", "adopted", b"%d" % (facts["now_ms"] * 1_000_000 + 20_000_000_000)),
                  ("SET", "adopted:late", b"%d" % (facts["now_ms"] * 1_000_000 + 25_000_000_000)),
                  ("CL.THROTTLE", "adopted", 15, 30, 60)])


def after_limiters(client, facts):
    for name, limits in LIMITS.items():
        client.call("RL.TAKE", f"rl:{name}", *limits.split(), "COST", 2)
        client.call("RL.TAKE", f"rl:late:{name}", *limits.split(), "COST", 1)
    many(client, [("CL.THROTTLE", "cell", 15, 30, 60, 3),
                  ("THROTTLE", "crab", 10, 30, 60), ("GCRA", "redis-gcra", 10, 30, 60),
                  ("RL.REFUND", "rl:fixed", 1),
                  ("RL.TAKE", "rl:debt", *LIMITS["gcra"].split(), "COST", 90, "FORCE")])


def reads_limiters():
    keys = [f"rl:{late}{name}" for late in ("", "late:") for name in LIMITS]
    reads = []
    for key in [*keys, "rl:ends", "rl:debt", "cell", "crab", "redis-gcra", "adopted"]:
        reads += [["RL.INFO", key], ["RL.PEEK", key], ["PEXPIRETIME", key], ["TYPE", key]]
    return reads + [["GET", "adopted:late"]]


def before_leases(client, facts):
    pool = ("RL.TAKE", "pool", "CONCURRENCY", 10, "LEASE", "1d")
    facts["leases"] = [client.call(*pool, "COST", cost)[-1] for cost in (1, 2, 3)]
    given_back = client.call(*pool)[-1]
    client.call("RL.RELEASE", "pool", given_back)
    facts["lease_given_back"] = given_back


def after_leases(client, facts):
    pool = ("RL.TAKE", "pool", "CONCURRENCY", 10, "LEASE", "1d")
    facts["leases"].append(client.call(*pool, "COST", 1)[-1])
    two = ("CONCURRENCY", 4, "LEASE", "1h", "CONCURRENCY", 6, "LEASE", "2h")
    facts["lease_of_two"] = client.call("RL.TAKE", "pools", *two)[-1]


def reserve(client, key, limits, cost):
    granted, _, booking = client.call("RL.RESERVE", key, *limits.split(), "COST", cost)
    if granted != 1:
        raise AssertionError(f"{key}: the booking was not granted")
    return booking


def before_bookings(client, facts):
    reserve(client, "booked", BOOKED, 10)  # all there is; whoever books now has to wait
    facts["bookings"] = [reserve(client, "booked", BOOKED, cost) for cost in (4, 5)]
    # The second is booked after the first and is due before it.
    slow, fast = "GCRA 1/1h BURST 3", "GCRA 1/1m BURST 3"
    reserve(client, "crossed", f"{slow} {fast}", 4)
    facts["crossed"] = [reserve(client, "crossed", f"{slow} {fast}", 2),
                        reserve(client, "crossed", fast, 1)]


def after_bookings(client, facts):
    facts["bookings"] += [reserve(client, "booked", BOOKED, cost) for cost in (2, 3)]
    facts["cancelled"] = reserve(client, "booked", BOOKED, 1)
    client.call("RL.CANCEL", "booked", facts["cancelled"])
    for name, limits in (("bursty", "BURSTY 10/1m"), ("leaky", "LEAKY 10/1m CAPACITY 50"),
                         ("bucket", "TOKENBUCKET 1/1m CAPACITY 4"), ("warmup", "WARMUP 10/1m OVER 5m")):
        key = f"booked:{name}"
        reserve(client, key, limits, 4)
        facts[key] = [reserve(client, key, limits, cost) for cost in (1, 2, 1)]


def before_named(client, facts):
    many(client, [
        ("RL.POLICY", "SET", "free", "GCRA", "10/1m", "BURST", 5),
        ("RL.POLICY", "SET", "paid", *LIMITS["several"].split(), "ONCHANGE", "PROPORTIONAL"),
        ("RL.POLICY", "SET", "deleted", "FIXED", "5/1h"),
        ("RL.TAKE", "p:free", "POLICY", "free", "COST", 2),
        ("RL.TAKE", "p:paid", "POLICY", "paid"), ("RL.TAKE", "p:deleted", "POLICY", "deleted"),
        ("FUNCTION", "LOAD", LIBRARY % (("early",) * 3)), ("SCRIPT", "LOAD", SCRIPT),
        ("EVAL", "return 'by EVAL'", 0)])


def after_named(client, facts):
    many(client, [
        ("RL.POLICY", "SET", "free", "GCRA", "20/1m", "BURST", 7),
        ("RL.POLICY", "SET", "late", "FIXED", 100, "ALIGN", "DAY", "ONCHANGE", "RESET"),
        ("RL.POLICY", "DEL", "deleted"), ("RL.TAKE", "p:late", "POLICY", "late"),
        ("FUNCTION", "LOAD", LIBRARY % (("late",) * 3))])


def reads_named():
    sha1 = hashlib.sha1(SCRIPT.encode()).hexdigest()
    reads = [["RL.POLICY", "GET", name] for name in ("free", "paid", "late", "deleted")]
    reads += [["RL.POLICY", "LIST"], ["FUNCTION", "LIST", "LIBRARYNAME", "early", "WITHCODE"],
              ["FCALL", "early_get", "1", "s:small"], ["FCALL_RO", "late_sum", "0", "3", "4"],
              ["EVALSHA", sha1, "1", "key", "word"]]
    for key in ("p:free", "p:paid", "p:deleted", "p:late"):
        reads += [["RL.INFO", key], ["RL.PEEK", key]]
    return reads


def before_remembered(client, facts):
    facts["remembered"] = []
    for token, words in (("t1", ["RL.TAKE", "idem", "FIXED", "10/1h", "COST", "2", "ID", "t1"]),
                         ("t2", ["RL.TAKE", "idem:pool", "CONCURRENCY", "9", "LEASE", "1h", "ID", "t2"])):
        facts["remembered"].append([token, words, client.call(*words)])


def after_remembered(client, facts):
    reserve(client, "idem:book", BOOKED, 10)
    words = ["RL.RESERVE", "idem:book", *BOOKED.split(), "COST", "3", "ID", "t3"]
    facts["remembered"].append(["t3", words, client.call(*words)])


def hold(client, key, limits, cost):
    return client.call("RL.TAKE", key, *limits.split(), "COST", cost, "HOLD", "6h")[-1]


def before_holds(client, facts):
    facts["holds"] = {key: hold(client, key, limits, 30) for key, limits in HELD.items()}
    banned = "FIXED 2/1h BAN 1d AFTER 1 WITHIN 1m".split()
    warned = "GCRA 2/1h BAN 1d AFTER 3 WITHIN 10m".split()
    many(client, [("RL.TAKE", "banned", *banned, "COST", 2), ("RL.TAKE", "banned", *banned),
                  ("RL.TAKE", "warned", *warned, "COST", 2), ("RL.TAKE", "warned", *warned)])


def after_holds(client, facts):
    facts["settled"] = [facts["holds"].pop("held:settled"), 10]
    facts["settled"].append(client.call("RL.SETTLE", "held:settled", *facts["settled"]))
    facts["late_hold"] = hold(client, "held:late", "SLIDINGLOG 100/1h", 40)
    client.call("RL.TAKE", "warned", *"GCRA 2/1h BAN 1d AFTER 3 WITHIN 10m".split())


def before_effects(client, facts):
    client.call("RL.POLICY", "SET", "e:base", "FIXED", "10/1h")
    for name, words in EFFECTS.items():
        client.call("RL.POLICY", "SET", name, *words.split())
    many(client, [("RL.POLICY", "OVERRIDE", "e:base", "KEY", "own", "FIXED", "77/1h"),
                  ("RL.POLICY", "OVERRIDE", "e:base", "PREFIX", "vip:", "UNLIMITED"),
                  ("RL.POLICY", "OVERRIDE", "e:base", "KEY", "gone", "BLOCKED")])


def after_effects(client, facts):
    many(client, [("RL.POLICY", "OVERRIDE", "e:base", "PREFIX", "vip:not:", "BLOCKED"),
                  ("RL.POLICY", "OVERRIDE", "e:base", "KEY", "gone", "DEL"),
                  ("RL.POLICY", "SET", "e:shadow", "FIXED", "2/1h", "SHADOW")])


def reads_effects():
    reads = [["RL.POLICY", verb, name] for name in ("e:base", *EFFECTS)
             for verb in ("GET", "OVERRIDES", "HISTORY")]
    for key in ("own", "vip:1", "vip:not:1", "gone", "other"):
        reads.append(["RL.PEEK", key, "POLICY", "e:base"])
    reads += [["RL.PEEK", f"user:{i}", "POLICY", "e:some", "COST", "9"] for i in range(20)]
    for key in (*HELD, "held:late", "banned", "warned"):
        reads += [["RL.INFO", key], ["RL.PEEK", key]]
    return reads


def before_dumps(client, facts):
    pass


def after_dumps(client, facts):
    """Dumps outlive directories; the last kind, so that they are of the keys as they are kept."""
    facts["dumps"] = {key: client.call("DUMP", key).decode("latin-1")
                      for key in ("rl:several", "rl:twice", "rl:debt", "pool", "booked", "z:small",
                                  "held:gcra", "banned")}


KINDS = [(before_values, after_values), (before_databases, after_databases),
            (before_limiters, after_limiters), (before_leases, after_leases),
            (before_bookings, after_bookings), (before_named, after_named),
            (before_remembered, after_remembered), (before_holds, after_holds),
            (before_effects, after_effects), (before_dumps, after_dumps)]


def depart(client, facts):
    """A request that the funnel has let in and that leaves it in a minute; nobody reads on."""
    facts["funnel"] = reserve(client, "funnel", FUNNEL, 1)
    client.send(harness.encode("RL.ACQUIRE", "funnel", *FUNNEL.split(), "TIMEOUT", 0))


def reads():
    """[database, words] of all that is compared."""
    found = [(0, words) for words in reads_values() + reads_limiters() + reads_named()
             + reads_effects()]
    for key in ("pool", "pools", "booked", "crossed", "funnel", "idem", "idem:pool", "idem:book",
                *(f"booked:{name}" for name in ("bursty", "leaky", "bucket", "warmup"))):
        found += [(0, ["RL.INFO", key]), (0, ["RL.PEEK", key])]
    found += [(9, ["GET", "soon"]), (9, ["GET", "stays"])]
    for database in (0, 1, 2, 7, 15):
        found += [(database, words) for words in (["DBSIZE"], ["GET", "key:1"], ["GET", "moved"],
                                                  ["RL.INFO", "limiter"], ["KEYS", "*"])]
    return found
