// The store that the configuration asks for.
#pragma once

#include <functional>
#include <memory>

#include "server/config.h"
#include "storage/store.h"

namespace weir::server {

// `notify` is called from the store's own threads.
std::unique_ptr<storage::Store> make_store(const Config& config,
                                           const std::function<void()>& notify);

}  // namespace weir::server
