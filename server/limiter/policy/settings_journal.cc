#include "server/limiter/policy/settings_journal.h"

#include <array>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/time_units.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr uint8_t kJournalFormat = 1;
constexpr std::string_view kHeadRecord = "settings";
constexpr std::string_view kItemPrefix = "setting/";
constexpr std::string_view kJournalPrefix = "setting-change/";
constexpr std::string_view kFromPrefix = "settings-from/";
constexpr uint8_t kIsDeleted = 1;
constexpr uint8_t kIsTaken = 2;

std::string item_record(SettingKind kind, std::string_view name) {
  std::string record(kItemPrefix);
  record.push_back(static_cast<char>(kind));
  return record.append(name);
}

std::string journal_record(uint64_t change) {
  return std::string(kJournalPrefix) + std::to_string(change);
}

std::string from_record(std::string_view shard) { return std::string(kFromPrefix).append(shard); }

// Records may be another member's, who may write anything: nothing, where one makes no sense.
std::optional<SettingsHead> decode_head(std::string_view value) {
  storage::Reader reader(value);
  const bool is_known = reader.u8() == kJournalFormat;
  SettingsHead head;
  head.change = reader.varint();
  head.digest = reader.u64_le();
  head.there = reader.varint();
  head.deleted = reader.varint();
  return is_known && reader.ok() && reader.at_end() ? std::optional(head) : std::nullopt;
}

std::optional<SettingEntry> decode_entry(std::string_view value) {
  storage::Reader reader(value);
  const bool is_known = reader.u8() == kJournalFormat;
  SettingEntry entry;
  entry.version = reader.varint();
  entry.change = reader.varint();
  const uint8_t state = reader.u8();
  entry.is_deleted = (state & kIsDeleted) != 0;
  entry.is_taken = (state & kIsTaken) != 0;
  const uint64_t at_ms = reader.varint();
  entry.at_ms = static_cast<int64_t>(at_ms & INT64_MAX);
  entry.made = reader.varint();
  entry.part = reader.u64_le();
  entry.under = reader.u64_le();
  entry.since = reader.varint();
  const bool is_sound = is_known && reader.ok() && reader.at_end() &&
                        (state & ~(kIsDeleted | kIsTaken)) == 0 && at_ms <= INT64_MAX;
  return is_sound ? std::optional(entry) : std::nullopt;
}

std::optional<SettingKey> decode_key(std::string_view value) {
  storage::Reader reader(value);
  const uint8_t kind = reader.u8();
  const std::string_view name = reader.rest();
  const bool is_override = kind == static_cast<uint8_t>(SettingKind::kOverride);
  const bool is_sound = reader.ok() && kind > 0 && kind <= kSettingKindMax &&
                        (!is_override || parse_override_setting_name(name));
  if (!is_sound) return std::nullopt;
  return SettingKey{.kind = static_cast<SettingKind>(kind), .name = std::string(name)};
}

struct TakenFrom {
  storage::ShardInstance instance;
  uint64_t change = 0;
};
std::optional<TakenFrom> decode_taken(std::string_view value) {
  storage::Reader reader(value);
  const bool is_known = reader.u8() == kJournalFormat;
  TakenFrom taken;
  taken.instance.ms = reader.u64_le();
  taken.instance.random = reader.u64_le();
  taken.change = reader.varint();
  return is_known && reader.ok() && reader.at_end() ? std::optional(taken) : std::nullopt;
}

}  // namespace

