"""redis-cli against weir: what it shows is what it shows against redis-server."""

import os
import re

import harness
import shells

FILL = (("MSET", "a", "1", "b", "22", "c", "333"), ("RPUSH", "l", "1", "2", "3", "4"),
        ("HSET", "h", "f", "v", "g", "w"), ("SADD", "s", "10"), ("ZADD", "z", "1", "a", "2", "b"))

# Typed one after another; both terminals have to look the same to the byte.
TYPED = """SET k v
get k
GET
GETX
SET k v EX 1000
SET k v NX
TTL nosuch
3 INCR counter
RPUSH list a b c
LRANGE list 0 -1
HGETALL h
ZRANGE z 0 -1 WITHSCORES
SCAN 0 MATCH nosuch* COUNT 1000
MULTI
SET k w
GET k
EXEC
MULTI
DISCARD
MULTI
NOSUCH
EXEC
WATCH k
UNWATCH
SELECT 3
SET x y
SELECT 0
SELECT 99
CLIENT GETNAME
CLIENT SETNAME me
CLIENT GETNAME
CLIENT NOSUCH
OBJECT ENCODING k
EXPIRE k 100 NX
GETRANGE k 0 -1
ECHO "a\\x00b\\"c"
ECHO "unbalanced
EVAL "return {1,2,{3,'x'},false}" 0
EVAL "return redis.error_reply('My Err')" 0
EVAL "return {KEYS[1],ARGV[1]}" 1 a b
FUNCTION LIST
FUNCTION STATS
MODULE LIST
ACL WHOAMI
WAIT 0 0
ROLE
SUBSCRIBE
LATENCY LATEST
LATENCY RESET
LATENCY GRAPH command
XYZ arg
HELP nosuch
HELP
:get k
set k v e\t
GET k
obj\t encoding k
HELLO 3 AUTH default
HGETALL nosuch
DBSIZE"""

# Given as arguments, one after another; {port} is the server's.
GIVEN = """--hotkeys
--eval SCRIPT key1 key2 , one two
--csv lrange l 0 -1
--csv hgetall h
--json hgetall h
--json zrange z 0 -1 withscores
--quoted-json hgetall h
-3 hgetall h
-3 zrange z 0 -1 withscores
--no-raw lrange l 0 1
--raw lrange l 0 1
-d ; --raw lrange l 0 -1
-D x --raw lrange l 0 1
-n 3 set in3 x
-n 3 dbsize
-n 99 get a
-u redis://127.0.0.1:{port}/3 dbsize
-u redis://nobody:x@127.0.0.1:{port} dbsize
-r 3 -i 0.01 incr repeated
--user nobody --pass x ping
-a x ping
--no-auth-warning -a x get a
--quoted-input get "\\x61"
-e nosuch
-e get a
nosuch
get
-c get a
-2 get a
--cluster info 127.0.0.1:{port}
--cluster check 127.0.0.1:{port}
cluster info
monitor x
config get save
config get maxmemory-policy
config set nosuch x
client kill
acl whoami
failover
replicaof no one
info nosuch
info errorstats
shutdown abort
debug
latency latest
latency history command
latency reset
script debug maybe
script debug no
command getkeys set k v
object freq nosuch
scan 0 count 1000 type stream
memory usage nosuch""".splitlines()

TOPICS = "string list set sorted-set hash pubsub transactions generic cluster".split()


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def without(text, *words):
    """The lines that begin with none of the words."""
    return [line for line in text.splitlines() if not line.strip().startswith(words)]


