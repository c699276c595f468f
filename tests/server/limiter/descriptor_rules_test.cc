// Rules for descriptors: which of them fits, the keys that they make, and what is wrong with lines.
#include "server/limiter/policy/descriptor_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/limiter/policy/descriptor_rule_lines.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

// Every policy is there, but for this one.
std::string fault_of_policy(std::string_view policy) {
  return policy == "none" ? "no such policy" : "";
}

Result<DescriptorRules, std::string> parse(std::string_view text) {
  return parse_descriptor_rules(text, "policies", fault_of_policy);
}

std::string error_of(std::string_view text) {
  const auto rules = parse(text);
  return rules ? "" : rules.error();
}

// A descriptor written as "name=value,name=value".
std::vector<DescriptorEntry> entries_of(std::string_view text) {
  std::vector<DescriptorEntry> entries;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    const size_t equal = entry.find('=');
    entries.push_back({entry.substr(0, equal), entry.substr(equal + 1)});
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
  }
  return entries;
}

class Rules {
 public:
  explicit Rules(std::string_view text) : parsed_(parse(text)) {
    EXPECT_TRUE(parsed_) << parsed_.error();
  }
  // The policy of a descriptor of the domain `d`; "": it has none.
  std::string policy(std::string_view descriptor) const {
    const std::vector<DescriptorEntry> entries = entries_of(descriptor);
    const DescriptorRule* rule = parsed_->find("d", entries);
    return rule == nullptr ? "" : rule->policy;
  }
  std::string key(std::string_view descriptor) const {
    const std::vector<DescriptorEntry> entries = entries_of(descriptor);
    const DescriptorRule* rule = parsed_->find("d", entries);
    if (rule == nullptr) return "";
    return rule->key ? rule->key->key_of(entries) : KeyTemplate::plain_key("d", entries);
  }
  const DescriptorRules& operator*() const { return *parsed_; }

 private:
  Result<DescriptorRules, std::string> parsed_;
};

TEST(DescriptorRules, AValueGoesBeforeItsBeginningAndThatBeforeTheNameAlone) {
  const Rules rules(
      "rls d user POLICY any\n"
      "rls d user=ad* POLICY begins\n"
      "rls d user=adm* POLICY later\n"
      "rls d user=admin POLICY exact\n");
  EXPECT_EQ(rules.policy("user=admin"), "exact");
  EXPECT_EQ(rules.policy("user=admins"), "begins");  // the first line that fits
  EXPECT_EQ(rules.policy("user=ad"), "begins");
  EXPECT_EQ(rules.policy("user=a"), "any");
  EXPECT_EQ(rules.policy("user="), "any");
  EXPECT_EQ(rules.policy("tenant=admin"), "");
}

TEST(DescriptorRules, ARuleHasAsManyEntriesAsItsDescriptors) {
  const Rules rules("rls d tenant=a,path POLICY nested\nrls d tenant POLICY top\n");
  EXPECT_EQ(rules.policy("tenant=a,path=/x"), "nested");
  EXPECT_EQ(rules.policy("tenant=b"), "top");
  EXPECT_EQ(rules.policy("tenant=b,path=/x"), "");
  EXPECT_EQ(rules.policy("tenant=a,path=/x,more=1"), "");
  EXPECT_EQ(rules.policy("path=/x,tenant=a"), "");  // the order counts
  EXPECT_EQ(rules.policy(""), "");
}

// As the reference service: the way never goes back.
TEST(DescriptorRules, AValueKeepsItsDescriptorsFromTheNameAlone) {
  const Rules rules("rls d tenant=a,user=ann POLICY ann\nrls d tenant,user POLICY others\n");
  EXPECT_EQ(rules.policy("tenant=a,user=ann"), "ann");
  EXPECT_EQ(rules.policy("tenant=b,user=bob"), "others");
  EXPECT_EQ(rules.policy("tenant=a,user=bob"), "");
  EXPECT_EQ(rules.policy("tenant=a"), "");
}

TEST(DescriptorRules, DomainsAreApart) {
  const Rules rules("rls d user POLICY p\n");
  EXPECT_TRUE((*rules).knows("d"));
  EXPECT_FALSE((*rules).knows("e"));
  EXPECT_EQ((*rules).find("e", entries_of("user=x")), nullptr);
}

TEST(DescriptorRules, KeysByATemplate) {
  const Rules rules(
      "rls d user,path=/a* POLICY p KEY {{tag}}:{user}:{path}\n"
      "rls d one POLICY p KEY shared\n");
  EXPECT_EQ(rules.key("user=ann,path=/a/b"), "{tag}:ann:/a/b");
  EXPECT_EQ(rules.key("one=x"), "shared");
  EXPECT_EQ(rules.key("user=a:b{}%,path=/a:%"), "{tag}:a%3Ab%7B%7D%25:/a:%25");
  EXPECT_EQ(rules.key("user=ann,path=/b"), "");
}

TEST(DescriptorRules, KeysWithoutATemplateAreOfOneDescriptorEach) {
  const Rules rules("rls d user,path POLICY p\n");
  EXPECT_EQ(rules.key("user=ann,path=/a"), "rls:d:user=ann,path=/a");
  EXPECT_EQ(KeyTemplate::plain_key("d", std::vector<DescriptorEntry>{{"u", "a,p=b%"}}),
            "rls:d:u=a%2Cp%3Db%25");
}

