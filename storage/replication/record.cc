#include "storage/replication/record.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "storage/format/codec.h"
#include "storage/replication/plain.h"

namespace weir::storage::replication {
namespace {

constexpr uint8_t kMagic = 'W';
constexpr size_t kTurnHeadBytes = 9;

void put(std::string* out, std::string_view bytes) {
  put_varint(out, bytes.size());
  out->append(bytes);
}

void put_instant(std::string* out, int64_t ns) { put_u64_le(out, static_cast<uint64_t>(ns)); }

int64_t instant(Reader* reader) { return static_cast<int64_t>(reader->u64_le()); }

void put(std::string* out, const Author& author) {
  put(out, author.node);
  put(out, author.address);
  put_u64_le(out, author.incarnation.high);
  put_u64_le(out, author.incarnation.low);
}

Author read_author(Reader* reader) {
  Author author;
  author.node = reader->sized_bytes();
  author.address = reader->sized_bytes();
  author.incarnation.high = reader->u64_le();
  author.incarnation.low = reader->u64_le();
  return author;
}

template <size_t kSize>
std::array<char, kSize> read_array(Reader* reader) {
  std::array<char, kSize> array{};
  const std::string_view bytes = reader->bytes(kSize);
  if (bytes.size() == kSize) std::memcpy(array.data(), bytes.data(), kSize);
  return array;
}

void put(std::string* out, const ShardInstance& instance) {
  put_u64_le(out, instance.ms);
  put_u64_le(out, instance.random);
}

ShardInstance read_instance(Reader* reader) {
  return {.ms = reader->u64_le(), .random = reader->u64_le()};
}

// Version 1 has one range, without its number.
void put_slots(std::string* out, uint8_t version, const SlotRanges& slots) {
  if (version != kFirstRecordVersion) put_varint(out, slots.size());
  for (const SlotRange& range : slots) {
    put_varint(out, static_cast<uint64_t>(range.first));
    put_varint(out, static_cast<uint64_t>(range.last));
  }
}

// A number that is no slot makes the ranges such as are not in order.
int read_slot(Reader* reader) {
  return static_cast<int>(std::min<uint64_t>(reader->varint(), kHashSlots));
}

SlotRanges read_slots(uint8_t version, Reader* reader) {
  const uint64_t count = version == kFirstRecordVersion ? 1 : reader->varint();
  SlotRanges slots;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, kHashSlots) && reader->ok(); ++i) {
    const int first = read_slot(reader);
    slots.push_back({first, read_slot(reader)});
  }
  return slots;
}

void put_genesis(std::string* out, uint8_t version, const Genesis& genesis) {
  WEIR_CHECK(version == record_version_of(genesis.origin));
  out->append(genesis.cluster.data(), genesis.cluster.size());
  put(out, genesis.shard_name);
  put_slots(out, version, genesis.origin.slots);
  put_u64_le(out, genesis.hash_seed[0]);
  put_u64_le(out, genesis.hash_seed[1]);
  put_varint(out, genesis.databases);
  out->append(genesis.base.data(), genesis.base.size());
  out->append(genesis.base_digest.data(), genesis.base_digest.size());
  put_u64_le(out, genesis.first_turn);
  put_u8(out, genesis.record_version);
  if (version == kFirstRecordVersion) return;
  put_u8(out, static_cast<uint8_t>(genesis.origin.born));
  put(out, genesis.origin.instance);
  put(out, genesis.former);
}

Genesis read_genesis(uint8_t version, Reader* reader) {
  Genesis genesis;
  genesis.cluster = read_array<16>(reader);
  genesis.shard_name = reader->sized_bytes();
  genesis.origin.slots = read_slots(version, reader);
  genesis.hash_seed = {reader->u64_le(), reader->u64_le()};
  genesis.databases = reader->varint();
  genesis.base = read_array<16>(reader);
  genesis.base_digest = read_array<32>(reader);
  genesis.first_turn = reader->u64_le();
  genesis.record_version = reader->u8();
  if (version != kFirstRecordVersion) {
    genesis.origin.born = static_cast<ShardBirth>(reader->u8());
    genesis.origin.instance = read_instance(reader);
    genesis.former = read_instance(reader);
  }
  // A shard has one form; without slots none is founded.
  if (version != record_version_of(genesis.origin)) genesis.origin = {.slots = {}};
  return genesis;
}

void put_body(std::string* out, const Claim& claim) {
  put(out, claim.author);
  put_instant(out, claim.instant_ns);
  put_instant(out, claim.times.lease_ns);
  put_instant(out, claim.times.failover_after_ns);
}

Claim read_claim(Reader* reader) {
  Claim claim;
  claim.author = read_author(reader);
  claim.instant_ns = instant(reader);
  claim.times.lease_ns = instant(reader);
  claim.times.failover_after_ns = instant(reader);
  return claim;
}

void put_body(std::string* out, const Turns& turns) {
  put_u64_le(out, turns.first_turn);
  put_varint(out, turns.turns.size());
  for (const std::string_view turn : turns.turns) put(out, turn);
}

Turns read_turns(Reader* reader) {
  Turns turns;
  turns.first_turn = reader->u64_le();
  const uint64_t count = reader->varint();
  const uint64_t counted = std::min<uint64_t>(count, kTurnsOfRecordMax);
  for (uint64_t i = 0; i < counted && reader->ok(); ++i)
    turns.turns.push_back(reader->sized_bytes());
  return turns;
}

