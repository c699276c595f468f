// The hash slots of Redis Cluster: which of the 16384 a key is in.
//
// The slot is CRC-16/XMODEM of the key (polynomial 0x1021, begins with 0, nothing mirrored) modulo
// 16384. If the key has a '{' and a '}' after it with something in between, only what stands
// between the first '{' and the first '}' after it is hashed: the hash tag. Source: the Redis
// Cluster specification, "Key distribution model". DO NOT CHANGE: clients compute the same, and
// key orders on disk begin with it.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

// Answers what of a key is hashed.
std::string_view hashed_part(std::string_view key);

// Answers a number below 16384.
uint16_t hash_slot(std::string_view key);

}  // namespace weir
