// ACL between clients of one server: who is let in, what is refused and where, who is closed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/acl/acl.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kQueued = "+QUEUED\r\n";
constexpr const char* kWrongPassword =
    "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
constexpr const char* kNoAuth = "-NOAUTH Authentication required.\r\n";
constexpr const char* kNoKey =
    "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n";
constexpr const char* kNoChannel =
    "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n";

std::string no_command(const std::string& name) {
  return "-NOPERM this user has no permissions to run the '" + name + "' command\r\n";
}

class AclCommands : public testing::Test {
 protected:
  std::string admin(std::initializer_list<std::string_view> words) { return admin_->call(words); }
  std::string ann(std::initializer_list<std::string_view> words) { return ann_->call(words); }
  // Makes ann by rules, and logs her in.
  void be_ann(std::initializer_list<std::string_view> rules) {
    std::vector<std::string_view> words = {"ACL", "SETUSER", "ann", "on", ">pw"};
    words.insert(words.end(), rules);
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) bytes += bulk(word);
    EXPECT_EQ(admin_->send(bytes), kOk);
    EXPECT_EQ(ann({"AUTH", "ann", "pw"}), kOk);
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> admin_ = server_.connect();
  std::unique_ptr<FakeClient> ann_ = server_.connect();
};

TEST_F(AclCommands, UsersLogIn) {
  be_ann({"+@all"});
  EXPECT_EQ(ann({"ACL", "WHOAMI"}), bulk("ann"));
  EXPECT_THAT(admin({"CLIENT", "LIST"}), HasSubstr("user=ann "));
  EXPECT_EQ(ann({"AUTH", "ann", "no"}), kWrongPassword);
  EXPECT_EQ(ann({"AUTH", "bob", "pw"}), kWrongPassword);
  EXPECT_EQ(ann({"ACL", "WHOAMI"}), bulk("ann")) << "a wrong password takes nothing away";
  EXPECT_THAT(ann({"HELLO", "3", "AUTH", "default", "any"}), StartsWith("%7\r\n"));
  EXPECT_EQ(ann({"ACL", "WHOAMI"}), bulk("default"));
  admin({"ACL", "SETUSER", "ann", "off"});
  EXPECT_EQ(ann({"AUTH", "ann", "pw"}), kWrongPassword);
}

TEST_F(AclCommands, WhoeverHasAPasswordCanLogInWithIt) {
  const std::string longest(16384, 'p'), longer(16385, 'p');
  EXPECT_EQ(admin({"ACL", "SETUSER", "ann", "on", ">" + longest}), kOk);
  EXPECT_EQ(ann({"AUTH", "ann", longest}), kOk);
  EXPECT_THAT(admin({"ACL", "SETUSER", "bob", "on", ">" + longer}),
              HasSubstr("A password has at most 16384 bytes"));
  EXPECT_THAT(admin({"CONFIG", "SET", "requirepass", longer}),
              HasSubstr("a password of at most 16384 bytes"));
  EXPECT_EQ(admin({"CONFIG", "SET", "requirepass", longest}), kOk);
  EXPECT_EQ(ann({"AUTH", longest}), kOk);
}

