#include "server/script/lua/bytecode.h"

#include <cstdint>
#include <cstring>
#include <lua.hpp>
#include <string>
#include <string_view>

namespace weir::server::script {
namespace {

using namespace std::string_view_literals;

// lua_dump() writes the form that string.dump() answers, which is the same in all of Lua 5.1.
constexpr std::string_view kHead = LUA_SIGNATURE "\x51\0\1\4\x8\4\x8\0"sv;
constexpr uint32_t kOpcodeMask = 0x3f;
constexpr uint32_t kSetGlobal = 7;
constexpr size_t kCodeBytesMax = 256 << 10;

int add_code(lua_State*, const void* bytes, size_t size, void* to) {
  auto* code = static_cast<std::string*>(to);
  if (code->size() + size > kCodeBytesMax) return 1;
  code->append(static_cast<const char*>(bytes), size);
  return 0;
}

// Reads dumped code. What is not as expected, and what is looked for, ends it.
class CodeReader {
 public:
  explicit CodeReader(std::string_view code) : rest_(code) {}

  // Tells whether nothing in the code assigns to a global.
  bool is_free() {
    if (!rest_.starts_with(kHead)) return false;
    skip(kHead.size());
    function();
    return !ended_ && rest_.empty();
  }

 private:
  template <typename Number>
  Number take() {
    Number number{};
    if (rest_.size() < sizeof number) {
      ended_ = true;
      return number;
    }
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
    return number;
  }
  void skip(size_t bytes) {
    if (bytes > rest_.size()) ended_ = true;
    if (!ended_) rest_.remove_prefix(bytes);
  }
  void text() { skip(take<uint64_t>()); }

  // Calls `part` for each of a counted number.
  template <typename Part>
  void each(const Part& part) {
    for (uint32_t left = take<uint32_t>(); left > 0 && !ended_; --left) part();
  }

  void constant() {
    switch (take<uint8_t>()) {
      case LUA_TNIL:
        return;
      case LUA_TBOOLEAN:
        return skip(1);
      case LUA_TNUMBER:
        return skip(sizeof(lua_Number));
      case LUA_TSTRING:
        return text();
      default:
        ended_ = true;
    }
  }

  // Functions lie in one another as deep as the compiler lets them, a hundred at most.
  void function() {
    text();   // its source
    skip(8);  // its lines
    skip(4);  // counts of upvalues and parameters, ways of arguments, size of the stack
    each([this] { ended_ |= (take<uint32_t>() & kOpcodeMask) == kSetGlobal; });
    each([this] { constant(); });
    each([this] { function(); });
    each([this] { skip(4); });  // lines of instructions
    each([this] {               // local variables, and where they live
      text();
      skip(8);
    });
    each([this] { text(); });  // names of upvalues
  }

  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace

bool may_assign_globals(lua_State* L) {
  std::string code;
  return lua_dump(L, add_code, &code) != 0 || !CodeReader(code).is_free();
}

}  // namespace weir::server::script