// Callers choose the values.
TEST(DescriptorRules, NoValueMakesAKeyOfOthers) {
  const Rules rules("rls d a,b POLICY p KEY t:{a}:{b}\nrls d tag POLICY p KEY {{{tag}}}:x\n");
  EXPECT_NE(rules.key("a=x:y,b=z"), rules.key("a=x,b=y:z"));
  EXPECT_EQ(rules.key("tag="), "{%}:x");
  EXPECT_EQ(rules.key("tag=}y"), "{%7Dy}:x");
  const std::string most(256, 'v'), more(257, 'v'), other = more.substr(1) + "w";
  EXPECT_EQ(rules.key("tag=" + most), "{" + most + "}:x");
  EXPECT_EQ(rules.key("tag=" + more).find("{%sha256:"), 0u);
  EXPECT_EQ(rules.key("tag=" + more).size(), 1 + 8 + 64 + 3u);
  EXPECT_NE(rules.key("tag=" + more), rules.key("tag=" + other));
  EXPECT_NE(rules.key("tag=" + more), rules.key("tag=" + rules.key("tag=" + more).substr(1, 72)));
}

TEST(DescriptorRules, AByteMayBeTakenAsItIs) {
  const Rules rules(R"(rls d path=/a\,b\*,x\=y=\\ POLICY p)");
  EXPECT_EQ(
      (*rules).find("d", std::vector<DescriptorEntry>{{"path", "/a,b*"}, {"x=y", "\\"}})->policy,
      "p");
}

TEST(DescriptorRules, OptionsOfARule) {
  const auto rules = parse("rls d a headers POLICY p Force KEY k\nRLS d b policy p\n");
  ASSERT_TRUE(rules) << rules.error();
  const DescriptorRule* rule = rules->find("d", entries_of("a=1"));
  EXPECT_TRUE(rule->force && rule->headers && rule->key);
  rule = rules->find("d", entries_of("b=1"));
  EXPECT_FALSE(rule->force || rule->headers || rule->key);
}

TEST(DescriptorRules, LinesOfOthersArePassedOver) {
  const auto rules = parse("# rls\n\npolicy rls 1/1m\n  rls d a POLICY p\r\n");
  ASSERT_TRUE(rules) << rules.error();
  EXPECT_EQ(rules->texts(), (DescriptorRules::Texts{{"rls d a POLICY p", "p"}}));
}

TEST(DescriptorRules, WhatIsWrongIsNamedByItsLine) {
  EXPECT_THAT(error_of("\nrls d a p\n"), HasSubstr("policies:2: rls takes a domain, entries"));
  EXPECT_THAT(error_of("rls d a KEY k FORCE"), HasSubstr("policies:1: rls takes a domain"));
  EXPECT_THAT(error_of("rls d a POLICY none"), HasSubstr("policies:1: no such policy"));
  EXPECT_THAT(error_of("rls \"\" a POLICY p"), HasSubstr("a domain must not be empty"));
  EXPECT_THAT(error_of("rls d =v POLICY p"), HasSubstr("an entry has no name at '=v'"));
  for (const char* star : {"a=*b", "a=b*c", "a=**", "a=*b*", "*", "a*=b"}) {
    EXPECT_THAT(error_of(std::string("rls d ") + star + " POLICY p"),
                HasSubstr("a '*' ends a value, and \\* is the byte"));
  }
  EXPECT_THAT(error_of("rls d a, POLICY p"), HasSubstr("an entry has no name at ','"));
  EXPECT_THAT(error_of("rls d a POLICY p 1/1m"),
              HasSubstr("expected POLICY, KEY, FORCE, HEADERS or METADATA, got '1/1m'"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY"), HasSubstr("KEY must be followed by a value"));
  EXPECT_THAT(error_of("rls d a POLICY p POLICY p"), HasSubstr("POLICY is given twice"));
  EXPECT_THAT(error_of("rls d a POLICY p FORCE FORCE"), HasSubstr("FORCE is given twice"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY \"\""), HasSubstr("KEY is empty"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY {b}"), HasSubstr("KEY names the entry 'b'"));
  EXPECT_THAT(error_of("rls d a,a POLICY p KEY {a}"), HasSubstr("which is there twice"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY {a"), HasSubstr("a brace of KEY is not closed"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY a}"), HasSubstr("a brace of KEY"));
  EXPECT_THAT(error_of("rls d a POLICY p KEY {a}:x"), HasSubstr("KEY must begin with text"));
  EXPECT_THAT(error_of("rls d a,b POLICY p KEY k{a}{b}"), HasSubstr("two entries side by side"));
  EXPECT_THAT(error_of("rls d \"a POLICY p"), HasSubstr("quotes are not closed"));
  EXPECT_EQ(error_of("rls d a POLICY p\nrls d a=* POLICY p\nrls d a POLICY q KEY k\n"),
            "policies:3: there is a rule for these entries already");
  std::string many = "rls d a";
  for (size_t i = 0; i < kDescriptorEntriesMax; ++i) many += ",a";
  EXPECT_THAT(error_of(many + " POLICY p"), HasSubstr("a rule has at most 32 entries"));
  EXPECT_THAT(error_of("rls\nrls\nrls\nrls\nrls\nrls\nrls\n"), HasSubstr("; and 2 more"));
}

TEST(DescriptorRules, HaveABound) {
  std::string text;
  for (size_t i = 0; i <= kDescriptorRulesMax; ++i)
    text += "rls d a=" + std::to_string(i) + " POLICY p\n";
  EXPECT_EQ(error_of(text), "policies:10001: these are more rules than 10000");
}

}  // namespace
}  // namespace weir::server
