"""redis-cli: as a script uses it, on a terminal, and its own tools (--stat, --scan, --bigkeys)."""

import json
import os
import re
import subprocess
import time

from report import (IS_WEIR, PORT, PROTOCOL, check, expect, expect_between, need_durable,
                    need_weir, restart_server, say)
from terminal import Terminal

TOOL = os.environ["CLIENTS_TOOL"]
# -2 is unknown to older ones, and the default of all of them.
BASE = [TOOL, "-p", str(PORT), *(["-3"] if PROTOCOL == 3 else [])]
ENV = {"REDISCLI_HISTFILE": "/dev/null", "REDISCLI_RCFILE": "/dev/null"}
PROMPT = rf"127\.0\.0\.1:{PORT}> $"


def cli(*words, stdin=None, status=0, **env):
    done = subprocess.run([*BASE, *words], input=stdin, capture_output=True, timeout=30,
                          check=False, env={**os.environ, **ENV, **env})
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}, wanted {status}: "
                             f"{(done.stderr + done.stdout)[:300]!r}")
    return done.stdout


def handshake():
    expect(cli("PING"), b"PONG\n")
    hello = cli("HELLO").split()  # with -3 a name and its value share a line
    expect(hello[hello.index(b"proto") + 1], str(PROTOCOL).encode(), "proto")
    expect(hello[hello.index(b"role") + 1], b"master", "role")


def raw_and_binary():
    value = bytes(range(256)) * 4096
    expect(cli("-x", "SET", "blob", stdin=value), b"OK\n")
    expect(cli("--raw", "GET", "blob"), value + b"\n")
    expect(cli("--no-raw", "SETRANGE", "hole", "2", "x"), b"(integer) 3\n")
    expect(cli("--no-raw", "GET", "hole"), b'"\\x00\\x00x"\n')


def options():
    expect(cli("-n", "3", "SET", "in:3", "x"), b"OK\n")
    expect(cli("-n", "3", "DBSIZE"), b"1\n")
    expect(subprocess.run([TOOL, "-u", f"redis://127.0.0.1:{PORT}/3", "GET", "in:3"], check=True,
                          capture_output=True).stdout, b"x\n")
    expect(cli("-r", "3", "-i", "0.01", "PING"), b"PONG\n" * 3)
    expect(json.loads(cli("--json", "CONFIG", "GET", "databases")), {"databases": "16"})
    expect(cli("--csv", "TIME").count(b","), 1)


def errors():
    expect(cli("SET", "text", "x"), b"OK\n")
    wrong = ("CL.THROTTLE", "text", "1", "1", "1") if IS_WEIR else ("LPUSH", "text", "y")
    for words, text in ((("INCR", "text"), "ERR value is not an integer or out of range"),
                        (wrong, "WRONGTYPE Operation against a key holding the wrong kind"),
                        (("NOSUCH", "a"), "ERR unknown command 'NOSUCH', with args")):
        expect(cli(*words).decode()[:len(text)], text)
        cli("-e", *words, status=1)


def password():
    expect(cli("CONFIG", "SET", "requirepass", "s e c r e t"), b"OK\n")
    try:
        expect(cli("PING").startswith(b"NOAUTH"), True)
        expect(cli("PING", REDISCLI_AUTH="s e c r e t"), b"PONG\n")
    finally:
        cli("CONFIG", "SET", "requirepass", "", REDISCLI_AUTH="s e c r e t")


def pipe():
    """Mass insertion: it ends when the server answers an ECHO of random bytes."""
    sets = b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\nscan:%d\r\n$1\r\nx\r\n" % (len(str(i)) + 5, i)
                    for i in range(1000))
    expect(b"errors: 0, replies: 1000" in cli("--pipe", stdin=sets), True)


def scan():
    wanted = {b"scan:%d" % index for index in range(1000)}
    expect(set(cli("--scan", "--pattern", "scan:*").split()), wanted)
    expect(wanted < set(cli("--scan").split()), True)


def stat():
    """Two seconds of it: a line per half second, keys and requests as they are."""
    row = re.compile(r"(\d+)\s+(\S+[BKMG])\s+(\d+)\s+(\d+)\s+(\d+) \(\+(\d+)\)\s+(\d+)")
    keys = int(cli("DBSIZE")) + int(cli("-n", "3", "DBSIZE"))
    screen = Terminal([*BASE, "--stat", "-i", "0.5"], ENV)
    time.sleep(2)
    screen.read(0)
    screen.close()
    rows = [match.groups() for line in screen.seen().split("\n") if (match := row.match(line))]
    expect_between(3, len(rows), 5, "lines")
    expect({int(got[0]) for got in rows}, {keys}, "keys")
    requests = [int(got[4]) for got in rows]
    expect(requests, [requests[0] + step for step in range(len(rows))], "requests")


