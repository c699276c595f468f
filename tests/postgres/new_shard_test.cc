// --new-shard on PostgreSQL: a process that does nothing but wait, and only ticks.
#include "server/failover/member/new_shard.h"

#include "server/failover/shared_log/open_log.h"
#include "tests/postgres/postgres_fixture.h"
#include "tests/storage/store_driver.h"

namespace weir::storage::postgres {
namespace {

class NewShardOnPostgres : public PostgresTest {
 protected:
  std::string make(const std::string& address, const std::string& shard, const std::string& name) {
    const auto opened = server::open_shared_log(
        address, {.shard = shard, .password_file = "", .makes_shard = true});
    if (!opened) return opened.error();
    std::string said;
    const auto made = server::make_shard({.store = {.directory = directory_ / name},
                                          .name = shard,
                                          .databases = 16,
                                          .log = opened->log.get(),
                                          .clock = &clock_,
                                          .random = {1, 2, 3}},
                                         &said);
    return made ? said : made.error();
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  TemporaryDirectory directory_;
  server::SystemClock clock_;
};

TEST_F(NewShardOnPostgres, OneDirectoryMakesIt) {
  expect_part(make(address(), "main", "a"), "a is the beginning of shard main");
  EXPECT_EQ(value("select last from weir_head where shard = 'main'"), "1");
  expect_part(make(address(), "main", "a"), "belongs to shard main");
  expect_part(make(address(), "main", "b"), "is that of shard main");
  expect_part(make(address(), "other", "c"), "c is the beginning of shard other");
  EXPECT_EQ(value("select count(*) from weir_log"), "2");
}

TEST_F(NewShardOnPostgres, WhyItCannotIsSaid) {
  expect_part(make(server_.address("admin", "nowhere"), "main", "a"),
              "the shared log cannot be read: PostgreSQL: connection to server on socket");
  expect_part(make(address(), "no name", "a"), "a shard's name is");
}

}  // namespace
}  // namespace weir::storage::postgres
