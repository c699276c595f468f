// Users in the configuration and in an aclfile: loaded, refused, kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "server/acl/acl.h"
#include "server/commands/command_lists.h"
#include "tests/server/config_fixture.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHashOfX =
    "#2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

class AclConfig : public ConfigTest {
 protected:
  // What a server says of its users, or why it does not start.
  std::string start() {
    clock_ = FakeClock();
    Server server(
        config_, &clock_,
        [] {
          return std::make_unique<storage::MemoryStore>(storage::make_memory_disk({1, 2}));
        },
        command_lists());
    const storage::Status status = server.open();
    if (status.ok()) return server.acl().users().text();
    std::string text(status.message());
    const std::string prefix = folder_.string() + '/';
    for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  std::string users_of(const std::string& text) {
    const std::string error = load_text(text);
    return error.empty() ? start() : error;
  }
  void use_file(const std::string& text) {
    config_ = Config();
    config_.aclfile = write(text, "users.acl");
  }

  FakeClock clock_;
};

TEST_F(AclConfig, LinesMakeUsers) {
  EXPECT_EQ(users_of("user ann on >x ~* +get (+set ~b)\nUSER bob +@all \"~a\" &*\n"),
            "user ann on " + std::string(kHashOfX) +
                " ~* resetchannels -@all +get (~b resetchannels -@all +set)\n"
                "user bob off ~a &* +@all\nuser default on nopass ~* &* +@all\n");
  EXPECT_EQ(users_of("requirepass x\n"),
            "user default on " + std::string(kHashOfX) + " ~* &* +@all\n");
  EXPECT_EQ(users_of("requirepass x\nuser default on nopass +get\n"),
            "user default on nopass resetchannels -@all +get\n");
  EXPECT_EQ(load({write("port 1"), "--user", "ann", "on"}), "");
  EXPECT_THAT(start(), StartsWith("user ann on resetchannels -@all\n"));
}

TEST_F(AclConfig, LinesThatAreWrongStopTheStart) {
  EXPECT_EQ(load_text("user"), "weir.conf:1: user takes a name and rules");
  EXPECT_EQ(load_text("user a on\n#\nuser a off"),
            "weir.conf:3: user 'a' is there twice, see weir.conf:1");
  EXPECT_EQ(users_of("port 1\nuser a +nosuch"),
            "weir.conf:2: user 'a': rule '+nosuch': Unknown command or category name in ACL");
  EXPECT_EQ(users_of("user \"a b\" on"),
            "weir.conf:1: user 'a b': a name has no blanks and is not empty");
  EXPECT_EQ(users_of("user a (+get"),
            "weir.conf:1: user 'a': the parenthesis of '(+get' is not closed");
  EXPECT_EQ(users_of("aclfile x\nuser a on"),
            "weir.conf:2: users are either in the configuration or in an aclfile");
}

TEST_F(AclConfig, AnAclfileMakesUsers) {
  use_file(
      "# a comment\n\n  user ann on >x +get ~a\"b (+set %W~y)\r\nuser default on nopass ~* +@all");
  EXPECT_EQ(start(), "user ann on " + std::string(kHashOfX) +
                         " ~a\"b resetchannels -@all +get (%W~y resetchannels -@all +set)\n"
                         "user default on nopass ~* resetchannels +@all\n");
  use_file("");
  config_.requirepass = "x";
  EXPECT_EQ(start(), "user default on " + std::string(kHashOfX) + " ~* &* +@all\n")
      << "a file that says nothing of default opens no door";
}

TEST_F(AclConfig, AnAclfileMayBeginWithAByteOrderMark) {
  use_file("\xef\xbb\xbfuser ann on nopass ~* +get\n");
  EXPECT_THAT(start(), StartsWith("user ann on nopass ~* resetchannels -@all +get\n"));
}

TEST_F(AclConfig, AnAclfileThatIsWrongStopsTheStart) {
  const std::string end =
      "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
  use_file("usr a on\nuser a foo\nuser b +nosuch\nuser c (+get\nuser");
  EXPECT_EQ(start(),
            "users.acl:1 should start with user keyword followed by the username. "
            "users.acl:2: Syntax error. "
            "users.acl:3: Error in applying operation '+nosuch': Unknown command or category name "
            "in ACL. users.acl:4: Unmatched parentheses in acl selector starting at '(+get'. "
            "users.acl:5 should start with user keyword followed by the username. " +
                end);
  use_file("user a on\nuser a on");
  EXPECT_EQ(start(), "WARNING: Duplicate user 'a' found on line 2. " + end);
  config_.aclfile = path("missing");
  EXPECT_EQ(start(), "Error loading ACLs, opening file 'missing': No such file or directory");
}

TEST_F(AclConfig, ARelativeFileLiesInTheDataDirectory) {
  use_file("user ann on nopass +get\n");
  config_.dir = folder_.string();
  config_.aclfile = "users.acl";
  EXPECT_THAT(start(), testing::HasSubstr("user ann on nopass"));
}

TEST_F(AclConfig, SavesAndLoads) {
  use_file("user ann on >x ~* +@all\n");
  ::chmod(config_.aclfile.c_str(), 0640);
  FakeServer server(config_);
  const auto admin = server.connect(), ann = server.connect(), bob = server.connect();
  EXPECT_EQ(admin->call({"ACL", "SETUSER", "bob", "on", "nopass", "+get", "(~k +set)"}), kOk);
  EXPECT_EQ(ann->call({"AUTH", "ann", "x"}), kOk);
  EXPECT_EQ(bob->call({"AUTH", "bob", ""}), kOk);
  EXPECT_EQ(admin->call({"ACL", "SAVE"}), kOk);
  EXPECT_EQ(read_file(config_.aclfile), server->acl().users().text());
  struct stat mode = {};
  ::stat(config_.aclfile.c_str(), &mode);
  EXPECT_EQ(mode.st_mode & 0777, 0640u);

  FakeServer restarted(config_);
  EXPECT_EQ(restarted->acl().users().text(), server->acl().users().text());

  write("user ann on >x ~* -@all +get\nuser carol on\n", "users.acl");
  EXPECT_EQ(admin->call({"ACL", "LOAD"}), kOk);
  EXPECT_FALSE(ann->closed()) << "still a user";
  EXPECT_EQ(ann->call({"GET", "a"}), "$-1\r\n");
  EXPECT_THAT(ann->call({"SET", "a", "1"}), StartsWith("-NOPERM"));
  EXPECT_TRUE(bob->closed()) << "a user no more";
  EXPECT_EQ(admin->call({"ACL", "USERS"}),
            "*3\r\n" + bulk("ann") + bulk("carol") + bulk("default"));

  write("user carol\nuser dave +nosuch\n", "users.acl");
  EXPECT_THAT(admin->call({"ACL", "LOAD"}), StartsWith("-ERR " + config_.aclfile + ":2: Error in"));
  EXPECT_FALSE(ann->closed());
  EXPECT_EQ(ann->call({"GET", "a"}), "$-1\r\n") << "all or nothing";
}

TEST_F(AclConfig, WithoutAFileNothingIsSaved) {
  FakeServer server;
  const auto admin = server.connect();
  EXPECT_THAT(admin->call({"ACL", "SAVE"}), StartsWith("-ERR This Redis instance is not config"));
  EXPECT_THAT(admin->call({"ACL", "LOAD"}), StartsWith("-ERR This Redis instance is not config"));
}

TEST_F(AclConfig, SavingSaysWhenItFails) {
  use_file("");
  FakeServer server(config_);
  std::filesystem::remove(config_.aclfile);
  std::filesystem::create_directory(config_.aclfile);
  EXPECT_THAT(server.connect()->call({"ACL", "SAVE"}),
              StartsWith("-ERR There was an error trying to save the ACLs."));
}

TEST_F(AclConfig, RewriteKeepsUsers) {
  ASSERT_EQ(load_text("# head\nuser ann on >x ~* +get\nhz 20\n"), "");
  const std::string before = read_file(path("weir.conf"));
  std::string users;
  {
    FakeServer server(config_);
    const auto admin = server.connect();
    EXPECT_EQ(admin->call({"CONFIG", "REWRITE"}), kOk);
    EXPECT_EQ(read_file(path("weir.conf")), before) << "the plain password means the same";
    admin->call({"ACL", "SETUSER", "bob", "off", "+@all", "-get", "~a\"b", "(~k +set)"});
    admin->call({"ACL", "SETUSER", "ann", "&c"});
    EXPECT_EQ(admin->call({"CONFIG", "REWRITE"}), kOk);
    users = server->acl().users().text();
  }
  EXPECT_EQ(read_file(path("weir.conf")),
            "# head\nuser ann on " + std::string(kHashOfX) +
                " ~* resetchannels &c -@all +get\n"
                "user bob off \"~a\\\"b\" resetchannels +@all -get (~k resetchannels -@all +set)\n"
                "hz 20\n");
  ASSERT_EQ(load({path("weir.conf")}), "");
  EXPECT_EQ(start(), users);
}

TEST_F(AclConfig, RewriteKeepsTheDefaultUser) {
  ASSERT_EQ(load_text("requirepass x\n"), "");
  std::string users;
  {
    FakeServer server(config_);
    const auto admin = server.connect();
    EXPECT_EQ(admin->call({"AUTH", "x"}), kOk);
    admin->call({"ACL", "SETUSER", "default", "-flushall"});
    EXPECT_EQ(admin->call({"CONFIG", "REWRITE"}), kOk);
    users = server->acl().users().text();
  }
  EXPECT_EQ(read_file(path("weir.conf")),
            "requirepass x\n\n# Written by CONFIG REWRITE\nuser default on " +
                std::string(kHashOfX) + " ~* &* +@all -flushall\n");
  ASSERT_EQ(load({path("weir.conf")}), "");
  EXPECT_EQ(start(), users);
}

TEST_F(AclConfig, RewriteDoesNotTouchUsersElsewhere) {
  write("user ann on\n", "more.conf");
  ASSERT_EQ(load_text("include more.conf\n"), "");
  FakeServer server(config_);
  const auto admin = server.connect();
  EXPECT_EQ(admin->call({"CONFIG", "REWRITE"}), kOk);
  admin->call({"ACL", "SETUSER", "bob"});
  EXPECT_EQ(admin->call({"CONFIG", "REWRITE"}),
            "-ERR Rewriting config file: users have changed that stand in an included file\r\n");
}

}  // namespace
}  // namespace weir::server
