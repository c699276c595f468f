// A declared length or count must not take memory. Counts what operator new is asked for, in the
// whole test program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "resp/request_parser.h"
#include "resp/value.h"

namespace {
std::atomic<size_t> bytes_requested = 0;
}

// Not inlined: compilers otherwise see malloc() and free() paired with new and delete, and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  bytes_requested += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace weir::resp {
namespace {

TEST(MemoryTest, RequestsTakeNoneForWhatTheyDeclare) {
  for (const char* stream : {"*2147483647\r\n", "*2147483647\r\n$1\r\na\r\n",
                             "*1\r\n$536870912\r\nab", "*2147483647\r\n$536870912\r\nab"}) {
    RequestParser parser;
    const size_t before = bytes_requested;
    ASSERT_EQ(parser.parse(stream, {}), ParseStatus::kNeedMore);
    EXPECT_LT(bytes_requested - before, 1000u) << stream;
  }
}

TEST(MemoryTest, RepliesTakeNoneForWhatTheyDeclare) {
  for (const char* stream : {"*16777216\r\n", "*16777216\r\n:1\r\n", "%8388608\r\n:1\r\n:1\r\n",
                             "$536870912\r\nab", "=536870912\r\ntxt:"}) {
    Value value;
    size_t consumed = 0;
    const size_t before = bytes_requested;
    ASSERT_EQ(decode(stream, &value, &consumed), DecodeStatus::kNeedMore);
    EXPECT_LT(bytes_requested - before, 2000u) << stream;
  }
}

TEST(MemoryTest, AWarmParserTakesNone) {
  const std::string request = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", line = "SET k 'a b'\r\n";
  RequestParser parser;
  const auto parse_all = [&] {
    ASSERT_EQ(parser.parse(request, {}), ParseStatus::kRequest);
    ASSERT_EQ(parser.parse(line, {}), ParseStatus::kRequest);
    const std::string_view half = std::string_view(request).substr(0, 20);
    ASSERT_EQ(parser.parse(half, {}), ParseStatus::kNeedMore);
    ASSERT_EQ(parser.parse(request, {}), ParseStatus::kRequest);
  };
  parse_all();
  const size_t before = bytes_requested;
  for (int i = 0; i < 10; ++i) parse_all();
  EXPECT_EQ(bytes_requested - before, 0u);
}

}  // namespace
}  // namespace weir::resp
