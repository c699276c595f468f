#include "storage/shared_logs/postgres/resolver.h"

#include <netdb.h>

#include <algorithm>
#include <mutex>

#include "storage/store/worker_thread.h"

namespace weir::storage::postgres {
namespace {

// Blocks.
LookedUp look_up(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  LookedUp looked_up;
  if (error != 0) {
    looked_up.failure = "cannot look up host '" + name + "': " + ::gai_strerror(error);
    return looked_up;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
            0 &&
        std::count(looked_up.addresses.begin(), looked_up.addresses.end(), text) == 0)
      looked_up.addresses.emplace_back(text);
  }
  ::freeaddrinfo(found);
  if (looked_up.addresses.empty()) looked_up.failure = "host '" + name + "' has no address";
  return looked_up;
}

}  // namespace

struct Resolver::LookUp {
  std::mutex mutex;
  std::optional<LookedUp> answer;
  std::vector<std::string> known;
  bool is_running = false;
  WorkerThread thread;  // ends before the rest goes
};

Resolver::Resolver() = default;
Resolver::~Resolver() = default;

void Resolver::ask(const std::string& name) {
  auto& look_up_of_name = look_ups_[name];
  if (!look_up_of_name) look_up_of_name = std::make_unique<LookUp>();
  LookUp* const mine = look_up_of_name.get();
  {
    const std::lock_guard lock(mine->mutex);
    if (mine->is_running) return;
    mine->is_running = true;
    mine->answer.reset();
  }
  mine->thread.post([mine, name] {
    LookedUp looked_up = look_up(name);
    const std::lock_guard lock(mine->mutex);
    if (!looked_up.addresses.empty()) mine->known = looked_up.addresses;
    mine->answer = std::move(looked_up);
    mine->is_running = false;
  });
}

std::optional<LookedUp> Resolver::answer(const std::string& name) const {
  const auto found = look_ups_.find(name);
  if (found == look_ups_.end()) return std::nullopt;
  const std::lock_guard lock(found->second->mutex);
  return found->second->answer;
}

std::vector<std::string> Resolver::known(const std::string& name) const {
  const auto found = look_ups_.find(name);
  if (found == look_ups_.end()) return {};
  const std::lock_guard lock(found->second->mutex);
  return found->second->known;
}

}  // namespace weir::storage::postgres
