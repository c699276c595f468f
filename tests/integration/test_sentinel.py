"""SENTINEL, as clients ask it of any member of a shard, and +switch-master."""

import signal

import harness
from shard_fixture import ShardTest
from support.resp import pairs


class Sentinel(ShardTest):
    def setUp(self):
        super().setUp()
        self.make_shard()
        self.one, self.other = self.member("a").start(), self.member("b").start()
        self.primary = self.primary_of(self.one, self.other)
        self.standby = self.other if self.primary is self.one else self.one

    def address(self, member):
        return member.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")

    def names(self, member):
        return [b"127.0.0.1", str(member.port).encode()]

    def wait_until_known(self):
        def both_know():
            return all(self.address(member) == self.names(self.primary) and
                       len(member.call("SENTINEL", "SENTINELS", "main")) == 1 for member in (self.one, self.other))
        harness.wait_until(both_know, "the members know of one another")

    def test_every_member_says_where_the_primary_is(self):
        self.wait_until_known()
        for member, other in ((self.one, self.other), (self.other, self.one)):
            master = pairs(member.call("SENTINEL", "MASTER", "main"))
            self.assertEqual([master[name] for name in ("name", "ip", "port", "flags")],
                             ["main", "127.0.0.1", str(self.primary.port), "master"])
            self.assertEqual((master["num-slaves"], master["num-other-sentinels"]), ("1", "1"))
            self.assertEqual([pairs(each)["name"] for each in member.call("SENTINEL", "MASTERS")], ["main"])
            for name in ("REPLICAS", "SLAVES"):
                replica = pairs(member.call("SENTINEL", name, "main")[0])
                self.assertEqual([replica[name] for name in ("ip", "port", "flags", "master-link-status")],
                                 ["127.0.0.1", str(self.standby.port), "slave", "ok"])
                self.assertEqual(replica["master-port"], str(self.primary.port))
            sentinel = pairs(member.call("SENTINEL", "SENTINELS", "main")[0])
            self.assertEqual((sentinel["port"], sentinel["flags"]), (str(other.port), "sentinel"))
            self.assertEqual(sentinel["runid"], other.call("SENTINEL", "MYID").decode())
            self.assertTrue(member.call("SENTINEL", "CKQUORUM", "main").startswith("OK 2 usable"))

    def test_names_that_are_not_the_shards(self):
        self.assertFalse(self.one.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"))
        with self.one.connect() as client:
            for name in ("MASTER", "REPLICAS", "SENTINELS", "CKQUORUM"):
                self.assert_refused("ERR No such master with that name", client, "SENTINEL", name, "mymaster")

    def test_a_server_of_no_shard_says_so(self):
        with self.memory_server().connect() as client:
            self.assert_refused("ERR unknown command", client, "SENTINEL", "MASTERS")

    def test_subscribers_hear_of_the_new_primary(self):
        self.wait_until_known()
        with self.standby.connect() as listener:
            listener.call("SUBSCRIBE", "+switch-master")
            self.primary.send_signal(signal.SIGKILL)
            self.primary.wait()
            told = listener.read()
        self.assertEqual(told, [b"message", b"+switch-master",
                                f"main 127.0.0.1 {self.primary.port} 127.0.0.1 {self.standby.port}".encode()])
        harness.wait_until(lambda: self.address(self.standby) == self.names(self.standby), "it is told, too")


if __name__ == "__main__":
    harness.main()
