#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/session: inputs of session_fuzz.cc made of commands, one file for each case below.

    tests/fuzz/session_corpus.py

The forms of an input's operations are described at the head of session_fuzz.cc.
"""

import pathlib
import shutil

FOLDER = pathlib.Path(__file__).parent / "corpus" / "session"

TURN, TICK, RESUME = b"\x03", b"\x04", b"\x07"
STEP_STORE = b"\x06\x0c"


def chunk(session, data):
    head = session << 3
    if len(data) < 256:
        return bytes([head, len(data)]) + data
    return bytes([head | 2, len(data) & 255, len(data) >> 8]) + data


def wire(line):
    args = [arg.encode() for arg in line.split(" ")]
    return b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in args)


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

CASES = {
    "strings": case(say(0, *STRINGS)),
    "strings_evicted": case(say(0, *STRINGS), wait(30), TICK, TURN, TURN, say(1, *STRINGS), bounds=32, write_back=7),
    "keys": case(say(0, *KEYS)),
    "keys_deferred": case(say(0, *KEYS), wait(33), TICK, STEP_STORE, say(1, *KEYS), write_back=1, deferred=1),
    "limiters": case(say(0, *LIMITERS), wait(33), say(1, *LIMITERS)),
    "limiters_restart": case(say(0, *LIMITERS), wrong(11), say(0, *LIMITERS), wrong(10), say(0, *LIMITERS)),
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
    "pass_fails": case(say(0, *STRINGS), wrong(6), wait(30), TURN, TURN, TURN, TURN, wrong(11), say(0, *STRINGS),
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
