// A session that waits for many keys: each of them may try it, so a try must not cost what all do.
#include "tests/server/rl_fixture.h"
#include "tests/server/work_fixture.h"

namespace weir::server {
namespace {

class ManyKeysWork : public WorkBudget {
 protected:
  static constexpr size_t kKeys = 4'000;
  // Of work for each key: to be parsed, looked up, put into its queue, tried.
  static constexpr uint64_t kUnitsPerKey = 16;

  static std::vector<std::string> with_keys(std::string_view command) {
    std::vector<std::string> words{std::string(command)};
    for (size_t i = 0; i < kKeys; ++i) words.push_back("key:" + std::to_string(i));
    return words;
  }

  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(ManyKeysWork, AWaiterOfManyKeysIsTriedCheaply) {
  const auto waiter = server_.connect();
  std::vector<std::string> blpop = with_keys("BLPOP");
  blpop.push_back("0");
  uint64_t before = units();
  waiter->push(request_of(blpop));
  server_.run_turns();
  EXPECT_LE(units() - before, kKeys * kUnitsPerKey) << "it begins to wait";
  for (const char* command : {"DEL", "UNLINK"}) {
    before = units();
    client_->send(request_of(with_keys(command)));
    server_.run_turns();
    EXPECT_LE(units() - before, kKeys * kUnitsPerKey) << command;
  }
  before = units();
  client_->call({"FLUSHALL"});
  server_.run_turns();
  EXPECT_LE(units() - before, kKeys * kUnitsPerKey) << "FLUSHALL";
  client_->call({"RPUSH", "key:3999", "x"});
  server_.run_turns();
  EXPECT_EQ(waiter->take(), "*2\r\n$8\r\nkey:3999\r\n$1\r\nx\r\n");
}

}  // namespace
}  // namespace weir::server
