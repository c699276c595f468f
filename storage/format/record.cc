#include "storage/format/record.h"

#include <cstring>

#include "storage/format/codec.h"

namespace weir::storage {
namespace {

constexpr uint8_t kHasExpiry = 0x80;
constexpr uint8_t kOpPut = 1;
constexpr uint8_t kOpErase = 2;
constexpr uint8_t kOpDrop = 3;
constexpr uint64_t kHashMask = (uint64_t{1} << 48) - 1;

uint8_t format_of(Type type) { return type >= Type::kLimiterCharges ? 2 : 1; }

Status unknown_format(std::string_view what, int found, std::string_view known) {
  return Status::refused(std::string(what) + " has format version " + std::to_string(found) +
                         ", this weir-server reads " + std::string(known));
}

}  // namespace

void append_stored_key(std::string* out, const KeyView& key) {
  put_u32_be(out, key.generation);
  put_u64_be(
      out, static_cast<uint64_t>(slot_of(key.key_order)) << 48 | (key.key_order >> 2 & kHashMask));
  out->append(key.key);
}

std::string stored_key_prefix(Generation generation, KeyOrder from) {
  std::string prefix;
  append_stored_key(&prefix, {.generation = generation, .key_order = from, .key = {}});
  return prefix;
}

std::optional<KeyView> parse_stored_key(std::string_view bytes) {
  if (bytes.size() < kStoredKeyPrefixBytes) return std::nullopt;
  const uint64_t place = load_u64_be(bytes.data() + 4);
  return KeyView{.generation = load_u32_be(bytes.data()),
                 .key_order = place >> 48 << 50 | (place & kHashMask) << 2,
                 .key = bytes.substr(kStoredKeyPrefixBytes)};
}

size_t value_bytes(const ValueView& value) {
  return (value.expire_at_ms != 0 ? 10 : 2) + value.payload.size();
}

void append_value(std::string* out, const ValueView& value) {
  char head[10] = {static_cast<char>(format_of(value.type)), static_cast<char>(value.type)};
  size_t size = 2;
  if (value.expire_at_ms != 0) {
    head[1] = static_cast<char>(static_cast<uint8_t>(value.type) | kHasExpiry);
    std::memcpy(head + 2, &value.expire_at_ms, 8);
    size = 10;
  }
  out->append(head, size);
  out->append(value.payload);
}

Status parse_value(std::string_view bytes, ValueView* value) {
  Reader reader(bytes);
  const uint8_t format = reader.u8();
  if (reader.ok() && (format == 0 || format > kValueFormat))
    return unknown_format("a stored value", format, "versions 1 and 2");
  const uint8_t type = reader.u8();
  value->type = static_cast<Type>(type & ~kHasExpiry);
  value->expire_at_ms = type & kHasExpiry ? static_cast<int64_t>(reader.u64_le()) : 0;
  value->payload = reader.rest();
  if (!reader.ok() || value->type == Type::kNone)
    return Status::corrupt("a stored value is cut short");
  if (format != format_of(value->type))
    return Status::corrupt("a stored value is of a type that its format does not have");
  return {};
}

void TurnRecordWriter::begin(int64_t instant_ns) {
  bytes_.clear();
  entries_ = 0;
  put_u8(&bytes_, kTurnFormat);
  put_u64_le(&bytes_, static_cast<uint64_t>(instant_ns));
}

void TurnRecordWriter::begin_entry(uint8_t op, Generation generation, std::string_view key) {
  put_u8(&bytes_, op);
  put_varint(&bytes_, generation);
  put_varint(&bytes_, key.size());
  bytes_.append(key);
  ++entries_;
}

void TurnRecordWriter::put(Generation generation, std::string_view key, const ValueView& value) {
  begin_entry(kOpPut, generation, key);
  put_varint(&bytes_, value_bytes(value));
  append_value(&bytes_, value);
}

void TurnRecordWriter::erase(Generation generation, std::string_view key) {
  begin_entry(kOpErase, generation, key);
}

void TurnRecordWriter::drop(Generation generation, uint64_t elements_id) {
  std::string key;
  put_varint(&key, elements_id);
  begin_entry(kOpDrop, generation, key);
}

int64_t instant_of_turn(std::string_view record) {
  Reader reader(record);
  const bool is_known = reader.u8() == kTurnFormat;
  const auto instant_ns = static_cast<int64_t>(reader.u64_le());
  return reader.ok() && is_known ? instant_ns : 0;
}

Status parse_turn_record(std::string_view bytes, int64_t* instant_ns,
                         const std::function<Status(const TurnEntry&)>& visit) {
  Reader reader(bytes);
  const uint8_t format = reader.u8();
  if (reader.ok() && format != kTurnFormat)
    return unknown_format("a turn's record", format, "version 1");
  *instant_ns = static_cast<int64_t>(reader.u64_le());
  while (reader.ok() && !reader.at_end()) {
    TurnEntry entry;
    const uint8_t op = reader.u8();
    const uint64_t generation = reader.varint();
    entry.generation = static_cast<Generation>(generation);
    entry.key = reader.sized_bytes();
    entry.erased = op == kOpErase;
    entry.dropped = op == kOpDrop;
    if (op != kOpPut && op != kOpErase && op != kOpDrop)
      return Status::corrupt("a turn's record holds an unknown operation");
    if (generation >= kStoreGeneration)
      return Status::corrupt("a turn's record names an impossible generation");
    if (op == kOpPut) {
      const std::string_view value = reader.sized_bytes();
      if (!reader.ok()) break;
      if (Status status = parse_value(value, &entry.value); !status.ok()) return status;
    }
    if (!reader.ok()) break;
    if (Status status = visit(entry); !status.ok()) return status;
  }
  if (!reader.ok()) return Status::corrupt("a turn's record is cut short");
  return {};
}

}  // namespace weir::storage