void put_body(std::string* out, const Part& part) {
  put_u64_le(out, part.turn);
  put_varint(out, part.number);
  put_varint(out, part.count);
  put(out, part.bytes);
}

Part read_part(Reader* reader) {
  Part part;
  part.turn = reader->u64_le();
  part.number = reader->varint();
  part.count = reader->varint();
  part.bytes = reader->sized_bytes();
  return part;
}

void put_body(std::string* out, const Heartbeat& heartbeat) {
  put(out, heartbeat.author);
  put_instant(out, heartbeat.instant_ns);
  put_u64_le(out, heartbeat.written_back_turn);
}

Heartbeat read_heartbeat(Reader* reader) {
  Heartbeat heartbeat;
  heartbeat.author = read_author(reader);
  heartbeat.instant_ns = instant(reader);
  heartbeat.written_back_turn = reader->u64_le();
  return heartbeat;
}

void put_body(std::string* out, const Switchover& switchover) {
  put(out, switchover.to);
  put_instant(out, switchover.instant_ns);
}

Switchover read_switchover(Reader* reader) {
  Switchover switchover;
  switchover.to = reader->sized_bytes();
  switchover.instant_ns = instant(reader);
  return switchover;
}

bool is_plain(const Author& author) {
  return is_plain_name(author.node) && is_plain_address(author.address);
}
bool is_plain(const ShardInstance& instance) { return is_plain_number(instance.ms); }
// Who was restored has a later instance than before, and nobody else had one before.
bool is_plain(const ShardOrigin& origin, const ShardInstance& former) {
  if (!are_in_order(origin.slots) || !is_plain(origin.instance) || !is_plain(former)) return false;
  if (origin.born == ShardBirth::kRestored) return former < origin.instance;
  if (origin.born == ShardBirth::kFounded && origin.slots.empty()) return false;
  return origin.born <= ShardBirth::kJoined && former == ShardInstance{};
}
bool is_plain(const Genesis& genesis) {
  return is_plain_name(genesis.shard_name) && is_plain_number(genesis.first_turn) &&
         is_plain(genesis.origin, genesis.former);
}
bool is_plain(const Claim& claim) {
  return is_plain(claim.author) && is_plain_instant(claim.instant_ns) &&
         is_plain_time(claim.times.lease_ns) && is_plain_time(claim.times.failover_after_ns);
}
bool is_plain(const Turns& turns) { return is_plain_number(turns.first_turn); }
bool is_plain(const Part& part) { return is_plain_number(part.turn); }
bool is_plain(const Heartbeat& heartbeat) {
  return is_plain(heartbeat.author) && is_plain_instant(heartbeat.instant_ns);
}
bool is_plain(const Switchover& switchover) {
  return is_plain_name(switchover.to) && is_plain_instant(switchover.instant_ns);
}

std::optional<Body> read_body(uint8_t version, Kind kind, Reader* reader) {
  switch (kind) {
    case Kind::kGenesis:
      return read_genesis(version, reader);
    case Kind::kClaim:
      return read_claim(reader);
    case Kind::kTurns:
      return read_turns(reader);
    case Kind::kPart:
      return read_part(reader);
    case Kind::kHeartbeat:
      return read_heartbeat(reader);
    case Kind::kSwitchover:
      return read_switchover(reader);
  }
  return std::nullopt;
}

}  // namespace

std::string encode_record(const Envelope& envelope, const Body& body) {
  std::string out;
  put_u8(&out, kMagic);
  put_u8(&out, envelope.version);
  put_u8(&out, static_cast<uint8_t>(body.index() + 1));
  put_u64_le(&out, envelope.nonce);
  put_u64_le(&out, envelope.shard);
  put_u64_le(&out, envelope.epoch.log_index);
  put_u64_le(&out, envelope.epoch.crc);
  const auto put_any = [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Genesis>) {
      put_genesis(&out, envelope.version, value);
    } else {
      put_body(&out, value);
    }
  };
  std::visit(put_any, body);
  return out;
}

std::optional<DecodedRecord> decode_record(std::string_view bytes) {
  Reader reader(bytes);
  const uint8_t magic = reader.u8();
  DecodedRecord record;
  const uint8_t version = record.envelope.version = reader.u8();
  const auto kind = static_cast<Kind>(reader.u8());
  if (!reader.ok() || magic != kMagic) return std::nullopt;
  if (version < kFirstRecordVersion || version > kRecordVersion) return std::nullopt;
  record.envelope.nonce = reader.u64_le();
  record.envelope.shard = reader.u64_le();
  record.envelope.epoch = {.log_index = reader.u64_le(), .crc = reader.u64_le()};
  std::optional<Body> body = read_body(version, kind, &reader);
  if (!body || !reader.ok() || !reader.at_end()) return std::nullopt;
  if (!std::visit([](const auto& value) { return is_plain(value); }, *body)) return std::nullopt;
  record.body = std::move(*body);
  return record;
}

int64_t turn_instant_ns(std::string_view turn_record) {
  if (turn_record.size() < kTurnHeadBytes) return 0;
  return static_cast<int64_t>(load_u64_le(turn_record.data() + 1));
}

}  // namespace weir::storage::replication
