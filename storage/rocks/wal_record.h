// The record format that RocksDB's write-ahead logs and manifests share: blocks of 32 KiB that hold
// parts, each with a checksum; one or several parts make a record. FORMAT.md has the grammar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::storage {

inline constexpr uint64_t kWalBlockBytes = 32768;
inline constexpr uint64_t kWalHeaderBytes = 7;

enum WalPartType : uint8_t { kWalWhole = 1, kWalFirst = 2, kWalMiddle = 3, kWalLast = 4 };

struct WalPart {
  uint8_t type = 0;
  std::string_view payload;
  uint64_t end = 0;

  bool begins() const { return type == kWalWhole || type == kWalFirst; }
  bool ends() const { return type == kWalWhole || type == kWalLast; }
};

// Answers the part at this offset if it is whole and its checksum right. `runs_out` is set when the
// file ends before the part does.
std::optional<WalPart> wal_part_at(std::string_view bytes, uint64_t at, bool* runs_out);

// Puts records together from parts, from the beginning of a file on.
class WalRecordReader {
 public:
  explicit WalRecordReader(std::string_view bytes) : bytes_(bytes) {}

  // False at the end and where something is broken.
  bool next();
  const std::string& record() const { return record_; }

  // How many bytes reach to the end of the last record, the empty rest of its block included.
  uint64_t valid_bytes() const { return valid_bytes_; }
  // True if the file's end follows a whole record. REQUIRES: next() has answered false.
  // Otherwise the functions below tell where the part begins that is broken or does not fit, and
  // whether the file ended too early.
  bool at_end() const { return at_end_; }
  uint64_t broken_at() const { return at_; }
  bool runs_out() const { return runs_out_; }

 private:
  const std::string_view bytes_;
  std::string record_;
  uint64_t at_ = 0;
  uint64_t valid_bytes_ = 0;
  bool in_record_ = false;
  bool at_end_ = false;
  bool runs_out_ = false;
};

}  // namespace weir::storage
