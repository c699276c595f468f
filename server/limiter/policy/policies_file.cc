#include "server/limiter/policy/policies_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/config/config_words.h"
#include "server/limiter/policy/descriptor_rule_lines.h"
#include "server/limiter/policy/file_lines.h"
#include "server/limiter/policy/noted_policies.h"
#include "server/limiter/policy/policy_history.h"
#include "server/limiter/policy/policy_words.h"
#include "server/limiter/policy/request.h"
#include "server/os/log.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kOwnedRecord = "policies-of-file";
constexpr char kNamesFormat = 1;

std::string without_code(std::string error) {
  return error.starts_with("ERR ") ? error.substr(4) : error;
}

Result<PolicyLine, std::string> parse_line(std::string_view line, const algorithms::Zones& zones) {
  const auto words = split_words(line);
  if (!words) return "quotes are not closed, or not followed by a blank";
  if (!equals_ignoring_case((*words)[0], "policy")) {
    return "expected 'policy name limits' or 'rls domain entries POLICY name', got '" +
           algorithms::shown((*words)[0]) + "'";
  }
  if (words->size() < 3) return "policy takes a name and limits, UNLIMITED or BLOCKED";
  const std::string& name = (*words)[1];
  if (name.empty() || name.size() > kPolicyNameBytesMax) {
    return without_code(policy_name_error(name));
  }
  const std::vector<std::string_view> effect(words->begin() + 2, words->end());
  auto policy = parse_policy(effect, zones);
  if (!policy) {
    auto old = parse_policy(effect, zones, algorithms::BareTimes::kMilliseconds);
    if (!old) return without_code(policy.error());
    log_warning("policy '{}': {}; it is read as milliseconds, write the unit",
                algorithms::shown(name), without_code(policy.error()));
    policy = std::move(old);
  }
  return PolicyLine{.name = name, .policy = std::move(*policy)};
}

std::set<std::string, std::less<>> owned_names(storage::Keyspace& keys) {
  std::set<std::string, std::less<>> names;
  const storage::Ref ref = keys.look_up_system(kOwnedRecord);
  if (!ref.exists()) return names;
  storage::Reader reader(ref.value());
  if (reader.u8() != kNamesFormat) return names;
  while (reader.ok() && !reader.rest().empty()) names.emplace(reader.sized_bytes());
  return names;
}

void own(const std::vector<PolicyLine>& lines, storage::Keyspace& keys) {
  std::string value(1, kNamesFormat);
  for (const PolicyLine& line : lines) {
    storage::put_varint(&value, line.name.size());
    value += line.name;
  }
  storage::Ref ref = keys.look_up_system(kOwnedRecord);
  if (ref.exists() && ref.value() == value) return;
  if (!ref.exists() && lines.empty()) return;
  keys.put(&ref, storage::Type::kSystem, value, 0);
}

bool is_epoch(std::string_view line) {
  const auto words = split_at_spaces(line);
  return !words.empty() && equals_ignoring_case(words[0], "epoch");
}

}  // namespace

Result<std::optional<uint64_t>, std::string> policies_epoch(std::string_view text,
                                                            const std::string& place) {
  FileLines lines(text, place);
  if (!lines.next() || !is_epoch(lines.line())) return std::optional<uint64_t>();
  const auto words = split_at_spaces(lines.line());
  const auto number = words.size() == 2 ? resp::parse_int64(words[1]) : std::nullopt;
  if (!number || *number < 1 || static_cast<uint64_t>(*number) > kFileEpochMax)
    return lines.at() + "epoch takes a number from 1 to " + std::to_string(kFileEpochMax);
  return std::optional(static_cast<uint64_t>(*number));
}

const PolicyLine* find_line(const std::vector<PolicyLine>& lines, std::string_view name) {
  const auto found = std::lower_bound(
      lines.begin(), lines.end(), name,
      [](const PolicyLine& line, std::string_view wanted) { return line.name < wanted; });
  return found != lines.end() && found->name == name ? &*found : nullptr;
}

