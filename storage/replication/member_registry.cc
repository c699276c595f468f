#include "storage/replication/member_registry.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "storage/format/codec.h"
#include "storage/replication/plain.h"

namespace weir::storage::replication {
namespace {

void put_text(std::string* out, std::string_view text) {
  put_varint(out, text.size());
  out->append(text);
}

void put_head(std::string* out, const Head& head) {
  put_u64_le(out, head.log_index);
  put_u64_le(out, head.crc);
}

Head read_head(Reader* reader) {
  Head head;
  head.log_index = reader->u64_le();
  head.crc = reader->u64_le();
  return head;
}

std::array<char, 32> read_digest(Reader* reader) {
  std::array<char, 32> digest{};
  const std::string_view bytes = reader->bytes(digest.size());
  if (reader->ok()) std::memcpy(digest.data(), bytes.data(), digest.size());
  return digest;
}

bool is_plain(const MemberFacts& facts) {
  return is_plain_name(facts.author.node) && is_plain_address(facts.author.address) &&
         is_plain_number(facts.applied_turn) && is_plain_number(facts.head.log_index) &&
         is_plain_number(facts.written_back_turn) &&
         is_plain_number(facts.written_back_head.log_index) &&
         is_plain_number(facts.checkpoint_head.log_index);
}

}  // namespace

std::string encode_facts(const MemberFacts& facts) {
  std::string out;
  put_u8(&out, kFactsFormat);
  put_text(&out, facts.author.node);
  put_text(&out, facts.author.address);
  const bool leaves = facts.role == Role::kLeaving;
  const Incarnation incarnation = leaves ? Incarnation() : facts.author.incarnation;
  put_u64_le(&out, incarnation.high);
  put_u64_le(&out, incarnation.low);
  put_u8(&out, static_cast<uint8_t>(leaves ? Role::kJoining : facts.role));
  put_u64_le(&out, facts.applied_turn);
  put_head(&out, facts.head);
  put_u64_le(&out, facts.written_back_turn);
  put_head(&out, facts.written_back_head);
  put_varint(&out, facts.newest_record_version);
  out.append(facts.configuration_digest.data(), facts.configuration_digest.size());
  out.append(facts.acl_digest.data(), facts.acl_digest.size());
  put_head(&out, facts.checkpoint_head);
  return out;
}

std::optional<MemberFacts> decode_facts(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.u8() != kFactsFormat) return std::nullopt;
  MemberFacts facts;
  facts.author.node = reader.sized_bytes();
  facts.author.address = reader.sized_bytes();
  facts.author.incarnation.high = reader.u64_le();
  facts.author.incarnation.low = reader.u64_le();
  const uint8_t role = reader.u8();
  facts.applied_turn = reader.u64_le();
  facts.head = read_head(&reader);
  facts.written_back_turn = reader.u64_le();
  facts.written_back_head = read_head(&reader);
  facts.newest_record_version = reader.varint();
  facts.configuration_digest = read_digest(&reader);
  facts.acl_digest = read_digest(&reader);
  facts.checkpoint_head = read_head(&reader);
  if (!reader.ok() || !reader.at_end() || role > static_cast<uint8_t>(Role::kStopped)) {
    return std::nullopt;
  }
  facts.role = static_cast<Role>(role);
  if (facts.role == Role::kJoining && facts.author.incarnation == Incarnation())
    facts.role = Role::kLeaving;
  return is_plain(facts) ? std::optional(std::move(facts)) : std::nullopt;
}

RegistryView::RegistryView(const std::vector<RegistryEntry>& entries, bool was_read)
    : was_read_(was_read) {
  std::map<std::string_view, size_t> place_of;  // by name
  for (const RegistryEntry& entry : entries) {
    if (entry.age_ns >= kForgottenAfterNs) continue;
    auto facts = decode_facts(entry.bytes);
    if (!facts || facts->author.node != entry.name) continue;
    const auto [place, is_new] = place_of.try_emplace(entry.name, members_.size());
    Seen seen{.facts = *std::move(facts), .age_ns = entry.age_ns};
    if (is_new) {
      members_.push_back(std::move(seen));
    } else if (seen.age_ns < members_[place->second].age_ns) {
      members_[place->second] = std::move(seen);
    }
  }
  if (members_.size() <= MemberRegistry::kEntriesMax) return;
  std::stable_sort(members_.begin(), members_.end(),
                   [](const Seen& a, const Seen& b) { return a.age_ns < b.age_ns; });
  members_.resize(MemberRegistry::kEntriesMax);
}

// A stopped member needs a snapshot or a person, and nothing of the log.
uint64_t RegistryView::needed_from() const {
  if (!was_read_) return 0;
  uint64_t needed = UINT64_MAX;
  for (const Seen& seen : members_) {
    const uint64_t checkpoint = seen.facts.checkpoint_head.log_index;
    if (checkpoint != 0) needed = std::min(needed, checkpoint);
    if (seen.facts.role == Role::kStopped) continue;
    needed = std::min(needed, seen.facts.written_back_head.log_index);
  }
  return needed;
}

uint64_t RegistryView::record_version() const {
  uint64_t version = kRecordVersion;
  for (const Seen& seen : members_) version = std::min(version, seen.facts.newest_record_version);
  return version;
}

}  // namespace weir::storage::replication
