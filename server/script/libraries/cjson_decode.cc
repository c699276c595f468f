// cjson.decode: from JSON to Lua values. It is as lenient as lua-cjson: numbers may be hexadecimal,
// infinite or NaN unless a script asks otherwise.
//
// Invariants
// 1. The reader is plain data over a Lua string, which ends in a NUL: Lua may raise at any point.
// 2. Depth is bounded by decode_max_depth.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>

#include "base/ascii.h"
#include "server/script/libraries/cjson.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"

namespace weir::server::script {
namespace {

enum class Token {
  kObjectBegin,
  kObjectEnd,
  kArrayBegin,
  kArrayEnd,
  kString,
  kNumber,
  kBoolean,
  kNull,
  kColon,
  kComma,
  kEnd,
  kError
};

constexpr const char* kTokenNames[] = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
                                       "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
                                       "T_COLON",     "T_COMMA",   "T_END",       "T_ERROR"};

struct Reader {
  lua_State* L;
  const JsonSettings& settings;
  const char* begin;
  const char* at;
  const char* token_at = nullptr;
  const char* problem = nullptr;  // says what is wrong with a Token::kError
  double number = 0;              // the value of a kNumber; 1 or 0 for a kBoolean
  int depth = 0;
};

Token fail(Reader& reader, const char* where, const char* problem) {
  reader.token_at = where;
  reader.problem = problem;
  return Token::kError;
}

// Reads four hexadecimal digits; -1 if they are not.
int code_unit(const char* digits) {
  int unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(digits[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void add_utf8(luaL_Buffer* out, int code) {
  const auto put = [&](int byte) { luaL_addchar(out, static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// Reads "\uXXXX", or two of them for a character beyond 16 bits. False: they make no character.
bool read_unicode(Reader& reader, luaL_Buffer* out) {
  int code = code_unit(reader.at + 2);
  if (code < 0) return false;
  reader.at += 6;
  if ((code & 0xf800) == 0xd800) {
    if ((code & 0x400) != 0 || reader.at[0] != '\\' || reader.at[1] != 'u') return false;
    const int low = code_unit(reader.at + 2);
    if (low < 0 || (low & 0xfc00) != 0xdc00) return false;
    reader.at += 6;
    code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
  }
  add_utf8(out, code);
  return true;
}

// Reads an escape; answers what is wrong with it, or null.
const char* read_escape(Reader& reader, luaL_Buffer* out) {
  constexpr char kNames[] = "\"\\/bfnrt";
  constexpr char kMeanings[] = "\"\\/\b\f\n\r\t";
  const char name = reader.at[1];
  if (name == 'u') {
    const char* begin = reader.at;
    if (read_unicode(reader, out)) return nullptr;
    reader.at = begin;
    return "invalid unicode escape code";
  }
  const char* known = name == 0 ? nullptr : std::strchr(kNames, name);
  if (known == nullptr) return "invalid escape code";
  luaL_addchar(out, kMeanings[known - kNames]);
  reader.at += 2;
  return nullptr;
}

// Pushes the string after the quote; pushes something for an error, too.
Token read_string(Reader& reader) {
  luaL_Buffer out;
  luaL_buffinit(reader.L, &out);
  const char* const quote = reader.at++;
  const char* problem = nullptr;
  while (problem == nullptr && *reader.at != '"') {
    if (*reader.at == '\0') {
      problem = "unexpected end of string";
    } else if (*reader.at == '\\') {
      problem = read_escape(reader, &out);
    } else {
      luaL_addchar(&out, *reader.at++);
    }
  }
  luaL_pushresult(&out);
  if (problem != nullptr) {
    lua_pop(reader.L, 1);
    return fail(reader, reader.at, problem);
  }
  ++reader.at;
  reader.token_at = quote;
  return Token::kString;
}

// Tells whether a number is one that strtod reads and JSON does not know.
bool is_invalid_number(const char* text) {
  if (*text == '+') return true;
  if (*text == '-') ++text;
  if (*text == '0') return to_lower(text[1]) == 'x' || is_digit(text[1]);
  if (*text >= '1' && *text <= '9') return false;
  return strncasecmp(text, "inf", 3) == 0 || strncasecmp(text, "nan", 3) == 0;
}

Token read_number(Reader& reader) {
  char* end = nullptr;
  reader.number = std::strtod(reader.at, &end);
  if (end == reader.at) return fail(reader, reader.at, "invalid number");
  reader.at = end;
  return Token::kNumber;
}

Token read_word(Reader& reader) {
  const auto is = [&](const char* word) {
    if (std::strncmp(reader.at, word, std::strlen(word)) != 0) return false;
    reader.at += std::strlen(word);
    return true;
  };
  const char c = *reader.at;
  if (c == '-' || (c >= '0' && c <= '9')) {
    if (!reader.settings.decode_invalid && is_invalid_number(reader.at))
      return fail(reader, reader.at, "invalid number");
    return read_number(reader);
  }
  reader.number = c == 't' ? 1 : 0;
  if (is("true") || is("false")) return Token::kBoolean;
  if (is("null")) return Token::kNull;
  if (reader.settings.decode_invalid && is_invalid_number(reader.at)) return read_number(reader);
  return fail(reader, reader.at, "invalid token");
}

Token next_token(Reader& reader) {
  while (*reader.at == ' ' || *reader.at == '\t' || *reader.at == '\n' || *reader.at == '\r')
    ++reader.at;
  reader.token_at = reader.at;
  constexpr char kSigns[] = "{}[]:,";
  constexpr Token kTokens[] = {Token::kObjectBegin, Token::kObjectEnd, Token::kArrayBegin,
                               Token::kArrayEnd,    Token::kColon,     Token::kComma};
  if (*reader.at == '\0') return Token::kEnd;  // what comes after is not looked at, as in Redis
  if (*reader.at == '"') return read_string(reader);
  if (const char* sign = std::strchr(kSigns, *reader.at)) {
    ++reader.at;
    return kTokens[sign - kSigns];
  }
  return read_word(reader);
}

int refuse(Reader& reader, const char* expected, Token found) {
  const char* name =
      found == Token::kError ? reader.problem : kTokenNames[static_cast<size_t>(found)];
  return luaL_error(reader.L, "Expected %s but found %s at character %d", expected, name,
                    static_cast<int>(reader.token_at - reader.begin) + 1);
}

void push_value(Reader& reader, Token token);

void descend(Reader& reader) {
  if (++reader.depth <= reader.settings.decode_depth_max && lua_checkstack(reader.L, 24) != 0)
    return;
  luaL_error(reader.L, "Found too many nested data structures (%d) at character %d", reader.depth,
             static_cast<int>(reader.at - reader.begin));
}

void push_object(Reader& reader) {
  descend(reader);
  lua_newtable(reader.L);
  Token token = next_token(reader);
  while (token != Token::kObjectEnd || reader.depth < 0) {
    if (token != Token::kString) refuse(reader, "object key string", token);
    token = next_token(reader);
    if (token != Token::kColon) {
      if (token == Token::kString) lua_pop(reader.L, 1);
      refuse(reader, "colon", token);
    }
    push_value(reader, next_token(reader));
    lua_rawset(reader.L, -3);
    token = next_token(reader);
    if (token == Token::kObjectEnd) break;
    if (token != Token::kComma) refuse(reader, "comma or object end", token);
    token = next_token(reader);
    if (token == Token::kObjectEnd) refuse(reader, "object key string", token);
  }
  --reader.depth;
}

void push_array(Reader& reader) {
  descend(reader);
  lua_newtable(reader.L);
  Token token = next_token(reader);
  for (int i = 1; token != Token::kArrayEnd || i > 1; ++i) {
    push_value(reader, token);
    lua_rawseti(reader.L, -2, i);
    token = next_token(reader);
    if (token == Token::kArrayEnd) break;
    if (token != Token::kComma) refuse(reader, "comma or array end", token);
    token = next_token(reader);
  }
  --reader.depth;
}

constexpr size_t kJsonValueNs = 100;

// A string's value was pushed with its token.
void push_value(Reader& reader, Token token) {
  charge(reader.L, kJsonValueNs);
  switch (token) {
    case Token::kString:
      return;
    case Token::kNumber:
      return lua_pushnumber(reader.L, reader.number);
    case Token::kBoolean:
      return lua_pushboolean(reader.L, reader.number != 0);
    case Token::kNull:
      return lua_pushlightuserdata(reader.L, nullptr);
    case Token::kObjectBegin:
      return push_object(reader);
    case Token::kArrayBegin:
      return push_array(reader);
    default:
      refuse(reader, "value", token);
  }
}

}  // namespace

int json_decode(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  size_t size = 0;
  const char* text = luaL_checklstring(L, 1, &size);
  if (size >= 2 && (text[0] == '\0' || text[1] == '\0'))
    return luaL_error(L, "JSON parser does not support UTF-16 or UTF-32");
  Reader reader = {.L = L, .settings = context_of(L).json, .begin = text, .at = text};
  push_value(reader, next_token(reader));
  const Token rest = next_token(reader);
  if (rest != Token::kEnd) refuse(reader, "the end", rest);
  return 1;
}

}  // namespace weir::server::script
