// Feeds the readers of what makes a cluster of shards arbitrary bytes. Demands that every refusal
// of a founding text is one short printable line, that what is accepted has every slot once and is
// read back from its canonical form with the same id, and that a table of slots, a data directory's
// WEIR and a record of the shared log that are accepted are written as they were read.
//
// Input: a byte that says what the rest is: 0 a founding text, 1 a table of slots, 2 a WEIR, whose
// checksum is put right, 3 a record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "server/cluster/founding.h"
#include "server/cluster/slot_table.h"
#include "storage/format/crc32c.h"
#include "storage/replication/record.h"
#include "storage/rocks/rocks_directory.h"

namespace {

using weir::server::Founding;

constexpr size_t kErrorBytesMax = 400;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_founding(std::string_view text) {
  const auto read = Founding::parse(text, "FILE");
  if (!read) {
    check(read.error().size() <= kErrorBytesMax);
    check(std::all_of(read.error().begin(), read.error().end(), weir::is_printable));
    return;
  }
  std::vector<int> owners(weir::kHashSlots);
  for (const auto& shard : read->shards()) {
    check(weir::are_in_order(shard.slots) && read->find(shard.name) == &shard);
    for (const auto& range : shard.slots)
      for (int slot = range.first; slot <= range.last; ++slot) ++owners[static_cast<size_t>(slot)];
  }
  check(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
  const auto again = Founding::parse(read->canonical(), "FILE");
  check(again && again->canonical() == read->canonical() && again->id() == read->id());
}

void check_table(std::string_view bytes) {
  const auto table = weir::server::SlotTable::decode(bytes);
  if (!table) return;
  check(table->encode() == bytes && weir::are_in_order(table->owned()));
  for (const auto& share : table->shares())
    check(table->version_of(share.first) >= 1 && table->owns(share.last) == share.owned);
}

void check_identity(std::string_view bytes) {
  std::string text(bytes);
  char sum[32];
  std::snprintf(sum, sizeof sum, "checksum %08x\n", weir::storage::crc32c(text));
  text += sum;
  weir::storage::DirectoryIdentity identity;
  if (!weir::storage::parse_identity(text, "WEIR", &identity).ok()) return;
  weir::storage::DirectoryIdentity again;
  check(weir::storage::parse_identity(encode_identity(identity), "WEIR", &again).ok());
  check(again.shard == identity.shard && again.seed == identity.seed);
}

void check_record(std::string_view bytes) {
  const auto record = weir::storage::replication::decode_record(bytes);
  if (!record) return;
  check(encode_record(record->envelope, record->body).size() <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 0:
      check_founding(rest);
      break;
    case 1:
      check_table(rest);
      break;
    case 2:
      check_identity(rest);
      break;
    case 3:
      check_record(rest);
      break;
    default:
      break;
  }
  return 0;
}
