// What a member of a shard tells the members of other shards, and those of its own, over the client
// port (WEIR FACTS): as a value, and as the bytes of a reply.
//
// Facts are hints. Late, wrong or missing ones cost clients a redirection, and nothing is decided
// by them. They come from whoever has the members' password, so whatever is read here may be an
// attack: it has bounds, and names, addresses and numbers are those that
// storage/replication/plain.h takes.
//
// The bytes are a RESP map, or RESP2's array in its place. A reader skips fields that it does not
// know, so a later weir may tell more; it must not give a field another meaning.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/reply.h"
#include "resp/value.h"
#include "server/cluster/topology.h"
#include "storage/format/shard_origin.h"

namespace weir::server {

// Bounds of what is read, and of what is written.
inline constexpr size_t kFactsBytesMax = 64 << 10;
inline constexpr size_t kShardsMax = 64;
inline constexpr size_t kMembersMax = 16;
inline constexpr size_t kToldRangesMax = 2048;
inline constexpr size_t kClusterIdDigits = 32;
// Stands in the file CLUSTER for a name that is missing, so that nobody is called that.
inline constexpr std::string_view kNoName = "-";

using storage::ShardInstance;

// Slots of one shard with their version, which is raised each time another shard gets the slot.
struct ToldRange {
  SlotRange slots;
  uint64_t version = 1;
  bool operator==(const ToldRange&) const = default;
};

// A member of the shard, as who tells of it knows it.
struct ToldMember {
  std::string node = {};  // 40 hexadecimal digits
  std::string host = {};  // that clients reach it by; "": not known, then the port is 0
  int port = 0;
  int tls_port = 0;           // 0: `port`
  std::string hostname = {};  // "": none is announced
  std::string state = {};     // as MemberView has it: "following"
  bool is_primary = false;
  uint64_t turn = 0;  // the newest that it has
  uint64_t lag_turns = 0;
  int64_t age_ms = 0;              // of what is told here
  std::string configuration = {};  // 64 hexadecimal digits that stand for its options; "": not told
  std::string acl = {};            // the same for its users
  bool operator==(const ToldMember&) const = default;

  // "host:port", with brackets around an IPv6 address; "": not known.
  std::string address() const;
};

// Where members of a shard may be asked that who tells is no member of.
struct ToldAddresses {
  std::string shard = {};
  std::vector<std::string> addresses = {};  // "host:port", at most kMembersMax
  bool operator==(const ToldAddresses&) const = default;
};

struct ShardFacts {
  std::string cluster = {};  // 32 hexadecimal digits
  std::string shard = {};
  std::string node = {};  // who tells; one of the members
  ShardInstance instance = {};
  bool serves = false;   // who tells is the primary, and serves
  uint64_t claim = 0;    // log index of the CLAIM that made the primary; 0: none is known
  uint64_t changes = 0;  // how often the shard's slots have changed
  std::vector<ToldRange> slots = {};     // in order; those that the shard owns
  uint64_t settings = 0;                 // the newest change of settings
  std::string settings_digest = {};      // 16 hexadecimal digits; "": not told
  uint64_t decisions_per_s = 0;          // of who tells, as the next two
  uint64_t busy_permille = 0;            // of its loop's time
  uint64_t keys = 0;                     // it stores
  std::vector<ToldMember> members = {};  // with who tells
  std::vector<ToldAddresses> others = {};
  bool operator==(const ShardFacts&) const = default;

  // The member that tells; null: it is missing, which facts that were read never are.
  const ToldMember* teller() const;
};

// Whether a text is of `digits` lower-case hexadecimal digits.
bool is_hex_id(std::string_view text, size_t digits);
// "0-99:1 200-200:4". Answers nothing but ranges in order that do not overlap.
std::string ranges_text(const std::vector<ToldRange>& ranges);
Result<std::vector<ToldRange>, std::string> parse_ranges(std::string_view text);
// What is wrong with a member that was told of.
Result<void, std::string> check_member(const ToldMember& member);

// Writes a map of at most kFactsBytesMax: what has no room there, of the addresses of other shards
// and of the slots, is left out.
void write_shard_facts(const ShardFacts& facts, resp::ReplyWriter* out);
// The same as bytes of RESP2, which a question carries.
std::string shard_facts_bytes(const ShardFacts& facts);

// The error says in a few words what is wrong, without bytes of who has sent it.
Result<ShardFacts, std::string> read_shard_facts(const resp::Value& value);
Result<ShardFacts, std::string> read_shard_facts(std::string_view bytes);

}  // namespace weir::server
