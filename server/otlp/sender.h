// Posts one message after another to a collector, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/peer/http_post.h"
#include "storage/store/worker_thread.h"

namespace weir::server::otlp {

class Sender {
 public:
  explicit Sender(HttpTarget target) : target_(std::move(target)) {}
  // Cuts what is being sent. What it still waits for is the look-up of a name, which nothing cuts.
  ~Sender();

  // Sends what `make` answers; the thread calls it, and it touches nothing that the caller changes.
  // REQUIRES: !busy()
  void send(int64_t now_ns, std::function<std::string()> make);
  // From send() until the outcome has been taken.
  bool busy() const { return busy_; }
  // Answers once what has become of the message, when that is known: taken, or a line that says why
  // not. A request that takes longer than the target's time-out is cut.
  std::optional<Result<void, std::string>> take_outcome(int64_t now_ns);

 private:
  Result<void, std::string> post(const std::string& message);

  const HttpTarget target_;
  bool busy_ = false;
  int64_t cut_at_ns_ = 0;
  CutOff cut_off_;
  std::mutex mutex_;  // of the outcome
  std::optional<Result<void, std::string>> outcome_;
  storage::WorkerThread worker_;  // ends first
};

}  // namespace weir::server::otlp
