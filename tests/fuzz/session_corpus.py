#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/session: inputs of session_fuzz.cc made of commands, one file for each case below.

    tests/fuzz/session_corpus.py

The forms of an input's operations are described at the head of session_fuzz.cc.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from support.resp import encode  # noqa: E402

FOLDER = HERE / "corpus/session"

TURN, TICK, RESUME = b"\x03", b"\x04", b"\x07"
STEP_STORE = b"\x06\x0c"


def chunk(session, data):
    head = session << 3
    if len(data) < 256:
        return bytes([head, len(data)]) + data
    return bytes([head | 2, len(data) & 255, len(data) >> 8]) + data


def wire(line):
    return encode(*line.split(" "))


def say(session, *lines):
    return chunk(session, b"".join(wire(line) for line in lines)) + TURN


def wait(exponent):
    return bytes([5, exponent])


def wrong(what):
    return bytes([6, what])


ALWAYS, EVERYSEC, NO = 0, 1, 2
MEMORY_GOES_ON, PASSWORD, TWO_DATABASES, IDLE = 4, 8, 16, 32


def case(*operations, policies=EVERYSEC, bounds=0, write_back=0, deferred=0):
    return bytes([policies, bounds, write_back, deferred]) + b"".join(operations)


STRINGS = ("SET a 1", "GET a", "INCR a", "APPEND a xyz", "STRLEN a", "SETRANGE a 20 q", "GETRANGE a 0 -1",
           "GETSET a 2", "GETDEL a", "MSET a 1 b 2", "MGET a b c", "SETNX c 3", "GETEX b PX 10", "INCRBYFLOAT c 1.5",
           "SET d x NX GET", "MSETNX x 1 y 2", "PSETEX p 100 v", "LCS a b")
KEYS = ("SET a 1", "EXPIRE a 10", "TTL a", "PTTL a", "PERSIST a", "PEXPIREAT a 99999999999999", "EXPIRETIME a",
        "RENAME a b", "COPY b c", "MOVE c 1", "EXISTS a b", "TYPE b", "TOUCH b", "RANDOMKEY", "KEYS *", "SCAN 0",
        "DEL b", "DBSIZE", "OBJECT ENCODING b", "DUMP b")
LIMITERS = ("CL.THROTTLE u 15 30 60", "CL.THROTTLE u 15 30 60 0", "CL.THROTTLE u 15 30 60 -3", "CL.THROTTLE u 4 1 10 9",
            "THROTTLE t 10 1 1", "THROTTLE t 10 1 1 5", "CL.THROTTLE u 0 1000000000 1", "TTL u", "TYPE u",
            "CL.THROTTLE v 999999999999 1 1", "CL.THROTTLE u x 1 1", "SET s 1700000000123456789", "CL.THROTTLE s 1 1 1")
LIBRARY = "#!lua\tname=%s\nredis.register_function('%s',function(k,a)\nreturn{k,a,redis.call('incr','n')}end)"
FUNCTIONS = ("FUNCTION LOAD " + LIBRARY % ("l", "f"), "FCALL f 1 k a", "FCALL_RO f 0", "FUNCTION LIST WITHCODE",
             "FUNCTION LOAD REPLACE " + LIBRARY % ("l", "g"), "FCALL g 0", "FCALL f 0", "FUNCTION LOAD " + LIBRARY % ("m", "G"),
             "FUNCTION STATS", "FUNCTION DUMP", "FUNCTION RESTORE x FLUSH", "FUNCTION DELETE l", "SCRIPT KILL",
             "FUNCTION LOAD #!lua\tname=e\nredis.register_function{callback=1}", "FUNCTION KILL", "FUNCTION FLUSH")