TEST_F(AclCommands, RequirepassIsThePasswordOfDefault) {
  EXPECT_EQ(admin({"CONFIG", "SET", "requirepass", "open"}), kOk);
  const auto late = server_.connect();
  EXPECT_EQ(late->call({"PING"}), kNoAuth);
  EXPECT_EQ(late->call({"AUTH", "default", "open"}), kOk);
  EXPECT_EQ(admin({"PING"}), "+PONG\r\n") << "who was in stays in";
  EXPECT_EQ(admin({"ACL", "SETUSER", "default", ">other"}), kOk);
  EXPECT_EQ(late->call({"AUTH", "other"}), kOk);
  EXPECT_EQ(late->call({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(late->call({"PING"}), kNoAuth);
  EXPECT_EQ(admin({"ACL", "SETUSER", "default", "nopass"}), kOk);
  EXPECT_EQ(late->call({"PING"}), "+PONG\r\n");
  EXPECT_THAT(late->call({"AUTH", "x"}), StartsWith("-ERR AUTH <password> called without any"));
  EXPECT_EQ(admin({"ACL", "SETUSER", "default", "off"}), kOk);
  EXPECT_EQ(late->call({"PING"}), kNoAuth) << "who never logged in";
}

TEST_F(AclCommands, RefusesOnTheWayIn) {
  be_ann({"+@all", "-config", "-acl|list", "~a*", "&a*"});
  EXPECT_EQ(ann({"GET", "a1"}), "$-1\r\n");
  EXPECT_EQ(ann({"GET", "b"}), kNoKey);
  EXPECT_EQ(ann({"CL.THROTTLE", "b", "1", "1", "1"}), kNoKey);
  EXPECT_EQ(ann({"CL.THROTTLE", "a", "1", "1", "1"}), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n");
  EXPECT_EQ(ann({"CONFIG", "GET", "x"}), no_command("config|get"));
  EXPECT_EQ(ann({"acl", "LIST"}), no_command("acl|list"));
  EXPECT_EQ(ann({"PUBLISH", "b", "x"}), kNoChannel);
  EXPECT_EQ(ann({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_THAT(ann({"NOSUCH"}), StartsWith("-ERR unknown command"));
  EXPECT_EQ(ann({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(ann({"GET", "b"}), "$-1\r\n") << "default again";
}

TEST_F(AclCommands, RefusesWhatIsQueued) {
  be_ann({"+@all", "~a*"});
  EXPECT_EQ(ann({"MULTI"}), kOk);
  EXPECT_EQ(ann({"SET", "a", "1"}), kQueued);
  EXPECT_EQ(ann({"SET", "b", "1"}), kNoKey);
  EXPECT_THAT(ann({"EXEC"}), StartsWith("-EXECABORT"));
  EXPECT_EQ(ann({"GET", "a"}), "$-1\r\n");
}

TEST_F(AclCommands, RefusesAtExecWhatIsAllowedNoMore) {
  be_ann({"+@all", "~*", "&*"});
  ann({"MULTI"});
  ann({"SET", "a", "1"});
  ann({"GET", "a"});
  ann({"PUBLISH", "c", "x"});
  ann({"PING"});
  admin({"ACL", "SETUSER", "ann", "-get", "resetkeys", "resetchannels"});
  const std::string begin =
      "-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: ";
  EXPECT_EQ(ann({"EXEC"}),
            "*4\r\n" + begin + "no permission to touch the specified keys\r\n" + begin +
                "no permission to execute the command or subcommand\r\n" + begin +
                "no permission to access one of the channels used as arguments to the "
                "command\r\n+PONG\r\n");
  EXPECT_EQ(admin({"EXISTS", "a"}), ":0\r\n");
  admin({"ACL", "SETUSER", "ann", "-exec"});
  ann({"MULTI"});
  EXPECT_EQ(ann({"EXEC"}),
            "-EXECABORT Transaction discarded because of: NOPERM this user has no "
            "permissions to run the 'exec' command\r\n");
}

TEST_F(AclCommands, ScriptsMayWhatTheirCallerMay) {
  be_ann({"+@all", "-incr", "~a*"});
  EXPECT_EQ(ann({"EVAL", "return redis.call('SET', 'a', '1')", "0"}), kOk);
  EXPECT_THAT(ann({"EVAL", "return redis.call('SET', 'b', '1')", "0"}),
              StartsWith("-ERR The user executing the script can't access at least one of the keys "
                         "mentioned in the command arguments script: "));
  EXPECT_EQ(ann({"EVAL", "return redis.pcall('INCR', 'a')", "0"}),
            "-ERR The user executing the script can't run this command or subcommand\r\n");
  EXPECT_EQ(ann({"EVAL", "return redis.pcall('PUBLISH', 'c', 'x')", "0"}),
            "-ERR The user executing the script can't publish to the channel mentioned in the "
            "command\r\n");
  EXPECT_EQ(ann({"EVAL", "return redis.pcall('CL.THROTTLE', 'b', 1, 1, 1)", "0"}),
            "-ERR The user executing the script can't access at least one of the keys mentioned in "
            "the command arguments\r\n");
  EXPECT_EQ(ann({"EVAL", "return 1", "1", "b"}), kNoKey);
  EXPECT_EQ(ann({"EVAL", "return redis.acl_check_cmd('SET', 'b', '1')", "0"}), "$-1\r\n");
  EXPECT_EQ(ann({"EVAL", "return redis.acl_check_cmd('SET')", "0"}), ":1\r\n");
  EXPECT_EQ(ann({"EVAL", "return redis.acl_check_cmd('PUBLISH')", "0"}), ":1\r\n");
  EXPECT_EQ(admin({"EXISTS", "b"}), ":0\r\n");
}

TEST_F(AclCommands, SortFollowsPatternsOnlyForWhoMayReadAll) {
  admin({"RPUSH", "a", "1", "2"});
  be_ann({"+@all", "~a*", "%W~*"});
  EXPECT_EQ(ann({"SORT", "a", "BY", "w*"}),
            "-ERR BY option of SORT denied due to insufficient ACL permissions.\r\n");
  EXPECT_EQ(ann({"SORT", "a", "GET", "#"}),
            "-ERR GET option of SORT denied due to insufficient ACL permissions.\r\n");
  EXPECT_EQ(ann({"SORT", "a", "BY", "nosort", "STORE", "b"}), ":2\r\n");
  admin({"ACL", "SETUSER", "ann", "%R~*"});
  EXPECT_EQ(ann({"SORT", "a", "GET", "#"}), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

TEST_F(AclCommands, DryRunsTellWhatWouldBeRefused) {
  be_ann({"+@all", "-get", "~a*"});
  EXPECT_EQ(admin({"ACL", "DRYRUN", "ann", "SET", "a", "1"}), kOk);
  EXPECT_EQ(admin({"ACL", "DRYRUN", "ann", "SET", "b", "1"}),
            bulk("This user has no permissions to access the 'b' key"));
  EXPECT_EQ(admin({"ACL", "DRYRUN", "ann", "GET", "a"}),
            bulk("This user has no permissions to run the 'get' command"));
  EXPECT_EQ(admin({"ACL", "DRYRUN", "ann", "SUBSCRIBE", "c"}),
            bulk("This user has no permissions to access the 'c' channel"));
  EXPECT_EQ(admin({"ACL", "DRYRUN", "bob", "GET", "a"}), "-ERR User 'bob' not found\r\n");
  EXPECT_EQ(admin({"ACL", "DRYRUN", "ann", "nosuch"}), "-ERR Command 'nosuch' not found\r\n");
  EXPECT_EQ(admin({"ACL", "LOG"}), "*0\r\n") << "nothing happened";
  EXPECT_EQ(admin({"EXISTS", "a"}), ":0\r\n");
}

TEST_F(AclCommands, TheLogCountsWhatIsAlike) {
  be_ann({"+@all", "-get", "~a*"});
  server_.clock.advance(kSecond);
  ann({"GET", "a"});
  ann({"SET", "b", "1"});
  ann({"GET", "c"});
  ann({"AUTH", "bob", "x"});
  const std::string log = admin({"ACL", "LOG"});
  EXPECT_THAT(log, StartsWith("*3\r\n*20\r\n$5\r\ncount\r\n:1\r\n$6\r\nreason\r\n$4\r\nauth\r\n"));
  EXPECT_THAT(log, HasSubstr("$5\r\ncount\r\n:2\r\n$6\r\nreason\r\n$7\r\ncommand\r\n$7\r\n"
                             "context\r\n$8\r\ntoplevel\r\n$6\r\nobject\r\n$3\r\nget\r\n$8\r\n"
                             "username\r\n$3\r\nann\r\n$11\r\nage-seconds\r\n$1\r\n0\r\n"));
  EXPECT_THAT(log, HasSubstr("user=ann"));
  EXPECT_LT(log.find("$3\r\nget\r\n"), log.find("$6\r\nobject\r\n$1\r\nb\r\n"));
  server_.clock.advance(61 * kSecond);
  ann({"GET", "a"});
  EXPECT_THAT(admin({"ACL", "LOG", "1"}), StartsWith("*1\r\n*20\r\n$5\r\ncount\r\n:1\r\n"));
  admin({"CONFIG", "SET", "acllog-max-len", "2"});
  ann({"GET", "a"});
  EXPECT_THAT(admin({"ACL", "LOG"}), StartsWith("*4\r\n")) << "nothing new came";
  ann({"SET", "d", "1"});
  EXPECT_THAT(admin({"ACL", "LOG"}), StartsWith("*2\r\n"));
  EXPECT_EQ(admin({"ACL", "LOG", "RESET"}), kOk);
  EXPECT_EQ(admin({"ACL", "LOG"}), "*0\r\n");
}

TEST_F(AclCommands, TheLogKnowsWhere) {
  be_ann({"+@all", "~a*"});
  ann({"MULTI"});
  ann({"GET", "b"});
  EXPECT_THAT(admin({"ACL", "LOG", "1"}), HasSubstr("context\r\n$5\r\nmulti\r\n"));
  ann({"DISCARD"});
  ann({"EVAL", "return redis.pcall('GET', 'b')", "0"});
  EXPECT_THAT(admin({"ACL", "LOG", "1"}), HasSubstr("context\r\n$3\r\nlua\r\n"));
}

TEST_F(AclCommands, DeletedUsersAreGone) {
  be_ann({"+@all", "~*"});
  EXPECT_EQ(admin({"ACL", "DELUSER", "ann", "bob"}), ":1\r\n");
  EXPECT_TRUE(ann_->closed());
  EXPECT_EQ(admin({"ACL", "USERS"}), "*1\r\n" + bulk("default"));
  EXPECT_EQ(admin({"ACL", "DELUSER", "default"}), "-ERR The 'default' user cannot be removed\r\n");
}

TEST_F(AclCommands, WhoDeletesItselfGetsTheAnswer) {
  be_ann({"+@all", "~*"});
  const std::string requests = request({"ACL", "DELUSER", "ann"}) + request({"SET", "a", "1"});
  EXPECT_EQ(ann_->send(requests), ":1\r\n");
  EXPECT_TRUE(ann_->closed());
  EXPECT_EQ(admin({"EXISTS", "a"}), ":0\r\n");
}

TEST_F(AclCommands, SubscribersAreClosedWhenTheirChannelIsTakenAway) {
  be_ann({"+@all", "&a*", "&b"});
  ann({"SUBSCRIBE", "a1"});
  EXPECT_EQ(admin({"ACL", "SETUSER", "ann", "-get"}), kOk);
  EXPECT_FALSE(ann_->closed());
  EXPECT_EQ(admin({"ACL", "SETUSER", "ann", "resetchannels", "&b"}), kOk);
  EXPECT_TRUE(ann_->closed());
}

TEST_F(AclCommands, KillsByUser) {
  be_ann({"+@all"});
  EXPECT_EQ(admin({"CLIENT", "KILL", "USER", "bob"}), "-ERR No such user 'bob'\r\n");
  EXPECT_EQ(admin({"CLIENT", "KILL", "USER", "ann"}), ":1\r\n");
  EXPECT_TRUE(ann_->closed());
}

TEST_F(AclCommands, ShowsUsers) {
  be_ann({"+get", "~a", "%R~b", "&c", "(+set)"});
  const std::string hash = "30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4";
  EXPECT_EQ(admin({"ACL", "LIST"}),
            "*2\r\n" +
                bulk("user ann on #" + hash +
                     " ~a %R~b resetchannels &c -@all +get (resetchannels -@all +set)") +
                bulk("user default on nopass ~* &* +@all"));
  EXPECT_EQ(admin({"ACL", "GETUSER", "ann"}),
            "*12\r\n$5\r\nflags\r\n*1\r\n$2\r\non\r\n$9\r\npasswords\r\n*1\r\n" + bulk(hash) +
                "$8\r\ncommands\r\n$10\r\n-@all +get\r\n$4\r\nkeys\r\n$7\r\n~a %R~b\r\n$8\r\n"
                "channels\r\n$2\r\n&c\r\n$9\r\nselectors\r\n*1\r\n*6\r\n$8\r\ncommands\r\n$10\r\n"
                "-@all +set\r\n$4\r\nkeys\r\n$0\r\n\r\n$8\r\nchannels\r\n$0\r\n\r\n");
  EXPECT_EQ(admin({"ACL", "GETUSER", "bob"}), "$-1\r\n");
}

TEST_F(AclCommands, RefusesRulesWholly) {
  EXPECT_EQ(admin({"ACL", "SETUSER", "bob", "on", "+get", "+nosuch"}),
            "-ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in "
            "ACL\r\n");
  EXPECT_EQ(admin({"ACL", "GETUSER", "bob"}), "$-1\r\n");
  EXPECT_EQ(admin({"ACL", "SETUSER", "bob", "(+get", "~a"}),
            "-ERR Unmatched parenthesis in acl selector starting at '(+get'.\r\n");
  for (const char* name : {"a b", "", "a\n"}) {
    EXPECT_EQ(admin({"ACL", "SETUSER", name, "on"}),
              "-ERR Usernames can't contain spaces or null characters\r\n");
  }
  EXPECT_EQ(admin({"ACL", "SETUSER", "bob", "(+get", "~a)"}), kOk);
  EXPECT_THAT(admin({"ACL", "LIST"}), HasSubstr("user bob off resetchannels -@all (~a "));
}

TEST_F(AclCommands, NewUsersChannelsAreAsConfigured) {
  admin({"CONFIG", "SET", "acl-pubsub-default", "allchannels"});
  admin({"ACL", "SETUSER", "bob"});
  EXPECT_THAT(admin({"ACL", "LIST"}), HasSubstr("user bob off &* -@all\r\n"));
  admin({"CONFIG", "SET", "acl-pubsub-default", "resetchannels"});
  admin({"ACL", "SETUSER", "bob", "reset"});
  EXPECT_THAT(admin({"ACL", "LIST"}), HasSubstr("user bob off sanitize-payload resetchannels "));
}

TEST_F(AclCommands, MakesPasswordsUp) {
  EXPECT_THAT(admin({"ACL", "GENPASS"}), MatchesRegex("\\$64\r\n[0-9a-f]+\r\n"));
  EXPECT_THAT(admin({"ACL", "GENPASS", "5"}), MatchesRegex("\\$2\r\n[0-9a-f]+\r\n"));
  EXPECT_THAT(admin({"ACL", "GENPASS", "4096"}), StartsWith("$1024\r\n"));
  EXPECT_NE(admin({"ACL", "GENPASS"}), admin({"ACL", "GENPASS"}));
  EXPECT_THAT(admin({"ACL", "GENPASS", "4097"}), StartsWith("-ERR ACL GENPASS argument must be"));
}

TEST_F(AclCommands, ProtectedModeLooksAtDefault) {
  admin({"ACL", "SETUSER", "default", ">pw"});
  EXPECT_NE(server_.connect(FakeServer::foreign_peer()), nullptr);
  admin({"ACL", "SETUSER", "default", "nopass"});
  EXPECT_EQ(server_.connect(FakeServer::foreign_peer()), nullptr);
}

}  // namespace
}  // namespace weir::server
