#include "server/limiter/policy/overrides.h"

#include <algorithm>

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr uint64_t kNoDatabase = uint64_t{1} << 32;
constexpr char kByName = 0;
constexpr char kByOrdinal = 1;

std::string record_head(uint64_t set, char kind) {
  std::string key;
  storage::put_varint(&key, kNoDatabase);
  storage::put_varint(&key, set);
  key.push_back(kind);
  return key;
}

std::string scope_bytes(const OverrideScope& scope) {
  return std::string(1, scope.is_prefix ? 1 : 0).append(scope.name);
}

OverrideScope scope_of(std::string_view bytes) {
  if (bytes.empty()) return {};
  return {.is_prefix = bytes[0] != 0, .name = bytes.substr(1)};
}

// A Ref is good as long as the name that it was found by.
storage::Ref look_up(storage::Keyspace& keys, const std::string& name) {
  return keys.look_up(keys.options().hidden_database(), name);
}

std::string name_of(uint64_t set, std::string_view scope) {
  return record_head(set, kByName).append(scope);
}

std::string number_of(uint64_t set, uint64_t ordinal) {
  std::string name = record_head(set, kByOrdinal);
  storage::put_varint(&name, ordinal);
  return name;
}

void put(storage::Keyspace& keys, const std::string& name, std::string_view value) {
  storage::Ref ref = look_up(keys, name);
  keys.put(&ref, storage::Type::kString, value, 0);
}

// Answers what the record held; nothing if there was none.
std::optional<std::string> read(storage::Keyspace& keys, const std::string& name) {
  const storage::Ref ref = look_up(keys, name);
  return ref.exists() ? std::optional(std::string(ref.value())) : std::nullopt;
}

void erase_record(storage::Keyspace& keys, const std::string& name) {
  storage::Ref ref = look_up(keys, name);
  if (ref.exists()) keys.erase(&ref);
}

std::string encode(uint64_t ordinal, const Override& override) {
  std::string value;
  storage::put_varint(&value, ordinal);
  storage::put_varint(&value, override.version);
  value.push_back(static_cast<char>(override.kind));
  return value + algorithms::format_limits(override.parsed.limits, override.parsed.names);
}

// Nothing: the bytes make no sense, because a later version wrote them for instance.
std::optional<Override> decode_override(std::string_view value, const algorithms::Zones& zones) {
  storage::Reader reader(value);
  reader.varint();
  Override override;
  override.version = reader.varint();
  const uint8_t kind = reader.u8();
  if (!reader.ok() || kind > static_cast<uint8_t>(PolicyKind::kBlocked)) return std::nullopt;
  override.kind = static_cast<PolicyKind>(kind);
  if (override.kind != PolicyKind::kLimits) return override;
  const auto words = split_at_spaces(reader.rest());
  auto parsed = algorithms::parse_limits(words, 0, &zones);
  if (!parsed || parsed->words != words.size() || parsed->limits.empty()) return std::nullopt;
  override.parsed = std::move(*parsed);
  return override;
}

uint64_t ordinal_of(std::string_view value) { return storage::Reader(value).varint(); }

// Gives the override at a number another one.
struct Move {
  uint64_t from = 0;
  uint64_t to = 0;
};
void move_override(storage::Keyspace& keys, uint64_t set, const Move& move) {
  const auto scope = read(keys, number_of(set, move.from));
  const auto before = scope ? read(keys, name_of(set, *scope)) : std::nullopt;
  if (!before) return;
  storage::Reader reader(*before);
  reader.varint();
  std::string after;
  storage::put_varint(&after, move.to);
  after += reader.rest();
  put(keys, name_of(set, *scope), after);
  put(keys, number_of(set, move.to), *scope);
}

// Counts a prefix's length, or no longer; false: there would be too many lengths.
bool count_length(OverrideSet* set, uint64_t length, bool more) {
  auto& lengths = set->lengths;
  auto at =
      std::lower_bound(lengths.begin(), lengths.end(), std::pair<uint64_t, uint64_t>(length, 0));
  if (at == lengths.end() || at->first != length) {
    if (lengths.size() == kPrefixLengthsMax) return false;
    at = lengths.insert(at, {length, 0});
  }
  at->second = more ? at->second + 1 : at->second - 1;
  if (at->second == 0) lengths.erase(at);
  return true;
}

}  // namespace

