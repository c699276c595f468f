// Feeds the readers of the log arbitrary bytes: the scan of RocksDB's write-ahead log and manifest,
// and the readers of a turn's record and of a stored record. Demands that what they accept lies in
// the bytes, that a record is read back as it is written, and that no cut of a log makes a turn
// appear that was not there.
//
// Input: a byte that says what the rest is: 0 a file, 1 the records of a file, 2 a manifest, 3 a
// turn's record, 4 a stored key, 5 a stored value. The records of a file each begin with a byte of
// length, and get the right checksums, so that the search reaches what stands after those.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "storage/format/codec.h"
#include "storage/format/crc32c.h"
#include "storage/format/record.h"
#include "storage/rocks/wal_manifest.h"
#include "storage/rocks/wal_record.h"
#include "storage/rocks/wal_scan.h"

namespace {

using namespace weir::storage;

void check(bool holds) {
  if (!holds) std::abort();
}

void append_part(std::string* file, uint8_t type, std::string_view payload) {
  std::string checked(1, static_cast<char>(type));
  checked.append(payload);
  const uint32_t sum = crc32c(checked);
  const uint32_t masked = (sum >> 15 | sum << 17) + 0xa282ead8u;
  file->append(reinterpret_cast<const char*>(&masked), sizeof masked);
  put_u8(file, static_cast<uint8_t>(payload.size()));
  put_u8(file, static_cast<uint8_t>(payload.size() >> 8));
  file->append(checked);
}

// The first byte of each record tells its length and, by its top bits, whether it is a whole one.
std::string file_of_records(std::string_view input) {
  std::string file;
  while (!input.empty()) {
    const auto head = static_cast<uint8_t>(input[0]);
    const std::string_view payload = input.substr(1, head & 63);
    input.remove_prefix(1 + payload.size());
    append_part(&file, static_cast<uint8_t>(kWalWhole + (head >> 6)), payload);
  }
  return file;
}

void check_file(std::string_view bytes) {
  const WalScan scan = scan_wal(bytes);
  check(scan.valid_bytes <= bytes.size());
  check(scan.broken || scan.valid_bytes == bytes.size());
  check(scan.first_turn == 0 || scan.last_turn != 0);
  check(!scan.valid_record_behind || *scan.valid_record_behind < bytes.size());
  check(scan.broken || !scan.valid_record_behind);
  // What is valid is valid alone, and says the same.
  const WalScan kept = scan_wal(bytes.substr(0, scan.valid_bytes));
  check(!kept.broken && kept.valid_bytes == scan.valid_bytes);
  check(kept.first_turn == scan.first_turn && kept.last_turn == scan.last_turn);
  check(kept.synced_turn == scan.synced_turn);
  const WalScan half = scan_wal(bytes.substr(0, scan.valid_bytes / 2));
  check(half.valid_bytes <= scan.valid_bytes / 2);
  check(half.first_turn == 0 || half.first_turn == scan.first_turn);
}

Status write_again(const TurnEntry& entry, TurnRecordWriter* writer) {
  if (entry.dropped) {
    Reader reader(entry.key);
    writer->drop(entry.generation, reader.varint());
  } else if (entry.erased) {
    writer->erase(entry.generation, entry.key);
  } else {
    writer->put(entry.generation, entry.key, entry.value);
  }
  return {};
}

// The record as the writer makes it; "" if it is refused. Numbers may be written longer than they
// need to be, so the first writing may differ from the bytes.
std::string rewritten(std::string_view bytes) {
  TurnRecordWriter writer;
  writer.begin(0);
  int64_t instant_ns = 0;
  const Status status = parse_turn_record(
      bytes, &instant_ns, [&](const TurnEntry& entry) { return write_again(entry, &writer); });
  if (!status.ok()) return {};
  std::string record(writer.bytes());
  std::memcpy(record.data() + 1, &instant_ns, sizeof instant_ns);
  return record;
}

void check_turn(std::string_view bytes) {
  const std::string record = rewritten(bytes);
  if (!record.empty()) check(rewritten(record) == record);
}

void check_key(std::string_view bytes) {
  const auto key = parse_stored_key(bytes);
  if (!key) return;
  std::string written;
  append_stored_key(&written, *key);
  check(written.size() == bytes.size());
  const auto again = parse_stored_key(written);
  check(again && again->generation == key->generation && again->key_order == key->key_order);
  check(again->key == key->key);
}

void check_value(std::string_view bytes) {
  ValueView value;
  if (!parse_value(bytes, &value).ok()) return;
  std::string written;
  append_value(&written, value);
  check(written.size() == value_bytes(value));
  ValueView again;
  check(parse_value(written, &again).ok());
  check(again.type == value.type && again.expire_at_ms == value.expire_at_ms);
  check(again.payload == value.payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // A copy, so that reading past the end shows.
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      check_file(input);
      break;
    case 1:
      check_file(file_of_records(input));
      break;
    case 2:
      (void)first_live_wal(input);
      break;
    case 3:
      check_turn(input);
      break;
    case 4:
      check_key(input);
      break;
    default:
      check_value(input);
  }
  return 0;
}
