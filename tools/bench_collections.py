"""What `tools/bench --collections` measures: whether a change of one element costs the same
however many there are, in time and in bytes written, and what the first use after a restart costs.

Each connection has as many elements in all sizes, in many small collections or in one large one, so
that the sizes differ in nothing but the collections. Every run makes a fixed number of commands and
is measured until the server has nothing left to write, so its processor time includes write-back.

Bytes written are those of the server's threads, as the system counts them: of the loop's thread the
log, of the one beside it the write-backs, of RocksDB's its merges. For Redis they are the growth of its
append-only file, which is kept from being rewritten.
"""

import math
import statistics
import threading
import time
from pathlib import Path

from bench_servers import metrics

LOADS = {"zadd": "ZADD", "zwindow": "ZADD, ZREMRANGEBYSCORE", "hincrby": "HINCRBY", "hset": "HSET",
         "list": "LPUSH, RPOP", "members": "SREM, SADD"}
SERVERS = ["redis", "redis-aof", "weir-everysec"]
WRITTEN_SECONDS = 30
LOG_RATIO_MAX = 1.25  # of the log's bytes; of the processor's time the logarithm of the size

FIRST_HEAD = ["server", "elements", "start ms", "first ms", "longest PING ms", "second ms"]


def wait_until_written(server, client):
    """Until a write-back has taken everything: what runs behind the commands belongs to them."""
    end = time.monotonic() + WRITTEN_SECONDS
    while server.name.startswith("weir") and time.monotonic() < end:
        info = metrics(client.call("INFO", "storage"))
        if info["unwritten_entries"] == "0" and info["write_back_running"] == "0":
            return
        time.sleep(0.05)


def counters(server, client):
    """Processor seconds and bytes written by what: of a server that has nothing to do."""
    counted = {"loop": 0, "cpu": server.cpu_seconds(), "log": 0, "write_backs": 0, "merges": 0}
    if server.name == "redis-aof":
        counted["log"] = int(metrics(client.call("INFO", "persistence"))["aof_current_size"])
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        is_loop = int(task.name) == server.process.pid
        if is_loop:
            counted["loop"] = int((task / "schedstat").read_text().split()[0]) / 1e9
        if not server.name.startswith("weir"):
            continue
        fields = dict(line.split(": ") for line in (task / "io").read_text().splitlines())
        kind = "log" if is_loop else "merges" if name == "rocksdb:low" else "write_backs"
        if name != "rocksdb:high":  # shortens the log, some minutes later
            counted[kind] += int(fields["wchar"])
    return counted


def fill(bench, server, load, size, elements, connections):
    bench.run(server, load, 1, size=size, elements=elements, fill=True, connections=connections,
              **{"time-limit": 300})


def measure_once(bench, server, load, size, skip):
    """One run; what a command cost."""
    options = bench.options
    server.go_on()
    client = server.connect(timeout_s=120)
    before = counters(server, client)
    result = bench.run(server, load, options.collections_pipeline, size=size, skip=skip,
                       elements=options.elements, requests=options.requests, connections=2)
    server.go_on()
    if not options.smoke:
        wait_until_written(server, client)
    after = counters(server, client)
    client.close()
    server.pause()
    if result is None:
        return None
    spent = {name: after[name] - before[name] for name in after}
    for name in ("loop", "cpu"):
        result[name + "_us"] = spent[name] * 1e6 / result["replies"]
    for name in ("log", "write_backs", "merges"):
        result[name + "_bytes"] = spent[name] / result["replies"]
    result["wall_us"] = 1e6 / result["per_second"]
    return result


def prepare(bench, server, load, size):
    server.go_on()
    client = server.connect(timeout_s=120)
    client.call("FLUSHALL")
    if server.name.startswith("redis"):
        client.call("CONFIG", "SET", "auto-aof-rewrite-percentage", "0")
    fill(bench, server, load, size, bench.options.elements, 2)
    server.go_on()
    if not bench.options.smoke:
        wait_until_written(server, client)
    client.close()
    server.pause()


def measure_load(bench, servers, load):
    """(server's name, size) -> results of the rounds."""
    options = bench.options
    results = {}
    steps = options.requests // 2 // (2 if "," in LOADS[load] else 1)
    for size in options.sizes:
        for server in servers:
            prepare(bench, server, load, size)
        for turn in range(options.rounds):
            for server in servers if turn % 2 == 0 else servers[::-1]:
                one = measure_once(bench, server, load, size, turn * steps)
                results.setdefault((server.name, size), []).append(one)
    return results


def median(results, field):
    values = [result[field] for result in results if result]
    return statistics.median(values) if values else None


def ratio(large, small):
    return large / small if large is not None and small else None


def show(value, digits=2):
    return "-" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def power(number):
    zeros = len(str(number)) - 1
    return f"10^{zeros}" if number == 10**zeros and zeros > 1 else str(number)


# Field, title, digits, whether the largest size is compared with the least. What is written behind
# the commands is not: few elements that are changed often are written once a write-back.
TIME_FIELDS = [("wall_us", "wall", 2, True), ("loop_us", "loop", 2, True),
               ("cpu_us", "CPU", 2, True)]
