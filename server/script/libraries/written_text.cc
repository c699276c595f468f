#include "server/script/libraries/written_text.h"

#include <lua.hpp>

#include "server/script/lua/looks.h"

namespace weir::server::script {
namespace {

constexpr size_t kPieceNs = 20;

}  // namespace

void add_text(lua_State* L, Context& context, std::string_view bytes) {
  if (context.text.size() + bytes.size() > context.memory.room()) {
    context.memory.note_exceeded();
    luaL_error(L, "not enough memory");
  }
  charge(L, kPieceNs + bytes.size() / 4);
  context.text.append(bytes);
}

}  // namespace weir::server::script
