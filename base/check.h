// Checks of what only a bug can break, in release builds too.
//
// WEIR_CHECK ends the process with a line on stderr. It is for storage/ and for what must hold
// before anything is served: going on with broken state would put it on disk.
//
// WEIR_REQUIRE throws BrokenCheck. It is for decisions and commands: the executor, which runs one
// command, catches it, takes back what the command changed, and answers "-ERR internal error:
// FILE:LINE". It must not be used where the exception would pass through frames of C.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace weir {

class BrokenCheck : public std::exception {
 public:
  BrokenCheck(const char* file, int line, const char* condition)
      : place_(std::string(short_name(file)) + ":" + std::to_string(line)),
        text_(place_ + ": bug: " + condition + " does not hold") {}

  const char* what() const noexcept override { return text_.c_str(); }
  // For example "algorithms/take_all.cc:64", with one folder before it.
  const std::string& place() const { return place_; }

 private:
  // Answers the name without the folder where the tree was built.
  static std::string_view short_name(std::string_view file) {
    const size_t name = file.rfind('/');
    const size_t folder = name == std::string_view::npos ? name : file.rfind('/', name - 1);
    return folder == std::string_view::npos ? file : file.substr(folder + 1);
  }

  std::string place_;
  std::string text_;
};

// What a broken WEIR_CHECK has said, for who reports how the process ends. Null: none has broken.
inline std::atomic<const char*> broken_check_line = nullptr;

[[noreturn]] inline void end_on_broken_check(const char* file, int line, const char* condition) {
  static char text[512];
  std::snprintf(text, sizeof text, "%s:%d: bug: %s does not hold", file, line, condition);
  broken_check_line = text;
  std::fprintf(stderr, "%s\n", text);
  std::abort();
}

}  // namespace weir

#define WEIR_CHECK(condition)                                      \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      ::weir::end_on_broken_check(__FILE__, __LINE__, #condition); \
  } while (false)

#define WEIR_REQUIRE(condition)                                  \
  do {                                                           \
    if (!(condition)) [[unlikely]]                               \
      throw ::weir::BrokenCheck(__FILE__, __LINE__, #condition); \
  } while (false)
