#include "server/script/lua/busy.h"

namespace weir::server {

std::string_view busy_error(const RunningScript& script) {
  return script.is_function
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

}  // namespace weir::server
