// Loads a server with steps on collections (collection_steps.h), in a closed loop: each connection
// sends a batch of `pipeline` commands, waits for all its replies and sends the next.
//
// Invariants
// 1. Every byte of every reply is compared with what it must be; the first that differs ends it.
// 2. It always ends: by its number of commands, or by the time limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/weir_bench/options.h"
#include "tools/weir_bench/report.h"

namespace weir::bench {

class CollectionLoad {
 public:
  explicit CollectionLoad(const Options& options);
  ~CollectionLoad();
  Report run();

 private:
  struct Connection;

  void connect_all();
  void start_batch(Connection* connection);
  void send_rest(Connection* connection);
  void on_readable(Connection* connection);
  void wait();
  void fail(std::string reason);

  const Options options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<char> buffer_;
  int64_t start_ns_ = 0;
  int64_t last_reply_ns_ = 0;
  Report report_;
};

}  // namespace weir::bench
