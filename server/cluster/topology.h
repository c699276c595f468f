// Which server has which hash slots, as a file says it:
//
//     # comment
//     epoch 3
//     a 10.0.0.1:6379 0-8191
//     b 10.0.0.2:6379 8192-16383 tls-port=6380
//
// A line that is not "epoch N" is "name host:port first-last", with "tls-port=N" after it if
// clients that come over TLS are to come to another port; an IPv6 address stands in brackets.
// A server with several ranges has a line for each, with the same address and ports. The epoch is
// raised with every change of the file, and tells an old file from a new one. Every slot has
// exactly one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/slot_ranges.h"
#include "server/cluster/hash_slot.h"

namespace weir::server {

inline constexpr size_t kTopologyBytesMax = 1 << 20;
inline constexpr size_t kOwnerNameBytesMax = 64;
inline constexpr int64_t kEpochMax = int64_t{1} << 53;

struct Owner {
  std::string name = {};
  std::string host = {};  // an address without brackets, or a name
  int port = 0;
  int tls_port = 0;        // 0: `port`
  SlotRanges ranges = {};  // in order; neighbours are joined

  int port_for(bool over_tls) const { return over_tls && tls_port != 0 ? tls_port : port; }
};

class Topology {
 public:
  // Reads a file's text. The error is one line that names the place, as "PLACE:LINE: ...", and what
  // is expected there.
  static Result<Topology, std::string> parse(std::string_view text, const std::string& place);
  // Answers the topology of one server that has all slots, with epoch 0.
  static Topology alone();

  int64_t epoch() const { return epoch_; }
  // Answers 16 hexadecimal digits that follow from what the file says, not from how it is laid out.
  std::string digest() const;
  // Answers the owners in the order of their first slots.
  const std::vector<Owner>& owners() const { return owners_; }
  // Answers the owner of a slot as its place in owners().
  size_t owner_of(int slot) const { return of_slot_[static_cast<size_t>(slot)]; }

 private:
  Topology() = default;

  int64_t epoch_ = 0;
  std::vector<Owner> owners_;
  std::vector<uint16_t> of_slot_;
};

// Answers 40 hexadecimal digits, the id that every server of a topology shows for a name. Servers
// do not talk to one another, so it must follow from what all of them know.
std::string node_id_of(std::string_view name);

}  // namespace weir::server
