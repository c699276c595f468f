// What a log state needs to go on without the records before a place.
//
// A bookmark stands in the local log beside the turns of one record and is written in one write
// with them. It exists only at the end of a record, when every turn accepted so far is applied and
// no PARTs are unfinished. FORMAT.md is the grammar. DO NOT CHANGE what is written here without a
// new bookmark format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/replication/head.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

inline constexpr uint8_t kLogBookmarkFormat = 1;

struct LogBookmark {
  Head head;   // the newest record
  Head epoch;  // the CLAIM, or GENESIS, that counts there
  uint64_t next_turn = 0;
  Times times;  // of the epoch

  // The newest turn that the bookmark covers; it is kept under this number.
  uint64_t turn() const { return next_turn - 1; }
  bool operator==(const LogBookmark&) const = default;
};

std::string encode_bookmark(const LogBookmark& bookmark);
// Answers nothing for an unknown format and for bytes that are not exactly one bookmark.
std::optional<LogBookmark> decode_bookmark(std::string_view bytes);

}  // namespace weir::storage::replication
