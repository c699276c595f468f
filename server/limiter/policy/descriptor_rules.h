// Which policy and which key the descriptors of a proxy's requests have (Envoy's rate limit
// service): the lines of policies-file that begin with `rls`.
//
//     rls site user                  POLICY each-user KEY user:{user}
//     rls site user=admin            POLICY admins
//     rls site tenant=*,path=/api/*  POLICY tenants KEY tenant:{tenant} HEADERS
//     rls llm  model                 POLICY tokens FORCE
//
// A descriptor is a list of entries, each with a name and a value; a rule is for descriptors of as
// many. Rules make a tree, and of each entry the way goes on with the first of these that is there:
// the rule's value is the entry's; the entry's value begins as the rule's before its '*', in the
// order of the lines; the rule has no value. It never goes back, so that a rule with the value
// keeps descriptors from one without, even where the rest of it does not fit. That is how
// envoyproxy/ratelimit reads its files ("Descriptor list definition" in its README), and what its
// users' files rely on.
//
// It knows names of policies, not policies.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::server {

// More entries has no rule.
inline constexpr size_t kDescriptorEntriesMax = 32;

struct DescriptorEntry {
  std::string_view name;
  std::string_view value;
};
using DescriptorEntries = std::span<const DescriptorEntry>;

// What the key of a descriptor is made of: text, and values of its entries.
//
// Callers choose the values, so a value can neither end early nor be a hash tag: in values '%',
// braces and the byte that follows the value are written as %XX, an empty value as '%', and one of
// more than 256 bytes as "%sha256:" with its hash. So no two lists of values make one key.
class KeyTemplate {
 public:
  // "rls:DOMAIN:name=value,name=value", with ',' and '=' of values as %XX. No two descriptors of a
  // domain share a key.
  static std::string plain_key(std::string_view domain, DescriptorEntries entries);

  // Reads a template, in which {name} is the value of the entry of that name, and {{ and }} are
  // braces. It begins with text, and text divides its entries. The error says what is wrong.
  static Result<KeyTemplate, std::string> parse(std::string_view text,
                                                const std::vector<std::string>& names);
  std::string key_of(DescriptorEntries entries) const;

 private:
  static constexpr size_t kNoEntry = SIZE_MAX;
  struct Part {
    std::string text;
    size_t entry = kNoEntry;  // whose value follows the text
  };

  std::vector<Part> parts_;
};

struct DescriptorRule {
  std::string policy;
  std::optional<KeyTemplate> key;  // nothing: plain_key()
  bool force = false;              // what is asked for has been used: it is taken in any case
  bool headers = false;            // the caller is told the limits, by fields of HTTP
  bool metadata = false;           // the proxy is told what was asked, as dynamic metadata
};

// One entry of a rule.
struct EntryPattern {
  std::string name;
  std::string value = {};  // or how it begins
  enum class Kind { kAny, kValue, kPrefix } kind = Kind::kAny;
};

// A line as it was read.
struct DescriptorRuleLine {
  std::string domain;
  std::vector<EntryPattern> entries;
  DescriptorRule rule;
  std::string text;  // the words, written alike whatever the line's blanks and quotes
};

class DescriptorRules {
 public:
  // Adds a rule. False: there is one for these entries.
  bool add(DescriptorRuleLine line);

  bool knows(std::string_view domain) const { return domains_.contains(domain); }
  // Finds the rule of a descriptor; null: there is none. Adds to `passed`, if it is not
  // null, how many values that end with '*' were looked at.
  const DescriptorRule* find(std::string_view domain, DescriptorEntries entries,
                             size_t* passed = nullptr) const;

  // What was added: each line with its policy.
  using Texts = std::set<std::pair<std::string, std::string>>;
  const Texts& texts() const { return texts_; }

 private:
  struct Node;
  // Compares what the client has sent as it came.
  struct PairLess {
    using is_transparent = void;
    using Views = std::pair<std::string_view, std::string_view>;
    bool operator()(const Views& a, const Views& b) const { return a < b; }
  };
  struct Prefix {
    std::string name;
    std::string begins;
    std::unique_ptr<Node> node;
  };
  struct Node {
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Node>, PairLess> values;
    std::vector<Prefix> prefixes;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> names;
    std::optional<DescriptorRule> rule;
  };

  static Node* child_of(Node* node, const EntryPattern& pattern);
  static const Node* next_of(const Node& node, const DescriptorEntry& entry, size_t* passed);

  std::map<std::string, Node, std::less<>> domains_;
  Texts texts_;
};

}  // namespace weir::server
