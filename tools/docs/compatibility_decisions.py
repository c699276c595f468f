"""What the page of compatibility says beside what it measures: why a command is absent, where weir
differs by a decision, what is to be known of one that is the same.

A name ends in * where it stands for all that begin so. Reasons are one line each.
"""

ABSENT = {
    "bit*": "no bit operations on strings: limiters keep counters, not bitmaps",
    "getbit": "as BITCOUNT",
    "setbit": "as BITCOUNT",
    "geo*": "no places on the globe",
    "pf*": "no HyperLogLog",
    "x*": "no streams",
    "lcs": "no comparison of long texts inside the server",
    "migrate": "weir sends its keys to no other server; MIGRATE of a Redis brings its keys here, DUMP and RESTORE take them back",
    "restore-asking": "a cluster's own",
    "bgrewriteaof": "the log is shortened by write-back, always",
}

DIFFERS = {
    "object|idletime": "always 0: it is not kept",
    "object|refcount": "always 1: nothing is shared",
    "object|encoding": "of a string it follows from the bytes alone",
    "memory|usage": "what the key takes here",
    "memory|stats": "weir's metrics",
    "memory|doctor": "weir's words",
    "memory|malloc-stats": "weir's allocator",
    "latency|doctor": "weir's words",
    "latency|histogram": "one call in sixteen is timed, and stands for the others",
    "debug": "a few subcommands (ERROR, SLEEP, SET-ACTIVE-EXPIRE), and its hints name them",
    "save": "a checkpoint in a directory of its own, beside the data",
    "bgsave": "a checkpoint in a directory of its own, beside the data",
    "script|debug": "refused but for NO: there is no script debugger",
    "lolwut": "shows a weir",
    "replicaof": "OK for NO ONE, else an error: weir does not speak Redis' replication",
    "slaveof": "OK for NO ONE, else an error: weir does not speak Redis' replication",
    "replconf": "an error: weir does not speak Redis' replication",
    "psync": "an error: weir does not speak Redis' replication",
    "sync": "an error: weir does not speak Redis' replication",
    "acl|list": "as ACL GETUSER",
    "acl|getuser": "commands are the rules as they were given, as in 7.2; `limits` besides, where a user has rules about them",
    "acl|load": "closes the connections whose user is gone, not those of all but `default`",
    "acl|log": "three fields more, those of 7.2",
    "module|load": "an error: no modules are loaded",
    "module|loadex": "an error: no modules are loaded",
    "module|unload": "an error: no modules are loaded",
}

NOTES = {
    "dump": "in Redis 7.0's form, never compressed",
    "restore": "of dumps by Redis up to 7.2; streams and modules are refused by name",
    "zrank": "as in 7.2, with WITHSCORE",
    "zrevrank": "as in 7.2, with WITHSCORE",
    "scan": "a cursor stays good over restarts; no key comes twice",
    "hscan": "likewise where the hash is large",
    "sscan": "likewise where the set is large",
    "zscan": "likewise where the sorted set is large",
    "randomkey": "a key after a wide gap in key order is likelier",
    "type": "`limiter` for a limiter",
    "info": "weir's own fields beside those that clients read",
    "config|get": "of weir's options; those of Redis that clients ask for are there",
    "config|set": "of weir's options",
    "config|rewrite": "of weir's options",
    "command|docs": "the summaries are weir's words; options of weir's own are told too",
    "eval": "`redis.error_reply('WORD')` stays `-WORD`; bounds of time and memory",
    "evalsha": "bodies survive restarts",
    "script|load": "bodies survive restarts",
    "exec": "one instant for all of it, whole or not at all through a crash",
    "wait": "a server of no shard never has replicas",
    "hrandfield": "at most 1,048,576 repetitions",
    "srandmember": "at most 1,048,576 repetitions",
    "zrandmember": "at most 1,048,576 repetitions",
    "monitor": "a monitor that does not read is held to the limit of class pubsub",
    "latency|latest": "events are `command`, `fast-command`, `commit`, `write-back`, `turn`, and what held the loop for over 10 ms",
    "slowlog|get": "inside scripts and transactions times are those of a coarse clock",
    "sort": "its key specifications leave the patterns out",
    "sort_ro": "its key specifications leave the patterns out",
    "cluster|*": "where `cluster-enabled` is on the topology comes from the configuration",
    "cluster|help": "",
    "acl|cat": "with `ratelimit` and `ratelimitadmin`, the categories of limiters",
    "shutdown": "waits for nothing, so there is nothing to abort",
    "lastsave": "of SAVE and BGSAVE; nothing is lost without them",
}

OURS = {
    "rl.*": "weir's own: limiters",
    "weir": "weir's own: its clock, and its shard",
    "weir|*": "weir's own: its clock, and its shard",
    "sentinel": "Redis Sentinel's, which members of a shard stand in for",
    "sentinel|*": "Redis Sentinel's, which members of a shard stand in for",
    "cl.throttle": "redis-cell's",
    "throttle": "throttlecrab's",
    "gcra": "written for Redis 8.8, held back there",
    "increx": "of Redis 8.8",
    "client|setinfo": "of Redis 7.2",
    "cluster|myshardid": "of Redis 7.2",
    "client|no-touch": "of Redis 7.2",
    "waitaof": "of Redis 7.2",
    "client|capa": "of Valkey 8",
    "hexpire*": "of Redis 7.4; refused by name, since only whole keys expire",
    "hpexpire*": "of Redis 7.4; refused by name, since only whole keys expire",
    "hpersist": "of Redis 7.4; refused by name, since only whole keys expire",
    "httl": "of Redis 7.4; refused by name, since only whole keys expire",
    "hpttl": "of Redis 7.4; refused by name, since only whole keys expire",
}

# What differs in COMMAND INFO and COMMAND DOCS and means nothing to clients.
FACTS_APART = {
    "zrank": "arity, arguments",
    "zrevrank": "arity, arguments",
    "client|kill": "arguments",
    "failover": "arguments",
    "replicaof": "arguments",
    "slaveof": "arguments",
    "sort": "key specifications",
    "sort_ro": "key specifications",
    "debug": "arguments",
    "command|getkeys": "arguments",
    "command|getkeysandflags": "arguments",
}

# What limiter libraries and their clients send: none of it may be absent or differ.
LIBRARIES = """evalsha get eval del expire incrby set script|load pexpire pttl zadd zremrangebyscore
exists hset zcard zrange hget hgetall hmget multi exec discard watch unwatch ping setex time ttl incr
zrem hincrby hsetnx mget pexpireat pexpiretime info select decrby hmset lindex lpush ltrim persist
rename scan zrangebyscore zremrangebyrank zscore decr expireat hdel hkeys hstrlen zincrby zcount llen
lrange keys psetex setnx unlink sadd smembers publish subscribe unsubscribe quit script|exists flushdb
gcra hello auth client|setname client|setinfo client|id client|getname client|tracking client|reply
client|no-evict client|no-touch echo readonly config|get command command|count command|docs role wait
reset increx cl.throttle eval_ro evalsha_ro flushall hlen hvals type dbsize script|flush""".split()
