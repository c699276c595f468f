"""A user of ~a:* and &a:* against every command that takes a key or a channel, and options that
nobody may change from outside."""

import os

from attacks import attack

# K is a key of somebody else, DUMP a dump. Everything else is taken as it stands.
REQUESTS = """
GET K|SET K v|APPEND K v|DECR K|DECRBY K 1|GETDEL K|GETEX K|GETRANGE K 0 -1|GETSET K v|INCR K
INCRBY K 1|INCRBYFLOAT K 1|INCREX K BYINT 1|MGET a:s K|MSET a:s v K v|MSETNX a:q v K v
PSETEX K 1000 v|SETEX K 10 v|SETNX K v|SETRANGE K 0 v|STRLEN K|SUBSTR K 0 -1
HDEL K f|HEXISTS K f|HGET K f|HGETALL K|HINCRBY K f 1|HINCRBYFLOAT K f 1|HKEYS K|HLEN K|HMGET K f
HMSET K f v|HRANDFIELD K|HSCAN K 0|HSET K f v|HSETNX K f v|HSTRLEN K f|HVALS K
BLMOVE K a:l LEFT LEFT 0.01|BLMOVE a:l K LEFT LEFT 0.01|BLMPOP 0.01 2 a:q K LEFT|BLPOP a:q K 0.01
BRPOP K 0.01|BRPOPLPUSH K a:l 0.01|BRPOPLPUSH a:l K 0.01|LINDEX K 0|LINSERT K BEFORE 1 2|LLEN K
LMOVE K a:l LEFT LEFT|LMOVE a:l K LEFT LEFT|LMPOP 2 a:q K LEFT|LPOP K|LPOS K 1|LPUSH K 1|LPUSHX K 1
LRANGE K 0 -1|LREM K 0 1|LSET K 0 1|LTRIM K 0 0|RPOP K|RPOPLPUSH K a:l|RPOPLPUSH a:l K|RPUSH K 1
RPUSHX K 1|SADD K x|SCARD K|SDIFF a:set K|SDIFFSTORE K a:set|SDIFFSTORE a:set K|SINTER a:set K
SINTERCARD 2 a:set K|SINTERSTORE K a:set|SINTERSTORE a:set K|SISMEMBER K x|SMEMBERS K|SMISMEMBER K x
SMOVE K a:set x|SMOVE a:set K x|SPOP K|SRANDMEMBER K|SREM K x|SSCAN K 0|SUNION a:set K
SUNIONSTORE K a:set|SUNIONSTORE a:set K
BZPOPMAX K 0.01|BZPOPMIN K 0.01|BZMPOP 0.01 2 a:q K MIN|ZADD K 1 m|ZCARD K|ZCOUNT K 0 1
ZDIFF 2 a:z K|ZDIFFSTORE K 1 a:z|ZDIFFSTORE a:z 1 K|ZINCRBY K 1 m|ZINTER 2 a:z K|ZINTERCARD 2 a:z K
ZINTERSTORE K 1 a:z|ZINTERSTORE a:z 1 K|ZLEXCOUNT K - +|ZMPOP 2 a:q K MIN|ZMSCORE K m|ZPOPMAX K
ZPOPMIN K|ZRANDMEMBER K|ZRANGE K 0 -1|ZRANGEBYLEX K - +|ZRANGEBYSCORE K 0 1|ZRANGESTORE K a:z 0 -1
ZRANGESTORE a:z K 0 -1|ZRANK K m|ZREM K m|ZREMRANGEBYLEX K - +|ZREMRANGEBYRANK K 0 1
ZREMRANGEBYSCORE K 0 1|ZREVRANGE K 0 -1|ZREVRANGEBYLEX K + -|ZREVRANGEBYSCORE K 1 0|ZREVRANK K m
ZSCAN K 0|ZSCORE K m|ZUNION 2 a:z K|ZUNIONSTORE K 1 a:z|ZUNIONSTORE a:z 1 K
COPY K a:q|COPY a:s K|DEL a:q K|DUMP K|EXISTS a:q K|EXPIRE K 10|EXPIREAT K 99999999999|EXPIRETIME K
MOVE K 1|OBJECT ENCODING K|OBJECT FREQ K|OBJECT IDLETIME K|OBJECT REFCOUNT K|PERSIST K
PEXPIRE K 1000|PEXPIREAT K 9999999999999|PEXPIRETIME K|PTTL K|RENAME K a:q|RENAME a:s K
RENAMENX K a:q|RENAMENX a:s K|RESTORE K 0 DUMP REPLACE|SORT K|SORT a:l STORE K|SORT a:l BY b:*
SORT a:l GET b:*|SORT a:l BY nosort GET b:s*|SORT_RO K|SORT_RO a:l BY b:*|SORT_RO a:l GET b:*
TOUCH a:q K|TTL K|TYPE K|UNLINK K|WATCH a:q K|MEMORY USAGE K
CL.THROTTLE K 1 1 1|RL.THROTTLE K 1 1 1|THROTTLE K 1 1 1|GCRA K 1 1 1|RL.TAKE K FIXED 10/1h
RL.PEEK K|RL.PEEK K FIXED 10/1h|RL.MTAKE 2 a:rl K FIXED 10/1h FIXED 10/1h
RL.MTAKE 2 K a:rl FIXED 10/1h FIXED 10/1h|RL.ACQUIRE K FIXED 10/1h TIMEOUT 1|RL.CANCEL K 1
RL.INFO K|RL.REFUND K 1|RL.SETTLE K 1 1|RL.RELEASE K 1|RL.RENEW K 1|RL.REPORT K OK|RL.RESERVE K GCRA 1/1s|RL.RESET K
EVAL body 1 K|EVALSHA sha 1 K|FCALL name 1 K
SUBSCRIBE b:c|PSUBSCRIBE b:*|SSUBSCRIBE b:c|PUBLISH b:c x|SPUBLISH b:c x
"""
SCRIPTED = ("'GET', 'b:s'", "'RL.TAKE', 'b:rl', 'FIXED', '10/1h'", "'SORT', 'a:l', 'GET', 'b:*'",
            "'RENAME', 'b:s', 'a:q'")
