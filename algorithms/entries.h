// Entries: what an algorithm keeps outside its State, one record each, so that changing one costs
// one record however many there are. They are the grants of a log, sub-windows, or leases.
//
// Storage implements this interface; tests do so with a std::map. Storage must not know what an
// algorithm means by an entry: it keeps three numbers. That makes tests over millions of random
// histories fast. What is given up is inlining across the interface.
//
// Invariants
//  1. Ids are unique. The order is by at_ns, then by id, and `rank` counts in it from 0.
//  2. Every operation takes O(log size) at most.
//  3. Entries belong to one State: a fresh State has none. Code that makes a State fresh (another
//     algorithm, a reset, a limiter forgotten) drops its entries as well.
//  4. An entry that cannot be read from disk looks absent here; the caller learns of it elsewhere
//     and discards the verdict. So an algorithm survives missing entries, but need not make sense
//     of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::algorithms {

struct LogEntry {
  int64_t id = 0;
  int64_t at_ns = 0;    // any 64-bit number; mostly an instant
  int64_t permits = 0;  // a number whose meaning belongs to the algorithm

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

class Entries {
 public:
  Entries() = default;
  Entries(const Entries&) = default;
  Entries& operator=(const Entries&) = default;
  virtual ~Entries() = default;

  virtual size_t size() const = 0;
  // REQUIRES: rank < size().
  virtual LogEntry entry(size_t rank) const = 0;
  virtual std::optional<LogEntry> find(int64_t id) const = 0;
  // The rank of the first entry with entry.at_ns >= at_ns; size() if there is none.
  virtual size_t lower_bound(int64_t at_ns) const = 0;

  // Inserts an entry, or replaces the one with its id.
  virtual void put(const LogEntry& entry) = 0;
  // Erases an entry. Nothing happens if there is none with this id.
  virtual void erase(int64_t id) = 0;
};

}  // namespace weir::algorithms