class SideBySide(shells.ShellTest):
    def setUp(self):
        super().setUp()
        self.both = (self.weir, self.redis())
        for server in self.both:
            for words in FILL:
                server.call(*words)

    def assert_same(self, *words, **options):
        weir, redis = (self.run_cli(server, *words, **options) for server in self.both)
        self.assertEqual((weir, weir.code), (redis, redis.code), words)
        return weir

    def test_what_is_given_as_arguments(self):
        script = self.write("script.lua", "return {KEYS[1],KEYS[2],ARGV[1],ARGV[2]}")
        for line in GIVEN:
            self.assert_same(*(script if word == "SCRIPT" else word for word in line.split(" ")))

    def test_what_is_piped_in(self):
        self.assertEqual(self.assert_same("-x", "set", "k", stdin=b"a\x00b\n"), "OK\n")
        self.assert_same("get", "k")
        self.assert_same("-X", "TAG", "set", "tagged", "TAG", stdin=b"value")
        self.assert_same("get", "tagged")
        self.assert_same(stdin=b"set k 1\nincr k\n\nnosuch\nlrange l 0 -1\n")
        requests = b"".join(harness.encode("SET", f"mass:{i}", i) for i in range(5000))
        self.assert_same("--pipe", stdin=requests + harness.encode("NOSUCH", "x"))
        self.assertIn("5001", self.assert_same("--pipe", stdin=requests + b"*1\r\n$4\r\nPING\r\n"))
        self.assertEqual(self.assert_same("dbsize"), "5009\n")

    def test_keys_that_are_found(self):
        for words in (["--scan"], ["--scan", "--pattern", "[abc]"], ["--scan", "--count", "1"],
                      ["--scan", "--quoted-pattern", r'"\x61*"']):
            weir, redis = (self.run_cli(server, *words) for server in self.both)
            self.assertEqual(sorted(weir.split()), sorted(redis.split()), words)
        for option in ("--bigkeys", "--memkeys"):
            weir, redis = (self.run_cli(server, option) for server in self.both)
            self.assertEqual(self.summary(weir), self.summary(redis))
            self.assertEqual(weir.code, 0)

    @staticmethod
    def summary(text):
        """Of a walk whose order is the server's own, and what a key takes likewise."""
        head, _, tail = text.partition("-------- summary -------")
        lines = sorted(re.sub(r"[\d.]+|found.*$", "", line) for line in tail.splitlines())
        kinds = {line.split()[2] for line in head.splitlines() if line.startswith("[")}
        return lines, kinds

    def test_what_is_typed(self):
        weir, redis = (self.shell(server) for server in self.both)
        self.assertEqual(weir.prompt(), redis.prompt())
        for line in TYPED.splitlines():
            line = line.replace("\\t", "\t")
            self.assertEqual(weir.type(line), redis.type(line), line)

    def test_ctrl_c_ends_listening(self):
        screens = []
        for server in self.both:
            shell = self.shell(server)
            shell.prompt()
            screen = []
            for line, end in (("SUBSCRIBE ch", rb"\(integer\) 1\r\n"),
                              ("PSUBSCRIBE p*", rb"\(integer\) 1\r\n"), ("MONITOR", rb"OK\r\n")):
                shell.keys(line + "\r")
                screen.append(shell.read(re.compile(end)))
                shell.keys("\x03")
                screen.append(shell.prompt())
                screen.append(shell.type("PING"))
            screens.append(screen)
        self.assertEqual(*screens)

    def test_help_and_hints(self):
        for topic in TOPICS:
            weir, redis = (
                {line.split("  ")[1] for line in plain(self.run_cli(server, "help", "@" + topic))
                 .splitlines() if re.match(r"  [A-Z]", line)} for server in self.both)
            commands = {line.split()[0] for line in weir}
            shared = {line for line in redis if line.split()[0] in commands}
            # With what 7.2 has added.
            self.assertEqual({line for line in shared - weir},
                             {line for line in shared if re.match("Z(REV)?RANK ", line)}, topic)
        for name in ("get", "zadd", "config resetstat", "client reply"):
            weir, redis = (self.run_cli(server, "help", *name.split()) for server in self.both)
            hides = ("\x1b[33msummary", "summary")
            self.assertEqual(without(weir, *hides), without(redis, *hides))

    def test_listeners_print_alike(self):
        texts = []
        for server in self.both:
            listeners = []
            for words, begin in ((("subscribe", "a", "b"), "subscribe\nb"),
                                 (("--csv", "psubscribe", "*"), "psubscribe"),
                                 (("--json", "-3", "subscribe", "a"), '"subscribe"'),
                                 (("monitor",), "OK")):
                folder = f"{server.port}-{len(listeners)}"
                listeners.append(self.listener_in(folder, server, *words))
                listeners[-1].wait_for(begin)
            with server.connect() as client:
                for words in (("PUBLISH", "a", "hello"), ("PUBLISH", "b", "x\r\n\x00y"),
                              ("AUTH", "nobody", "secret"),
                              ("EVAL", "return redis.call('set', KEYS[1], 'v')", "1", "lua")):
                    try:
                        client.call(*words)
                    except harness.Refused:
                        pass
                client.call("PUBLISH", "a", "the end")
            for listener in listeners:
                listener.wait_for("the end")
            texts.append([re.sub(r"\d+\.\d{6} \[0 (127.0.0.1:\d+|lua)\]", "TIME [PEER]", listener.text())
                          for listener in listeners])
        self.assertEqual(*texts)

    def listener_in(self, folder, server, *words):
        os.mkdir(self.path(folder))
        listener = shells.Listener(server, self.path(folder), *words)
        self.stops.append(listener.stop)
        return listener