RL = ("RL.TAKE k GCRA 100/1m BURST 20",
      "RL.TAKE k GCRA 5/1s FIXED 1000 ALIGN DAY OFFSET +08:00 SLIDINGLOG 20/100ms COST 2",
      "RL.TAKE z FIXED 5 ALIGN MONTH ON 31 ZONE Europe/Berlin", "RL.TAKE z FIXED 5 ALIGN YEAR ZONE Europe/Bonn", "RL.PEEK k COST 3",
      "RL.TAKE k TOKENBUCKET 10/1s CAPACITY 20 INITIAL 0 COST 30 UPTO", "RL.TAKE l LEAKY 5/1s SHADOW",
      "RL.TAKE b BURSTY 5/1s MAXBURST 2s FORCE COST 9", "RL.TAKE w WARMUP 5/1s OVER 3s ID token",
      "RL.TAKE w WARMUP 5/1s OVER 3s ID token", "RL.TAKE s SLIDINGWINDOW 100/1m BUCKETS 6 PERBUCKET 30",
      "RL.TAKE c SLIDINGCOUNTER 9/1s", "RL.MTAKE 2 m n GCRA 1/1s FIXED 5/1h", "RL.TAKE e CONCURRENCY 2 LEASE 30s",
      "RL.RENEW e 1", "RL.RELEASE e 1", "RL.REFUND k 3 ID r", "RL.RESET b", "RL.INFO k", "RL.TOP TAKEN COUNT 3",
      "RL.TOP", "SET q 1700000000000000000", "RL.TAKE q GCRA 5/1s", "RL.TAKE q FIXED 0/1s", "RL.TAKE q NOPE")
RL_HOLDS = ("RL.TAKE k FIXED 1000/1h CONCURRENCY 5 LEASE 30s COST 500,1 HOLD 60s", "RL.SETTLE k 1 120", "RL.SETTLE k 1 120",
            "RL.MTAKE 2 k l FIXED 1000/1h 5/1s HOLD 60s FULL", "RL.SETTLE k 2 7000", "RL.CANCEL l 3", "RL.INFO k",
            "RL.TAKE b 1/1h BAN 1h AFTER 2 WITHIN 1m COST 2", "RL.TAKE b 1/1h BAN 1h AFTER 2 WITHIN 1m COST 2",
            "RL.PEEK b", "RL.ACQUIRE b 1/1h TIMEOUT 0", "RL.INFO b", "RL.RESET b")
RL_BOOKS = ("RL.RESERVE k GCRA 1/1s BURST 0", "RL.RESERVE k GCRA 1/1s BURST 0 ID x",
            "RL.RESERVE k GCRA 2/1s MAXWAIT 1", "RL.CANCEL k 2", "RL.CANCEL k 2", "RL.INFO k",
            "RL.POLICY SET p GCRA 5/1s ONCHANGE RESET", "RL.TAKE k POLICY p", "RL.POLICY GET p",
            "RL.POLICY SET p GCRA 9/1s FIXED 3/1h ONCHANGE ADDITIVE", "RL.TAKE k POLICY p COST 1,2", "RL.POLICY LIST",
            "RL.POLICY DEL p", "RL.TAKE k POLICY p")
RL_LANGUAGE = ("RL.TAKE k 100/1m", "RL.TAKE k 100 PER minute CAPACITY 100 AS api FULL", "RL.PEEK k 100/m HEADERS",
               "RL.POLICY SET p 10/s AS api FIXED 9/day", "RL.TAKE k POLICY p CONCURRENCY 5 LEASE 30s ID x HEADERS",
               "HELLO 3", "RL.TAKE k POLICY p CONCURRENCY 5 LEASE 30s ID x HEADERS", "RL.TAKE k 9/s SHADOW FULL",
               "RL.MTAKE 2 m n EACH POLICY p EACH 5/s 7/h AS b COST 2 UPTO ID y FULL", "RL.MTAKE 2 m n 1/s 2/s FORCE",
               "RL.ACQUIRE q 1/s TIMEOUT 1500us FULL", "RL.RESERVE r 1/s BURST 0 MAXWAIT 1s", "RL.INFO k", "RL.POLICY GET p",
               "RL.HELP", "RL.TAKE k 100/60", "RL.TAKE k 1/s AS a 2/s AS a", "RL.MTAKE 2 GCRA n 1/s")