def bigkeys():
    cli("-x", "SET", "giant", stdin=b"x" * 3_000_000)
    if IS_WEIR:
        cli("CL.THROTTLE", "a-limiter", "15", "30", "60")
    shown = cli("--bigkeys").decode()
    keys = int(cli("DBSIZE"))
    expect(f"Sampled {keys} keys in the keyspace" in shown, True)
    expect("""Biggest string found '"giant"' has 3000000 bytes""" in
           re.sub(" +", " ", shown), True)


def throttle_figures():
    need_weir()
    expect(cli("CL.THROTTLE", "user:42", "15", "30", "60"), b"0\n16\n15\n-1\n2\n")
    expect(cli("--no-raw", "CL.THROTTLE", "user:42", "15", "30", "60").splitlines()[2],
           b"3) (integer) 14")


terminal = None


def ask(line, pattern):
    terminal.type(line + "\r")
    match = terminal.wait_for(pattern)
    terminal.wait_for(r"\]?> $")
    return match


def interactive():
    global terminal
    terminal = Terminal(BASE, ENV)
    terminal.wait_for(PROMPT)
    ask("ping", r"\nPONG\n")
    ask(r'set typed "a\x00\"b"', r"\nOK\n")
    ask("get typed", r'\n"a\\x00\\"b"\n')
    ask("2 echo again", r'"again"\n+"again"\n')
    ask("incr typed", r"\n\(error\) ERR value is not an integer")
    ask("get absent", r"\n\(nil\)\n")
    shape = r'1# "maxclients" => "\d+"' if PROTOCOL == 3 else r'1\) "maxclients"\n+2\) "\d+"'
    ask("config get maxclients", shape)
    ask("info server", r"redis_version:7\.")


def hints():
    """What is shown behind the cursor before Enter; it comes from COMMAND DOCS."""
    throttle = [("cl.throttle ", "cl.throttle key max_burst count period")] if IS_WEIR else []
    for typed, hint in (("get ", "get key"), ("expire k ", "expire k seconds"), *throttle):
        terminal.type(typed)
        terminal.wait_for(hint)
        terminal.type("\x15")  # Control-U empties the line
        terminal.wait_for(PROMPT)


def completion():
    terminal.type("pers\t")
    terminal.wait_for("PERSIST")
    terminal.type("\x15")
    terminal.wait_for(PROMPT)


def help_text():
    shown = ask("help expire", r"EXPIRE key seconds[^\n]*\n(.*)")
    expect_between(20, len(shown[0]), 10_000, "length")
    if IS_WEIR:
        ask("help cl.throttle", r"CL\.THROTTLE key max_burst count period \[quantity\]")


def restart():
    ask("select 3", r"\nOK\n")
    ask("set kept 1", rf"\nOK\n[^>]*{PORT}\[3\]> $")
    if IS_WEIR:
        ask("cl.throttle limit 9 1 1000 4", r"\(integer\) 6\n")
    restart_server()


def reconnect():
    """redis-cli tells once that the connection broke, connects again, and begins in database 0."""
    ask("ping", r"\nPONG\n|Server closed the connection")
    ask("ping", r"\nPONG\n")
    ask("select 3", r"\nOK\n")
    ask("incr back", rf"\(integer\) 1\n[^>]*{PORT}\[3\]> $")
    expect(cli("-n", "3", "EXISTS", "back"), b"1\n")


def data_kept():
    need_durable()
    ask("get kept", r'\n"1"\n')
    expect(len(cli("--scan", "--pattern", "scan:*").split()), 1000)


def limiter_kept():
    need_weir()
    need_durable()
    ask("cl.throttle limit 9 1 1000 0", r"\(integer\) 10\n+3\) \(integer\) 6\n")


def leave():
    terminal.type("quit\r")
    expect(terminal.process.wait(timeout=5), 0, "exit status")


say("version " + subprocess.run([TOOL, "--version"], capture_output=True, check=True,
                                text=True).stdout.split()[1])
for body in (handshake, raw_and_binary, options, errors, password, pipe, scan, stat, bigkeys,
             throttle_figures, interactive, hints, completion, help_text, restart, reconnect,
             data_kept, limiter_kept, leave):
    check(body.__name__.replace("_", "-"), body)
if terminal:
    terminal.close()
say("done")
