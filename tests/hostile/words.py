"""Words that are long, and requests of very many: what the README's role may send. Nobody waits for
them, and nothing of them stays."""

from attacks import attack, filled

LONGEST_KEY = 64 << 10  # key-bytes-max


def padded(name, size):
    return name + b"x" * (size - len(name))


def refused(arena, reply, what):
    """One error line, which shows no more than the beginning of a word: its first KB."""
    arena.expect(isinstance(reply, str) and len(reply) < 1200, f"{what} answers {str(reply)[:60]}")


@attack
def long_keys(arena):
    """Names of 8 MB, three hundred of them: the disk's index would keep each several times."""
    arena.start()
    client = arena.connect("shop")
    before = arena.memory()
    with arena.bystander():
        for i in range(arena.size(40, 300)):
            refused(arena, client.ask("RL.TAKE", padded(b"shop:%09d" % i, 8 << 20), "FIXED", "10/1d"),
                    "a name of 8 MB")
        arena.settle()
    grown = arena.memory() - before
    arena.expect(grown < 100, f"{grown} MB stay of names that were refused")
    arena.note(f"{grown} MB stay")


@attack
def longest_keys(arena):
    """As many names as time allows, of the greatest length that is taken."""
    arena.start(block_cache_size="16mb")
    client = arena.connect("shop")
    before = arena.memory()
    with arena.bystander():
        for requests in filled(arena.size(4000, 80_000), 100, lambda begin, end: [
                ("RL.TAKE", padded(b"shop:%09d" % i, LONGEST_KEY), "FIXED", "10/1d")
                for i in range(begin, end)]):
            client.pipeline(requests)
    arena.note(f"{arena.memory() - before} MB stay")


@attack
def long_keys_hold(arena):
    """One request with a name of up to 256 MB, of those that take, look and wait."""
    arena.start()
    client = arena.connect("shop")
    with arena.bystander():
        for size in arena.size((1 << 20, 16 << 20), (1 << 20, 16 << 20, 64 << 20, 256 << 20)):
            for name in (b"shop:t", b"other:"):
                key = padded(name, size)
                for words in (("RL.TAKE", key, "10/1h"), ("RL.PEEK", key), ("RL.INFO", key),
                              ("RL.ACQUIRE", key, "10/1h", "TIMEOUT", 1), ("INCREX", key),
                              ("CL.THROTTLE", key, 1, 1, 1)):
                    refused(arena, client.ask(*words), f"{words[0]} of a name of {size} bytes")


@attack
def long_words(arena):
    """Numbers, times, lists, names and passwords of many megabytes, each in a request of its own."""
    arena.start()
    arena.connect().call("RL.POLICY", "SET", "a-p", "10/1h")
    client = arena.connect("policies")
    size = arena.size(16 << 20, 128 << 20)
    ones, list_of_ones, letters = b"1" * size, b"1," * (size // 2) + b"1", b"x" * size
    with arena.bystander():
        for words in (("RL.TAKE", "shop:a", "10/1h", "COST", list_of_ones),
                      ("RL.SETTLE", "shop:a", 5, list_of_ones), ("RL.SETTLE", "shop:a", ones, 1),
                      ("RL.REPORT", "shop:a", "OK", "LATENCY", ones),
                      ("RL.TAKE", "shop:a", ones + b"/1h"), ("RL.TAKE", "shop:a", ones),
                      ("RL.TAKE", "shop:a", "10/" + "1" * size),
                      ("RL.TAKE", "shop:a", "10/1h", "ID", letters),
                      ("RL.TAKE", "shop:a", "10/1h", "AS", letters),
                      ("RL.TAKE", "shop:a", "FIXED", 10, "ALIGN", "DAY", "ZONE", letters),
                      ("RL.TAKE", "shop:a", "POLICY", b"a-" + letters),
                      ("CL.THROTTLE", "shop:a", ones, 1, 1), ("GCRA", "shop:a", 1, 1, ones),
                      ("INCREX", "shop:a", "BYFLOAT", ones), ("SELECT", ones),
                      ("CLIENT", "SETNAME", letters), ("CLIENT", "SETINFO", letters, "x"),
                      ("AUTH", "shop", letters), ("AUTH", letters, "x"), ("HELLO", ones), ("PING", letters),
                      ("HELLO", 3, "AUTH", "shop", letters), (letters,)):
            refused(arena, client.ask(*words), f"{str(words[0])[:20]} with a word of {size} bytes")


@attack
def many_words(arena):
    """A million words in one request: limits, policies, groups, names."""
    arena.start()
    arena.connect().call("RL.POLICY", "SET", "a-p", "10/1h")
    client = arena.connect("policies")
    count = arena.size(200_000, 1_000_000)
    policy = ("POLICY", "a" * 39 + "-p")
    with arena.bystander():
        for words, more in ((("RL.TAKE", "shop:a"), ("10/1h",)),
                            (("RL.TAKE", "shop:a"), ("POLICY", "zz-p")),
                            (("RL.TAKE", "shop:a"), policy),
                            (("RL.MTAKE", 2, "shop:a", "shop:b"), ("EACH", *policy)),
                            (("RL.TAKE", "shop:a", "10/1h"), ("AS", "n")),
                            (("CL.THROTTLE", "shop:a"), ("1",)), (("GCRA", "shop:a"), ("1",)),
                            (("INCREX", "shop:a"), ("NX",)), (("PING",), ("x",)),
                            (("SELECT",), ("1",)), (("NONE",), ("x",))):
            request = (*words, *more * ((count - len(words)) // len(more)))
            refused(arena, client.ask(*request), f"{words[0]} with {len(request)} words")
