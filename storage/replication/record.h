// The records of the shared log, as bytes and as values. FORMAT.md is the grammar. DO NOT CHANGE
// what is written here without a new record version.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/format/shard_origin.h"
#include "storage/replication/head.h"

namespace weir::storage::replication {

// The newest version that this program reads. A shard that was born with other than all slots has
// version 2 from GENESIS on, so that a weir that knows no slots stops at its first record; all
// others go on with version 1, so that such a weir can take part.
inline constexpr uint8_t kRecordVersion = 2;
inline constexpr uint8_t kFirstRecordVersion = 1;

enum class Kind : uint8_t {
  kGenesis = 1,
  kClaim = 2,
  kTurns = 3,
  kPart = 4,
  kHeartbeat = 5,
  kSwitchover = 6,
};

// What every record begins with. `nonce` is drawn anew for each append. `shard` is a checksum of
// the cluster's id and the shard's name. `epoch` is the CLAIM that the author takes for current.
struct Envelope {
  uint64_t nonce = 0;
  uint64_t shard = 0;
  Head epoch;
  uint8_t version = kFirstRecordVersion;  // of the record
};

// 128 random bits, drawn when a process starts.
struct Incarnation {
  uint64_t high = 0;
  uint64_t low = 0;

  bool operator==(const Incarnation&) const = default;
};

// A process of the shard. The node is 40 hexadecimal digits, the address what clients connect to.
struct Author {
  std::string node;
  std::string address;
  Incarnation incarnation;

  bool operator==(const Author&) const = default;
};

// The constants that a CLAIM sets for its epoch.
struct Times {
  int64_t lease_ns = 0;
  int64_t failover_after_ns = 0;

  bool operator==(const Times&) const = default;
};

struct Genesis {
  std::array<char, 16> cluster{};
  std::string shard_name;
  ShardOrigin origin = {};
  std::array<uint64_t, 2> hash_seed{};
  uint64_t databases = 0;
  std::array<char, 16> base{};         // the directory that the shard was made from
  std::array<char, 32> base_digest{};  // of its contents
  uint64_t first_turn = 1;
  uint8_t record_version = kRecordVersion;  // the newest that the maker of the shard reads
  ShardInstance former = {};                // of a restored shard, what it was before; else {0, 0}
};

// The version of the records of a shard that was born so.
inline uint8_t record_version_of(const ShardOrigin& origin) {
  return origin.is_whole() ? kFirstRecordVersion : kRecordVersion;
}

struct Claim {
  Author author;
  int64_t instant_ns = 0;
  Times times;
};

// Turn records exactly as in storage/FORMAT.md. The views point into the decoded bytes.
struct Turns {
  uint64_t first_turn = 0;
  std::vector<std::string_view> turns;
};

// One of `count` pieces of a turn that is larger than a record may be; numbers start at 1.
struct Part {
  uint64_t turn = 0;
  uint64_t number = 0;
  uint64_t count = 0;
  std::string_view bytes;
};

struct Heartbeat {
  Author author;
  int64_t instant_ns = 0;
  uint64_t written_back_turn = 0;  // up to which everything is in the author's state files
};

struct Switchover {
  std::string to;  // a node
  int64_t instant_ns = 0;
};

using Body = std::variant<Genesis, Claim, Turns, Part, Heartbeat, Switchover>;

struct DecodedRecord {
  Envelope envelope;
  Body body;

  Kind kind() const { return static_cast<Kind>(body.index() + 1); }
};

// Turns of one record. An author puts as many together as fit into 256 KiB.
inline constexpr size_t kTurnsOfRecordMax = 1 << 18;

// REQUIRES: a GENESIS has the version of its shard's records.
std::string encode_record(const Envelope& envelope, const Body& body);
// Answers nothing for an unknown version or kind, for bytes that are not exactly one record, and
// for names, addresses, instants, numbers and slots that no author has (plain.h).
std::optional<DecodedRecord> decode_record(std::string_view bytes);

// The instant in the head of a turn record (storage/FORMAT.md); 0 if it is too short to have one.
int64_t turn_instant_ns(std::string_view turn_record);

}  // namespace weir::storage::replication