BYTE_FIELDS = [("log_bytes", "log", 1, True), ("write_backs_bytes", "write-backs", 1, False),
               ("merges_bytes", "merges", 1, False)]


def cost_head(fields, sizes):
    head = ["commands", "server"]
    for _, title, _, compared in fields:
        head += [f"{title} {power(sizes[0])}", *(power(size) for size in sizes[1:])]
        head += ["ratio"] if compared else []
    return head


def cost_rows(fields, servers, sizes, load, results):
    for server in servers:
        row = [LOADS[load], server.title]
        for field, _, digits, compared in fields:
            values = [median(results[server.name, size], field) for size in sizes]
            row += [show(value, digits) for value in values]
            row += [show(ratio(values[-1], values[0]))] if compared else []
        yield row


def verdicts_of(sizes, load, results):
    logarithm = math.log(sizes[-1]) / math.log(sizes[0])
    for field, bound in (("loop_us", logarithm), ("log_bytes", LOG_RATIO_MAX)):
        values = [median(results["weir-everysec", size], field) for size in sizes]
        rises = ratio(values[-1], values[0])
        good = rises is not None and rises <= bound
        yield good, (f"{'pass' if good else 'MISSED'}: {LOADS[load]}: {field.replace('_', ' ')} "
                     f"at {power(sizes[-1])} {show(rises)} of that at {power(sizes[0])}; at most "
                     f"{bound:.2f} is wanted")


def longest_ping_ms(server, stop, found):
    """Asks again and again how long the loop takes for something that has nothing to do with it."""
    client = server.connect(timeout_s=120)
    while not stop.is_set():
        begin = time.monotonic()
        client.ask("PING")
        found[0] = max(found[0], (time.monotonic() - begin) * 1e3)
        time.sleep(0.001)
    client.close()


def timed_ms(client, *words):
    begin = time.monotonic()
    reply = client.ask(*words)
    return (time.monotonic() - begin) * 1e3, reply


def first_touch(bench, server, size):
    """Fills a sorted set, restarts the server, asks for one score."""
    server.go_on()
    client = server.connect(timeout_s=120)
    client.call("FLUSHALL")
    fill(bench, server, "zadd", size, size, 1)
    server.go_on()
    if not bench.options.smoke:
        wait_until_written(server, client)
    client.close()
    start_s = server.restart()
    server.go_on()
    client, stop, longest = server.connect(timeout_s=120), threading.Event(), [0.0]
    begin = time.monotonic()
    while client.ask("PING") != "PONG":  # Redis says LOADING until it has read everything
        time.sleep(0.001)
    start_s += time.monotonic() - begin
    pinging = threading.Thread(target=longest_ping_ms, args=(server, stop, longest))
    pinging.start()
    time.sleep(0.05)
    member = f"m{size - 1:012}"
    (first_ms, reply), (second_ms, again) = (timed_ms(client, "ZSCORE", "zadd:0:0", member)
                                             for _ in range(2))
    stop.set()
    pinging.join()
    client.close()
    server.pause()
    if reply != b"%d" % (size - 1) or again != reply:
        bench.failures.append(f"{server.title}: ZSCORE after a restart answered {reply!r}, {again!r}"
                              f" instead of {size - 1}")
    return {"start": start_s * 1e3, "first": first_ms, "ping": longest[0], "second": second_ms}


def first_rows(bench, servers):
    for size in bench.options.first_sizes:
        for server in servers:
            if server.name in ("redis", "weir-memory"):
                continue  # nothing is left after a restart
            runs = [first_touch(bench, server, size) for _ in range(bench.options.rounds)]
            yield [server.title, power(size), *(show(statistics.median(run[name] for run in runs), 1)
                                                for name in ("start", "first", "ping", "second"))]


def run(bench, servers, print_table, print_head):
    """Prints the tables; whether what is promised was met."""
    sizes, time_rows, byte_rows, verdicts = bench.options.sizes, [], [], []
    touched = list(first_rows(bench, servers))  # before Redis' log has become long
    for load in bench.options.loads:
        results = measure_load(bench, servers, load)
        time_rows += cost_rows(TIME_FIELDS, servers, sizes, load, results)
        logged = [server for server in servers if server.name not in ("redis", "weir-memory")]
        byte_rows += cost_rows(BYTE_FIELDS, logged, sizes, load, results)
        if "weir-everysec" in (server.name for server in servers):
            verdicts += verdicts_of(sizes, load, results)
    print_head()
    print("\nmicroseconds per command: by the clock, of the loop's thread, of all threads and of what"
          " is written behind")
    print_table(cost_head(TIME_FIELDS, sizes), time_rows)
    print("\nbytes written per command")
    print_table(cost_head(BYTE_FIELDS, sizes), byte_rows)
    print("\nthe first ZSCORE of a sorted set after a restart")
    print_table(FIRST_HEAD, touched)
    if bench.options.smoke:
        return True
    print()
    for _, line in verdicts:
        print(line)
    return all(good for good, _ in verdicts)
