#include "storage/replication/trimming.h"

#include <algorithm>

#include "base/check.h"

namespace weir::storage::replication {

Trimming::Trimming(const TrimOptions& options) : options_(options) {
  WEIR_CHECK(options.bytes_max >= options.retained_bytes);
}

void Trimming::note(uint64_t log_index, size_t bytes) {
  for (; !stretches_.empty() && stretches_.back().last_log_index >= log_index;
       stretches_.pop_back()) {
    bytes_ -= stretches_.back().bytes;
  }
  const uint64_t stretch_bytes = options_.retained_bytes / kStretches;
  if (stretches_.empty() || stretches_.back().bytes >= stretch_bytes) stretches_.push_back({});
  stretches_.back().last_log_index = log_index;
  stretches_.back().bytes += bytes;
  bytes_ += bytes;
  // What is longer ago than anybody asks for is forgotten.
  while (stretches_.size() > 2 &&
         bytes_ - stretches_[0].bytes - stretches_[1].bytes >= options_.bytes_max) {
    bytes_ -= stretches_.front().bytes;
    stretches_.pop_front();
  }
}

uint64_t Trimming::before_newest(uint64_t bytes) const {
  uint64_t sum = 0;
  for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend(); ++stretch) {
    if (sum >= bytes) return stretch->last_log_index;
    sum += stretch->bytes;
  }
  return 0;
}

uint64_t Trimming::up_to(uint64_t own_bookmark, const RegistryView& registry) const {
  const auto before = [](uint64_t log_index) { return log_index == 0 ? 0 : log_index - 1; };
  const uint64_t wanted =
      std::min(before_newest(options_.retained_bytes), before(registry.needed_from()));
  return std::min(before(own_bookmark), std::max(wanted, before_newest(options_.bytes_max)));
}

}  // namespace weir::storage::replication
