// The forms of a record outside memory: its key and its value in the state, and its entry in a
// turn's record. FORMAT.md is the grammar. DO NOT CHANGE what is written here without a new format
// version.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/format/key_order.h"
#include "storage/format/status.h"

namespace weir::storage {

// Stored values are of format 1, or of 2 where their type came later, so that a program that knows
// format 1 only refuses them.
inline constexpr uint8_t kValueFormat = 2;
inline constexpr uint8_t kTurnFormat = 1;

// What a record holds. The numbers are on disk.
enum class Type : uint8_t {
  kNone = 0,
  kSystem = 1,
  kString = 2,
  kLimiter = 3,
  kElement = 15,  // belongs to a list that a header names (memtable/elements.h)
  // The types of header records: their payloads begin with the ids of their lists (header.h).
  kHash = 16,
  kList = 17,
  kSet = 18,
  kZset = 19,
  kLimiterEntries = 20,
  kLimiterCharges = 21,  // a limiter with bookings or holds that counts its changes; of format 2
};
inline constexpr bool is_limiter(Type type) {
  return type == Type::kLimiter || type == Type::kLimiterEntries || type == Type::kLimiterCharges;
}
inline constexpr bool owns_elements(Type type) { return type >= Type::kHash; }

// The number under which a database's contents live; it is never used again once it was dropped.
// Generation 0 holds system records: the databases themselves, script bodies, the clock's lead.
using Generation = uint32_t;
inline constexpr Generation kSystemGeneration = 0;
// A generation above all others, for what the store itself keeps beside the records.
inline constexpr Generation kStoreGeneration = 0xffffffff;

// A value with no expiry has expire_at_ms 0. Instants are milliseconds since the Unix epoch.
struct ValueView {
  Type type = Type::kNone;
  int64_t expire_at_ms = 0;
  std::string_view payload;
};

struct KeyView {
  Generation generation = 0;
  KeyOrder key_order = 0;
  std::string_view key;
};

inline constexpr size_t kStoredKeyPrefixBytes = 12;

void append_stored_key(std::string* out, const KeyView& key);
std::string stored_key_prefix(Generation generation, KeyOrder from = 0);
// Answers nothing for bytes too short to be a stored key.
std::optional<KeyView> parse_stored_key(std::string_view bytes);

void append_value(std::string* out, const ValueView& value);
size_t value_bytes(const ValueView& value);
// Decodes a stored value. kRefused for a format version that this program does not know, kCorrupt
// for bytes that are no value.
Status parse_value(std::string_view bytes, ValueView* value);

// Encodes a turn's record: the newest instant of the turn and the last state of every record that
// the turn changed.
class TurnRecordWriter {
 public:
  // Begins a new record; keeps the memory.
  void begin(int64_t instant_ns);
  void put(Generation generation, std::string_view key, const ValueView& value);
  void erase(Generation generation, std::string_view key);
  // Drops a whole list of elements, named by its id alone.
  void drop(Generation generation, uint64_t elements_id);
  std::string_view bytes() const { return bytes_; }
  size_t entries() const { return entries_; }

 private:
  void begin_entry(uint8_t op, Generation generation, std::string_view key);

  std::string bytes_;
  size_t entries_ = 0;
};

struct TurnEntry {
  Generation generation = 0;
  std::string_view key;
  bool erased = false;
  bool dropped = false;  // a list of elements was dropped, whose id is the key
  ValueView value;       // meaningless when erased or dropped
};

// Of a turn's record: the newest instant that the turn used; 0 if the bytes are no such record.
int64_t instant_of_turn(std::string_view record);

// Calls `visit` for each entry in order. Nothing is visited twice; on an error some may have been
// visited already.
Status parse_turn_record(std::string_view bytes, int64_t* instant_ns,
                         const std::function<Status(const TurnEntry&)>& visit);

}  // namespace weir::storage
