// The settings of a cluster of shards (cluster/setting_item.h) as this server has them: what a
// primary tells others of them, and how it takes over what others have told.
//
// Invariants
// 1. What another shard has told is checked as the command that would say it: by the words of
//    RL.POLICY, by loading a library, by compiling a script. What this server cannot take stays as
//    it is, and a line of the log says so.
// 2. All of it is a part of a turn, with the records of the journal: the next primary of the shard
//    has both or neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cluster/setting_item.h"
#include "server/limiter/policy/policy_history.h"
#include "server/limiter/policy/settings_journal.h"
#include "storage/format/shard_origin.h"

namespace weir::server {

struct Config;
struct Limiters;

namespace script {
class Functions;
class Scripts;
}  // namespace script

class SettingsStore {
 public:
  struct Needs {
    const Config* config;
    storage::Keyspace* keys;
    Limiters* limiters;
    script::Scripts* scripts;
    script::Functions* functions;
  };
  explicit SettingsStore(const Needs& needs) : needs_(needs) {}

  // Changes are numbered from now on. What there is already is numbered as a part of the running
  // command, if the shard has never had a setting of the cluster. `shard`: ten bits of it.
  void begin(uint64_t shard);

  // What came after a change, as much as a page has.
  SettingsPage page(uint64_t after);
  // Who has told a page.
  struct Teller {
    std::string_view shard;
    storage::ShardInstance instance;
    int64_t wall_ms = 0;  // now
  };
  // Takes over what is later than what there is, as a part of the running command. Answers how many
  // items that were.
  size_t take(const Teller& teller, const SettingsPage& page);

 private:
  using Done = Result<void, std::string>;

  std::optional<SettingItem> item_at(uint64_t change);
  std::optional<SettingItem> item_of(SettingKind kind, const std::string& name);
  bool fill_policy(SettingItem* item);
  bool fill_override(SettingItem* item);
  bool fill_library(SettingItem* item);
  bool fill_script(SettingItem* item);
  // False: what there is is later.
  bool is_news(const SettingItem& item) const;
  Done put(const SettingItem& item, const Teller& teller);
  Done put_policy(const SettingItem& item, const Teller& teller);
  Done put_override_of(const SettingItem& item);
  void number_policies();

  Needs needs_;
  std::vector<NumberedChange> changes_;  // of policies, by the page that is being taken
};

}  // namespace weir::server
