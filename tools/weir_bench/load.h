// The load itself: connections, batches, clocks.
//
// Closed loop: each connection sends a batch of `pipeline` requests, waits for all its replies and
// sends the next. Open loop: requests fall due at a fixed rate, whether or not the server keeps up;
// their latency counts from then.
//
// Invariants
// 1. One thread; per batch one send and, where the replies come in one piece, one recv.
// 2. It always ends: by its window, by its number of requests, or by the time limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/weir_bench/options.h"
#include "tools/weir_bench/report.h"
#include "tools/weir_bench/workload.h"

namespace weir::bench {

class Load {
 public:
  explicit Load(const Options& options);
  ~Load();
  Report run();

 private:
  struct Connection;
  enum class Phase { kWarmup, kMeasure, kDrain };

  void connect_all(const Workload& workload);
  void loop();
  void wait(int64_t now_ns);
  void advance(int64_t now_ns);
  void begin_window(int64_t now_ns);
  void end_window(int64_t now_ns);
  bool may_send() const;
  void start_batches();
  void send_due(int64_t now_ns);
  int64_t due_ns(uint64_t request) const;
  void start_batch(Connection* connection, size_t requests, int64_t now_ns);
  void patch_keys(Connection* connection, size_t requests);
  void send_rest(Connection* connection);
  void on_readable(Connection* connection);
  void record(Connection* connection, size_t replies, int64_t now_ns);
  void fail(std::string reason);

  Options options_;
  std::unique_ptr<Workload> workload_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> idle_;  // open loop only
  std::vector<char> buffer_;
  int epoll_ = -1;
  uint64_t random_state_;
  uint64_t issued_ = 0;
  uint64_t outstanding_ = 0;
  Phase phase_ = Phase::kWarmup;
  int64_t start_ns_ = 0;
  int64_t window_begin_ns_ = 0;
  int64_t drain_begin_ns_ = 0;
  int64_t last_reply_ns_ = 0;
  int64_t server_cpu_begin_us_ = 0;
  int64_t own_cpu_begin_us_ = 0;
  int64_t machine_cpu_begin_us_ = 0;
  Report report_;
};

}  // namespace weir::bench
