#include "storage/rocks/wal_manifest.h"

#include "storage/format/codec.h"
#include "storage/format/file.h"
#include "storage/rocks/wal_record.h"

namespace weir::storage {
namespace {

// Tags of the fields that may precede the wanted one in a manifest's record; each is followed by a
// string.
constexpr uint64_t kTagComparator = 1;
constexpr uint64_t kTagDatabaseId = 1ull << 13 | 1;
constexpr uint64_t kTagLogNumber = 2;

// The log number that a record tells; 0 if it tells none.
uint64_t log_number_of(std::string_view record) {
  Reader reader(record);
  while (reader.ok() && !reader.at_end()) {
    const uint64_t tag = reader.varint();
    if (tag == kTagLogNumber) return reader.varint();
    if (tag != kTagComparator && tag != kTagDatabaseId) return 0;
    reader.sized_bytes();
  }
  return 0;
}

}  // namespace

uint64_t first_live_wal(std::string_view manifest) {
  uint64_t number = 0;
  WalRecordReader reader(manifest);
  while (reader.next()) {
    if (const uint64_t told = log_number_of(reader.record()); told != 0) number = told;
  }
  return number;
}

Status read_first_live_wal(const std::string& directory, uint64_t* number) {
  *number = 0;
  const std::string current_path = directory + "/CURRENT";
  if (!file_exists(current_path)) return {};
  std::string current;
  if (Status status = read_file(current_path, &current); !status.ok()) return status;
  const std::string manifest_path = directory + "/" + current.substr(0, current.find('\n'));
  if (!file_exists(manifest_path)) return {};
  std::string manifest;
  if (Status status = read_file(manifest_path, &manifest); !status.ok()) return status;
  *number = first_live_wal(manifest);
  return {};
}

}  // namespace weir::storage
