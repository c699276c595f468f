// Facts of a shard as bytes, and bytes that are no facts.
#include "server/cluster/shard_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/server/cluster/facts_fixture.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;

ShardFacts full_facts() {
  ShardFacts facts = facts_named("a", 7001, {0, 5460});
  facts.instance = {.ms = 1'700'000'000'123, .random = 0xfedcba9876543210};
  facts.changes = 3;
  facts.slots = {{{0, 99}, 1}, {{200, 200}, 4}, {{201, 16383}, 2}};
  facts.settings = 12;
  facts.settings_digest = "0123456789abcdef";
  facts.decisions_per_s = 345;
  facts.busy_permille = 678;
  facts.keys = 901;
  facts.members[0].tls_port = 7101;
  facts.members[0].hostname = "one.example";
  facts.members[0].configuration = std::string(64, 'c');
  facts.members[0].acl = std::string(64, 'd');
  facts.members[1].host = "::1";
  facts.members[1].turn = 77;
  facts.members[1].lag_turns = 5;
  facts.members[1].age_ms = 1500;
  facts.others = {{.shard = "b", .addresses = {"10.0.0.2:7003", "[::1]:7004"}},
                  {.shard = "c", .addresses = {}}};
  return facts;
}

std::string wrong_with(const ShardFacts& facts) {
  const auto read = read_shard_facts(shard_facts_bytes(facts));
  return read ? "" : read.error();
}

TEST(ShardFacts, AreReadAsTheyAreWritten) {
  const ShardFacts facts = full_facts();
  const auto read = read_shard_facts(shard_facts_bytes(facts));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, facts);
  EXPECT_EQ(read->teller()->port, 7001);
  EXPECT_EQ(read->members[1].address(), "[::1]:7002");
}

TEST(ShardFacts, AreReadFromAMapOfResp3) {
  std::string bytes;
  resp::ReplyWriter out(&bytes, 3);
  write_shard_facts(full_facts(), &out);
  EXPECT_EQ(bytes[0], '%');
  const auto read = read_shard_facts(bytes);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, full_facts());
}

// Whatever a later weir tells in addition.
TEST(ShardFacts, FieldsThatAreNotKnownAreSkipped) {
  resp::Value value;
  size_t used = 0;
  const std::string bytes = shard_facts_bytes(full_facts());
  ASSERT_EQ(resp::decode(bytes, &value, &used), resp::DecodeStatus::kValue);
  resp::Value name;
  name.type = resp::Value::Type::kBulk;
  name.text = "mood";
  resp::Value mood;
  mood.type = resp::Value::Type::kArray;
  mood.elements = {name, name, name};
  value.elements.insert(value.elements.begin() + 4, {name, mood});
  const auto read = read_shard_facts(value);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, full_facts());
}

TEST(ShardFacts, WhatNoMemberTellsIsRefused) {
  const auto with = [](auto change) {
    ShardFacts facts = full_facts();
    change(&facts);
    return wrong_with(facts);
  };
  EXPECT_EQ(with([](ShardFacts*) {}), "");
  EXPECT_THAT(with([](ShardFacts* f) { f->cluster = "x"; }), HasSubstr("'cluster'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->cluster[3] = 'A'; }), HasSubstr("'cluster'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->shard = ""; }), HasSubstr("'shard'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->shard = "a\r\nb"; }), HasSubstr("'shard'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->shard = std::string(65, 'a'); }), HasSubstr("'shard'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->node = node_named("z"); }), HasSubstr("no member"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].node = "1"; }), HasSubstr("node"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1] = f->members[0]; }), HasSubstr("twice"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].is_primary = true; }),
              HasSubstr("two primaries"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].host = "a b"; }), HasSubstr("address"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].host = "-"; }), HasSubstr("address"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].port = 0; }), HasSubstr("address"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].tls_port = 65536; }), HasSubstr("tls_port"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].hostname = "a\n"; }), HasSubstr("hostname"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].hostname = "-"; }), HasSubstr("hostname"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].hostname = "a:1"; }), HasSubstr("hostname"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].state = "x\x1b[0m"; }), HasSubstr("state"));
  EXPECT_THAT(with([](ShardFacts* f) { f->members[1].acl = "0"; }), HasSubstr("acl"));
  EXPECT_THAT(with([](ShardFacts* f) { f->settings_digest = "12"; }),
              HasSubstr("'settings_digest'"));
  EXPECT_THAT(with([](ShardFacts* f) { f->slots[1].slots.first = 99; }), HasSubstr("order"));
  EXPECT_THAT(with([](ShardFacts* f) { f->slots[2].slots.last = 16384; }), HasSubstr("order"));
  EXPECT_THAT(with([](ShardFacts* f) { f->slots[0].version = 0; }), HasSubstr("order"));
  EXPECT_THAT(with([](ShardFacts* f) { f->others[0].shard = "a"; }), HasSubstr("shard comes"));
  EXPECT_THAT(with([](ShardFacts* f) { f->others[0].shard = ""; }), HasSubstr("addresses"));
  EXPECT_THAT(with([](ShardFacts* f) { f->others[0].addresses[0] = ""; }), HasSubstr("addresses"));
  EXPECT_THAT(with([](ShardFacts* f) { f->others[0].addresses[0] = "h:0"; }),
              HasSubstr("addresses"));
}

