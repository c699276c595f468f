// A value as Redis' RDB form has it, between its bytes and the keyspace.
//
//     body   := type content        type: one byte, below
//     size   := 6 bits after 00, 14 after 01, 32 (big-endian) after 0x80, 64 after 0x81
//     text   := size bytes | 0xc0 i8 | 0xc1 i16 | 0xc2 i32 | 0xc3 size size bytes
//               integers are little-endian; the last is compressed (lzf.h), the second size its own
//
//     type                 content
//      0 string            text
//      1 list              size text...
//      2 set               size text...
//      3, 5 zset           size (text score)...     3: as decimal text, 5: as a binary double
//      4 hash              size (text text)...
//      9 hash              text that is a zipmap
//     10, 12, 13           list, zset, hash: text that is a ziplist
//     11 set               text that is an intset
//     14 list              size text...             each a ziplist
//     16, 17, 20           hash, zset, set: text that is a listpack
//     18 list              size (size text)...      1: the text is an element, 2: a listpack
//
// All of these are read; 0, 2, 4, 5, 11, 16, 17 and 18 are written, which Redis 7.0 reads. DO NOT
// CHANGE: they are Redis' own.
//
// It must not know the keyspace.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server::rdb {

enum class Kind : uint8_t { kString, kList, kSet, kZset, kHash };

// The texts are views: into the payload, into `owned`, or into what a writer was given.
struct Value {
  Kind kind = Kind::kString;
  bool compact = false;                 // for writing: make it Redis' listpack or intset
  std::vector<std::string_view> texts;  // a hash has a field, its value, a field ...
  std::vector<double> scores;           // a zset has as many as texts
  std::deque<std::string> owned;
};

enum class Type : uint8_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kZsetText = 3,
  kHash = 4,
  kZset = 5,
  kModuleOld = 6,
  kModule = 7,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kZsetZiplist = 12,
  kHashZiplist = 13,
  kListZiplists = 14,
  kStream = 15,
  kHashListpack = 16,
  kZsetListpack = 17,
  kListNodes = 18,
  kStreamOfRedis70 = 19,
  kSetListpack = 20,
  kStreamOfRedis72 = 21,
};

}  // namespace weir::server::rdb
