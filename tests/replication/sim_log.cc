#include "tests/replication/sim_log.h"

#include <algorithm>
#include <utility>

namespace weir::storage::replication {

SimLog::~SimLog() {
  for (const auto& waiting : waiting_) {
    waiting->is_open = false;
    if (const auto call = waiting->call.lock()) call->is_open = false;
  }
}

std::shared_ptr<SimLog::Waiting> SimLog::wait() {
  waiting_.push_back(std::make_shared<Waiting>());
  waiting_.back()->give_up_at_ns = boot_ns_ + SimNetwork::kGiveUpNs;
  return waiting_.back();
}

void SimLog::append(std::optional<Head> expected, std::string record,
                    std::function<void(Appended)> answer) {
  forget_answered();
  const auto waiting = wait();
  waiting->appended = std::move(answer);
  waiting->call =
      network_->append(link_, expected, std::move(record), [waiting](const Appended& appended) {
        if (!std::exchange(waiting->is_open, false)) return;
        waiting->appended(appended);
      });
}

void SimLog::read(Head after, size_t bytes_max, std::function<void(Read)> answer) {
  forget_answered();
  const auto waiting = wait();
  waiting->read = std::move(answer);
  network_->read(link_, after, bytes_max, [waiting](const Read& read) {
    if (std::exchange(waiting->is_open, false)) waiting->read(read);
  });
}

LogFacts SimLog::facts() const {
  return {.engine = "simulated",
          .version = "1",
          .copies = 2,
          .fsync = LogFacts::Fsync::kYes,
          .record_bytes_max = 32 * 1024 * 1024,
          .uses_parts = false,
          .weakness = {}};
}

void SimLog::forget_answered() {
  std::erase_if(waiting_, [](const auto& waiting) { return !waiting->is_open; });
}

void SimLog::tick(int64_t boot_ns) {
  boot_ns_ = boot_ns;
  forget_answered();
  for (const auto& waiting : std::vector(waiting_)) {
    if (waiting->give_up_at_ns > boot_ns || !std::exchange(waiting->is_open, false)) continue;
    if (const auto call = waiting->call.lock()) call->is_open = false;
    if (waiting->appended) {
      waiting->appended(Appended{});
    } else {
      waiting->read(Read{});
    }
  }
}

int64_t SimLog::next_deadline() const {
  int64_t deadline = INT64_MAX;
  for (const auto& waiting : waiting_) {
    if (waiting->is_open) deadline = std::min(deadline, waiting->give_up_at_ns);
  }
  return deadline;
}

}  // namespace weir::storage::replication
