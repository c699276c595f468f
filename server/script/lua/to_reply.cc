#include "server/script/lua/to_reply.h"

#include <lua.hpp>
#include <string>
#include <string_view>

#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"
#include "server/script/lua/names.h"

namespace weir::server::script {
namespace {

constexpr size_t kReplyValueNs = 100;

struct Writer {
  lua_State* L;
  resp::ReplyWriter& reply;
  const ReplyRules& rules;
};

bool write_value(Writer& writer);

std::string_view reply_text_at(lua_State* L, int index) {
  size_t size = 0;
  const char* bytes = lua_tolstring(L, index, &size);
  return {bytes, size};
}

// Writes a line: up to a NUL, with line ends as spaces.
void write_line(Writer& writer, char type, std::string_view text) {
  std::string* out = writer.reply.buffer();
  out->push_back(type);
  for (const char c : text.substr(0, text.find('\0')))
    out->push_back(c == '\r' || c == '\n' ? ' ' : c);
  out->append("\r\n");
}

// Each pushes a field of the table on top if it has the type; otherwise nothing. Of the first the
// name is on top of the table, and is popped.
bool push_field_if(lua_State* L, int type) {
  lua_rawget(L, -2);
  if (lua_type(L, -1) == type) return true;
  lua_pop(L, 1);
  return false;
}

bool push_field(lua_State* L, Name name, int type) {
  push_name(L, name);
  return push_field_if(L, type);
}

bool push_part(lua_State* L, const char* name) {
  lua_pushstring(L, name);
  return push_field_if(L, LUA_TSTRING);
}

void write_number(Writer& writer, lua_Number number) {
  constexpr lua_Number kBound = 9223372036854775808.0;
  // If not, the result is what x86 makes of it.
  const bool fits = number >= -kBound && number < kBound;
  writer.reply.integer(fits ? static_cast<int64_t>(number) : INT64_MIN);
}

void write_boolean(Writer& writer, bool value) {
  if (writer.rules.script_protocol >= 3) return writer.reply.boolean(value);
  value ? writer.reply.integer(1) : writer.reply.null();
}

bool write_array(Writer& writer) {
  lua_State* L = writer.L;
  int count = 0;
  for (;; ++count) {
    lua_rawgeti(L, -1, count + 1);
    const bool ends = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (ends) break;
  }
  writer.reply.array(count);
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    if (!write_value(writer)) return false;
  }
  return true;
}

bool write_entries(Writer& writer, bool has_values) {
  lua_State* L = writer.L;
  int64_t count = 0;
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) ++count;
  has_values ? writer.reply.map(count) : writer.reply.set(count);
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pushvalue(L, -2);
    if (!write_value(writer)) return false;
    if (!has_values) {
      lua_pop(L, 1);
    } else if (!write_value(writer)) {
      return false;
    }
  }
  return true;
}

bool write_verbatim(Writer& writer) {
  lua_State* L = writer.L;
  if (!push_part(L, "format")) return false;
  lua_insert(L, -2);
  const bool whole = push_part(L, "string");
  if (whole) {
    std::string format(reply_text_at(L, -3).substr(0, 3));
    format.resize(3, ' ');
    writer.reply.verbatim(reply_text_at(L, -1), format);
    lua_pop(L, 1);
  }
  lua_insert(L, -2);
  lua_pop(L, 1);
  return whole;
}

// Writes the table on top if it is one of those that stand for a type; sets *fits then.
bool write_typed(Writer& writer, bool* fits) {
  lua_State* L = writer.L;
  *fits = true;
  if (push_field(L, Name::kErr, LUA_TSTRING)) {
    writer.reply.error(reply_text_at(L, -1).substr(0, reply_text_at(L, -1).find('\0')));
    context_of(L).error_counted = is_marked_as_counted(L, lua_gettop(L) - 1);
  } else if (push_field(L, Name::kOk, LUA_TSTRING)) {
    write_line(writer, '+', reply_text_at(L, -1));
  } else if (push_field(L, Name::kDouble, LUA_TNUMBER)) {
    writer.reply.real(lua_tonumber(L, -1));
  } else if (push_field(L, Name::kMap, LUA_TTABLE)) {
    *fits = write_entries(writer, true);
  } else if (push_field(L, Name::kSet, LUA_TTABLE)) {
    *fits = write_entries(writer, false);
  } else if (push_field(L, Name::kBigNumber, LUA_TSTRING)) {
    std::string digits(reply_text_at(L, -1));  // the whole text, although a line ends at a NUL
    for (char& c : digits) c = c == '\r' || c == '\n' ? ' ' : c;
    if (writer.reply.protocol() >= 3) {
      writer.reply.buffer()->append("(").append(digits).append("\r\n");
    } else {
      writer.reply.bulk(digits);
    }
  } else if (push_field(L, Name::kVerbatim, LUA_TTABLE)) {
    if (!write_verbatim(writer)) {
      lua_pop(L, 1);
      return false;
    }
  } else {
    return false;
  }
  lua_pop(L, 1);
  return true;
}

// Writes the value on top of the stack, and pops it.
bool write_value(Writer& writer) {
  lua_State* L = writer.L;
  if (writer.reply.buffer()->size() > writer.rules.bytes_max) return false;
  charge(L, kReplyValueNs);
  bool fits = true;
  if (lua_checkstack(L, 6) == 0) {
    writer.reply.error("ERR reached lua stack limit");
    lua_pop(L, 1);
    return true;
  }
  switch (lua_type(L, -1)) {
    case LUA_TSTRING:
      writer.reply.bulk(reply_text_at(L, -1));
      break;
    case LUA_TBOOLEAN:
      write_boolean(writer, lua_toboolean(L, -1) != 0);
      break;
    case LUA_TNUMBER:
      write_number(writer, lua_tonumber(L, -1));
      break;
    case LUA_TTABLE:
      if (!write_typed(writer, &fits)) fits = write_array(writer);
      break;
    default:
      writer.reply.null();
  }
  lua_pop(L, 1);
  return fits;
}

}  // namespace

bool write_reply(lua_State* L, resp::ReplyWriter& reply, const ReplyRules& rules) {
  Writer writer = {L, reply, rules};
  return write_value(writer);
}

}  // namespace weir::server::script
