"""What the rounds of acl.py are made of: users, rules, requests."""

USERS = ("ann", "bob")
PASSWORD = "secret"
KEYS = ["a1", "a2", "r1", "w1", "b"]
CHANNELS = ["news", "news:1", "old", "n*"]
PATTERNS = ["a*", "*", "a?", "r*", "[rw]1", "b", "a\\1"]
COMMANDS = ["get", "set", "del", "mget", "config", "config|get", "acl", "acl|whoami", "client",
            "client|getname", "client|setname", "GET", "Lpush", "sort", "eval", "publish",
            "subscribe", "psubscribe", "exec", "multi", "ping", "object", "object|freq",
            "zunionstore", "hset", "smove", "script", "auth"]
CATEGORIES = ["all", "read", "write", "keyspace", "string", "hash", "set", "sortedset", "list",
              "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection",
              "transaction", "scripting", "READ", "geo", "bitmap", "hyperloglog", "stream"]
FIRST_ARGUMENTS = ["select|0", "select|1", "SELECT|0", "get|a1", "echo|hi", "config|nosuch",
                   "config|get|x", "config|", "get|", "nosuch|x", "acl|list|x"]
HASH = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # of "secret"
WORDS = ["on", "on", "on", "off", "nopass", "resetpass", "allkeys", "resetkeys", "allchannels",
         "resetchannels", "allcommands", "nocommands", "reset", "clearselectors", "ON", "AllKeys",
         "sanitize-payload", "skip-sanitize-payload", ">secret", ">secret", ">other", "<secret",
         "<other", "#" + HASH, "!" + HASH, "#abc", "!abc", "#" + HASH.upper(), "", "nonsense",
         "~*", "&*", "~a b", "&a b", "%~a", "%R", "%RW~a1", "%rr~a", "%X~a", "@read", "+", "-",
         "+@", "+@nosuch", "-nosuch", "()", "(", ")", "(~a1", "(on)", "( )"]

QUESTIONS = [("ACL", "CAT", "nosuch"), ("ACL", "WHOAMI"), ("ACL", "USERS"),
             ("ACL", "GENPASS", "0"), ("ACL", "GENPASS", "4097"), ("ACL", "GENPASS", "x"),
             ("ACL", "GENPASS", "1", "2"), ("ACL", "LOG", "x"), ("ACL", "LOG", "1", "2"),
             ("ACL", "LOG", "0"), ("ACL", "LOAD"), ("ACL", "SAVE"), ("ACL", "NOSUCH"),
             ("ACL",), ("ACL", "SETUSER"), ("ACL", "SETUSER", "a b", "on"),
             ("ACL", "SETUSER", "a\0b"), ("ACL", "GETUSER", "nobody"), ("ACL", "CAT", "a", "b"),
             ("ACL", "DRYRUN", "default", "nosuch"), ("ACL", "DRYRUN", "default", "get"),
             ("ACL", "DRYRUN", "default", "config"), ("ACL", "DRYRUN", "default", "acl", "list"),
             ("ACL", "DRYRUN", "default"), ("CLIENT", "KILL", "USER", "nobody"),
             ("CONFIG", "GET", "acllog-max-len"), ("CONFIG", "GET", "aclfile"),
             ("CONFIG", "GET", "acl-pubsub-default"), ("CONFIG", "SET", "acl-pubsub-default", "x"),
             ("CONFIG", "SET", "acl-pubsub-default", "allchannels"),
             ("CONFIG", "SET", "acl-pubsub-default", "resetchannels"),
             ("CONFIG", "SET", "acllog-max-len", "5"), ("CONFIG", "SET", "acllog-max-len", "128"),
             ("CONFIG", "SET", "aclfile", "x"), ("CONFIG", "SET", "user", "x"),
             ("AUTH", "x"), ("AUTH", "default", "x"), ("AUTH", "a", "b", "c")]


def selector_rule(rng):
    kind = rng.randrange(9)
    if kind < 3:
        return rng.choice("+++-") + rng.choice(COMMANDS)
    if kind < 5:
        return rng.choice("++-") + "@" + rng.choice(CATEGORIES)
    if kind == 5:
        return rng.choice("+++-") + rng.choice(FIRST_ARGUMENTS)
    if kind == 6:
        return "&" + rng.choice(CHANNELS)
    return rng.choice(("~", "~", "~", "%R~", "%W~", "%RW~", "%r~")) + rng.choice(PATTERNS)