Result<std::vector<PolicyLine>, std::string> parse_policies(std::string_view text,
                                                            const std::string& place,
                                                            const algorithms::Zones& zones,
                                                            int64_t most) {
  std::map<std::string, std::pair<int, Policy>> found;
  LineErrors errors;
  FileLines lines_of_file(text, place);
  bool is_first = true;
  while (lines_of_file.next()) {
    if (std::exchange(is_first, false) && is_epoch(lines_of_file.line())) continue;
    if (is_descriptor_rule(lines_of_file.line())) continue;
    const std::string at = lines_of_file.at();
    auto parsed = parse_line(lines_of_file.line(), zones);
    if (!parsed) {
      errors.add(at + parsed.error());
      continue;
    }
    const auto [known, is_new] =
        found.try_emplace(parsed->name, lines_of_file.number(), std::move(parsed->policy));
    if (static_cast<int64_t>(found.size()) > most) {
      return at + "these are more policies than policies-max, which is " + std::to_string(most);
    }
    if (!is_new) {
      errors.add(at + "policy " + printable(parsed->name) + " is there twice, see line " +
                 std::to_string(known->second.first));
    }
  }
  if (errors.any()) return errors.text();
  std::vector<PolicyLine> lines;
  for (auto& [name, policy] : found) lines.push_back({name, std::move(policy.second)});
  return lines;
}

std::vector<PolicyEdit> edits_of(const std::vector<PolicyLine>& lines, Policies* policies,
                                 storage::Keyspace& keys) {
  std::vector<PolicyEdit> edits;
  const auto add = [&](const std::string& name, std::string after) {
    const Policy* now = policies->find(name);
    std::string before = now == nullptr ? std::string() : policy_text(*now);
    if (before != after) edits.push_back({name, std::move(before), std::move(after)});
  };
  for (const PolicyLine& line : lines) add(line.name, policy_text(line.policy));
  for (const std::string& name : owned_names(keys)) {
    if (find_line(lines, name) == nullptr) add(name, "");
  }
  std::sort(edits.begin(), edits.end(),
            [](const PolicyEdit& a, const PolicyEdit& b) { return a.name < b.name; });
  return edits;
}

Result<void, std::string> apply_edits(const std::vector<PolicyEdit>& edits,
                                      const std::vector<PolicyLine>& lines,
                                      const PolicyEditor& editor, Policies* policies,
                                      UniqueIds* versions, storage::Keyspace& keys) {
  std::vector<NamedPolicy> changed;
  std::vector<NumberedChange> changes;
  for (const PolicyEdit& edit : edits) {
    const auto version = static_cast<uint64_t>(versions->next());
    changes.push_back({version,
                       {.wall_ms = editor.wall_ms,
                        .policy = edit.name,
                        .user = editor.user,
                        .before = edit.before}});
    const PolicyLine* line = find_line(lines, edit.name);
    if (line == nullptr) {
      changed.push_back({edit.name, std::nullopt});
      continue;
    }
    const Policy* before = policies->find(edit.name);
    Policy policy = line->policy;
    if (before != nullptr) policy.overrides = before->overrides;
    policy.seed = before != nullptr && before->seed != 0 ? before->seed : editor.random() | 1;
    policy.version = version;
    changed.push_back({edit.name, std::move(policy)});
  }
  if (auto set = policies->set_all(changed, editor.policies_max); !set) return set;
  for (size_t at = 0; at < changed.size(); ++at) {
    const auto& [name, policy] = changed[at];
    const auto noted = policy ? note_policy(editor.settings, name, *policy)
                              : note_no_policy(editor.settings, name, changes[at].number);
    if (!noted) return noted;
  }
  keep_changes(keys, std::move(changes));
  own(lines, keys);
  return {};
}

}  // namespace weir::server