RL_POLICIES = ("RL.POLICY SET p 5/1m SHADOW", "RL.TAKE k POLICY p COST 9", "RL.POLICY SET p 5/1m PERCENT 30",
               "RL.POLICY OVERRIDE p KEY k 1000/1m", "RL.POLICY OVERRIDE p PREFIX vip: UNLIMITED", "RL.TAKE k POLICY p FULL",
               "RL.TAKE vip:1 POLICY p", "RL.POLICY OVERRIDES p 0", "RL.POLICY OVERRIDE p KEY k DEL", "RL.POLICY STATS",
               "RL.POLICY HISTORY p", "RL.POLICY SET p BLOCKED", "RL.TAKE k POLICY p", "CONFIG SET limiting shadow",
               "RL.TAKE k POLICY p", "CONFIG SET limiting off", "RL.TAKE k 1/1h COST 9", "CONFIG SET limiting on",
               "RL.POLICY RELOAD DIFF", "RL.POLICY DEL p", "RL.POLICY OVERRIDES p")
RL_REPORTS = ("RL.TAKE a 9/1s ADAPTIVE 1..60 SLOW 20ms", "RL.REPORT a FAIL", "RL.REPORT a OK LATENCY 12", "RL.INFO a",
              "RL.POLICY SET p 9/1s ADAPTIVE 1..60 BAN 1m AFTER 2 WITHIN 1m", "RL.TAKE b POLICY p COST 9", "RL.POLICY REPORT p OK",
              "RL.POLICY REPORT p FAIL LATENCY 3s", "RL.TAKE b POLICY p HOLD 5s", "RL.REPORT b OK",
              "RL.RESERVE l LEAKY 5/1s ADAPTIVE 1..9", "RL.REPORT l FAIL", "RL.RESERVE l LEAKY 5/1s ADAPTIVE 1..9")
RL_TICKET = "RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0 ID mine"
RL_WAIT = "RL.ACQUIRE q GCRA 1/1s BURST 0 TIMEOUT 0"
RL_FUNNEL = "RL.ACQUIRE f LEAKY 1/1s CAPACITY 3 SLIDINGLOG 9/1m CONCURRENCY 3 LEASE 1m TIMEOUT 0 ID y"

