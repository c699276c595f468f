#include "storage/shared_logs/nats/refusals.h"

#include <map>
#include <mutex>
#include <utility>

namespace weir::storage::nats {

struct Refusals::All {
  std::mutex mutex;
  uintptr_t newest = 0;
  std::map<uintptr_t, std::pair<std::shared_ptr<Mailbox>, uint64_t>> open;
};

Refusals::All& Refusals::all() {
  static All* const all = new All;  // never goes: the thread may come late
  return *all;
}

Refusals::Refusals(std::shared_ptr<Mailbox> mailbox, uint64_t connection) {
  const std::lock_guard lock(all().mutex);
  number_ = ++all().newest;
  all().open[number_] = {std::move(mailbox), connection};
}

Refusals::~Refusals() {
  const std::lock_guard lock(all().mutex);
  all().open.erase(number_);
}

bool Refusals::listen(natsOptions* options) const {
  return natsOptions_SetErrorHandler(options, hear, reinterpret_cast<void*>(number_)) == NATS_OK;
}

void Refusals::hear(natsConnection*, natsSubscription*, natsStatus error, void* number) {
  if (error != NATS_NOT_PERMITTED) return;
  const std::lock_guard lock(all().mutex);
  const auto found = all().open.find(reinterpret_cast<uintptr_t>(number));
  if (found == all().open.end()) return;
  const auto& [mailbox, connection] = found->second;
  mailbox->push({.kind = Incoming::Kind::kNotPermitted, .connection = connection, .text = ""});
}

}  // namespace weir::storage::nats
