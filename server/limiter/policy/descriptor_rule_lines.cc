#include "server/limiter/policy/descriptor_rule_lines.h"

#include <algorithm>
#include <vector>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/config/config_words.h"
#include "server/limiter/policy/file_lines.h"

namespace weir::server {
namespace {

constexpr std::string_view kFirstWord = "rls";
constexpr std::string_view kForm =
    "rls takes a domain, entries, POLICY with a name, and KEY with a template, FORCE, HEADERS or "
    "METADATA if need be";

// What stands before ',', '=' or the end, its escapes undone.
struct Taken {
  std::string text;
  bool has_star = false;  // that is not escaped, and is not in `text`
  bool ends_with_star = false;
};

Taken take_until(std::string_view ends, std::string_view* text) {
  Taken taken;
  while (!text->empty() && ends.find(text->front()) == ends.npos) {
    const bool is_escaped = text->front() == '\\' && text->size() > 1;
    if (is_escaped) text->remove_prefix(1);
    taken.ends_with_star = text->front() == '*' && !is_escaped;
    if (taken.ends_with_star) {
      if (taken.has_star) taken.ends_with_star = false;
      taken.has_star = true;
    } else {
      taken.text.push_back(text->front());
    }
    text->remove_prefix(1);
  }
  return taken;
}

// One entry, without the ',' after it.
Result<EntryPattern, std::string> take_entry(std::string_view* text) {
  const std::string_view whole = *text;
  Taken name = take_until(",=", text);
  const bool has_value = !text->empty() && text->front() == '=';
  if (has_value) text->remove_prefix(1);
  Taken value = has_value ? take_until(",", text) : Taken{};
  if (name.has_star || (value.has_star && !value.ends_with_star))
    return "a '*' ends a value, and \\* is the byte, at " + algorithms::quoted(whole);
  if (name.text.empty())
    return "an entry has no name at " + algorithms::quoted(whole.empty() ? "," : whole);
  EntryPattern entry = {.name = std::move(name.text), .value = std::move(value.text)};
  if (has_value) entry.kind = EntryPattern::Kind::kValue;
  if (value.ends_with_star) entry.kind = EntryPattern::Kind::kPrefix;
  return entry;
}

Result<std::vector<EntryPattern>, std::string> parse_entries(std::string_view text) {
  std::vector<EntryPattern> entries;
  while (true) {
    auto entry = take_entry(&text);
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
    if (entries.size() > kDescriptorEntriesMax)
      return "a rule has at most " + std::to_string(kDescriptorEntriesMax) + " entries";
    if (text.empty()) return entries;
    text.remove_prefix(1);
  }
}

// What comes after the entries.
class RuleWords {
 public:
  RuleWords(const std::vector<std::string>& words, const std::vector<std::string>& names)
      : words_(words), names_(names) {}

  Result<DescriptorRule, std::string> read() {
    while (at_ < words_.size()) {
      if (auto done = read_option(); !done) return done.error();
    }
    if (rule_.policy.empty()) return std::string(kForm);
    return rule_;
  }

 private:
  bool next_is(std::string_view word) const { return equals_ignoring_case(words_[at_], word); }

  Result<void, std::string> read_option() {
    if (next_is("FORCE")) return set(&rule_.force);
    if (next_is("HEADERS")) return set(&rule_.headers);
    if (next_is("METADATA")) return set(&rule_.metadata);
    const bool is_policy = next_is("POLICY");
    if (!is_policy && !next_is("KEY"))
      return "expected POLICY, KEY, FORCE, HEADERS or METADATA, got " +
             algorithms::quoted(words_[at_]);
    if (at_ + 1 == words_.size()) return words_[at_] + " must be followed by a value";
    const std::string& value = words_[at_ + 1];
    if (is_policy ? !rule_.policy.empty() : rule_.key.has_value()) return twice();
    if (value.empty()) return words_[at_] + " is empty";
    if (is_policy) {
      rule_.policy = value;
    } else {
      auto key = KeyTemplate::parse(value, names_);
      if (!key) return key.error();
      rule_.key = std::move(*key);
    }
    at_ += 2;
    return {};
  }

  Result<void, std::string> set(bool* option) {
    if (*option) return twice();
    *option = true;
    ++at_;
    return {};
  }

  std::string twice() const { return to_upper(words_[at_]) + " is given twice"; }

  const std::vector<std::string>& words_;
  const std::vector<std::string>& names_;
  size_t at_ = 3;
  DescriptorRule rule_;
};

std::string text_of(const std::vector<std::string>& words) {
  std::string text(kFirstWord);
  for (size_t i = 1; i < words.size(); ++i) text += ' ' + quote_word(words[i]);
  return text;
}

Result<DescriptorRuleLine, std::string> parse_rule(
    std::string_view line, const std::function<std::string(std::string_view)>& fault_of) {
  const auto words = split_words(line);
  if (!words) return "quotes are not closed, or not followed by a blank";
  if (words->size() < 5) return std::string(kForm);
  if ((*words)[1].empty()) return "a domain must not be empty";
  auto entries = parse_entries((*words)[2]);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const EntryPattern& entry : *entries) names.push_back(entry.name);
  auto rule = RuleWords(*words, names).read();
  if (!rule) return rule.error();
  if (std::string fault = fault_of(rule->policy); !fault.empty()) return fault;
  return DescriptorRuleLine{.domain = (*words)[1],
                            .entries = std::move(*entries),
                            .rule = std::move(*rule),
                            .text = text_of(*words)};
}

}  // namespace

bool is_descriptor_rule(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(kSpaces));
  return equals_ignoring_case(word, kFirstWord);
}

Result<DescriptorRules, std::string> parse_descriptor_rules(
    std::string_view text, const std::string& place,
    const std::function<std::string(std::string_view policy)>& fault_of) {
  DescriptorRules rules;
  LineErrors errors;
  FileLines lines(text, place);
  while (lines.next()) {
    if (!is_descriptor_rule(lines.line())) continue;
    auto parsed = parse_rule(lines.line(), fault_of);
    if (!parsed) {
      errors.add(lines.at() + parsed.error());
      continue;
    }
    if (rules.texts().size() == kDescriptorRulesMax)
      return lines.at() + "these are more rules than " + std::to_string(kDescriptorRulesMax);
    if (!rules.add(std::move(*parsed)))
      errors.add(lines.at() + "there is a rule for these entries already");
  }
  if (errors.any()) return errors.text();
  return rules;
}

}  // namespace weir::server
