// One limiter key, decoded: its limits with their states and bans, where their entries are, its
// bookings and its holds.
//
// A command reads the key, names the limits that it is about, decides, and saves. Stored limits are
// matched with named ones by equal parameters, then by algorithm in order, which carries over the
// used permits. One with ADAPTIVE keeps its present count while it is named as it was written; a
// changed one begins at its count. A stored limit without a match is kept after the named ones
// until it is full; none is forgotten before. So is one of another policy that was matched by its
// algorithm: what was used under one policy counts under the next, and whoever goes back finds what
// that policy has counted. Where a limit has entries, which two cannot share, it begins anew.
//
// A request that would make a key hold more than kLimitsMax limits is refused, and told when the
// first of them is full: to forget one would grant again what it has granted. What is given up is
// to change to many other limits at once without RL.RESET.
//
// It lives for one command, and must not be used after the key was changed by other means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "algorithms/take_all.h"
#include "server/command/error_replied.h"
#include "server/limiter/policy/named_limits.h"
#include "server/limiter/take/buffers.h"

namespace weir::server {

// How long after its end a hold can still be settled with more than it has charged.
inline constexpr int64_t kLateSettleNs = kNsPerMinute;

class Limiter {
 public:
  // Reads a key. An error: it holds another type, or cannot be read. find() replies nothing.
  static Result<Limiter, std::string> find(Call& call, std::string_view key);
  static Result<Limiter, ErrorReplied> read(Call& call, std::string_view key);

  bool exists() const { return it_->exists; }
  std::string_view key() const { return it_->key; }
  uint64_t hash() const { return it_->ref.key_order(); }  // a keyed hash of the key

  // Brings the named limits to the front, in this order, and answers them. An error, after which
  // the limiter must not be used: the key holds a string, which only a GCRA limit can adopt; or
  // limits that still count would have to be forgotten, because there would be too many.
  using Named = Result<std::span<HeldLimit>, std::string>;
  Named name(NamedLimits named);
  // The limits that the last request named, from the front of all(). After name() that request is
  // the running one.
  std::span<HeldLimit> named() { return all().first(it_->named); }
  std::span<HeldLimit> all() { return it_->held; }
  // What the running request has named.
  const NamedLimits& names() const { return it_->names; }
  // What the running request calls one of the limits that it has named.
  std::string name_of(size_t limit) const {
    return algorithms::limit_name(it_->names.names, it_->held[limit].limit, limit);
  }
  // True if a limit's parameters are not those stored, so that a denial has to be written as well.
  bool parameters_changed() const { return it_->parameters_changed; }

  // A limit's entries; null if it has none. Valid as long as the limiter is.
  algorithms::Entries* entries_of(const HeldLimit& held);
  // The list of bookings, which is made if there is none.
  std::optional<storage::Elements> bookings();
  bool has_bookings() const { return it_->bookings != 0; }
  int64_t bookings_not_due();
  // The list of holds, which is made if there is none. A hold stays in it for kLateSettleNs after
  // its end.
  std::optional<storage::Elements> holds();
  bool has_holds() const { return it_->holds != 0; }
  int64_t holds_not_ended();
  // How often the key has been saved since it has bookings or holds.
  uint64_t changes() const { return it_->changes; }
  // Draws a number that no lease, no booking and no hold of this key has.
  int64_t draw_id();

  // Writes what changed: the record with its TTL, or nothing if all is as if never used. kAsFound
  // spares a look-up. REQUIRES of it: no other key was changed since this one was read.
  enum class Place : uint8_t { kLookUp, kAsFound };
  void save(Place place = Place::kLookUp);

 private:
  Limiter(Call* call, std::string_view key);
  // Decodes a record; answers what is wrong with it, if anything.
  Result<void, std::string> decode(const storage::Ref& ref);
  bool adopt(std::string_view text);
  // Changes the limits over to those that are named.
  Result<void, std::string> match(const NamedLimits& named);
  // Counts what the running command has taken of an adaptive limit.
  void count_taken(HeldLimit* held) const;
  int64_t gone_at_ns() const;
  // Answers the last instant of a list of bookings or holds, and what it is kept for after that;
  // forgets the list if that has come.
  int64_t last_of(storage::ElementsId* list, int64_t kept_ns) const;
  bool keeps_charges() const { return has_bookings() || has_holds(); }
  // Notes what is in use of each limit, before the command charges it and after that.
  void note_used();
  void note_used_after();

  Call* call_;
  Lent<LimiterContents> it_;
};

}  // namespace weir::server
