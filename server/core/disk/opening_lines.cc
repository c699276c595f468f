#include "server/core/disk/opening_lines.h"

#include <algorithm>

#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr uint64_t kBytesPerMb = 1'000'000;

uint64_t per_second(uint64_t number, int64_t taken_ns) {
  return static_cast<uint64_t>(static_cast<double>(number) * kNsPerS /
                               static_cast<double>(std::max<int64_t>(taken_ns, 1)));
}

}  // namespace

void OpeningLines::note(const storage::OpeningStep& step) {
  if (step.part == storage::OpeningStep::Part::kReadLog) {
    if (step.all < kLongLogBytes) return;
    const auto seconds = static_cast<int64_t>(step.all) / kReadBytesPerSecond;
    return say("reading the log: " + std::to_string(step.all / kBytesPerMb) + " MB",
               kPatienceNs + seconds * kNsPerS);
  }
  const int64_t now_ns = clock_.steady_ns();
  if (begun_ns_ == 0) begun_ns_ = said_ns_ = now_ns;
  if (now_ns - said_ns_ < kEveryNs) return;
  said_ns_ = now_ns;
  const uint64_t rate = std::max<uint64_t>(per_second(step.done, now_ns - begun_ns_), 1);
  const uint64_t all = std::max<uint64_t>(step.all, 1);
  const uint64_t left = step.all - std::min(step.done, step.all);
  say("replaying the log: " + std::to_string(step.done) + " of " + std::to_string(step.all) +
          " turns, " + std::to_string(100 * step.done / all) + " %, " + std::to_string(rate) +
          "/s, " + std::to_string(left / rate) + " s left",
      kPatienceNs);
}

void OpeningLines::say(const std::string& line, int64_t within_ns) const {
  log_info("{}", line);
  if (tell_) tell_(line, within_ns);
}

}  // namespace weir::server
