// weir-server by a clock that others move (clock_file.h). It serves and ends as weir-server does;
// its two clocks are one, so that nothing is taken for a step. With COUNT_IDS in the environment
// its ids go up one by one.
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <cstdlib>

#include "server/commands/command_lists.h"
#include "server/config/config_access.h"
#include "server/core/disk/make_store.h"
#include "server/core/run/server.h"
#include "server/net/daemon.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "storage/rocks/rocks_store.h"
#include "tests/differential/clock_file.h"

namespace weir::server {
namespace {

class FileClock : public Clock {
 public:
  int64_t wall_ns() override { return clock_file::now_ns(); }
  int64_t steady_ns() override { return clock_file::now_ns(); }
  void sleep_ns(int64_t) override {}  // whoever moves the clock does not wait either
};

int serve(const Config& config) {
  if (!start_log(config.logfile, config.loglevel)) return 1;
  FileClock clock;
  boost::asio::io_context io(1);
  const auto wake = [&io] { boost::asio::post(io, [] {}); };
  Server server(
      config, &clock, [&] { return make_store(config, storage::kOpenTablesMax, wake); },
      command_lists());
  if (std::getenv("COUNT_IDS") != nullptr) server.limiters().ids.count_up();
  if (!server.open().ok()) return 1;
  Daemon daemon(&server, &io);
  if (const auto listens = daemon.listen(); !listens) {
    std::fprintf(stderr, "%s\n", listens.error().c_str());
    return 1;
  }
  return daemon.run();
}

}  // namespace
}  // namespace weir::server

int main(int argc, char** argv) {
  weir::server::Config config;
  if (const auto loaded = weir::server::load_config(argc, argv, &config); !loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 1;
  }
  return weir::server::serve(config);
}
