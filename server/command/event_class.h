// Keyspace notifications: what happens to keys, published on channels of their own.
//
// A command calls notify(class, event, key) after it has changed something; the classes are those
// of notify-keyspace-events. Each event is published at most twice: on "__keyspace@<db>__:<key>"
// with the event's name (K), and on "__keyevent@<db>__:<event>" with the key (E).
//
// The letters are Redis', DO NOT CHANGE; `r` is weir's own.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::server {

enum class EventClass : uint32_t {
  kKeyspace = 1 << 0,  // K, a channel and not a class
  kKeyevent = 1 << 1,  // E, a channel and not a class
  kGeneric = 1 << 2,   // g: DEL, EXPIRE, RENAME ...
  kString = 1 << 3,    // $
  kList = 1 << 4,      // l
  kSet = 1 << 5,       // s
  kHash = 1 << 6,      // h
  kZset = 1 << 7,      // z
  kExpired = 1 << 8,   // x
  kEvicted = 1 << 9,   // e; keys are never given up for lack of memory, so there are none
  kStream = 1 << 10,   // t; there are none
  kMiss = 1 << 11,     // m
  kModule = 1 << 12,   // d; there are none
  kNew = 1 << 13,      // n
  kLimiter = 1 << 14,  // r: "allowed", "limited", "settled", "banned"
};

// Answers the classes that the option's letters name; other letters are ignored.
uint32_t event_classes(std::string_view letters);

inline bool holds_class(uint32_t classes, EventClass wanted) {
  return (classes & static_cast<uint32_t>(wanted)) != 0;
}

}  // namespace weir::server
