#include "server/core/shard/settings_store.h"

#include <tuple>
#include <utility>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "base/one_line.h"
#include "server/config/config.h"
#include "server/limiter/policy/noted_policies.h"
#include "server/limiter/policy/policy_words.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/take/limiters.h"
#include "server/os/log.h"
#include "server/script/run/functions.h"
#include "server/script/run/scripts.h"

namespace weir::server {
namespace {

// Changes that have been overtaken leave nothing to look at, and are looked at all the same.
constexpr uint64_t kLookedAtMax = 5'000;
constexpr size_t kToldErrorBytesMax = 200;
// No shard is so far ahead of another one by what people do.
constexpr uint64_t kVersionsAheadMax = uint64_t{1} << 42;

OverrideScope scope_in(const OverrideSettingName& name) {
  return {.is_prefix = name.is_prefix, .name = name.name};
}

}  // namespace

void SettingsStore::begin(uint64_t shard) {
  SettingsJournal& journal = needs_.limiters->settings;
  journal.begin(shard);
  if (journal.head().change != 0) return;
  number_policies();
  for (const auto& [name, library] : needs_.functions->libraries())
    (void)journal.note({.kind = SettingKind::kLibrary, .name = name, .content = library->code});
  for (const std::string& name : needs_.scripts->kept_names()) {
    (void)journal.note({.kind = SettingKind::kScript,
                        .name = name,
                        .content = std::string(needs_.scripts->body_of(name))});
  }
}

void SettingsStore::number_policies() {
  Limiters& limiters = *needs_.limiters;
  const auto next = [&] { return static_cast<uint64_t>(limiters.versions.next()); };
  for (const std::string& name : limiters.policies.names()) {
    const Policy* const found = limiters.policies.find(name);
    if (found == nullptr) continue;
    Policy policy = *found;
    policy.version = next();
    (void)note_policy(&limiters.settings, name, policy);
    std::vector<std::pair<std::string, Override>> overrides;
    std::vector<bool> are_prefixes;
    visit_overrides(*needs_.keys, policy.overrides, limiters.zones.stored(), 0, SIZE_MAX,
                    [&](const OverrideScope& scope, const Override& override) {
                      overrides.emplace_back(scope.name, override);
                      are_prefixes.push_back(scope.is_prefix);
                    });
    for (size_t at = 0; at < overrides.size(); ++at) {
      auto& [text, override] = overrides[at];
      const OverrideScope scope{.is_prefix = are_prefixes[at], .name = text};
      override.version = next();
      (void)put_override(*needs_.keys, &policy.overrides, scope, override);
      (void)note_override(&limiters.settings, name, scope, override);
    }
    limiters.policies.put(name, policy);
  }
}

bool SettingsStore::fill_policy(SettingItem* item) {
  const Policy* const policy = needs_.limiters->policies.find(item->name);
  if (policy == nullptr) return false;
  *item = policy_item(item->name, *policy);
  return true;
}

bool SettingsStore::fill_override(SettingItem* item) {
  const auto name = parse_override_setting_name(item->name);
  const Policy* const policy = name ? needs_.limiters->policies.find(name->policy) : nullptr;
  if (policy == nullptr) return false;
  const auto override = override_at(*needs_.keys, policy->overrides,
                                    needs_.limiters->zones.stored(), scope_in(*name));
  if (!override) return false;
  *item = override_item(name->policy, scope_in(*name), *override);
  return true;
}

bool SettingsStore::fill_library(SettingItem* item) {
  const script::Libraries& libraries = needs_.functions->libraries();
  const auto found = libraries.find(item->name);
  if (found == libraries.end()) return false;
  item->content = found->second->code;
  return true;
}

bool SettingsStore::fill_script(SettingItem* item) {
  item->content = needs_.scripts->body_of(item->name);
  return !item->content.empty();
}

std::optional<SettingItem> SettingsStore::item_of(SettingKind kind, const std::string& name) {
  const auto entry = needs_.limiters->settings.find(kind, name);
  if (!entry) return std::nullopt;
  SettingItem item{.kind = kind, .name = name};
  if (!entry->is_deleted) {
    const bool is_there = kind == SettingKind::kFileEpoch ||
                          (kind == SettingKind::kPolicy && fill_policy(&item)) ||
                          (kind == SettingKind::kOverride && fill_override(&item)) ||
                          (kind == SettingKind::kLibrary && fill_library(&item)) ||
                          (kind == SettingKind::kScript && fill_script(&item));
    if (!is_there) return std::nullopt;
  }
  item.version = entry->version;
  item.is_deleted = entry->is_deleted;
  item.made = entry->made;
  return item;
}

std::optional<SettingItem> SettingsStore::item_at(uint64_t change) {
  const auto key = needs_.limiters->settings.at(change);
  return key ? item_of(key->kind, key->name) : std::nullopt;
}

// An override comes after its policy, whoever has been told of that already: without it the
// override would mean nothing there.
SettingsPage SettingsStore::page(uint64_t after) {
  const uint64_t newest = needs_.limiters->settings.head().change;
  // Who has heard of more than there is asks a shard whose log has lost what it had told.
  SettingsPage page{.up_to = after > newest ? 0 : after, .has_more = false, .items = {}};
  size_t bytes = 0;
  size_t count = 0;
  size_t libraries = 0;
  std::string policy;
  for (uint64_t looked = 0; page.up_to < newest && looked < kLookedAtMax; ++looked) {
    if (count == kSettingsOfPageMax || bytes >= kPageBytesMax || libraries == kLibrariesOfPageMax)
      break;
    auto item = item_at(++page.up_to);
    if (!item) continue;
    ++count;
    if (item->kind == SettingKind::kLibrary) ++libraries;
    const auto add = [&](SettingItem added) {
      bytes += added.name.size() + added.content.size();
      page.items.push_back(std::move(added));
    };
    if (item->kind == SettingKind::kPolicy) policy = item->name;
    if (item->kind == SettingKind::kOverride) {
      std::string of(parse_override_setting_name(item->name)->policy);
      if (of != std::exchange(policy, of))
        if (auto its_policy = item_of(SettingKind::kPolicy, of)) add(std::move(*its_policy));
    }
    add(std::move(*item));
  }
  page.has_more = page.up_to < newest;
  return page;
}

bool SettingsStore::is_news(const SettingItem& item) const {
  const auto entry = needs_.limiters->settings.find(item.kind, item.name);
  if (!entry || entry->version != item.version) return !entry || entry->version < item.version;
  // Two shards have drawn one version: the one whose hash is higher has it.
  if (entry->is_deleted || item.is_deleted) return item.is_deleted && !entry->is_deleted;
  return entry->part < digest_part_of(item);
}

Result<void, std::string> SettingsStore::put_policy(const SettingItem& item, const Teller& teller) {
  Limiters& limiters = *needs_.limiters;
  if (item.name.empty() || item.name.size() > kPolicyNameBytesMax)
    return policy_name_error(item.name);
  const Policy* const found = limiters.policies.find(item.name);
  std::string before = found == nullptr ? std::string() : policy_text(*found);
  const uint64_t made = limiters.settings.made_of(item.name);
  if (item.is_deleted) {
    limiters.policies.erase(item.name);
  } else {
    auto policy = parse_policy(split_at_spaces(item.content), limiters.zones.given());
    if (!policy) return policy.error();
    policy->version = item.version;
    policy->seed = item.seed;
    const OverrideSet overrides = found == nullptr ? OverrideSet() : found->overrides;
    if (made == item.made) policy->overrides = overrides;
    auto set = limiters.policies.set(item.name, *policy, needs_.config->policies_max);
    if (!set) return set;
    if (made != item.made) limiters.policies.drop_overrides(overrides);
  }
  // The policy's overrides may have been passed over, or erased, when another one had the name here
  // or none.
  const bool was_known = limiters.settings.find(SettingKind::kPolicy, item.name).has_value();
  if (was_known && !item.is_deleted && made != item.made) limiters.settings.ask_anew();
  changes_.push_back({.number = item.version,
                      .change = {.wall_ms = teller.wall_ms,
                                 .policy = item.name,
                                 .user = "shard " + std::string(teller.shard),
                                 .before = std::move(before)}});
  return {};
}

Result<void, std::string> SettingsStore::put_override_of(const SettingItem& item) {
  Limiters& limiters = *needs_.limiters;
  const OverrideSettingName name = *parse_override_setting_name(item.name);
  if (name.name.size() > kOverrideNameBytesMax) return std::string("ERR its name is too long");
  Policy policy = *limiters.policies.find(name.policy);
  if (item.is_deleted) {
    erase_override(*needs_.keys, &policy.overrides, scope_in(name));
  } else {
    auto effect = parse_effect(split_at_spaces(item.content), limiters.zones.given());
    if (!effect) return effect.error();
    if (policy.overrides.id == 0)
      policy.overrides.id = static_cast<uint64_t>(limiters.versions.next());
    const Override override{
        .version = item.version,
        .kind = effect->kind,
        .parsed = {.limits = std::move(effect->limits), .names = std::move(effect->names)}};
    auto put = put_override(*needs_.keys, &policy.overrides, scope_in(name), override);
    if (!put) return put;
  }
  limiters.policies.put(name.policy, policy);
  return {};
}

Result<void, std::string> SettingsStore::put(const SettingItem& item, const Teller& teller) {
  const auto content =
      item.is_deleted ? std::nullopt : std::optional<std::string_view>(item.content);
  switch (item.kind) {
    case SettingKind::kPolicy:
      return put_policy(item, teller);
    case SettingKind::kOverride:
      return put_override_of(item);
    case SettingKind::kLibrary:
      return needs_.functions->take(item.name, content);
    case SettingKind::kScript:
      return needs_.scripts->take(item.name, content);
    case SettingKind::kFileEpoch:
      return {};
  }
  return std::string("ERR this server knows no such setting");
}

size_t SettingsStore::take(const Teller& teller, const SettingsPage& page) {
  Limiters& limiters = *needs_.limiters;
  SettingsJournal& journal = limiters.settings;
  const uint64_t version_max = static_cast<uint64_t>(limiters.versions.next()) + kVersionsAheadMax;
  size_t taken = 0;
  changes_.clear();
  // Before the items, which may have all asked for anew.
  if (journal.taken_from(teller.shard, teller.instance) != page.up_to)
    journal.put_taken_from(teller.shard, teller.instance, page.up_to);
  for (const SettingItem& item : page.items) {
    if (!needs_.keys->failure().ok()) return 0;
    // An override of a policy that others have made anew, or deleted.
    if (item.kind == SettingKind::kOverride) {
      const std::string_view policy = parse_override_setting_name(item.name)->policy;
      if (journal.made_of(policy) != item.made || limiters.policies.find(policy) == nullptr)
        continue;
    }
    if (item.version > version_max || !is_news(item)) continue;
    auto done = journal.check_room(item.kind, item.name);
    if (done) done = put(item, teller);
    if (done) done = journal.note_taken(item);
    if (done) {
      ++taken;
    } else {
      log_warning("a setting of shard {}, {}, is not taken over: {}", teller.shard,
                  one_line(algorithms::shown(item.name)),
                  one_line(done.error().substr(0, kToldErrorBytesMax)));
    }
  }
  if (!changes_.empty()) keep_changes(*needs_.keys, std::move(changes_));
  changes_.clear();
  return taken;
}

}  // namespace weir::server
