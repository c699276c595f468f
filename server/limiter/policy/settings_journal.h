// Which change has made each setting of a cluster of shards what it is (cluster/setting_item.h),
// and in which order this shard has come to know it. Kept in the turns of the changes themselves,
// so each primary of the shard has it as the one before.
//
//     record "settings"              := format(u8 = 1) change(varint) digest(u64 le)
//                                       there(varint) deleted(varint)
//     record "setting/<kind><name>"  := format(u8 = 1) version(varint) change(varint) state(u8)
//                                       at-ms(varint) made(varint) part(u64 le)
//                                       under(u64 le) since(varint)
//     record "setting-change/<n>"    := kind(u8) name
//     record "settings-from/<shard>" := format(u8 = 1) instance(u64 le u64 le) change(varint)
//                                                                                DO NOT CHANGE
//
// Each change has the next number n, and its item the record "setting-change/<n>"; the one that it
// had before goes. So the journal has each item once, in the order of the changes, and whoever asks
// for what came after a number misses nothing. `state`: 1 it was deleted, 2 another shard has said
// so. `part` is what the item adds to the digest, `under` what a policy's overrides add: they go
// with the policy at once, and their records in slices. "settings-from" is the change of another
// shard up to which all is taken over from there.
//
// The record is the truth, even of a command that is taken back: nothing is kept beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/cluster/setting_item.h"
#include "server/limiter/counts/unique_ids.h"
#include "storage/format/meaning.h"
#include "storage/format/shard_origin.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

// They are always in memory. Those that were deleted count.
inline constexpr uint64_t kSettingsMax = 100'000;
// Of those that were deleted: more are forgotten before their time.
inline constexpr uint64_t kDeletedSettingsMax = 10'000;
inline constexpr int64_t kDeletedForMs = int64_t{30} * 24 * 3600 * 1000;
// For so long a change that says what another shard's has said meets it.
inline constexpr int64_t kSettingsMeetForMs = 10'000;

struct SettingsHead {
  uint64_t change = 0;   // the newest; 0: the shard has never had a setting of the cluster
  uint64_t digest = 0;   // of all that are there
  uint64_t there = 0;    // items that are not deleted
  uint64_t deleted = 0;  // those that were, and are remembered
};

// 16 hexadecimal digits.
std::string digest_text_of(const SettingsHead& head);

struct SettingEntry {
  uint64_t version = 0;
  uint64_t change = 0;
  bool is_deleted = false;
  bool is_taken = false;  // another shard has said so
  int64_t at_ms = 0;      // an instant
  uint64_t made = 0;
  uint64_t part = 0;
  uint64_t under = 0;
  uint64_t since = 0;  // of a policy: the change at which its overrides began anew here
};

struct SettingKey {
  SettingKind kind;
  std::string name;
};

class SettingsJournal {
 public:
  SettingsJournal(storage::Keyspace* keys, UniqueIds* versions)
      : keys_(*keys), versions_(*versions) {}

  // Settings are numbered from now on, or no more. `shard`: ten bits of it.
  void begin(uint64_t shard) {
    versions_.draw_for_shard(shard);
    is_on_ = true;
  }
  void end() { is_on_ = false; }
  bool is_on() const { return is_on_; }

  // Notes a change as a part of the running command; nothing happens where settings are not
  // numbered. An item without a version gets the next; one without `made` that of its policy, or,
  // for a policy that there was not, its version. Fails with an error line where there would be too
  // many.
  Result<void, std::string> note(SettingItem item);
  // Fails with that line before anything was changed.
  Result<void, std::string> check_room(SettingKind kind, std::string_view name) const;
  // The same of one that another shard has said.
  Result<void, std::string> note_taken(const SettingItem& item);
  // Whether another shard has said lately that the setting is as it is, or is not. A command that
  // says the same then has been done.
  bool has_met(SettingKind kind, std::string_view name, bool is_deleted) const;

  SettingsHead head() const;
  // Nothing, too, for an override of a policy that is not as it was made then.
  std::optional<SettingEntry> find(SettingKind kind, std::string_view name) const;
  // The item that a change has made what it is; nothing: later ones have.
  std::optional<SettingKey> at(uint64_t change) const;
  // When a policy that is there was made; 0: there is none.
  uint64_t made_of(std::string_view policy) const;
  // Forgets what was deleted long ago, and what lay under policies that are gone. Looks at some
  // changes of the journal from `from` on; answers where to go on.
  uint64_t forget_some(uint64_t from, uint64_t most);

  uint64_t taken_from(std::string_view shard, const storage::ShardInstance& instance) const;
  void put_taken_from(std::string_view shard, const storage::ShardInstance& instance,
                      uint64_t change);
  // All of it is to be asked for again.
  void ask_anew();

 private:
  std::optional<SettingEntry> read(SettingKind kind, std::string_view name) const;
  void put(SettingKind kind, std::string_view name, const SettingEntry& entry);
  void put_head(const SettingsHead& head);
  void erase(const std::string& record);
  Result<void, std::string> keep(const SettingItem& item, bool is_taken);
  void add_to_policy(std::string_view policy, uint64_t part);

  storage::Keyspace& keys_;
  UniqueIds& versions_;
  bool is_on_ = false;
};

// Whether a system record is one of these, and what is wrong with it.
bool is_settings_record(std::string_view name);
storage::Fault fault_of_settings_record(std::string_view name, std::string_view payload);

}  // namespace weir::server
