// The outcome of an operation that may meet the disk's failures. Never "not found": absence is an
// answer of its own.
#pragma once

#include <string>
#include <utility>

namespace weir::storage {

class [[nodiscard]] Status {
 public:
  enum class Code {
    kOk,
    kFailed,   // I/O error, disk full: may pass
    kCorrupt,  // what was read is not what was written; needs a person
    kRefused,  // in use by another process, unknown format version, not a data directory
  };

  Status() = default;
  static Status failed(std::string message) { return {Code::kFailed, std::move(message)}; }
  static Status corrupt(std::string message) { return {Code::kCorrupt, std::move(message)}; }
  static Status refused(std::string message) { return {Code::kRefused, std::move(message)}; }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code_ = Code::kOk;
  std::string message_;
};

}  // namespace weir::storage
