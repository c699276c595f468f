#include "server/open_store.h"

#include <random>

#include "storage/memory_store.h"

namespace weir::server {
namespace {

storage::HashSeed random_seed() {
  std::random_device device;
  const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
  return {word(), word()};
}

}  // namespace

std::unique_ptr<storage::Store> make_store(const Config& config,
                                           const std::function<void()>& notify) {
  (void)config;
  std::unique_ptr<storage::Store> store =
      std::make_unique<storage::MemoryStore>(storage::make_memory_disk(random_seed()));
  store->set_notify(notify);
  return store;
}

}  // namespace weir::server
