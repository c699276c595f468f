// What a log state needs to go on without the records before a place.
//
// A stamp stands in the local log beside the turns of one record and is written in one write with
// them. It exists only at the end of a record, when every turn accepted so far is applied and no
// PARTs are unfinished. FORMAT.md is the grammar. DO NOT CHANGE what is written here without a new
// stamp format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/replication/head.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

inline constexpr uint8_t kStampFormat = 1;

struct Stamp {
  Head head;   // the newest record
  Head epoch;  // the CLAIM, or GENESIS, that counts there
  uint64_t next_turn = 0;
  Times times;  // of the epoch

  // The newest turn that the stamp covers; it is kept under this number.
  uint64_t turn() const { return next_turn - 1; }
  bool operator==(const Stamp&) const = default;
};

std::string encode_stamp(const Stamp& stamp);
// Answers nothing for an unknown format and for bytes that are not exactly one stamp.
std::optional<Stamp> decode_stamp(std::string_view bytes);

}  // namespace weir::storage::replication
