// The tests of the shared log on NATS, which need a nats-server. Where none can be had they are
// skipped, which is said, unless CI is set.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/nats/nats_server.h"

namespace {
constexpr int kSkipped = 77;  // known to CMakeLists.txt
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (weir::storage::nats::NatsServer::program().empty()) {
    std::printf("there is no nats-server, and none can be built: not tested\n");
    return std::getenv("CI") ? 1 : kSkipped;
  }
  const int failed = RUN_ALL_TESTS();
  weir::storage::nats::stop_shared_servers();
  return failed;
}
