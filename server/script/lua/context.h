// What the functions of a script's world share: the server, the session whose script runs, its
// bounds.
//
// There is one Context per Lua state. It is found from the state alone, because the state's
// allocator was given it.
//
// Invariants
// 1. C++ that may need a destructor keeps its objects here, never in a function that Lua can leave
//    by an error.
// 2. What one script sets (protocol, settings, the random sequence) is gone when the next begins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply.h"
#include "server/command/work_meter.h"
#include "server/script/lua/memory.h"
#include "server/script/lua/number_text.h"
#include "server/script/lua/registration.h"

struct lua_State;

namespace weir::server {
class ScriptHost;
class Session;
struct Command;
struct RunningScript;
}  // namespace weir::server

namespace weir::server::script {

struct JsonSettings {
  bool convert_sparse = false;
  int sparse_ratio = 2;
  int sparse_safe = 10;
  int encode_depth_max = 1000;
  int decode_depth_max = 1000;
  enum class Invalid { kRefuse, kAccept, kNull };
  Invalid encode_invalid = Invalid::kRefuse;
  bool decode_invalid = true;
  bool keep_buffer = true;
  int precision = 14;
};

// Why a script ends that did not end itself. What it wrote is then taken back, and the error says
// so. kMemory and kReply are known when it has ended: whatever it caught, it was not what it would
// have been without the bound.
enum class Stop { kNone, kTimeLimit, kKilled, kCommandFailed, kMemory, kReply };

// What a state is for: scripts of EVAL, or functions of libraries.
enum class World { kScripts, kFunctions };

// A row by the spelling that scripts used for it last: most call few commands, again and again.
struct KnownRow {
  std::string spelling;
  const Command* command = nullptr;
};

struct NumberText {
  char bytes[kNumberTextBytes];
};

struct Context {
  Memory memory;
  ScriptHost* host = nullptr;
  WorkMeter* work = nullptr;  // the host's
  lua_State* main = nullptr;
  World world = World::kScripts;
  bool patient = false;                              // the collector's pace
  Session* session = nullptr;                        // whose script is running; null: none is
  const RunningScript* running = nullptr;            // null: none is, or a library is being loaded
  std::vector<Registration>* registering = nullptr;  // of the library being loaded
  bool active = false;  // a script is running, or a library being loaded
  bool read_only = false;
  bool crosses_slots = true;
  int protocol = 2;  // of the replies that the script sees
  int64_t begin_steady_ns = 0;
  int64_t time_limit_ns = 0;        // 0: none
  size_t work_ns = 0;               // done by functions of C since the last look at the clock
  size_t command_ns = 0;            // of that: of commands, which charge the WorkMeter themselves
  size_t block_bytes_max = 0;       // the largest block of memory that this run has taken
  int64_t served_at_run_ns = 0;     // when others were served last, from the script's begin
  int64_t heartbeat_at_run_ns = 0;  // when the server was told last that the script goes on
  Stop stop = Stop::kNone;
  std::optional<uint64_t> random;  // drawn when a script first asks for a number
  JsonSettings json;

  // References into Lua's registry, which the engine uses in every run.
  int world_table = 0;
  int error_handler = 0;
  int runner = 0;
  int loading_world = 0;  // what a library sees while it is loaded

  // The error that ended a script, noted while its stack still stood.
  bool error_noted = false;
  std::string error;
  std::string error_source;
  int error_line = -1;
  bool error_counted = false;  // the error that the script ends with was counted when it came up

  // The command being called.
  std::vector<std::string_view> args;
  std::vector<NumberText> numbers;
  std::array<KnownRow, 64> rows;
  std::string nested;
  resp::ReplyWriter nested_reply{&nested};
  std::string problem;

  // What a library is writing: JSON, MessagePack.
  std::string text;
};

Context& context_of(lua_State* L);

// Raises what a command of the server's could not do, as redis.call raises it.
int raise_error_table(lua_State* L, std::string_view text);
// An error of a command is counted where it comes up; the mark in its table says so, so that the
// script that ends with it does not count it again.
void mark_as_counted(lua_State* L);                  // the table on top
bool is_marked_as_counted(lua_State* L, int table);  // an absolute index
// Pushes {err = text}.
void push_error_table(lua_State* L, std::string_view text);
void push_text(lua_State* L, std::string_view text);
void set_text_field(lua_State* L, const char* name, std::string_view text);

}  // namespace weir::server::script