REFUSALS = ("NOPERM", "permission", "can't access", "can't run", "ERR BY option of SORT denied",
            "ERR GET option of SORT denied")
OTHERS = ("b:s", "b:l", "b:set", "b:z", "b:h", "b:rl", "b:none")


def seed(owner):
    for own in ("a:", "b:"):
        owner.call("SET", own + "s", "secret")
        owner.call("RPUSH", own + "l", 3, 1, 2)
        owner.call("SADD", own + "set", "x", "y")
        owner.call("ZADD", own + "z", 1, "m", 2, "n")
        owner.call("HSET", own + "h", "f", "secret")
        owner.call("RL.TAKE", own + "rl", "FIXED", "10/1h")


def requests(dump):
    for line in REQUESTS.split("\n"):
        for words in filter(None, (part.split() for part in line.split("|"))):
            for key in OTHERS if "K" in words else OTHERS[:1]:
                yield words[:1] + [{"K": key, "DUMP": dump}.get(word, word) for word in words[1:]]
    for words in SCRIPTED:
        yield ["EVAL", f"return redis.call({words})", "0"]


def is_refused(reply):
    return isinstance(reply, str) and any(word in reply for word in REFUSALS)


@attack
def foreign_keys(arena):
    """Every command on keys that are not the user's: all refused, and nothing has changed."""
    arena.start()
    owner = arena.connect()
    seed(owner)
    dump = owner.call("DUMP", "b:s")
    before = {key: owner.call("DUMP", key) for key in OTHERS}
    owner.call("ACL", "SETUSER", "u", "on", ">word", "+@all", "~a:*", "&a:*")
    user = arena.connect()
    user.call("AUTH", "u", "word")
    with arena.bystander():
        count = 0
        for words in requests(dump):
            reply = user.ask(*words)
            count += 1
            arena.expect(is_refused(reply), f"{' '.join(map(str, words))[:60]}: {str(reply)[:60]}")
        arena.note(f"{count} requests")
    arena.expect(before == {key: owner.call("DUMP", key) for key in OTHERS}, "a key has changed")


@attack
def fixed_options(arena):
    """Options that name files and addresses cannot be set by a client, whatever its rights."""
    arena.start()
    client = arena.connect()
    planted = os.path.join(arena.folder, "planted")
    with arena.bystander():
        for name in ("dir", "logfile", "pidfile", "aclfile", "unixsocket", "port", "bind",
                     "storage", "enable-debug-command", "include", "user", "config-file"):
            reply = client.ask("CONFIG", "SET", name, planted)
            arena.expect(reply.startswith("ERR"), f"CONFIG SET {name} answers {reply[:40]}")
        for words in (("CONFIG", "REWRITE"), ("ACL", "SAVE"), ("ACL", "LOAD")):
            arena.expect(client.ask(*words).startswith("ERR"), f"{words} is not refused")
        client.ask("CONFIG", "SET", "requirepass", "a\r\nport 1\r\n")
        arena.expect(client.call("CONFIG", "GET", "port")[1] == b"%d" % arena.server.port,
                     "a line inside a value became an option")
    arena.expect(not os.path.exists(planted), "a client made a file")
