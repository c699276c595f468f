// The outcome of an operation that may fail because the disk does. It never means "not found":
// absence is an answer of its own.
#pragma once

#include <string>
#include <utility>

namespace weir::storage {

class [[nodiscard]] Status {
 public:
  enum class Code {
    kOk,
    kFailed,   // I/O error, disk full: may pass with time
    kCorrupt,  // what was read is not what was written; a person is needed
    kRefused,  // in use by another process, unknown format version, not a data directory
    kNotYet,   // a long list of elements is being read (lists/list_opening.h): run again
    kBehind,  // more was changed than memory may owe the disk: take back, run again once it is less
    kTooMuch,  // one command changes more than memory may ever owe the disk
    kAborted,  // the command cannot go on; the message is a whole error line
  };

  Status() = default;
  static Status failed(std::string message) { return {Code::kFailed, std::move(message)}; }
  // The disk is full.
  static Status no_space(std::string message) {
    Status status = failed(std::move(message));
    status.no_space_ = true;
    return status;
  }
  static Status corrupt(std::string message) { return {Code::kCorrupt, std::move(message)}; }
  static Status refused(std::string message) { return {Code::kRefused, std::move(message)}; }
  static Status not_yet() { return {Code::kNotYet, "a long collection is being read"}; }
  static Status behind() { return {Code::kBehind, "write-back has to catch up first"}; }
  static Status too_much(std::string message) { return {Code::kTooMuch, std::move(message)}; }
  static Status aborted(std::string line) { return {Code::kAborted, std::move(line)}; }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  bool is_no_space() const { return no_space_; }
  // True if nothing has failed: the command is to be rolled back and run again.
  bool is_retry() const { return code_ == Code::kNotYet || code_ == Code::kBehind; }
  // True if nothing was done and nothing is in doubt: what was asked for cannot be had.
  bool is_refusal() const { return code_ == Code::kRefused; }
  const std::string& message() const { return message_; }

 private:
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code_ = Code::kOk;
  bool no_space_ = false;
  std::string message_;
};

}  // namespace weir::storage