CASES = {
    "rl": case(say(0, *RL), wait(33), say(1, *RL), wrong(11), say(0, *RL)),
    "rl_evicted": case(say(0, *RL), wait(30), TICK, TURN, TURN, say(1, *RL), bounds=32, write_back=7),
    "rl_language": case(say(0, *RL_LANGUAGE), wrong(11), say(0, *RL_LANGUAGE), wait(33), say(1, *RL_LANGUAGE)),
    "rl_holds": case(say(0, *RL_HOLDS), wrong(11), say(1, *RL_HOLDS)),
    "rl_policies": case(say(0, *RL_POLICIES), wrong(11), say(1, *RL_POLICIES)),
    "rl_reports": case(say(0, *RL_REPORTS), wait(33), say(0, *RL_REPORTS), wrong(11), say(1, *RL_REPORTS)),
    "rl_tickets": case(say(0, RL_TICKET), say(1, RL_TICKET), say(2, RL_WAIT), wrong(0), wrong(11), say(2, RL_WAIT),
                       say(1, RL_TICKET), wait(30), TURN, wait(30), TURN, say(1, RL_TICKET)),
    "rl_books": case(say(0, *RL_BOOKS), wrong(11), say(0, *RL_BOOKS)),
    "rl_waits": case(say(0, RL_WAIT), say(1, RL_WAIT), say(2, RL_WAIT.replace("TIMEOUT 0", "TIMEOUT 1500")),
                     say(0, "RL.PEEK q", "RL.MTAKE 1 q GCRA 1/1s BURST 0", "RL.REFUND q 1"), wait(30), TURN, wrong(0),
                     wait(30), TURN, TURN, say(3, "RL.RESET q"), TURN),
    "rl_leaves": case(say(0, RL_FUNNEL), say(1, RL_FUNNEL), say(2, RL_FUNNEL), wrong(0), TURN, wait(30), TURN, wait(31),
                      TURN, wrong(11), say(0, RL_FUNNEL)),
    "rl_read_fails": case(say(0, RL_WAIT), say(1, RL_WAIT), wait(30), TICK, TURN, TURN, wrong(7), say(2, RL_WAIT),
                          wait(31), TURN, bounds=32, write_back=7),
    "strings": case(say(0, *STRINGS)),
    "strings_evicted": case(say(0, *STRINGS), wait(30), TICK, TURN, TURN, say(1, *STRINGS), bounds=32, write_back=7),
    "keys": case(say(0, *KEYS)),
    "keys_deferred": case(say(0, *KEYS), wait(33), TICK, STEP_STORE, say(1, *KEYS), write_back=1, deferred=1),
    "limiters": case(say(0, *LIMITERS), wait(33), say(1, *LIMITERS)),
    "limiters_restart": case(say(0, *LIMITERS), wrong(11), say(0, *LIMITERS), wrong(10), say(0, *LIMITERS)),
    "acl": case(say(0, "ACL SETUSER u on >p ~a* %R~b +@all -get +select|0 (+get ~c) &n*"), say(1, "AUTH u p", "GET a", "GET c",
                "SELECT 0", "SET b 1", "SUBSCRIBE n1"), say(0, "ACL SETUSER u resetchannels (~x +set)", "ACL LOG",
                "ACL GETUSER u", "ACL LIST", "ACL DRYRUN u MSET a 1 d 2", "ACL SETUSER u +@nosuch", "ACL DELUSER u")),
    "functions": case(say(0, *FUNCTIONS), wrong(11), say(0, *FUNCTIONS)),
    "functions_lost": case(say(0, FUNCTIONS[0]), wrong(3), say(0, FUNCTIONS[4], "FCALL g 0"), say(0, "FCALL f 0"),
                           wait(31), TICK, say(0, *FUNCTIONS[1:4], *FUNCTIONS[4:])),
    "two_sessions": case(chunk(0, wire("SET a 1")), chunk(1, wire("GET a")), TURN, say(1, "DEL a"), say(0, "GET a")),
    "cut": case(chunk(0, wire("SET a 1")[:9]), TURN, chunk(0, wire("SET a 1")[9:]), TURN),
    "inline": case(chunk(0, b"SET a 'x y'\r\nGET a\r\n\r\nPING\r\n"), TURN, bounds=1),
    "broken": case(chunk(0, wire("PING") + b"*1\r\n$-4\r\n"), TURN, say(1, "PING")),
    "unauthenticated": case(say(0, "GET a", "AUTH nope", "AUTH secret", "GET a", "RESET", "GET a"), policies=PASSWORD),
    "hello": case(say(0, "HELLO 3", "HELLO 2 SETNAME n", "HELLO 4", "HELLO 3 AUTH default x", "GET none", "RESET")),
    "databases": case(say(0, "SET a 1", "SELECT 1", "SET b 2", "SWAPDB 0 1", "GET a", "FLUSHDB", "FLUSHALL ASYNC",
                          "SELECT 99"), say(1, "DBSIZE"), wrong(11), say(1, "DBSIZE"), policies=TWO_DATABASES),
    "expiry": case(say(0, "PSETEX a 10 v", "PSETEX b 100000 v"), wait(26), say(0, "GET a", "DBSIZE", "KEYS *"), TICK,
                   wait(40), TICK, TURN, say(0, "GET b"), write_back=1),
    "clock_back": case(say(0, "SET a 1 PX 5000", "CL.THROTTLE u 1 1 60"), wrong(2 | 12 << 4), TURN,
                       say(0, "PTTL a", "CL.THROTTLE u 1 1 60"), wrong(1 | 13 << 4), TICK, say(0, "PTTL a")),
    "append_lost": case(say(0, "SET a 1"), wrong(3), say(0, "SET a 2", "GET a"), say(0, "GET a", "SET b 1"), wait(31),
                        TICK, say(0, "GET a", "SET a 3")),
    "append_kept": case(say(0, "SET a 1"), wrong(4), say(0, "SET a 2", "GET a"), wait(31), TICK, say(0, "GET a")),
    "append_memory": case(wrong(4), say(0, "SET a 1"), say(0, "FLUSHDB", "SET b 1"), wait(31), TICK, say(0, "KEYS *"),
                          wrong(11), say(0, "KEYS *"), policies=EVERYSEC | MEMORY_GOES_ON),
    "disk_full": case(wrong(9 | 16), say(0, "SET a 1"), wait(31), TICK, wrong(9), wait(31), TICK, say(0, "SET a 1")),
    "sync_fails": case(wrong(5), say(0, "SET a 1"), STEP_STORE, TURN, wait(31), TICK, say(0, "GET a"), policies=ALWAYS,
                       deferred=1),
    "always": case(say(0, "SET a 1"), say(1, "GET a"), STEP_STORE, TURN, wrong(10), say(0, "GET a"), policies=ALWAYS,
                   deferred=1),
    "late_sync": case(say(0, "SET a 1"), wait(31), say(0, "SET b 1"), wait(32), say(1, "SET c 1"), STEP_STORE, TURN,
                      deferred=1),
    "write_back_fails": case(say(0, *STRINGS), wrong(6), wait(30), TURN, TURN, TURN, TURN, wrong(11), say(0, *STRINGS),
                       write_back=7),
    "read_fails": case(say(0, "MSET a 1 b 2 c 3"), wait(30), TURN, TURN, TURN, TURN, wrong(7), say(0, "SETNX a 5"),
                       wrong(8), say(0, "KEYS *", "GET a"), bounds=32, write_back=7),
    "client_commands": case(say(0, "CLIENT SETNAME me", "CLIENT LIST", "CLIENT INFO", "CLIENT ID", "CLIENT NO-EVICT ON",
                                "CLIENT REPLY SKIP", "PING", "CLIENT REPLY OFF", "PING", "CLIENT REPLY ON", "PING"),
                            say(1, "CLIENT KILL ID 1", "CLIENT GETNAME", "CLIENT SETINFO LIB-NAME x")),
    "pause": case(say(0, "CLIENT PAUSE 1000 WRITE"), say(1, "GET a", "SET a 1"), wait(31), TICK, RESUME, TURN,
                  say(0, "CLIENT PAUSE 1000"), say(1, "PING"), say(0, "CLIENT UNPAUSE"), RESUME, TURN),
    "config": case(say(0, "CONFIG GET *", "CONFIG SET maxmemory 5000", "CONFIG SET nothing 1", "CONFIG RESETSTAT",
                       "CONFIG REWRITE", "CONFIG SET durability always", "CONFIG HELP", "SET a 1")),
    "info": case(say(0, "INFO", "INFO everything", "COMMAND COUNT", "COMMAND INFO get", "COMMAND DOCS set",
                     "COMMAND GETKEYS mset a 1 b 2", "TIME", "LASTSAVE", "BGSAVE", "DEBUG SLEEP 2", "PING")),
    "idle": case(say(0, "PING"), wait(34), TICK, TURN, policies=EVERYSEC | IDLE),
    "no_reader": case(*[chunk(0, wire("ECHO " + "x" * 200)) for _ in range(8)], TURN, bounds=16),
    "long_pipeline": case(chunk(0, b"".join(wire("INCR n") for _ in range(150))), TURN, RESUME, TURN),
    "query_too_long": case(chunk(0, b"*2\r\n$4\r\nECHO\r\n$600\r\n" + b"y" * 590), TURN, bounds=8),
    "quit": case(say(0, "SET a 1", "QUIT", "SET a 2"), say(1, "GET a")),
    "shutdown": case(say(0, "SET a 1"), say(1, "SHUTDOWN NOSAVE")),
    "gone": case(chunk(0, wire("SET a 1")), wrong(0), TURN, say(1, "GET a")),
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, data in CASES.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