class Alone(shells.ShellTest):
    def shell_at_prompt(self, *words):
        shell = self.shell(self.weir, *words)
        shell.prompt()
        return shell

    def test_help_of_our_own(self):
        text = plain(self.run_cli(self.weir, "help", "RL.TAKE"))
        self.assertRegex(text, r"\n  RL\.TAKE key count/period\|algorithm\|POLICY \[rate\|policy\] .*"
                               r"\[COST n\].*\n  summary: .+\n"
                               r"  since: weir .+\n  group: ratelimit")
        self.assertIn("CL.THROTTLE key max_burst count period [quantity]",
                      plain(self.run_cli(self.weir, "help", "cl.throttle")))
        shell = self.shell_at_prompt()
        shell.keys("CL.THROTTLE k ")
        shown = shell.read(re.compile(rb"\x1b\[\d+C$.*max_burst count period \[quantity\]|"
                                      rb"CL\.THROTTLE k [^\n]*max_burst count period \[quantity\]"))
        self.assertIn(b"\x1b[0;90;49m", shown)  # in grey
        self.assertIn("(integer) 16", shell.type("15 30 60").decode())
        shell.keys("rl.t\t")
        shell.read(re.compile(rb"RL\.TAKE|RL\.THROTTLE|RL\.TOP"))

    def test_hints_go_on_where_the_line_stands(self):
        shell = self.shell_at_prompt()
        more = "[rate|policy] [option value [option value ...]] [limit [limit ...]] "
        for typed, hint in (("RL.TAKE ", "key count/period|algorithm|POLICY " + more + "[COST n]"),
                            ("RL.TAKE k 10/1h ", more + "[COST n]"),
                            ("RL.TAKE k FIXED 10/1h ", more + "[COST n]"),
                            ("RL.TAKE k POLICY api ", more + "[COST n]"),
                            ("RL.ACQUIRE k FIXED 10/1h ", more + "[COST n] TIMEOUT time"),
                            ("RL.POLICY SET p FIXED 10/1h ", "[rate] [option value [option value ...]]"),
                            ("RL.POLICY OVERRIDE p KEY k ", "count/period|algorithm|POLICY " + more.strip())):
            shell.keys(typed)
            shell.read(re.compile(re.escape(typed.encode() + b"\x1b[0;90;49m" + hint.encode())))
            shell.keys("\x15")

    def test_limiters_are_keys(self):
        self.weir.call("CL.THROTTLE", "limiter", 5, 10, 60)
        for option in ("--bigkeys", "--memkeys"):
            self.assertRegex(self.run_cli(self.weir, option), r"(?m)^1 limiters with \d+ ")
        self.assertEqual(self.run_cli(self.weir, "--scan").split(), ["limiter"])

    def test_a_debugger_is_refused_and_nothing_is_run(self):
        script = self.write("script.lua", "return redis.call('set', KEYS[1], 'v')")
        for option in ("--ldb", "--ldb-sync-mode"):
            text = self.run_cli(self.weir, option, "--eval", script, "k")
            self.assertIn("there is no script debugger, so the script was not run", text)
        self.assertEqual(self.weir.call("EXISTS", "k"), 0)

    def test_what_replicas_ask_for_is_refused_in_words(self):
        words = "weir does not speak Redis' replication"
        for option in (["--rdb", self.path("x.rdb")], ["--functions-rdb", self.path("x.rdb")],
                       ["--replica"], ["sync"], ["psync", "?", "-1"]):
            text = self.run_cli(self.weir, *option)
            self.assertIn(words, text, option)
            self.assertEqual(text.code, 1, option)

    def test_latencies_and_figures_go_on(self):
        lowest, highest, _, samples = self.run_cli(self.weir, "--latency").split()
        self.assertLessEqual(int(lowest), int(highest))
        self.assertGreater(int(samples), 0)
        history = rb"min: \d+, max: \d+, avg: [\d.]+ \(\d+ samples\)"
        figures = rb"keys +mem +clients [^\n]*\n\d+ +[\d.]+[BKMG] +\d+ +\d+ +\d+ \(\+\d+\) +\d+ "
        for words, sign in (("--latency-history -i 1", history), ("--stat -i 1", figures),
                            ("--latency-dist -i 1", rb"\n\x1b\[38;5;0m\x1b\[48;5;\d+m\.")):
            shell = shells.Shell(self.weir, self.folder, *words.split())
            self.stops.append(shell.stop)
            shell.read(re.compile(sign))

    def test_passwords(self):
        self.weir.call("ACL", "SETUSER", "ann", "on", ">secret", "+@all", "~*")
        self.weir.call("CONFIG", "SET", "requirepass", "open")
        for words, end in ((["get", "k"], "NOAUTH Authentication required."),
                           (["-a", "open", "--no-auth-warning", "acl", "whoami"], "default"),
                           (["--user", "ann", "--pass", "secret", "acl", "whoami"], "ann"),
                           (["-u", "redis://ann:secret@127.0.0.1:{port}", "acl", "whoami"], "ann"),
                           (["--user", "ann", "--pass", "x", "acl", "whoami"],
                            "NOAUTH Authentication required.")):
            self.assertEqual(self.run_cli(self.weir, *words).strip().splitlines()[-1], end, words)
        shell = self.shell(self.weir, "--askpass", "--user", "ann")
        shell.read(re.compile(b"Please input password: $"))
        shown = shell.type("secret")
        self.assertIn(b"******", shown)
        self.assertEqual(shell.answer("ACL WHOAMI"), '"ann"')
        shell = self.shell_at_prompt()
        self.assertEqual(shell.answer("GET k"), "(error) NOAUTH Authentication required.")
        self.assertEqual(shell.answer("AUTH ann secret"), "OK")

    def test_it_connects_again(self):
        shell = self.shell_at_prompt("-n", "3")
        self.assertEqual(shell.answer("SET k v"), "OK")
        self.weir.stop()
        self.assertIn("Server closed the connection", shell.answer("PING"))
        self.assertIn("Could not connect", shell.answer("PING"))
        self.weir.start()
        self.assertIn("PONG", shell.answer("PING"))
        self.assertIn(b"127.0.0.1:PORT[3]>", shell.type("CLIENT SETNAME again"))
        self.assertIn(b"not connected>", shell.type("SHUTDOWN NOSAVE"))
        self.assertEqual(self.weir.wait()[0], 0)

    def test_info_is_read(self):
        for words, line in ((["info", "memory"], r"number_of_functions:\d+"),
                            (["info", "commandstats"], r"cmdstat_[a-z|]+:calls=\d+,usec=\d+,"
                             r"usec_per_call=\d+\.\d\d,rejected_calls=\d+,failed_calls=\d+"),
                            (["info", "all"], r"# Modules"), (["info", "default"], r"# Errorstats"),
                            (["info", "everything"], r"latency_percentiles_usec_[a-z|]+:"
                             r"p50=\d+\.\d{3},p99=\d+\.\d{3},p99\.9=\d+\.\d{3}")):
            self.run_cli(self.weir, "nosuch")
            self.assertRegex(self.run_cli(self.weir, *words), rf"(?m)^{line}\r?$")

    def test_what_took_long_is_shown(self):
        self.run_cli(self.weir, "config", "set", "latency-monitor-threshold", "100")
        self.run_cli(self.weir, "debug", "sleep", "0.3")
        events = {words.split("\n")[0] for words in
                  self.run_cli(self.weir, "--csv", "latency", "latest").split('"')[1::2]}
        self.assertLessEqual({"command", "turn"}, events)
        self.assertRegex(self.run_cli(self.weir, "latency", "graph", "command"),
                         r"^command - high \d+ ms, low \d+ ms \(all time high \d+ ms\)\n-{80}\n")
        self.assertRegex(self.run_cli(self.weir, "latency", "doctor"), r"(?m)^1\. command: \d+ samples ")
        self.assertRegex(self.run_cli(self.weir, "--json", "latency", "histogram", "debug"),
                         r'^\{"debug":\{"calls":1,"histogram_usec":\{"\d+":1\}\}\}\n$')


if __name__ == "__main__":
    harness.main()
