#include "server/otlp/sender.h"

#include <utility>

#include "base/time_units.h"

namespace weir::server::otlp {

Sender::~Sender() {
  cut_off_.cut();
  worker_.stop();
}

void Sender::send(int64_t now_ns, std::function<std::string()> make) {
  busy_ = true;
  cut_at_ns_ = now_ns + target_.timeout_ms * kNsPerMs;
  cut_off_.mend();
  worker_.post([this, make = std::move(make)] {
    Result<void, std::string> outcome = post(make());
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  });
}

Result<void, std::string> Sender::post(const std::string& message) {
  const auto status = http_post(target_, "application/x-protobuf", message, &cut_off_);
  if (!status) return status.error();
  if (*status / 100 == 2) return {};
  return target_.shown() + " answers " + std::to_string(*status);
}

std::optional<Result<void, std::string>> Sender::take_outcome(int64_t now_ns) {
  if (!busy_) return std::nullopt;
  if (now_ns > cut_at_ns_) cut_off_.cut();
  const std::lock_guard lock(mutex_);
  auto outcome = std::exchange(outcome_, std::nullopt);
  if (outcome) busy_ = false;
  return outcome;
}

}  // namespace weir::server::otlp
