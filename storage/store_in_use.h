// The store that the keyspace uses now. It is another one after each reopen, so the keyspace's
// parts keep this place and not the store.
#pragma once

#include <memory>

#include "storage/store.h"

namespace weir::storage {

struct StoreInUse {
  std::unique_ptr<Store> store;  // null only after a reopen that failed
  // Set when an append or a sync has failed: what the log holds is then unknown until the store is
  // reopened.
  bool failed = false;

  Store* operator->() const { return store.get(); }
  Store* get() const { return store.get(); }
};

}  // namespace weir::storage
