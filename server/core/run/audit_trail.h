// The audit: a line of the log for each change that an administrator's command has made, by
// whichever way it has come: alone, in a transaction, in a script, over HTTP, by the page.
//
//     info audit: CONFIG SET user=ops client=3 address=10.0.0.7:50112 via=tcp database=0
//         arguments="maxmemory 1gb" changed=maxmemory before=0 after=1073741824
//
// `within` says `transaction` or `script` where the command was part of one. `more=7` in the place
// of arguments says that so many other requests of that user for that command came within a second.
//
// Invariants
// 1. Which commands are told is said by their rows (server/command/audit.h), and nowhere else.
// 2. What was denied or has failed is not told, since it has changed nothing. ACL LOG has who was
//    denied.
// 3. What is taken back is not told: lines wait for the end of the turn, and those about data go
//    where the data goes, with a script that is stopped or with a turn that cannot be committed.
//    What nothing takes back, as an option, stays told.
// 4. Passwords are not told, and neither are their hashes.
// 5. `loglevel` does not hold lines back, short of `nothing`.
// 6. Commands about keys, which applications call too, have one line a second for each user and
//    command, and then one with the number of the others. So the log grows with the number of
//    users and not with that of requests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/command/command.h"
#include "server/core/run/command_counts.h"
#include "server/os/clock.h"
#include "server/os/log.h"

namespace weir::server {

class AuditTrail {
 public:
  explicit AuditTrail(AuditNotes* notes, Clock* clock) : notes_(*notes), clock_(*clock) {}

  // A command whose row asks for it has run, and has not failed.
  void note(const Call& call, Within within);

  // Where the next line will stand, and the end of those about data that came after it.
  size_t savepoint() const { return lines_.size(); }
  void drop_after(size_t savepoint);

  // Writes the lines of the turn. `turns_failed` has grown if it could not be committed.
  void end_turn(uint64_t turns_failed) {
    if (!lines_.empty() || turns_failed != turns_failed_) [[unlikely]]
      write(turns_failed);
  }
  // Writes how many more requests there were; to be called several times a second.
  void tick();

 private:
  struct Line {
    std::string text;
    std::vector<LogField> fields;
    bool is_about_data = false;
  };
  // Of a user and a command, since the line that tells of the first request.
  struct Repeated {
    int64_t until_ns = 0;
    uint64_t more = 0;
    Line line;
  };

  static Line line_of(const Call& call, Within within);
  bool is_repeated(const Call& call, const Line& line);
  void write(uint64_t turns_failed);

  AuditNotes& notes_;
  Clock& clock_;
  std::vector<Line> lines_;
  std::map<std::pair<const Command*, std::string>, Repeated> repeated_;
  uint64_t turns_failed_ = 0;
};

}  // namespace weir::server
