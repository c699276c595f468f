// The tests of the shared log on PostgreSQL, which need a PostgreSQL. Where there is none they are
// skipped, which is said, unless CI is set.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/postgres/postgres_server.h"

namespace {
constexpr int kSkipped = 77;  // known to CMakeLists.txt
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (weir::storage::postgres::PostgresServer::programs().empty()) {
    std::printf("no PostgreSQL 15 or later is installed (in /usr/lib/postgresql): not tested\n");
    return std::getenv("CI") ? 1 : kSkipped;
  }
  const int failed = RUN_ALL_TESTS();
  weir::storage::postgres::stop_shared_server();
  return failed;
}
