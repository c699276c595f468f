// What members tell one another beside the log, as bytes and as values, and what follows from it:
// how far the log may be trimmed, and which records may be written.
//
// Nothing here is needed for safety. Facts may be late, wrong or lost: then a member takes a
// snapshot that it could have done without, or some more of the log is kept. FORMAT.md is the
// grammar. DO NOT CHANGE what is written here without a new format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "storage/replication/head.h"
#include "storage/replication/record.h"
#include "storage/replication/role.h"
#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

inline constexpr uint8_t kFactsFormat = 1;

struct MemberFacts {
  Author author;
  Role role = Role::kJoining;
  uint64_t applied_turn = 0;
  Head head;  // of its log state
  uint64_t written_back_turn = 0;
  Head written_back_head;                           // of the bookmark of that turn
  uint64_t newest_record_version = kRecordVersion;  // that it reads
  std::array<char, 32> configuration_digest{};
  std::array<char, 32> acl_digest{};
  Head checkpoint_head;  // of the oldest snapshot that somebody takes from it; {0, 0}: nobody does

  bool operator==(const MemberFacts&) const = default;
};

// Of a member that leaves the incarnation is not told.
std::string encode_facts(const MemberFacts& facts);
// Answers nothing for an unknown format, for bytes that are not exactly one member's facts, and for
// names, addresses and numbers that no member has (plain.h).
std::optional<MemberFacts> decode_facts(std::string_view bytes);

class RegistryView {
 public:
  // A member of whom nothing was heard for so long is not in members(): it keeps no log from being
  // trimmed. Its facts are there until MemberRegistry::kRemovedAfterNs.
  static constexpr int64_t kForgottenAfterNs = kNsPerHour;
  // Members write their facts every 2 s.
  static constexpr int64_t kPresentForNs = 10 * kNsPerS;

  struct Seen {
    MemberFacts facts;
    int64_t age_ns = 0;
  };

  // What cannot be decoded, or is about another member than the one it is named for, is as good as
  // not there. Of several entries of a name the youngest counts: an engine that is read while a
  // member writes may list it twice. Unless the registry `was_read`, there may be members that need
  // anything.
  explicit RegistryView(const std::vector<RegistryEntry>& entries, bool was_read = true);

  // All but those that are forgotten.
  const std::vector<Seen>& members() const { return members_; }
  // The first record that a member needs, or that a snapshot needs which is being taken.
  uint64_t needed_from() const;
  // The newest version that every member reads, and that this program writes.
  uint64_t record_version() const;

 private:
  std::vector<Seen> members_;
  bool was_read_;
};

}  // namespace weir::storage::replication
