#include "server/cluster/shard_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "storage/replication/plain.h"

namespace weir::server {
namespace {

using resp::Value;
using storage::replication::is_plain_address;
using storage::replication::is_plain_name;
using storage::replication::kPlainNumberMax;

constexpr size_t kToldNodeDigits = 40;
constexpr size_t kToldDigestDigits = 64;
constexpr size_t kInstanceDigits = 16;
constexpr size_t kSettingsDigestDigits = 16;
constexpr size_t kStateBytesMax = 32;
constexpr int64_t kToldPortMax = 65535;
constexpr uint64_t kPermilleMax = 1000;
constexpr size_t kSlotsBytesMax = kFactsBytesMax / 2;
// A map of facts holds a map for each member.
constexpr resp::DecodeLimits kFactsLimits{.depth_max = 8,
                                          .bulk_bytes_max = static_cast<int64_t>(kFactsBytesMax),
                                          .elements_max = 4096,
                                          .line_bytes_max = 64};

using FactsOutcome = Result<void, std::string>;

bool is_told_state(std::string_view text) {
  return text.size() <= kStateBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || c == ' '; });
}

bool is_told_digest(std::string_view text) {
  return text.empty() || is_hex_id(text, kToldDigestDigits);
}

// An address that is not known is the empty one.
std::string address_of_parts(std::string_view host, int port) {
  if (host.empty()) return "";
  const bool is_bare_v6 = host.find(':') != host.npos && host[0] != '[';
  const std::string shown = is_bare_v6 ? "[" + std::string(host) + "]" : std::string(host);
  return shown + ":" + std::to_string(port);
}

