// The gates that a request comes to before it runs: of several that are shut the first answers.
#include "server/core/run/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr std::string_view kLong = "a-long-key";

class AdmissionTest : public testing::Test {
 protected:
  static Config strict() {
    Config config;
    config.cluster_enabled = true;
    config.storage = StorageForm::kMemory;
    config.requirepass = "secret";
    config.key_bytes_max = 8;
    return config;
  }
  // The error of a request; "" if it may run.
  std::string ask(const Command* command, std::vector<std::string_view> words) {
    const auto admitted = admission_.admit({client_->session(), command, words});
    return admitted ? "" : admitted.error();
  }
  void log_in(std::string_view user = "default") {
    server_->acl().log_in(client_->session(), user, "secret", "auth");
  }
  void fail_disk() { server_->turn().give_up_writing_back(); }

  FakeServer server_{strict()};
  std::unique_ptr<FakeClient> client_ = server_.connect();
  Admission admission_{{.commands = &server_->executor().table(),
                        .config = &server_->config(),
                        .acl = &server_->acl(),
                        .cluster = &server_->executor().cluster(),
                        .shard_role = &server_->shard_role(),
                        .health = &server_->persistence().health}};
};

TEST_F(AdmissionTest, GatesAreInThisOrder) {
  EXPECT_THAT(Admission::gates(),
              ElementsAre("a command", "its arity", "a login", "no transaction", "short keys",
                          "rights", "a slot of this node", "the role in the shard",
                          "a disk that takes writes", "no subscription", "no MONITOR"));
}

// A command that every gate refuses; they are opened one after another.
TEST_F(AdmissionTest, TheFirstGateThatIsShutAnswers) {
  Command row{.name = "row",
              .arity = 3,
              .flags = kWrites | kReads | kNoMulti,
              .keys = {.first = 1, .last = 2, .step = 1},
              .run = [](Call&) {}};
  Session& session = client_->session();
  session.transaction().begin();
  server_->messages().pubsub().subscribe(session, SubscriptionKind::kChannel, "news");
  session.listening().monitors = true;
  fail_disk();
  EXPECT_THAT(ask(nullptr, {"row", kLong}), StartsWith("ERR unknown command 'row'"));
  EXPECT_THAT(ask(&row, {"row", kLong}), StartsWith("ERR wrong number of arguments"));
  EXPECT_THAT(ask(&row, {"row", kLong, "b"}), StartsWith("NOAUTH "));
  log_in();
  EXPECT_EQ(ask(&row, {"row", kLong, "b"}), "ERR Command not allowed inside a transaction");
  session.transaction().clear(server_->keys());
  EXPECT_THAT(ask(&row, {"row", kLong, "b"}), StartsWith("ERR a key may have at most 8 bytes"));
  EXPECT_THAT(ask(&row, {"row", "a", "b"}), StartsWith("CROSSSLOT "));
  EXPECT_THAT(ask(&row, {"row", "{a}1", "{a}2"}), StartsWith("MISCONF "));
  row.flags &= ~kWrites;
  EXPECT_THAT(ask(&row, {"row", "{a}1", "{a}2"}), StartsWith("ERR Can't execute 'row'"));
  session.replies().writer().set_protocol(3);
  EXPECT_EQ(ask(&row, {"row", "{a}1", "{a}2"}), "ERR Replica can't interact with the keyspace");
  session.listening().monitors = false;
  EXPECT_EQ(ask(&row, {"row", "{a}1", "{a}2"}), "");
}

TEST_F(AdmissionTest, RightsComeAfterTheLengthOfKeysAndBeforeSlots) {
  log_in();
  client_->call({"ACL", "SETUSER", "reader", "on", ">secret", "+get", "~*"});
  log_in("reader");
  const Command* mset = server_->executor().table().find("mset");
  EXPECT_THAT(ask(mset, {"MSET", kLong, "1", "b", "2"}), StartsWith("ERR a key may have at most"));
  EXPECT_THAT(ask(mset, {"MSET", "a", "1", "b", "2"}), StartsWith("NOPERM "));
  log_in();
  EXPECT_THAT(ask(mset, {"MSET", "a", "1", "b", "2"}), StartsWith("CROSSSLOT "));
}

}  // namespace
}  // namespace weir::server