void put_override_set(std::string* record, const OverrideSet& set) {
  storage::put_varint(record, set.id);
  if (set.id == 0) return;
  storage::put_varint(record, set.count);
  storage::put_varint(record, set.exact);
  storage::put_varint(record, set.lengths.size());
  for (const auto& [length, count] : set.lengths) {
    storage::put_varint(record, length);
    storage::put_varint(record, count);
  }
}

OverrideSet read_override_set(storage::Reader* reader) {
  OverrideSet set{.id = reader->varint()};
  if (set.id == 0) return set;
  set.count = reader->varint();
  set.exact = reader->varint();
  const uint64_t lengths = std::min<uint64_t>(reader->varint(), kPrefixLengthsMax);
  for (uint64_t i = 0; i < lengths; ++i) {
    const uint64_t length = reader->varint();
    set.lengths.push_back({length, reader->varint()});
  }
  return set;
}

std::optional<Override> find_override(storage::Keyspace& keys, const OverrideSet& set,
                                      const algorithms::Zones& zones, std::string_view key) {
  std::string name = record_head(set.id, kByName);
  const size_t head = name.size();
  if (set.exact > 0 && key.size() <= kOverrideNameBytesMax) {
    name.append(scope_bytes({.name = key}));
    if (const storage::Ref ref = look_up(keys, name); ref.exists())
      return decode_override(ref.value(), zones);
  }
  for (auto length = set.lengths.rbegin(); length != set.lengths.rend(); ++length) {
    if (length->first > key.size()) continue;
    name.resize(head);
    name.append(scope_bytes({.is_prefix = true, .name = key.substr(0, length->first)}));
    if (const storage::Ref ref = look_up(keys, name); ref.exists())
      return decode_override(ref.value(), zones);
  }
  return std::nullopt;
}

std::optional<Override> override_at(storage::Keyspace& keys, const OverrideSet& set,
                                    const algorithms::Zones& zones, const OverrideScope& scope) {
  const auto value =
      set.count == 0 ? std::nullopt : read(keys, name_of(set.id, scope_bytes(scope)));
  return value ? decode_override(*value, zones) : std::nullopt;
}

Result<void, std::string> put_override(storage::Keyspace& keys, OverrideSet* set,
                                       const OverrideScope& scope, const Override& override) {
  const std::string bytes = scope_bytes(scope);
  const std::string name = name_of(set->id, bytes);
  if (const auto before = read(keys, name)) {
    put(keys, name, encode(ordinal_of(*before), override));
    return {};
  }
  if (scope.is_prefix && !count_length(set, scope.name.size(), true)) {
    return "ERR the prefixes of a policy's overrides have at most " +
           std::to_string(kPrefixLengthsMax) + " different lengths";
  }
  if (!scope.is_prefix) ++set->exact;
  put(keys, name, encode(set->count, override));
  put(keys, number_of(set->id, set->count), bytes);
  ++set->count;
  return {};
}

bool erase_override(storage::Keyspace& keys, OverrideSet* set, const OverrideScope& scope) {
  const std::string name = name_of(set->id, scope_bytes(scope));
  const auto value = set->count == 0 ? std::nullopt : read(keys, name);
  if (!value) return false;
  erase_record(keys, name);
  const uint64_t ordinal = ordinal_of(*value);
  const uint64_t last = --set->count;
  if (ordinal != last) move_override(keys, set->id, {.from = last, .to = ordinal});
  erase_record(keys, number_of(set->id, last));
  if (scope.is_prefix) {
    count_length(set, scope.name.size(), false);
  } else {
    --set->exact;
  }
  return true;
}

uint64_t visit_overrides(
    storage::Keyspace& keys, const OverrideSet& set, const algorithms::Zones& zones,
    uint64_t cursor, size_t count,
    const std::function<void(const OverrideScope& scope, const Override& override)>& visit) {
  uint64_t left = cursor == 0 ? set.count : std::min(cursor, set.count);
  for (; left > 0 && count > 0; --left, --count) {
    const auto scope = read(keys, number_of(set.id, left - 1));
    const auto value = scope ? read(keys, name_of(set.id, *scope)) : std::nullopt;
    const auto override = value ? decode_override(*value, zones) : std::nullopt;
    if (override) visit(scope_of(*scope), *override);
  }
  return left;
}

uint64_t erase_last_overrides(storage::Keyspace& keys, uint64_t set, uint64_t count,
                              uint64_t most) {
  for (; count > 0 && most > 0; --count, --most) {
    const std::string number = number_of(set, count - 1);
    if (const auto scope = read(keys, number)) erase_record(keys, name_of(set, *scope));
    erase_record(keys, number);
  }
  return count;
}

}  // namespace weir::server
