// The store that the keyspace uses now. It is another one after each reopen, so the keyspace's
// parts keep this place and not the store.
//
// Invariant: once an append or a sync has failed, what the log holds is unknown, and failed() stays
// true until the store was reopened and the log was read. It holds because the keyspace alone calls
// mark_recovered(), when it has read the log of a store that it has just opened.
#pragma once

#include <memory>
#include <utility>

#include "storage/store/store.h"

namespace weir::storage {

class StoreInUse {
 public:
  // REQUIRES: is_open(), which is false only after a reopen that failed.
  Store* operator->() const { return store_.get(); }
  Store& operator*() const { return *store_; }
  Store* get() const { return store_.get(); }  // null if it is not open
  bool is_open() const { return store_ != nullptr; }
  void use(std::unique_ptr<Store> store) { store_ = std::move(store); }
  void close() { store_.reset(); }

  bool failed() const { return failed_; }
  void mark_failed() { failed_ = true; }
  void mark_recovered() { failed_ = false; }

 private:
  std::unique_ptr<Store> store_;
  bool failed_ = false;
};

}  // namespace weir::storage