def selector(rng):
    """In one word, or in several."""
    rules = [selector_rule(rng) for _ in range(rng.randint(0, 4))]
    whole = "(" + " ".join(rules) + ")"
    return [whole] if rng.random() < 0.6 else whole.split(" ")


def rules(rng):
    found = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        kind = rng.random()
        if kind < 0.25:
            found.append(rng.choice(WORDS))
            # Redis forgets what stands in a parenthesis when another one opens; weir refuses both.
            if found[-1] in ("(", "(~a1"):
                return found
        elif kind < 0.35:
            found += selector(rng)
        else:
            found.append(selector_rule(rng))
    return found


# k a key, c a channel, other words as they are. OBJECT FREQ stands for its family: OBJECT ENCODING of
# a string follows from its history on Redis.
SCRIPTABLE = """get k|set k v|set k v get|set k v keepttl|setex k 100 v|setnx k v|mset k v k v|
    msetnx k 1 k 2|mget k k|getset k v|getdel k|getex k persist|append k x|strlen k|incr k|
    setrange k 1 x|getrange k 0 1|del k|del k k|unlink k|exists k k|touch k|type k|rename k k|
    renamenx k k|copy k k|copy k k replace|expire k 100|persist k|ttl k|object freq k|
    memory usage|dump|lpush k x|rpushx k x|lpop k|lrange k 0 -1|llen k|lindex k 0|
    lset k 0 x|linsert k before x y|lrem k 0 x|ltrim k 0 1|lmove k k left right|rpoplpush k k|
    lmpop 1 k left|lmpop 2 k k left|lmpop 3 k k left|lpos k x|sadd k m|srem k m|scard k|
    sismember k m|smembers k|smove k k m|sinter k k|sinterstore k k k|sdiffstore k k|
    sunionstore k k k|sintercard 2 k k|sintercard 5 k k|zadd k 1 m|zrem k m|zscore k m|zcard k|
    zrange k 0 -1|zrangestore k k 0 -1|zunionstore k 2 k k|zinterstore k 1 k|zdiff 2 k k|
    zdiffstore k 2 k k|zunion 2 k k|zpopmin k|zmpop 1 k min|zincrby k 1 m|zcount k 0 1|
    zremrangebyrank k 0 0|hset k f v|hget k f|hdel k f|hlen k|hexists k f|hgetall k|
    hincrby k f 1|hsetnx k f v|hstrlen k f|sort k|sort k alpha|sort k by nosort|sort k by a*|
    sort k get #|sort k get a*|sort k store k|sort k store k store k|sort k limit 0 store store k|
    sort_ro k|sort_ro k by w*|publish c hi|spublish c hi|echo hi|echo ho|ping|select 0|
    get|nosuch k|config get acllog-max-len|acl whoami|client getname|eval x""".replace("\n", "")
QUEUEABLE = SCRIPTABLE + """|script exists x|eval return_1 1 k|eval return_1 2 k k|
    eval return_1 5 k k|eval_ro return_1 1 k|blpop k k 0.01|blmove k k left right 0.01|
    bzpopmin k 0.01|blmpop 0.01 1 k left|acl users|acl setuser bob|pubsub channels zzz|wait 0 0|
    client setname x|acl cat transaction x|flushdb|readonly""".replace("\n", "")
ALONE = QUEUEABLE + """|watch k k|unwatch|exec|discard|subscribe c|psubscribe c|ssubscribe c|
    unsubscribe c|punsubscribe c|reset|config|config nosuch|object|auth x""".replace("\n", "")


def choose(requests):
    texts = [text.strip().split() for text in requests.split("|")]

    def make(rng):
        fill = {"k": KEYS, "c": CHANNELS}
        words = [rng.choice(fill[word]) if word in fill else word for word in rng.choice(texts)]
        return ["return 1" if word == "return_1" else word for word in words]

    return make


scriptable = choose(SCRIPTABLE)
queueable = choose(QUEUEABLE)
request = choose(ALONE)
