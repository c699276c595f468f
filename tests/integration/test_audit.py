"""The audit in the log: over HTTP and by the page, in JSON, of a shard's orders and of scripts that run long. What each
command tells is in tests/server/core/audit_test.cc."""

import json
import threading

import harness
import http_fixture
import shard_fixture


def audited(server):
    return [line.split(" ", 1)[1] for line in server.log().splitlines() if " audit: " in line]


class Ways(http_fixture.Http):
    def test_over_http_and_by_the_page(self):
        metrics_port = harness.free_port()
        server = self.start(metrics_port=metrics_port)
        server.call("ACL", "SETUSER", "ops", "on", ">secret", "~*", "&*", "+@all")
        login = http_fixture.basic("ops", "secret")
        status, _, _ = self.ask(self.connection(), "/v1/take", "POST",
                                json.dumps({"key": "k", "limits": ["10/1m"], "force": True}), Authorization=login)
        self.assertEqual(status, 200)
        body = json.dumps({"commands": [["RL.POLICY", "SET", "api", "5/1m"]]})
        status, _, text = self.ask(self.connection(metrics_port), "/v1/page", "POST", body, Authorization=login,
                                   Content_Type="application/json", Host=f"127.0.0.1:{metrics_port}")
        self.assertEqual((status, json.loads(text)), (200, {"replies": ["OK"]}), text)
        lines = audited(server)[1:]
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^info audit: RL\.TAKE user=ops client=\d+ address=127\.0\.0\.1:\d+ via=http "
                                   r"database=0 arguments=\"k 10/1m FORCE HEADERS\"$")
        self.assertRegex(lines[1], r"^info audit: RL\.POLICY SET user=ops client=\d+ address=127\.0\.0\.1:\d+ via=page "
                                   r'database=0 arguments="api 5/1m" changed=api before="" after="GCRA 5/1m')

    def test_in_json_fields_are_members(self):
        server = self.start(logformat="json")
        server.call("CONFIG", "SET", "loglevel", "error")
        server.call("CONFIG", "SET", "maxmemory", "1gb", "requirepass", "a secret")
        lines = [json.loads(line) for line in server.log().splitlines()]
        lines = [line for line in lines if line["message"] == "audit: CONFIG SET"][1:]
        for line in lines:
            self.assertEqual(list(line), ["time", "level", "message", "user", "client", "address", "via", "database",
                                          "arguments", "changed", "before", "after"])
            self.assertEqual(line["arguments"], "maxmemory 1gb requirepass (redacted)")
        self.assertEqual([[line["changed"], line["after"]] for line in lines],
                         [["maxmemory", "1073741824"], ["requirepass", "(redacted)"]])

    def test_who_ends_a_server_or_a_script(self):
        server = self.start("--script-time-limit-ms", "0", "--busy-reply-threshold", "50")
        script = threading.Thread(target=lambda: self.assertRaises(
            harness.Refused, server.call, "EVAL", "while true do end", "0"))
        script.start()
        harness.wait_until(lambda: self.kills(server), "the script is ended")
        script.join()
        with server.connect() as client:
            client.send(harness.encode("SHUTDOWN", "NOW"))
            self.assert_closed(client)
        self.assertEqual(server.wait()[0], 0)
        lines = audited(server)
        self.assertEqual([line.split(" user=")[0] for line in lines], ["info audit: SCRIPT KILL", "info audit: SHUTDOWN"])

    @staticmethod
    def kills(server):
        try:
            return server.call("SCRIPT", "KILL") == "OK"
        except harness.Refused:
            return False


class Orders(shard_fixture.ShardTest):
    def test_orders_of_a_shard(self):
        self.make_shard()
        one = self.member("a").start()
        two = self.member("b").start()
        primary = self.primary_of(one, two)
        standby = two if primary is one else one
        self.switch_over(primary, standby)
        self.assertIn("info audit: WEIR SWITCHOVER user=default", audited(primary)[-1])
        harness.wait_until(lambda: self.serves(standby), "the switchover")
        for words, name in ((("WEIR", "TAKEOVER"), "WEIR TAKEOVER"), (("CLUSTER", "FAILOVER", "TAKEOVER"), "CLUSTER FAILOVER"),
                            (("FAILOVER",), "FAILOVER"), (("SENTINEL", "FAILOVER", "main"), "SENTINEL FAILOVER")):
            with self.subTest(name):
                serving = self.primary_of(one, two)
                other = two if serving is one else one
                asked = other if words[0] in ("WEIR", "CLUSTER") else serving
                harness.wait_until(lambda: self.is_taken(asked, words), "the order is taken")
                self.assertIn(f"info audit: {name} user=default", audited(asked)[-1])
                harness.wait_until(lambda: self.serves(other), "the order is done")

    @staticmethod
    def is_taken(server, words):
        try:
            return server.call(*words) == "OK"
        except harness.Refused:
            return False


if __name__ == "__main__":
    harness.main()
