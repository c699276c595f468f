// How often each error was answered, by its first word: INFO errorstats.
//
// Invariant: at most kWordsMax words are told apart, since scripts make up words of their own;
// further words count as kOverflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weir::server {

class ErrorMetrics {
 public:
  static constexpr size_t kWordsMax = 128;
  static constexpr std::string_view kOverflow = "ERRORSTATS_OVERFLOW";
  using Counts = std::map<std::string, uint64_t, std::less<>>;

  // Counts an error line by its first word, such as "-WRONGTYPE Operation ...\r\n"; '-' may be
  // missing.
  void note(std::string_view line);

  const Counts& counts() const { return counts_; }

 private:
  Counts counts_;
};

}  // namespace weir::server
