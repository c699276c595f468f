"""Cuts each snippet out of docs/calling.md and runs it as it stands, against the server of its orders.

A snippet waits for a turn in `jobs`, which is six seconds away, longer than most clients read. Then it
takes a permit of `user:42`, and the first reply to that is lost. It holds when the wait was sent once,
the permit was charged once, and the program ended well.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CLIENTS), str(CLIENTS / "python")]

from direct import Direct  # noqa: E402
from harness import installs, installs_java  # noqa: E402
from lossy_proxy import LossyProxy  # noqa: E402
from report import IS_WEIR, PORT, Skip, check, expect, say  # noqa: E402

PAGE = CLIENTS.parents[1] / "docs/calling.md"
SNIPPET = re.compile(r"^### (\S+)\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 60

NODE = """const { randomUUID } = require('crypto');
const { setTimeout } = require('timers/promises');
%s
(async () => {
%s
process.exit(0);
})();
"""
GO = """package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	%s
)

func run(ctx context.Context) error {
%s
	_, _, _ = turn, verdict, time.Second
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
"""
JAVA = """import java.time.*;
import java.util.*;
%s
public class Snippet {
  public static void main(String[] arguments) throws Exception {
    %s
%s
    System.exit(0);
  }
}
"""
JAVA_IMPORTS = {
    "Jedis": ("redis.clients.jedis", "redis.clients.jedis.exceptions"),
    "Lettuce": ("io.lettuce.core", "io.lettuce.core.codec", "io.lettuce.core.output",
                "io.lettuce.core.protocol"),
    "Redisson": ("org.redisson", "org.redisson.api", "org.redisson.client.codec",
                 "org.redisson.config")}
JAVA_BEFORE = {
    "Jedis": "", "Lettuce": "var UTF8 = StringCodec.UTF8;",
    "Redisson": 'var config = new Config(); config.useSingleServer().setAddress("redis://localhost:'
                '6379"); var client = Redisson.create(config);'}


def python_program(code, _name, folder):
    path = folder / "snippet.py"
    path.write_text(f"import uuid\n\nimport redis\n\n{code}")
    return [sys.executable, path], {"PYTHONPATH": str(installs.python_packages("redis-8"))}


def node_program(code, name, folder):
    path = folder / "snippet.js"
    library = ("const Redis = require('ioredis');" if name == "ioredis" else
               "const { createClient, ErrorReply } = require('redis6');")
    path.write_text(NODE % (library, code))
    return ["node", path], {"NODE_PATH": str(installs.node_packages())}


def go_program(code, name, folder):
    """Built in the module that has the library, which the overlay lends the file."""
    module = CLIENTS / "go" / ("" if name == "go-redis" else "limiters")
    library = '"github.com/redis/' + ('go-redis/v9"' if name == "go-redis" else 'rueidis"')
    (folder / "main.go").write_text(GO % (library, code))
    overlay = {"Replace": {str(module / "snippet/main.go"): str(folder / "main.go")}}
    (folder / "overlay.json").write_text(json.dumps(overlay))
    installs.command([installs.need("go", "Go"), "build", "-mod=readonly", "-buildvcs=false",
                      "-overlay", str(folder / "overlay.json"), "-o", str(folder / "snippet"),
                      "./snippet"],
                     cwd=module, env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
    return [folder / "snippet"], {}


def java_program(code, name, folder):
    imports = "\n".join(f"import {package}.*;" for package in JAVA_IMPORTS[name])
    before = JAVA_BEFORE[name].replace("6379", str(proxy.port))
    (folder / "Snippet.java").write_text(JAVA % (imports, before, code))
    profile = name.lower()
    jars = installs_java.jars(CLIENTS / "java/pom.xml", f"java-{profile}", "-P", profile)
    installs.command(["javac", "-nowarn", "-Xlint:none", "-cp", f"{jars}/*", "-d", str(folder),
                      str(folder / "Snippet.java")])
    return ["java", *installs_java.OPTIONS, "-cp", f"{folder}:{jars}/*", "Snippet"], {}


MAKERS = {"redis-py": python_program, "ioredis": node_program, "node-redis": node_program,
          "go-redis": go_program, "rueidis": go_program, "Jedis": java_program,
          "Lettuce": java_program, "Redisson": java_program}
# Redisson sends what it does not know in a script alone, which does not wait. The server knows it, so
# that the first reply is to the command itself.
SCRIPT = 'SCRIPT LOAD "return redis.call(unpack(ARGV))"'
WAITS_SENT = {"Redisson": 0}


def repeated():
    return int(re.search(r"repeated_ids:(\d+)", direct.ask("INFO everything"))[1])


def snippet_runs(name, code):
    if not IS_WEIR:
        raise Skip("Redis has no limiter")
    for old, new in (("6379", str(proxy.port)), ("localhost", "127.0.0.1")):
        code = code.replace(old, new)
    direct.ask("FLUSHALL")
    direct.ask(SCRIPT)
    before = repeated()
    for _ in range(7):
        direct.ask("RL.RESERVE jobs GCRA 5/1s COST 5")
    proxy.watch("jobs")
    proxy.lose("user:42")
    with tempfile.TemporaryDirectory() as folder:
        command, environment = MAKERS[name](code, name, Path(folder))
        done = subprocess.run(list(map(str, command)), env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    expect((done.returncode, done.stdout), (0, ""), "exit status, output")
    expect((proxy.sent("jobs"), proxy.sent("user:42"), repeated() - before),
           (WAITS_SENT.get(name, 1), 2, 1), "waits sent, takes sent, charged nothing")


def has_all(snippets):
    expect(sorted(snippets), sorted(MAKERS))


proxy = LossyProxy(PORT)
direct = Direct(PORT)
found = dict(SNIPPET.findall(PAGE.read_text()))
say("version -")
check("a-snippet-for-each", lambda: has_all(found))
for title, text in found.items():
    check(title, lambda title=title, text=text: snippet_runs(title, text))
say("done")
