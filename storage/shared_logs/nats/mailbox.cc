#include "storage/shared_logs/nats/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace weir::storage::nats {
namespace {

constexpr size_t kBytesMax = 64 << 20;

}  // namespace

Mailbox::Mailbox() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Mailbox::push(Incoming incoming) {
  const std::lock_guard lock(mutex_);
  const bool is_message =
      incoming.kind == Incoming::Kind::kAnswer || incoming.kind == Incoming::Kind::kNobody;
  if (is_message && bytes_ + incoming.text.size() > kBytesMax) return;
  bytes_ += incoming.text.size() + sizeof incoming;
  waiting_.push_back(std::move(incoming));
  const uint64_t one = 1;
  // It fails only if the counter is full, and then the loop is woken anyway.
  if (::write(wake_.get(), &one, sizeof one) < 0) return;
}

std::vector<Incoming> Mailbox::take() {
  uint64_t count = 0;
  if (::read(wake_.get(), &count, sizeof count) < 0) return {};
  const std::lock_guard lock(mutex_);
  bytes_ = 0;
  return std::exchange(waiting_, {});
}

void Mailbox::tell(const std::function<void()>& change) {
  const std::lock_guard lock(mutex_);
  change();
  told_.notify_all();
}

void Mailbox::wait_until(const std::function<bool()>& is_so) {
  std::unique_lock lock(mutex_);
  told_.wait(lock, is_so);
}

}  // namespace weir::storage::nats