std::string random_digits_of(uint64_t number) {
  std::array<uint8_t, sizeof number> bytes{};
  for (size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<uint8_t>(number >> 8 * (bytes.size() - 1 - at));
  return hex_text(bytes);
}

// The fields of a map by their names. Once something was wrong, all later answers are empty, and
// error() says what it was.
class FactsFields {
 public:
  explicit FactsFields(const Value& value) { take(value); }

  const std::string& error() const { return error_; }
  bool ok() const { return error_.empty(); }
  void fail(std::string_view why) {
    if (error_.empty()) error_ = why;
  }
  void fail_at(std::string_view name) { fail("the field '" + std::string(name) + "' is wrong"); }

  std::string text(std::string_view name) {
    const Value* const value = find(name, Value::Type::kBulk);
    return value == nullptr ? "" : value->text;
  }
  template <typename IsSound>
  std::string text(std::string_view name, IsSound is_sound) {
    std::string found = text(name);
    if (ok() && !is_sound(found)) fail_at(name);
    return found;
  }
  // A field that members of before do not tell.
  template <typename IsSound>
  std::string text_if_told(std::string_view name, IsSound is_sound) {
    return fields_.contains(name) ? text(name, is_sound) : std::string();
  }
  uint64_t number(std::string_view name, uint64_t max = kPlainNumberMax) {
    const Value* const value = find(name, Value::Type::kInteger);
    if (value == nullptr) return 0;
    if (value->integer < 0 || static_cast<uint64_t>(value->integer) > max) fail_at(name);
    return static_cast<uint64_t>(value->integer);
  }
  const std::vector<Value>& list(std::string_view name, size_t elements_max) {
    static const std::vector<Value> kNoElements;
    const Value* const value = find(name, Value::Type::kArray);
    if (value != nullptr && value->elements.size() > elements_max) fail_at(name);
    return value == nullptr || !ok() ? kNoElements : value->elements;
  }

 private:
  void take(const Value& value) {
    const bool is_map = value.type == Value::Type::kMap || value.type == Value::Type::kArray;
    if (!is_map || value.elements.size() % 2 != 0) return fail("a map was expected");
    for (size_t at = 0; at < value.elements.size(); at += 2) {
      const Value& name = value.elements[at];
      if (name.type != Value::Type::kBulk) return fail("a name was expected");
      if (!fields_.emplace(name.text, &value.elements[at + 1]).second)
        return fail("a field comes twice");
    }
  }
  const Value* find(std::string_view name, Value::Type type) {
    if (!ok()) return nullptr;
    const auto found = fields_.find(name);
    if (found != fields_.end() && found->second->type == type) return found->second;
    fail_at(name);
    return nullptr;
  }

  std::map<std::string_view, const Value*> fields_;
  std::string error_;
};

Result<ToldMember, std::string> read_told_member(const Value& value) {
  FactsFields fields(value);
  ToldMember member;
  member.node = fields.text("node");
  member.host = fields.text("host");
  member.port = static_cast<int>(fields.number("port", kToldPortMax));
  member.tls_port = static_cast<int>(fields.number("tls_port", kToldPortMax));
  member.hostname = fields.text("hostname");
  member.state = fields.text("state", is_told_state);
  member.is_primary = fields.number("primary", 1) == 1;
  member.turn = fields.number("turn");
  member.lag_turns = fields.number("lag_turns");
  member.age_ms = static_cast<int64_t>(fields.number("age_ms", INT32_MAX));
  member.configuration = fields.text("configuration", is_told_digest);
  member.acl = fields.text("acl", is_told_digest);
  if (!fields.ok()) return fields.error();
  if (const auto checked = check_member(member); !checked) return checked.error();
  return member;
}

FactsOutcome read_told_members(FactsFields* fields, ShardFacts* facts) {
  std::set<std::string> nodes;
  int primaries = 0;
  for (const Value& value : fields->list("members", kMembersMax)) {
    auto member = read_told_member(value);
    if (!member) return member.error();
    if (!nodes.insert(member->node).second) return std::string("a member comes twice");
    primaries += member->is_primary ? 1 : 0;
    facts->members.push_back(std::move(*member));
  }
  if (!fields->ok()) return fields->error();
  if (primaries > 1) return std::string("there are two primaries");
  if (!nodes.contains(facts->node)) return std::string("who tells is no member");
  return {};
}

Result<ToldAddresses, std::string> read_addresses(const Value& value) {
  const std::string wrong = "the addresses of a shard are wrong";
  if (value.type != Value::Type::kArray || value.elements.size() != 2) return wrong;
  const Value& name = value.elements[0];
  const Value& list = value.elements[1];
  const bool is_sound = name.type == Value::Type::kBulk && !name.text.empty() &&
                        is_plain_name(name.text) && list.type == Value::Type::kArray &&
                        list.elements.size() <= kMembersMax;
  if (!is_sound) return wrong;
  ToldAddresses told{.shard = name.text, .addresses = {}};
  for (const Value& address : list.elements) {
    const bool is_address = address.type == Value::Type::kBulk && !address.text.empty() &&
                            is_plain_address(address.text);
    if (!is_address) return wrong;
    told.addresses.push_back(address.text);
  }
  return told;
}

FactsOutcome read_others(FactsFields* fields, ShardFacts* facts) {
  std::set<std::string> names = {facts->shard};
  for (const Value& value : fields->list("shards", kShardsMax)) {
    auto told = read_addresses(value);
    if (!told) return told.error();
    if (!names.insert(told->shard).second) return std::string("a shard comes twice");
    facts->others.push_back(std::move(*told));
  }
  return fields->ok() ? FactsOutcome() : FactsOutcome(fields->error());
}

void write_fact(std::string_view name, std::string_view text, resp::ReplyWriter* out) {
  out->bulk(name);
  out->bulk(text);
}

void write_fact(std::string_view name, uint64_t number, resp::ReplyWriter* out) {
  out->bulk(name);
  out->integer(static_cast<int64_t>(std::min(number, kPlainNumberMax)));
}

void write_told_member(const ToldMember& member, resp::ReplyWriter* out) {
  out->map(12);
  write_fact("node", member.node, out);
  write_fact("host", member.host, out);
  write_fact("port", static_cast<uint64_t>(member.port), out);
  write_fact("tls_port", static_cast<uint64_t>(member.tls_port), out);
  write_fact("hostname", member.hostname, out);
  write_fact("state", member.state, out);
  write_fact("primary", member.is_primary ? 1 : 0, out);
  write_fact("turn", member.turn, out);
  write_fact("lag_turns", member.lag_turns, out);
  write_fact("age_ms", static_cast<uint64_t>(std::clamp<int64_t>(member.age_ms, 0, INT32_MAX)),
             out);
  write_fact("configuration", member.configuration, out);
  write_fact("acl", member.acl, out);
}

std::string addresses_bytes(const ToldAddresses& told) {
  std::string bytes;
  resp::ReplyWriter out(&bytes);
  out.array(2);
  out.bulk(told.shard);
  const size_t count = std::min(told.addresses.size(), kMembersMax);
  out.array(static_cast<int64_t>(count));
  for (size_t at = 0; at < count; ++at) out.bulk(told.addresses[at]);
  return bytes;
}

// As many shards as there is room for.
void write_others(const std::vector<ToldAddresses>& others, size_t bytes_max,
                  resp::ReplyWriter* out) {
  std::string all;
  int64_t count = 0;
  for (const ToldAddresses& told : others) {
    const std::string bytes = addresses_bytes(told);
    if (all.size() + bytes.size() > bytes_max || count == int64_t{kShardsMax}) break;
    all += bytes;
    ++count;
  }
  out->bulk("shards");
  out->array(count);
  out->raw(all);
}

// What fits in the bytes that slots may have.
std::string told_ranges_text(const std::vector<ToldRange>& ranges) {
  const size_t count = std::min(ranges.size(), kToldRangesMax);
  std::string text = ranges_text({ranges.begin(), ranges.begin() + static_cast<long>(count)});
  if (text.size() > kSlotsBytesMax) text.resize(text.rfind(' ', kSlotsBytesMax));
  return text;
}

std::optional<uint64_t> told_number_of(std::string_view text, uint64_t max) {
  const auto number = resp::parse_int64(text);
  if (!number || *number < 0 || static_cast<uint64_t>(*number) > max) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::optional<ToldRange> told_range_of(std::string_view text) {
  const size_t dash = std::min(text.find('-'), text.size());
  const size_t colon = std::min(text.find(':'), text.size());
  if (colon == text.size() || dash >= colon) return std::nullopt;
  const auto first = told_number_of(text.substr(0, dash), kSlots - 1);
  const auto last = told_number_of(text.substr(dash + 1, colon - dash - 1), kSlots - 1);
  const auto version = told_number_of(text.substr(colon + 1), kPlainNumberMax);
  if (!first || !last || !version || *last < *first || *version == 0) return std::nullopt;
  return ToldRange{.slots = {static_cast<int>(*first), static_cast<int>(*last)},
                   .version = *version};
}

}  // namespace

std::string ToldMember::address() const { return address_of_parts(host, port); }

const ToldMember* ShardFacts::teller() const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const ToldMember& member) { return member.node == node; });
  return found == members.end() ? nullptr : &*found;
}

