"""How people make a switchover in a shard, in weir's words and in Redis', and what helps a member
that differs from the others: real processes over a log in a file."""

import glob
import os
import shutil
import signal

import harness
from shard_fixture import Secured, ShardTest
from support.resp import pairs


def rows(reply):
    """Flat lists of names and values, as dictionaries."""
    return list(map(pairs, reply))


class Switchover(ShardTest):
    def pair(self, **named):
        """The primary and the standby, which know of one another."""
        self.make_shard()
        members = [self.member(name, **named).start() for name in "ab"]
        primary = self.primary_of(*members)
        standby = next(each for each in members if each is not primary)
        self.wait_until_known(primary, standby)
        return primary, standby

    def wait_until_known(self, primary, standby):
        harness.wait_until(lambda: self.status(standby)["primary"] == f"127.0.0.1:{primary.port}" and
                           self.members_of(primary).get(standby.port, {}).get("state") == "following" and
                           self.info(primary)["connected_slaves"] == "1", "the two know of one another")

    def moves(self, words, at, to, before):
        self.assertEqual(at.call(*words), "OK", words)
        harness.wait_until(lambda: self.serves(to), f"{words} makes a switchover")
        self.wait_until_known(to, before)

    def test_it_is_asked_for_and_given_as_in_redis(self):
        one, other = self.pair(failover_after_ms=8000)
        one.call("SET", "k", "v")
        self.moves(["CLUSTER", "FAILOVER"], at=other, to=other, before=one)
        self.assertEqual(other.call("GET", "k"), b"v")
        self.assertIn("was asked for a switchover and switches over", other.log())
        self.moves(["FAILOVER"], at=other, to=one, before=other)
        self.moves(["failover", "to", "127.0.0.1", other.port, "timeout", 1000], at=one, to=other, before=one)
        self.moves(["SENTINEL", "FAILOVER", "main"], at=one, to=one, before=other)
        self.moves(["SENTINEL", "FAILOVER", "main"], at=one, to=other, before=one)
        self.moves(["CLUSTER", "FAILOVER", "TAKEOVER"], at=one, to=one, before=other)
        self.assertEqual(one.call("GET", "k"), b"v")

    # What was answered with OK happens, though the primary has not heard of the standby yet.
    def test_a_standby_asks_in_its_first_moments(self):
        self.make_shard()
        primary = self.member("a", failover_after_ms=8000).start()
        harness.wait_until(lambda: self.serves(primary), "one serves")
        standby = self.member("b", failover_after_ms=8000).start()

        def accepted():
            try:
                return standby.call("CLUSTER", "FAILOVER") == "OK"
            except harness.Refused as refused:
                self.assertRegex(str(refused), "could not be promoted|nobody is known to be the primary|LOADING")
                return False
        harness.wait_until(accepted, "the standby asks")
        harness.wait_until(lambda: self.serves(standby), "it is promoted")

    def test_what_is_wrong_is_named(self):
        primary, standby = self.pair(failover_after_ms=8000)
        with primary.connect() as client:
            for words, error in (
                    (["CLUSTER", "FAILOVER"], "ERR You should send CLUSTER FAILOVER to a replica"),
                    (["CLUSTER", "FAILOVER", "NOW"], "ERR syntax error"),
                    (["FAILOVER", "NOW"], "ERR syntax error"),
                    (["FAILOVER", "ABORT"], "ERR No failover in progress."),
                    (["FAILOVER", "TIMEOUT", 0], "ERR FAILOVER timeout must be greater than 0"),
                    (["FAILOVER", "TO", "127.0.0.1", "x"], "ERR value is not an integer or out of range"),
                    (["FAILOVER", "FORCE"], "ERR FAILOVER with force option requires both a timeout and target"),
                    (["FAILOVER", "TO", "127.0.0.1", 1], "ERR FAILOVER target HOST and PORT is not a replica."),
                    (["FAILOVER", "TO", "127.0.0.1", primary.port], "ERR FAILOVER target HOST and PORT is not a"),
                    (["WEIR", "SWITCHOVER", "nobody"], "ERR no standby of that name is there: WEIR STATUS"),
                    (["WEIR", "SWITCHOVER", self.status(primary)["node"]], "ERR this member is the primary already"),
                    (["WEIR", "TAKEOVER"], "ERR this member is the primary already"),
                    (["WEIR", "REJOIN"], "ERR only a member that has stopped rejoins, and this one is primary")):
                self.assert_refused(error, client, *words)
        with standby.connect() as client:
            self.assert_refused("ERR FAILOVER is not valid when server is a replica.", client, "FAILOVER")
            self.assert_refused("ERR this member is not the primary", client, "WEIR", "SWITCHOVER", "x")
        standby.send_signal(signal.SIGKILL)
        standby.wait()
        harness.wait_until(lambda: self.info(primary)["connected_slaves"] == "0", "the standby is missed")
        with primary.connect() as client:
            self.assert_refused("ERR FAILOVER requires connected replicas.", client, "FAILOVER")
            self.assert_refused("ERR FAILOVER target replica is not online.", client, "FAILOVER", "TO", "127.0.0.1",
                                standby.port)
            self.assert_refused("NOGOODSLAVE", client, "SENTINEL", "FAILOVER", "main")
        self.assertTrue(self.serves(primary))
        with self.memory_server().connect() as client:
            self.assert_refused("ERR FAILOVER requires connected replicas.", client, "FAILOVER")
            self.assert_refused("ERR this server is a member of no shard", client, "WEIR", "REJOIN")

    def test_it_is_asked_for_as_the_members_user(self):
        primary, standby = self.pair(requirepass=Secured.PASSWORD, member_user="peer", member_password="of peers",
                                   failover_after_ms=8000)
        self.assertEqual(standby.call("CLUSTER", "FAILOVER"), "OK")
        harness.wait_until(lambda: "does not give it" in standby.log(), "there is no such user yet")
        self.assertNotIn("of peers", standby.log())
        for member in (primary, standby):
            self.assertEqual(member.call("ACL", "SETUSER", "peer", "on", ">of peers", "-@all", "+weir|switchover",
                                         "+weir|snapshot"), "OK")
        self.moves(["CLUSTER", "FAILOVER"], at=standby, to=standby, before=primary)

    def test_members_compare_themselves(self):
        primary, standby = self.pair(commit_wait_ms=20)

        def seen(member, other):
            return {int(one["address"].rpartition(":")[2]): one for one in rows(member.call("WEIR", "CHECK"))}[other.port]
        harness.wait_until(lambda: seen(primary, standby)["configuration"] == "same" and
                           seen(primary, standby)["acl"] == "same", "they are alike")
        standby.call("CONFIG", "SET", "maxmemory", "123mb")
        harness.wait_until(lambda: seen(primary, standby)["configuration"] == "differs", "an option differs")
        self.assertEqual(seen(primary, standby)["acl"], "same")
        self.assertEqual(seen(primary, primary)["configuration"], "same")
        primary.call("ACL", "SETUSER", "u", "on", ">p", "+@all")
        harness.wait_until(lambda: seen(standby, primary)["acl"] == "differs", "a user differs")
        standby.send_signal(signal.SIGKILL)
        standby.wait()
        harness.wait_until(lambda: seen(primary, standby)["state"] == "away", "one is away")

    def test_a_member_that_has_stopped_rejoins(self):
        primary, other = self.pair()
        primary.call("SET", "k", "both have it")
        self.agree(primary, other)
        for each in (other, primary):
            each.send_signal(signal.SIGSTOP)
        saved = self.path("saved-log")
        shutil.copyfile(self.path("shared-log"), saved)
        primary.send_signal(signal.SIGCONT)
        other.send_signal(signal.SIGKILL)
        other.wait()
        primary = self.primary_of(primary)
        primary.call("SET", "k", "what the log loses")
        turn = self.status(primary)["turn"]
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        shutil.copyfile(saved, self.path("shared-log"))
        other.start()
        self.primary_of(other)
        for number in range(20):
            other.call("SET", "k", f"the other history {number}")
        primary.start()
        harness.wait_until(lambda: self.status(primary)["state"] == "stopped", "its turns differ")
        with primary.connect() as client:
            self.assert_refused("MASTERDOWN this member of shard main has stopped", client, "GET", "k")
            self.assert_refused("ERR this member has stopped", client, "WEIR", "TAKEOVER")
            self.assert_refused("ERR this member has stopped", client, "CLUSTER", "FAILOVER")
            self.assertEqual(client.call("WEIR", "REJOIN"), "OK")
        self.assertGreater(turn, 1)
        harness.wait_until(lambda: self.status(primary)["state"] == "following", "it goes on with a copy")
        self.agree(primary, other)
        kept = glob.glob(primary.data + "/before-rejoin-*")
        self.assertEqual(len(kept), 1)
        self.assertEqual(sorted(os.listdir(kept[0])), ["log", "state"])
        self.wait_until_known(other, primary)
        self.moves(["FAILOVER"], at=other, to=primary, before=other)
        self.assertEqual(primary.call("GET", "k"), b"the other history 19")


if __name__ == "__main__":
    harness.main()
