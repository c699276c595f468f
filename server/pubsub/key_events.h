// Keyspace notifications: what happens to keys, published on channels of their own.
//
// A command calls notify(class, event, key) where it has changed something; classes are those of
// notify-keyspace-events. Each event is published twice at most: on "__keyspace@<db>__:<key>" with
// the event's name (K), and on "__keyevent@<db>__:<event>" with the key (E).
//
// The letters are Redis', DO NOT CHANGE; `r` is weir's own.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::server {

enum class EventClass : uint32_t {
  kKeyspace = 1 << 0,  // K, a channel and no class
  kKeyevent = 1 << 1,  // E, likewise
  kGeneric = 1 << 2,   // g: DEL, EXPIRE, RENAME ...
  kString = 1 << 3,    // $
  kList = 1 << 4,      // l
  kSet = 1 << 5,       // s
  kHash = 1 << 6,      // h
  kZset = 1 << 7,      // z
  kExpired = 1 << 8,   // x
  kEvicted = 1 << 9,   // e; no key is ever given up for want of memory, so none comes
  kStream = 1 << 10,   // t; there are none
  kMiss = 1 << 11,     // m
  kModule = 1 << 12,   // d; there are none
  kNew = 1 << 13,      // n
  kLimiter = 1 << 14,  // r: "allowed", "limited"
};

// The classes that the option's letters name; others are passed over.
uint32_t event_classes(std::string_view letters);

inline bool holds_class(uint32_t classes, EventClass wanted) {
  return (classes & static_cast<uint32_t>(wanted)) != 0;
}

}  // namespace weir::server
