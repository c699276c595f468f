#include "server/core/disk/storage_health.h"

#include <cstdlib>

#include "base/time_units.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr int64_t kTrialRetryNs = kNsPerS;

}  // namespace

std::string StorageHealth::error() const {
  return "MISCONF the data directory takes no writes (" + failure_.message() +
         "); commands that write are refused until it does, see storage-failure-policy";
}

void StorageHealth::note_opening(const storage::OpenReport& report) {
  if (report.gave_up_reserve) {
    log_warning("the disk was full: the reserve in {} was given up to open the data; make room",
                config_.dir);
  }
  if (report.read_only.ok()) return;
  fail(report.read_only,
       "the disk is full, and the data was opened read-only: " + report.read_only.message());
}

void StorageHealth::fail(const storage::Status& failure, std::string_view what) {
  keys_.store_in_use().mark_failed();
  failure_ = failure;
  log_error("storage failed: {}", what);
  next_try_steady_ns_ = clock_.steady_ns() + kTrialRetryNs;
}

std::string StorageHealth::note_read_failure(const storage::Status& failure) {
  log_error("a record could not be read: {}", failure.message());
  return "MISCONF a record could not be read: " + failure.message();
}

void StorageHealth::look() {
  const int64_t now_ns = clock_.steady_ns();
  if (keys_.store_in_use().failed() || now_ns < next_look_steady_ns_) return;
  next_look_steady_ns_ = now_ns + kTrialRetryNs;
  fail_if_gone();
}

void StorageHealth::look_at_the_end() {
  if (!keys_.store_in_use().is_open() || keys_.store_in_use()->is_there()) return;
  fail_if_gone();
  (void)keys_.reopen(denies() ? storage::Keep::kNothing : storage::Keep::kAll);
}

void StorageHealth::fail_if_gone() {
  if (keys_.store_in_use()->is_there()) return;
  const auto failure = storage::Status::failed("the data directory was deleted");
  fail(failure, failure.message());
}

bool StorageHealth::try_to_recover() {
  const int64_t now_ns = clock_.steady_ns();
  if (!keys_.store_in_use().failed() || now_ns < next_try_steady_ns_) return false;
  next_try_steady_ns_ = now_ns + kTrialRetryNs;
  if (keys_.store_in_use().is_open() && !keys_.store_in_use()->probe().ok()) return false;
  const storage::Status status =
      keys_.reopen(denies() ? storage::Keep::kNothing : storage::Keep::kAll);
  if (!status.ok()) {
    log_error("storage could not be reopened: {}", status.message());
    if (keys_.usable()) return false;
    log_critical("the data cannot be used any more; stopping");
    std::_Exit(1);
  }
  note_other_data();
  failure_ = {};
  log_warning("storage works again, newest turn {}", keys_.turn());
  return true;
}

}  // namespace weir::server