bool is_hex_id(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of(kHexDigits) == text.npos;
}

std::string ranges_text(const std::vector<ToldRange>& ranges) {
  std::string text;
  for (const ToldRange& range : ranges) {
    if (!text.empty()) text += " ";
    text += std::to_string(range.slots.first) + "-" + std::to_string(range.slots.last) + ":" +
            std::to_string(range.version);
  }
  return text;
}

Result<std::vector<ToldRange>, std::string> parse_ranges(std::string_view text) {
  const std::string wrong = "slots are FIRST-LAST:VERSION, in order";
  std::vector<ToldRange> ranges;
  int next = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t size = std::min(rest.find(' '), rest.size());
    const auto range = told_range_of(rest.substr(0, size));
    if (!range || range->slots.first < next || size + 1 == rest.size()) return wrong;
    next = range->slots.last + 1;
    ranges.push_back(*range);
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  return ranges;
}

FactsOutcome check_member(const ToldMember& member) {
  if (!is_hex_id(member.node, kToldNodeDigits)) return std::string("a member's node is wrong");
  if (member.host.empty() != (member.port == 0) || !is_plain_address(member.address()) ||
      member.host == kNoName)
    return std::string("a member's address is wrong");
  const bool is_named = member.hostname.empty() || is_plain_address(member.hostname + ":1");
  if (!is_named || member.hostname.find(':') != std::string::npos || member.hostname == kNoName)
    return std::string("a member's hostname is wrong");
  return {};
}

