#include "server/limiter/policy/descriptor_rules.h"

#include <algorithm>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/acl/sha256.h"

namespace weir::server {
namespace {

// What is longer stands in a key as its hash, so that no caller makes keys that are too long.
constexpr size_t kValueBytesMax = 256;

void append_escaped(std::string_view value, std::string_view escaped, std::string* key) {
  for (const char c : value) {
    if (c != '%' && c != '{' && c != '}' && escaped.find(c) == escaped.npos) {
      key->push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    *key += {'%', to_upper(kHexDigits[byte >> 4]), to_upper(kHexDigits[byte & 15])};
  }
}

void append_value(std::string_view value, std::string_view escaped, std::string* key) {
  if (value.empty()) key->push_back('%');
  if (value.size() <= kValueBytesMax) return append_escaped(value, escaped, key);
  key->append("%sha256:").append(acl::sha256_hex(value));
}

}  // namespace

std::string KeyTemplate::plain_key(std::string_view domain, DescriptorEntries entries) {
  constexpr std::string_view kDividers = ",=";
  std::string key = "rls:";
  append_escaped(domain, kDividers, &key);
  char before = ':';
  for (const DescriptorEntry& entry : entries) {
    key.push_back(std::exchange(before, ','));
    append_value(entry.name, kDividers, &key);
    key.push_back('=');
    append_value(entry.value, kDividers, &key);
  }
  return key;
}

Result<KeyTemplate, std::string> KeyTemplate::parse(std::string_view text,
                                                    const std::vector<std::string>& names) {
  KeyTemplate made;
  made.parts_.emplace_back();
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("{}"), text.size());
    made.parts_.back().text.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (text.size() > 1 && text[0] == text[1]) {
      made.parts_.back().text.push_back(text[0]);
      text.remove_prefix(2);
      continue;
    }
    const size_t end = text.find('}');
    if (text[0] == '}' || end == text.npos)
      return "a brace of KEY is not closed, or was not opened; {{ and }} are braces themselves";
    const std::string_view name = text.substr(1, end - 1);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return "KEY names the entry " + algorithms::quoted(name) + ", which the rule has not";
    if (std::find(found + 1, names.end(), name) != names.end())
      return "KEY names the entry " + algorithms::quoted(name) + ", which is there twice";
    if (made.parts_.back().text.empty()) {
      return made.parts_.size() == 1 ? "KEY must begin with text: callers choose the values"
                                     : "KEY has two entries side by side: text must divide them";
    }
    made.parts_.back().entry = static_cast<size_t>(found - names.begin());
    made.parts_.emplace_back();
    text.remove_prefix(end + 1);
  }
  return made;
}

std::string KeyTemplate::key_of(DescriptorEntries entries) const {
  std::string key;
  for (size_t i = 0; i < parts_.size(); ++i) {
    key += parts_[i].text;
    if (parts_[i].entry >= entries.size()) continue;
    const std::string_view next = i + 1 < parts_.size() ? std::string_view(parts_[i + 1].text) : "";
    append_value(entries[parts_[i].entry].value, next.substr(0, 1), &key);
  }
  return key;
}

DescriptorRules::Node* DescriptorRules::child_of(Node* node, const EntryPattern& pattern) {
  std::unique_ptr<Node>* child = nullptr;
  if (pattern.kind == EntryPattern::Kind::kAny) child = &node->names[pattern.name];
  if (pattern.kind == EntryPattern::Kind::kValue)
    child = &node->values[{pattern.name, pattern.value}];
  if (pattern.kind == EntryPattern::Kind::kPrefix) {
    auto found = std::ranges::find_if(node->prefixes, [&](const Prefix& prefix) {
      return prefix.name == pattern.name && prefix.begins == pattern.value;
    });
    if (found == node->prefixes.end())
      found = node->prefixes.insert(found, Prefix{pattern.name, pattern.value, nullptr});
    child = &found->node;
  }
  if (*child == nullptr) *child = std::make_unique<Node>();
  return child->get();
}

bool DescriptorRules::add(DescriptorRuleLine line) {
  Node* node = &domains_[line.domain];
  for (const EntryPattern& pattern : line.entries) node = child_of(node, pattern);
  if (node->rule) return false;
  texts_.emplace(std::move(line.text), line.rule.policy);
  node->rule = std::move(line.rule);
  return true;
}

const DescriptorRules::Node* DescriptorRules::next_of(const Node& node,
                                                      const DescriptorEntry& entry,
                                                      size_t* passed) {
  const auto value = node.values.find(PairLess::Views(entry.name, entry.value));
  if (value != node.values.end()) return value->second.get();
  for (const Prefix& prefix : node.prefixes) {
    if (passed != nullptr) ++*passed;
    if (prefix.name == entry.name && entry.value.starts_with(prefix.begins))
      return prefix.node.get();
  }
  const auto name = node.names.find(entry.name);
  return name == node.names.end() ? nullptr : name->second.get();
}

const DescriptorRule* DescriptorRules::find(std::string_view domain, DescriptorEntries entries,
                                            size_t* passed) const {
  const auto found = domains_.find(domain);
  if (found == domains_.end()) return nullptr;
  const Node* node = &found->second;
  for (const DescriptorEntry& entry : entries) {
    node = next_of(*node, entry, passed);
    if (node == nullptr) return nullptr;
  }
  return node->rule ? &*node->rule : nullptr;
}

}  // namespace weir::server
