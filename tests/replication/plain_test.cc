// What is taken of the names, addresses and numbers in bytes that others have written.
#include "storage/replication/plain.h"

#include <gtest/gtest.h>

#include "storage/replication/member_registry.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {
namespace {

const std::vector<std::string> kNoAddresses = {"host",
                                               ":7000",
                                               "host:",
                                               "host:0",
                                               "host:07000",
                                               "host:+7000",
                                               "host:65536",
                                               "host:99999999999999999999",
                                               "host:7000x",
                                               "a b:7000",
                                               "a\r\nslave9:ip=1:7000",
                                               "\033[2J:7000",
                                               std::string("a\0b:7000", 8),
                                               "b\xc3\xbc:7000",
                                               "a,b:7000",
                                               std::string(300, 'a') + ":7000"};

Author author_of(const std::string& node, const std::string& address) {
  return {.node = node, .address = address, .incarnation = {1, 2}};
}

Claim claim_of(const Author& author, int64_t instant_ns = 1, const Times& times = {}) {
  return {.author = author, .instant_ns = instant_ns, .times = times};
}

Genesis genesis_of(const std::string& shard, uint64_t first_turn) {
  Genesis genesis;
  genesis.shard_name = shard;
  genesis.first_turn = first_turn;
  return genesis;
}

MemberFacts facts_of(const Author& author) {
  MemberFacts facts;
  facts.author = author;
  return facts;
}

bool decodes(const Body& body) {
  return decode_record(encode_record({.nonce = 1, .shard = 2, .epoch = {3, 4}}, body)).has_value();
}

TEST(Plain, Names) {
  for (const char* name : {"", "A", "node-1.b_2", "0123456789abcdef0123456789abcdef01234567"})
    EXPECT_TRUE(is_plain_name(name)) << name;
  for (const char* name : {"a b", "a\nb", "a:b", "\033", "a/b", "\xff", "a\"b"})
    EXPECT_FALSE(is_plain_name(name)) << name;
  EXPECT_TRUE(is_plain_name(std::string(kPlainNameBytesMax, 'a')));
  EXPECT_FALSE(is_plain_name(std::string(kPlainNameBytesMax + 1, 'a')));
}

TEST(Plain, Addresses) {
  for (const char* address :
       {"", "a:1", "10.0.0.1:65535", "my_host-1.example:6379", "::1:6379", "[fe80::1%eth0]:6379"})
    EXPECT_TRUE(is_plain_address(address)) << address;
  for (const std::string& address : kNoAddresses)
    EXPECT_FALSE(is_plain_address(address)) << address;
}

TEST(Plain, RecordsOfOthersAreNone) {
  const Author plain = author_of("A", "a:7000");
  EXPECT_TRUE(decodes(claim_of(plain)));
  for (const std::string& address : kNoAddresses) {
    EXPECT_FALSE(decodes(claim_of(author_of("A", address)))) << address;
    EXPECT_FALSE(decodes(Heartbeat{.author = author_of("A", address)})) << address;
  }
  EXPECT_FALSE(decodes(Heartbeat{.author = author_of("a\nb", "a:7000")}));
  EXPECT_FALSE(decodes(Switchover{.to = "a\nb"}));
  EXPECT_FALSE(decodes(genesis_of("a\nb", 1)));
}

TEST(Plain, TimesThatWouldOverflow) {
  const Author plain = author_of("A", "a:7000");
  for (const int64_t ns : {int64_t{-1}, INT64_MIN, INT64_MAX, kNsPerHour + 1}) {
    EXPECT_FALSE(decodes(claim_of(plain, 1, {.lease_ns = ns}))) << ns;
    EXPECT_FALSE(decodes(claim_of(plain, 1, {.failover_after_ns = ns}))) << ns;
  }
  for (const int64_t ns : {int64_t{-1}, INT64_MIN, INT64_MAX, kPlainInstantNsMax + 1}) {
    EXPECT_FALSE(decodes(claim_of(plain, ns))) << ns;
    EXPECT_FALSE(decodes(Heartbeat{.author = plain, .instant_ns = ns})) << ns;
    EXPECT_FALSE(decodes(Switchover{.to = "A", .instant_ns = ns})) << ns;
  }
}

TEST(Plain, NumbersThatWouldOverflow) {
  EXPECT_FALSE(decodes(genesis_of("main", UINT64_MAX)));
  EXPECT_FALSE(decodes(Turns{.first_turn = UINT64_MAX, .turns = {"a", "b"}}));
  EXPECT_FALSE(decodes(Part{.turn = UINT64_MAX, .number = 1, .count = 1, .bytes = "a"}));
}

// Each turn costs a string, however short it is.
TEST(Plain, MoreTurnsThanAnAuthorPutsTogether) {
  Turns turns{.first_turn = 5, .turns = std::vector<std::string_view>(kTurnsOfRecordMax, "")};
  EXPECT_TRUE(decodes(turns));
  turns.turns.push_back("");
  EXPECT_FALSE(decodes(turns));
}

TEST(Plain, FactsOfOthersAreNone) {
  const MemberFacts plain = facts_of(author_of("A", "a:7000"));
  EXPECT_TRUE(decode_facts(encode_facts(plain)).has_value());
  for (const std::string& address : kNoAddresses) {
    MemberFacts facts = plain;
    facts.author.address = address;
    EXPECT_FALSE(decode_facts(encode_facts(facts)).has_value()) << address;
  }
  const auto decodes_with = [&](auto change) {
    MemberFacts facts = plain;
    change(&facts);
    return decode_facts(encode_facts(facts)).has_value();
  };
  constexpr uint64_t kHuge = uint64_t{1} << 63;
  EXPECT_FALSE(decodes_with([](MemberFacts* facts) { facts->author.node = "a\nb"; }));
  EXPECT_FALSE(decodes_with([](MemberFacts* facts) { facts->applied_turn = kHuge; }));
  EXPECT_FALSE(decodes_with([](MemberFacts* facts) { facts->head.log_index = kHuge; }));
  EXPECT_FALSE(decodes_with([](MemberFacts* facts) { facts->written_back_turn = kHuge; }));
  EXPECT_FALSE(
      decodes_with([](MemberFacts* facts) { facts->written_back_head.log_index = kHuge; }));
  EXPECT_FALSE(decodes_with([](MemberFacts* facts) { facts->checkpoint_head.log_index = kHuge; }));
}

}  // namespace
}  // namespace weir::storage::replication
