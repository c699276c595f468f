#include "server/limiter/policy/policy_history.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kChangePrefix = "policy-change/";
constexpr char kChangeFormat = 1;
constexpr size_t kUserBytesMax = 128;

uint64_t number_of(std::string_view record) {
  return std::strtoull(std::string(record.substr(kChangePrefix.size())).c_str(), nullptr, 10);
}

std::string encode(const PolicyChange& change) {
  std::string value(1, kChangeFormat);
  storage::put_varint(&value, static_cast<uint64_t>(change.wall_ms));
  for (const std::string* text : {&change.policy, &change.user}) {
    storage::put_varint(&value, text->size());
    value += *text;
  }
  return value + change.before;
}

PolicyChange decode_change(std::string_view value) {
  storage::Reader reader(value);
  if (reader.u8() != kChangeFormat) return {};
  PolicyChange change{.wall_ms = static_cast<int64_t>(reader.varint())};
  change.policy = reader.sized_bytes();
  change.user = reader.sized_bytes();
  change.before = reader.rest();
  return change;
}

void cut(std::string* text, size_t bytes_max) {
  if (text->size() <= bytes_max) return;
  text->resize(bytes_max - 3);
  *text += "...";
}

void erase_change(storage::Keyspace& keys, const std::string& record) {
  storage::Ref ref = keys.look_up_system(record);
  if (ref.exists()) keys.erase(&ref);
}

}  // namespace

void keep_changes(storage::Keyspace& keys, std::vector<NumberedChange> changes) {
  struct KeptChange {
    uint64_t number = 0;
    std::string policy = {};
    PolicyChange* added = nullptr;  // null: it is kept already
  };
  std::vector<KeptChange> all;
  keys.visit_system(kChangePrefix, [&](std::string_view name, std::string_view value) {
    all.push_back({.number = number_of(name), .policy = decode_change(value).policy});
  });
  for (NumberedChange& next : changes)
    all.push_back({next.number, next.change.policy, &next.change});
  std::sort(all.begin(), all.end(), [](const KeptChange& left, const KeptChange& right) {
    return left.number > right.number;
  });
  std::map<std::string_view, size_t> of_policy;
  size_t count = 0;
  for (const auto& [number, policy, added] : all) {
    const bool stays = ++of_policy[policy] <= kChangesOfPolicyMax && ++count <= kChangesMax;
    if (stays == (added == nullptr)) continue;
    const std::string record = std::string(kChangePrefix) + std::to_string(number);
    if (!stays) {
      erase_change(keys, record);
      continue;
    }
    cut(&added->user, kUserBytesMax);
    cut(&added->before, kChangeTextBytesMax);
    storage::Ref ref = keys.look_up_system(record);
    keys.put(&ref, storage::Type::kSystem, encode(*added), 0);
  }
}

std::vector<PolicyChange> changes_of(storage::Keyspace& keys, std::string_view policy) {
  std::vector<std::pair<uint64_t, PolicyChange>> found;
  keys.visit_system(kChangePrefix, [&](std::string_view name, std::string_view value) {
    PolicyChange change = decode_change(value);
    if (change.policy == policy) found.push_back({number_of(name), std::move(change)});
  });
  std::sort(found.begin(), found.end(),
            [](const auto& left, const auto& right) { return left.first > right.first; });
  std::vector<PolicyChange> changes;
  for (auto& [number, change] : found) changes.push_back(std::move(change));
  return changes;
}

}  // namespace weir::server