TEST(ShardFacts, NumbersAndCountsHaveBounds) {
  const std::string bytes = shard_facts_bytes(full_facts());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = read_shard_facts(changed);
    return read ? "" : read.error();
  };
  EXPECT_EQ(with(":345\r\n", ":346\r\n"), "");
  EXPECT_THAT(with(":345\r\n", ":-1\r\n"), HasSubstr("decisions_per_s"));
  EXPECT_THAT(with(":345\r\n", "$3\r\n345\r\n"), HasSubstr("decisions_per_s"));
  EXPECT_THAT(with(":345\r\n", ":9223372036854775808\r\n"), HasSubstr("one reply"));
  EXPECT_THAT(with(":678\r\n", ":1001\r\n"), HasSubstr("busy_permille"));
  EXPECT_THAT(with(":3\r\n", ":9223372036854775807\r\n"), HasSubstr("changes"));
  EXPECT_THAT(with("$4\r\nkeys", "$8\r\nsettings"), HasSubstr("twice"));
  EXPECT_THAT(with("$4\r\nkeys", "$4\r\nkeyz"), HasSubstr("keys"));
  EXPECT_THAT(with("$4\r\nkeys", "+keys"), HasSubstr("name"));
  EXPECT_THAT(with("fedcba9876543210", "fedcba987654321G"), HasSubstr("instance_random"));
  ShardFacts facts = full_facts();
  while (facts.members.size() <= kMembersMax)
    facts.members.push_back(member_named(std::to_string(facts.members.size()), 1));
  EXPECT_EQ(wrong_with(facts), "") << "who writes keeps the bound";
  resp::Value value;
  size_t used = 0;
  const std::string whole = shard_facts_bytes(facts);
  ASSERT_EQ(resp::decode(whole, &value, &used), resp::DecodeStatus::kValue);
  std::vector<resp::Value>& members = value.elements[29].elements;
  ASSERT_EQ(members.size(), kMembersMax);
  EXPECT_TRUE(read_shard_facts(value));
  members.push_back(members[1]);
  members.back().elements[1].text = node_named("more");
  const auto read = read_shard_facts(value);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error(), HasSubstr("'members'"));
}

// However much there is to tell, it has room, and what is told of the own shard comes first.
TEST(ShardFacts, FitIn64KB) {
  ShardFacts facts = full_facts();
  facts.slots.clear();
  for (int slot = 0; slot < kSlots; slot += 2)
    facts.slots.push_back({.slots = {slot, slot}, .version = 1'000'000'000'000'000'000});
  facts.others.clear();
  for (int shard = 0; shard < 100; ++shard) {
    const std::string host(200, 'h');
    facts.others.push_back({.shard = "s" + std::to_string(shard),
                            .addresses = std::vector<std::string>(20, host + ":1")});
  }
  const std::string bytes = shard_facts_bytes(facts);
  EXPECT_LE(bytes.size(), kFactsBytesMax);
  const auto read = read_shard_facts(bytes);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->members, facts.members);
  EXPECT_GT(read->slots.size(), 1000u);
  EXPECT_GT(read->others.size(), 4u);
  EXPECT_EQ(read->others[0].addresses.size(), kMembersMax);
  EXPECT_FALSE(read_shard_facts(bytes + std::string(kFactsBytesMax, ' ')));
}

TEST(ShardFacts, BytesThatAreBentAreRefusedOrRead) {
  const std::string bytes = shard_facts_bytes(full_facts());
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bent = bytes;
    for (int changes = 0; changes < 2; ++changes)
      bent[random() % bent.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bent.resize(random() % bent.size());
    const auto read = read_shard_facts(bent);
    refused += read ? 0 : 1;
    if (read) {
      EXPECT_TRUE(read_shard_facts(shard_facts_bytes(*read)));
    }
  }
  EXPECT_GT(refused, 10'000);
}

TEST(ShardFacts, RangesAreWrittenInOneWay) {
  for (const char* text : {"", "0-0:1", "0-5:2 6-6:1 100-16383:9"}) {
    const auto ranges = parse_ranges(text);
    ASSERT_TRUE(ranges) << text;
    EXPECT_EQ(ranges_text(*ranges), text);
  }
  for (const char* text : {" ", "0-0:1 ", " 0-0:1", "0-0", "0:1", "1-0:1", "0-5:1 5-6:1", "0-0:0",
                           "00-0:1", "0-0:+1", "0-0:1  1-1:1", "-", ":-"})
    EXPECT_FALSE(parse_ranges(text)) << text;
}

}  // namespace
}  // namespace weir::server
