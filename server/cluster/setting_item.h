// What belongs to the whole cluster of shards, and not to one of them: policies, their overrides,
// libraries of functions, scripts that are kept. Each is an item, and so is that it was deleted.
// Primaries ask one another for items by pages (WEIR SETTINGS AFTER).
//
// Of two that say something of one name the one with the higher version has it, everywhere the
// same: it is the later one, as far as the shards have heard of one another.
//
// A page comes from whoever has the members' password, so whatever is read here may be an attack:
// it has bounds. What a content means is checked where it is taken over, as an operator's command
// is (core/shard/settings_store.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/reply.h"
#include "resp/value.h"

namespace weir::server {

// These numbers are on disk, and other members hear them. DO NOT CHANGE.
enum class SettingKind : uint8_t {
  kPolicy = 1,
  kOverride = 2,  // its name has the policy's in it: override_setting_name()
  kLibrary = 3,
  kScript = 4,     // by its SHA-1
  kFileEpoch = 5,  // of the file of policies: its version is the epoch; has no name
};
inline constexpr uint8_t kSettingKindMax = 5;

// Bounds of what is read, and of what is written.
inline constexpr size_t kSettingNameBytesMax = 8 << 10;
inline constexpr size_t kSettingBytesMax = 1 << 20;  // of a content
inline constexpr size_t kSettingsOfPageMax = 128;
// Who takes a library over runs it, for half a second at most, and does so for one at a time.
inline constexpr size_t kLibrariesOfPageMax = 1;
// A page ends with the item that reaches this.
inline constexpr size_t kPageBytesMax = 128 << 10;
inline constexpr size_t kPageAnswerBytesMax =
    kPageBytesMax + kSettingBytesMax + kSettingNameBytesMax + (64 << 10);
// Counter x 1024 + ten bits of the shard: far from what an integer of a client can be.
inline constexpr uint64_t kSettingVersionMax = uint64_t{1} << 52;
// Of a file of policies. A higher one from a peer would shut out all files for ever.
inline constexpr uint64_t kFileEpochMax = uint64_t{1} << 40;

struct SettingItem {
  SettingKind kind = SettingKind::kPolicy;
  std::string name = {};
  uint64_t version = 0;
  // When the policy was made that has this name; of an override, that of its policy. A policy that
  // is deleted and made anew has none of the overrides that it had. Of a file's epoch, its digest.
  uint64_t made = 0;
  bool is_deleted = false;
  uint64_t seed = 0;         // of a policy
  std::string content = {};  // as the command's words have it: limits, code, body, epoch
  bool operator==(const SettingItem&) const = default;
};

// What the epoch of a file has in the place of when it was made.
uint64_t file_digest_of(std::string_view text);

// Stands for all that is said of an item beside its version: decides between equal versions.
uint64_t hash_of(const SettingItem& item);
// What an item adds to the digest of all.
uint64_t digest_part_of(const SettingItem& item);

// The parts of an override's name.
struct OverrideSettingName {
  std::string_view policy;
  bool is_prefix = false;
  std::string_view name;
};
std::string override_setting_name(const OverrideSettingName& name);
std::optional<OverrideSettingName> parse_override_setting_name(std::string_view text);

struct SettingsPage {
  uint64_t up_to = 0;  // the number of the change up to which this is all
  bool has_more = false;
  std::vector<SettingItem> items = {};
  bool operator==(const SettingsPage&) const = default;
};

void write_settings_page(const SettingsPage& page, resp::ReplyWriter* out);
// The answer to a question after change `after`. The error says in a few words what is wrong,
// without bytes of who has sent it.
Result<SettingsPage, std::string> read_settings_page(const resp::Value& value, uint64_t after);

}  // namespace weir::server