void write_shard_facts(const ShardFacts& facts, resp::ReplyWriter* out) {
  const size_t begin = out->buffer()->size();
  const size_t members = std::min(facts.members.size(), kMembersMax);
  out->map(16);
  write_fact("cluster", facts.cluster, out);
  write_fact("shard", facts.shard, out);
  write_fact("node", facts.node, out);
  write_fact("instance_ms", facts.instance.ms, out);
  write_fact("instance_random", random_digits_of(facts.instance.random), out);
  write_fact("serves", facts.serves ? 1 : 0, out);
  write_fact("claim", facts.claim, out);
  write_fact("changes", facts.changes, out);
  write_fact("slots", told_ranges_text(facts.slots), out);
  write_fact("settings", facts.settings, out);
  write_fact("settings_digest", facts.settings_digest, out);
  write_fact("decisions_per_s", facts.decisions_per_s, out);
  write_fact("busy_permille", std::min(facts.busy_permille, kPermilleMax), out);
  write_fact("keys", facts.keys, out);
  out->bulk("members");
  out->array(static_cast<int64_t>(members));
  for (size_t at = 0; at < members; ++at) write_told_member(facts.members[at], out);
  constexpr size_t kHeaders = 32;
  write_others(facts.others, kFactsBytesMax - kHeaders - (out->buffer()->size() - begin), out);
}

std::string shard_facts_bytes(const ShardFacts& facts) {
  std::string bytes;
  resp::ReplyWriter out(&bytes);
  write_shard_facts(facts, &out);
  return bytes;
}

Result<ShardFacts, std::string> read_shard_facts(const Value& value) {
  FactsFields fields(value);
  ShardFacts facts;
  facts.cluster =
      fields.text("cluster", [](const auto& text) { return is_hex_id(text, kClusterIdDigits); });
  facts.shard =
      fields.text("shard", [](const auto& text) { return !text.empty() && is_plain_name(text); });
  facts.node = fields.text("node");
  facts.instance.ms = fields.number("instance_ms");
  const std::string random = fields.text(
      "instance_random", [](const auto& text) { return is_hex_id(text, kInstanceDigits); });
  facts.serves = fields.number("serves", 1) == 1;
  facts.claim = fields.number("claim");
  facts.changes = fields.number("changes", kEpochMax);
  const std::string slots = fields.text("slots");
  facts.settings = fields.number("settings");
  facts.settings_digest = fields.text_if_told("settings_digest", [](const auto& text) {
    return text.empty() || is_hex_id(text, kSettingsDigestDigits);
  });
  facts.decisions_per_s = fields.number("decisions_per_s");
  facts.busy_permille = fields.number("busy_permille", kPermilleMax);
  facts.keys = fields.number("keys");
  if (!fields.ok()) return fields.error();
  (void)std::from_chars(random.data(), random.data() + random.size(), facts.instance.random, 16);
  auto ranges = parse_ranges(slots);
  if (!ranges) return ranges.error();
  if (ranges->size() > kToldRangesMax) return std::string("there are too many ranges of slots");
  facts.slots = std::move(*ranges);
  if (const auto read = read_told_members(&fields, &facts); !read) return read.error();
  if (const auto read = read_others(&fields, &facts); !read) return read.error();
  return facts;
}

Result<ShardFacts, std::string> read_shard_facts(std::string_view bytes) {
  if (bytes.size() > kFactsBytesMax) return std::string("there are more than 64 KB of facts");
  Value value;
  size_t consumed = 0;
  const auto status = resp::decode(bytes, &value, &consumed, kFactsLimits);
  if (status != resp::DecodeStatus::kValue || consumed != bytes.size())
    return std::string("they are not one reply");
  return read_shard_facts(value);
}

}  // namespace weir::server
