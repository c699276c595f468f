#include "server/failover/copies/copy_check.h"

#include "server/core/disk/contents.h"
#include "storage/rocks/rocks_store.h"
#include "storage/store/newest_records.h"

namespace weir::server {
namespace {

using storage::Status;

constexpr int kOpenTablesMax = 256;
constexpr uint64_t kTellRecords = 1024;

}  // namespace

Result<void, std::string> check_copy(const std::string& directory,
                                     const std::function<void(uint64_t records)>& tell,
                                     const std::atomic<bool>& stops) {
  storage::RocksOptions options;
  options.directory = directory;
  options.open_tables_max = kOpenTablesMax;
  options.inspect = true;
  const auto store = storage::make_rocks_store(options);
  storage::OpenReport opened;
  if (const Status status = store->open(&opened); !status.ok()) return status.message();
  storage::NewestRecords records(store.get(), opened.written_back_turn, opened.instant_ns);
  if (const Status status = records.read_log(); !status.ok()) return status.message();
  Contents contents(store->hash_seed(), records.instant_ns());
  const Status status = records.visit([&](std::string_view key, std::string_view value) {
    contents.take(key, value);
    if (contents.records() % kTellRecords != 0) return Status();
    tell(contents.records());
    return stops ? Status::failed("the server stops") : Status();
  });
  if (!status.ok()) return status.message();
  contents.end();
  if (contents.damages() == 0) return {};
  return "its data is damaged: " + contents.damage().front() +
         (contents.damages() == 1 ? ""
                                  : "; and " + std::to_string(contents.damages() - 1) + " more");
}

}  // namespace weir::server
