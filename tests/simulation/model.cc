#include "tests/simulation/model.h"

#include <set>

namespace weir::simulation {
namespace {

std::string describe(const Record& record) {
  std::string text = record.is_limiter && record.text.empty()
                         ? "limiter full at " + std::to_string(record.tat_ns)
                     : record.text.size() > 40
                         ? record.text.substr(0, 40) + "... " + std::to_string(record.text.size())
                         : "'" + record.text + "'";
  for (char& c : text) c = c < ' ' || c > '~' ? '.' : c;
  if (record.expire_at_ms != 0) text += " until " + std::to_string(record.expire_at_ms);
  return text;
}

std::string describe(const Database& database, const std::string& key, int64_t now_ms) {
  const auto found = database.records.find(key);
  if (found == database.records.end()) return "nothing";
  return describe(found->second) + (found->second.live(now_ms) ? "" : " (expired)");
}

bool same(const Database& a, const Database& b, const std::string& key, int64_t now_ms) {
  const auto in_a = a.records.find(key);
  const auto in_b = b.records.find(key);
  const bool lives_in_a = in_a != a.records.end() && in_a->second.live(now_ms);
  const bool lives_in_b = in_b != b.records.end() && in_b->second.live(now_ms);
  return lives_in_a == lives_in_b && (!lives_in_a || in_a->second == in_b->second);
}

}  // namespace

size_t Database::live(int64_t now_ms) const {
  size_t count = 0;
  for (const auto& [key, record] : records) count += record.live(now_ms) ? 1 : 0;
  return count;
}

void Database::put(const std::string& key, Record record, int64_t now_ms) {
  const auto [place, is_new] = records.try_emplace(key);
  if (!is_new && !place->second.live(now_ms)) something_expired = true;
  place->second = std::move(record);
}

Record* Step::find(const std::string& key) const {
  auto& records = contents().records;
  const auto found = records.find(key);
  return found == records.end() || !found->second.live(now_ms()) ? nullptr : &found->second;
}

void Step::put(const std::string& key, std::string text, int64_t expire_at_ms) const {
  contents().put(key, {.text = std::move(text), .expire_at_ms = expire_at_ms}, now_ms());
}

RunInModel find_in_model(std::string_view name) {
  if (const RunInModel run = limiter_in_model(name)) return run;
  if (const RunInModel run = rl_in_model(name)) return run;
  if (const RunInModel run = policy_in_model(name)) return run;
  if (const RunInModel run = string_in_model(name)) return run;
  return generic_in_model(name);
}

namespace {

std::string describe(const std::map<std::string, Policy>& policies) {
  std::string text;
  for (const auto& [name, policy] : policies) {
    text += "\n    " + name + " " + policy.effect;
    for (const auto& [scope, effect] : policy.overrides) text += ", " + scope + " " + effect;
  }
  return text;
}

}  // namespace

std::string difference(const Model& expected, const Model& found, int64_t now_ms) {
  std::string text;
  if (expected.policies != found.policies) {
    text += "  policies: expected" + describe(expected.policies) + "\n  found" +
            describe(found.policies) + "\n";
  }
  for (size_t i = 0; i < expected.databases.size(); ++i) {
    const Database& ours = expected.databases[i];
    const Database& theirs = found.databases[i];
    std::set<std::string> keys;
    for (const Database* database : {&ours, &theirs}) {
      for (const auto& [key, record] : database->records) keys.insert(key);
    }
    for (const std::string& key : keys) {
      if (same(ours, theirs, key, now_ms)) continue;
      text += "  database " + std::to_string(i) + ", " + key + ": expected " +
              describe(ours, key, now_ms) + ", found " + describe(theirs, key, now_ms) + "\n";
    }
  }
  return text;
}

Model with_expired_of(const Model& found, int64_t found_ms, Model model, int64_t now_ms) {
  const auto expired = [=](const auto& each) {
    return !each.second.live(now_ms) && each.second.live(found_ms);
  };
  for (size_t i = 0; i < model.databases.size(); ++i) {
    Database& database = model.databases[i];
    size_t changed = std::erase_if(database.records, expired);
    for (const auto& each : found.databases[i].records) {
      if (!expired(each)) continue;
      database.records.insert_or_assign(each.first, each.second);
      ++changed;
    }
    if (changed > 0) database.something_expired = true;
  }
  return model;
}

}  // namespace weir::simulation
