// FUNCTION and FCALL: libraries of functions, kept on disk.
//
// All libraries are one system record, "functions": format (1), and for each library, by name,
// its size (varint) and its code. DO NOT CHANGE.
//
// One record, because libraries are few, change seldom and change together (FUNCTION RESTORE); we
// give up cheap loading of one among many.
//
// Invariants
// 1. A library here is in the record, except while `stale_` is set: the libraries are then loaded
//    again from the record.
// 2. No two libraries have a function of the same name.
// 3. A library that is being replaced stays until its successor has been loaded as a whole.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/string_hash.h"
#include "server/command/command.h"
#include "server/script/lua/registration.h"

namespace weir::server {
class ScriptHost;
}  // namespace weir::server

namespace weir::server::script {

class Engine;
struct LibraryHead;

struct Library {
  Library() = default;
  ~Library();  // the engine forgets its functions
  Library(const Library&) = delete;

  std::string name;
  std::string code;
  std::vector<Registration> functions;
  std::shared_ptr<Engine> engine;
};

using Libraries = std::map<std::string, std::shared_ptr<const Library>, std::less<>>;

enum class RestorePolicy { kAppend, kReplace, kFlush };

class Functions {
 public:
  explicit Functions(ScriptHost* host);
  ~Functions();

  // Loads the libraries; to be called once the data is open.
  void open();

  // args: FCALL function numkeys key... arg...
  void call(Call& call, bool read_only);
  // Whether a function writes, by its own word. Nothing: there is none.
  std::optional<bool> declared_to_write(std::string_view function);

  // Each of these fails with the error line. *name receives the name of the library.
  Result<void, std::string> load(Call& call, std::string_view code, bool replace,
                                 std::string* name);
  Result<void, std::string> remove(Call& call, std::string_view name);
  Result<void, std::string> restore(Call& call, std::string_view payload, RestorePolicy policy);
  Result<void, std::string> flush(Call& call);
  // What another shard has said of a library, which it named so; no code: it is deleted. It is
  // loaded in the place of the one that there is.
  Result<void, std::string> take(std::string_view name, std::optional<std::string_view> code);
  std::string dump();

  const Libraries& libraries();
  size_t function_count();
  // Answers the size of the Lua state in which they live; 0 if there are none.
  size_t engine_bytes() const;

 private:
  // By name in lower case; of two in one library the first.
  using Index = StringMap<const Registration*>;

  // Null: there is none.
  const Registration* find(std::string_view function);
  void reload();
  // Follows the record when the turn that wrote the libraries may not be in the log.
  void follow_data();
  std::shared_ptr<Engine> engine();
  Result<std::shared_ptr<const Library>, std::string> make(std::string_view code,
                                                           const LibraryHead& head);
  // Loads one more library into a copy of the libraries. *name receives its name, if it has one,
  // also when it fails.
  Result<void, std::string> add_to(Libraries* libraries, std::string_view code, bool replace,
                                   std::string* name);
  // Makes these the libraries from now on, here and on disk. Where they are settings of a cluster,
  // each one that is another then is noted. Fails with an error line, and changes nothing here.
  Result<void, std::string> keep(Call& call, Libraries libraries);
  void put(Libraries libraries);
  void use(Libraries libraries);

  ScriptHost* host_;
  std::weak_ptr<Engine> engine_;  // the libraries own it
  Libraries libraries_;
  Index index_;
  uint64_t data_epoch_ = 0;
  bool stale_ = false;
};

}  // namespace weir::server::script
