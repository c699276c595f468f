// What a request was charged of each limit that it named, and when: what is needed to give permits
// back later, or to take what is missing (algorithms/settle.h). Bookings and holds keep one each.
//
//     charge := when(varint, ns) 0(varint) change(varint) n(varint) n x part       DO NOT CHANGE
//             | when(varint, ns) n(varint) n x part          of versions that did not count changes
//     part   := permits(varint) size(varint) the limit as text  size(varint) kept state
//               1 <= n <= 16; without a text if the limit was not charged
//
// The change is that of the limiter that made the charge (algorithms/limiter_record.h); the kept
// state is as in the limiter's record (algorithms/settle.h).
//
// What comes back of a bucket is bounded by how little it had in use since the charge
// (algorithms/low_water.h). Of a hold without a change that is not known: a bucket whose state is
// as the charge left it is settled exactly, any other one gives nothing back.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/settle.h"
#include "server/limiter/take/limiter.h"
#include "storage/format/codec.h"

namespace weir::server {

// What a limit was charged.
struct MadeCharge {
  bool charged = true;  // false: a policy's in shadow, which denied; it is stored without a text
  int64_t permits = 0;
  algorithms::State kept;
};

// Appends what the limits that the limiter has named were charged now, one after the other.
// REQUIRES: the limiter is saved once after that, or was not changed since it was saved.
void append_charge(const Call& call, Limiter& limiter, std::span<const MadeCharge> made,
                   std::string* out);

// A charge as it is stored. Its views are good as long as the bytes are.
struct Charge {
  struct Part {
    int64_t permits = 0;
    std::string_view limit;
    std::string_view kept;  // empty: not known
  };

  std::span<const Part> all() const { return std::span(parts).first(size); }

  int64_t at_ns = 0;
  uint64_t change = 0;  // of the limiter, that made it; 0: not known
  std::array<Part, algorithms::kLimitsMax> parts = {};
  size_t size = 0;
};

// Reads a charge. Nothing for bytes that make no sense.
std::optional<Charge> read_charge(storage::Reader& reader);

// One limit of a charge that is being settled.
class Settlement {
 public:
  Settlement(HeldLimit* held, const algorithms::Settle& settle,
             const std::optional<algorithms::State>& kept, uint64_t change)
      : held_(held), settle_(settle), kept_(kept), change_(change) {}

  HeldLimit* held() const { return held_; }
  int64_t charged() const { return settle_.charged; }
  // What of the charge was used after all; at first what was charged.
  void set_used(int64_t used) { settle_.used = used; }
  // Bounds what comes back of a bucket.
  void bound(int64_t permits);

  // Answers the verdict of cost 0 after the settlement; a denial changes nothing.
  algorithms::Verdict peek();
  // Settles; answers how many permits came back.
  int64_t run();

 private:
  algorithms::Verdict settle(bool peek);
  // Permits that are used of the limit, or owed.
  int64_t taken() const;

  HeldLimit* held_;
  algorithms::Settle settle_;
  std::optional<algorithms::State> kept_;
  uint64_t change_;
};

// The limits of a charge that the limiter still has and that make no leases. A limit whose
// parameters have changed since counts only if its charges belong to windows.
struct SettledPart {
  size_t part = 0;
  Settlement settlement;
};
std::vector<SettledPart> settlements_of(const Call& call, Limiter& limiter, const Charge& charge);

}  // namespace weir::server