std::string digest_text_of(const SettingsHead& head) {
  std::array<uint8_t, sizeof head.digest> bytes{};
  for (size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<uint8_t>(head.digest >> 8 * (bytes.size() - 1 - at));
  return hex_text(bytes);
}

void SettingsJournal::erase(const std::string& record) {
  storage::Ref ref = keys_.look_up_system(record);
  if (ref.exists()) keys_.erase(&ref);
}

SettingsHead SettingsJournal::head() const {
  const storage::Ref ref = keys_.look_up_system(kHeadRecord);
  return ref.exists() ? decode_head(ref.value()).value_or(SettingsHead()) : SettingsHead();
}

void SettingsJournal::put_head(const SettingsHead& head) {
  std::string value(1, kJournalFormat);
  storage::put_varint(&value, head.change);
  storage::put_u64_le(&value, head.digest);
  storage::put_varint(&value, head.there);
  storage::put_varint(&value, head.deleted);
  storage::Ref ref = keys_.look_up_system(kHeadRecord);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

std::optional<SettingEntry> SettingsJournal::read(SettingKind kind, std::string_view name) const {
  const std::string record = item_record(kind, name);
  const storage::Ref ref = keys_.look_up_system(record);
  return ref.exists() ? decode_entry(ref.value()) : std::nullopt;
}

void SettingsJournal::put(SettingKind kind, std::string_view name, const SettingEntry& entry) {
  std::string value(1, kJournalFormat);
  storage::put_varint(&value, entry.version);
  storage::put_varint(&value, entry.change);
  value.push_back(
      static_cast<char>((entry.is_deleted ? kIsDeleted : 0) | (entry.is_taken ? kIsTaken : 0)));
  storage::put_varint(&value, static_cast<uint64_t>(entry.at_ms));
  storage::put_varint(&value, entry.made);
  storage::put_u64_le(&value, entry.part);
  storage::put_u64_le(&value, entry.under);
  storage::put_varint(&value, entry.since);
  const std::string record = item_record(kind, name);
  storage::Ref ref = keys_.look_up_system(record);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

uint64_t SettingsJournal::made_of(std::string_view policy) const {
  const auto entry = read(SettingKind::kPolicy, policy);
  return entry && !entry->is_deleted ? entry->made : 0;
}

std::optional<SettingEntry> SettingsJournal::find(SettingKind kind, std::string_view name) const {
  const auto entry = read(kind, name);
  if (!entry || kind != SettingKind::kOverride) return entry;
  const auto parts = parse_override_setting_name(name);
  const auto policy = parts ? read(SettingKind::kPolicy, parts->policy) : std::nullopt;
  const bool is_under_it =
      policy && !policy->is_deleted && policy->made == entry->made && entry->change > policy->since;
  return is_under_it ? entry : std::nullopt;
}

std::optional<SettingKey> SettingsJournal::at(uint64_t change) const {
  const std::string record = journal_record(change);
  const storage::Ref ref = keys_.look_up_system(record);
  return ref.exists() ? decode_key(ref.value()) : std::nullopt;
}

bool SettingsJournal::has_met(SettingKind kind, std::string_view name, bool is_deleted) const {
  if (!is_on_) return false;
  const auto entry = find(kind, name);
  return entry && entry->is_taken && entry->is_deleted == is_deleted &&
         keys_.running().now_ns() / kNsPerMs - entry->at_ms < kSettingsMeetForMs;
}

Result<void, std::string> SettingsJournal::note(SettingItem item) {
  if (!is_on_) return {};
  if (item.content.size() > kSettingBytesMax)
    return "ERR in a cluster of shards it has at most " + std::to_string(kSettingBytesMax) +
           " bytes, got " + std::to_string(item.content.size());
  if (item.name.size() > kSettingNameBytesMax)  // no other shard would read a page that has it
    return "ERR in a cluster of shards a name has at most " + std::to_string(kSettingNameBytesMax) +
           " bytes, got " + std::to_string(item.name.size());
  if (item.version == 0) item.version = static_cast<uint64_t>(versions_.next());
  if (item.version > kSettingVersionMax)
    return std::string(
        "ERR the versions of this cluster's settings are used up: a peer has told of one that "
        "cannot be, and no shard would take this over");
  if (item.kind == SettingKind::kPolicy) {
    const auto before = read(item.kind, item.name);
    item.made = before && (item.is_deleted || !before->is_deleted) ? before->made : item.version;
  } else if (item.kind == SettingKind::kOverride) {
    item.made = made_of(parse_override_setting_name(item.name)->policy);
  }
  return keep(item, false);
}

Result<void, std::string> SettingsJournal::note_taken(const SettingItem& item) {
  if (item.kind != SettingKind::kFileEpoch) versions_.see(item.version);
  return keep(item, true);
}

void SettingsJournal::add_to_policy(std::string_view policy, uint64_t part) {
  auto entry = read(SettingKind::kPolicy, policy);
  if (!entry) return;
  entry->under += part;
  put(SettingKind::kPolicy, policy, *entry);
}

Result<void, std::string> SettingsJournal::check_room(SettingKind kind,
                                                      std::string_view name) const {
  const SettingsHead head = this->head();
  if (head.there + head.deleted < kSettingsMax || read(kind, name)) return {};
  return "ERR a cluster of shards has at most " + std::to_string(kSettingsMax) +
         " policies, overrides, libraries and scripts, with those that were deleted within 30 "
         "days";
}

// The numbers of the digest are sums, so what goes is subtracted, past zero, too.
Result<void, std::string> SettingsJournal::keep(const SettingItem& item, bool is_taken) {
  if (auto room = check_room(item.kind, item.name); !room) return room;
  SettingsHead head = this->head();
  const auto kept = read(item.kind, item.name);
  if (kept) erase(journal_record(kept->change));
  const auto before = find(item.kind, item.name);  // nothing: what is kept lay under another policy
  if (kept) kept->is_deleted ? --head.deleted : --head.there;
  item.is_deleted ? ++head.deleted : ++head.there;
  SettingEntry entry{.version = item.version,
                     .change = ++head.change,
                     .is_deleted = item.is_deleted,
                     .is_taken = is_taken,
                     .at_ms = keys_.running().now_ns() / kNsPerMs,
                     .made = item.made,
                     .part = item.is_deleted ? 0 : digest_part_of(item)};
  const uint64_t part = entry.part - (before ? before->part : 0);
  head.digest += part;
  if (item.kind == SettingKind::kPolicy) {
    const bool has_the_same_overrides =
        before && !before->is_deleted && !item.is_deleted && before->made == item.made;
    entry.under = has_the_same_overrides ? before->under : 0;
    entry.since = has_the_same_overrides ? before->since : entry.change;
    head.digest += entry.under - (before ? before->under : 0);
  }
  if (item.kind == SettingKind::kOverride)
    add_to_policy(parse_override_setting_name(item.name)->policy, part);
  put(item.kind, item.name, entry);
  std::string name(1, static_cast<char>(item.kind));
  name += item.name;
  const std::string record = journal_record(entry.change);
  storage::Ref ref = keys_.look_up_system(record);
  keys_.put(&ref, storage::Type::kSystem, name, 0);
  put_head(head);
  return {};
}

uint64_t SettingsJournal::forget_some(uint64_t from, uint64_t most) {
  SettingsHead head = this->head();
  bool has_forgotten = false;
  uint64_t change = from;
  for (; change < head.change && most > 0; --most) {
    const auto key = at(++change);
    const auto entry = key ? read(key->kind, key->name) : std::nullopt;
    if (!entry) continue;
    const int64_t age_ms = keys_.running().now_ns() / kNsPerMs - entry->at_ms;
    const bool is_old =
        entry->is_deleted && (age_ms > kDeletedForMs || head.deleted > kDeletedSettingsMax);
    if (!is_old && find(key->kind, key->name)) continue;
    entry->is_deleted ? --head.deleted : --head.there;
    erase(item_record(key->kind, key->name));
    erase(journal_record(change));
    has_forgotten = true;
  }
  if (has_forgotten) put_head(head);
  return change >= head.change ? 0 : change;
}

uint64_t SettingsJournal::taken_from(std::string_view shard,
                                     const storage::ShardInstance& instance) const {
  const std::string record = from_record(shard);
  const storage::Ref ref = keys_.look_up_system(record);
  const auto taken = ref.exists() ? decode_taken(ref.value()) : std::nullopt;
  return taken && taken->instance == instance ? taken->change : 0;
}

void SettingsJournal::put_taken_from(std::string_view shard, const storage::ShardInstance& instance,
                                     uint64_t change) {
  std::string value(1, kJournalFormat);
  storage::put_u64_le(&value, instance.ms);
  storage::put_u64_le(&value, instance.random);
  storage::put_varint(&value, change);
  const std::string record = from_record(shard);
  storage::Ref ref = keys_.look_up_system(record);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

void SettingsJournal::ask_anew() {
  std::vector<std::string> records;
  keys_.visit_system(kFromPrefix, [&](std::string_view record, std::string_view) {
    records.emplace_back(record);
  });
  for (const std::string& record : records) erase(record);
}

bool is_settings_record(std::string_view name) {
  return name == kHeadRecord || name.starts_with(kItemPrefix) || name.starts_with(kJournalPrefix) ||
         name.starts_with(kFromPrefix);
}

storage::Fault fault_of_settings_record(std::string_view name, std::string_view payload) {
  const bool is_journal = name.starts_with(kJournalPrefix);
  bool is_good = is_journal && decode_key(payload);
  if (name == kHeadRecord) is_good = decode_head(payload).has_value();
  if (name.starts_with(kFromPrefix)) is_good = decode_taken(payload).has_value();
  if (name.starts_with(kItemPrefix)) {
    const bool is_named = decode_key(name.substr(kItemPrefix.size())).has_value();
    is_good = is_named && decode_entry(payload).has_value();
  }
  if (is_good) return {};
  return {"it cannot be read as a setting of a cluster",
          !is_journal && storage::Reader(payload).u8() > kJournalFormat};
}

}  // namespace weir::server
