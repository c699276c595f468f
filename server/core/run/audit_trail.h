// The audit: a line of the log for each change that an administrator's command has made, by
// whichever way it has come: alone, in a transaction, in a script, over HTTP, by the page.
//
//     info audit: CONFIG SET user=ops client=3 address=10.0.0.7:50112 via=tcp database=0
//         arguments="maxmemory 1gb" changed=maxmemory before=0 after=1073741824
//
// `within` says `transaction` or `script` where the command was part of one. Requests of a user for
// a command about keys that come within a second of one that is told are counted in a line:
//
//     info audit: RL.TAKE user=batch more=7
//
// Policies that a file has changed, which nobody has asked for, have a line each as well:
//
//     info audit: policies-file changed=api before="GCRA 10/1s" after="GCRA 20/1s"
//
// Invariants
// 1. Which commands are told is said by their rows (server/command/audit.h), and nowhere else.
// 2. What was denied or has failed is not told, since it has changed nothing. ACL LOG has who was
//    denied.
// 3. What is taken back is not told: lines wait for the end of the turn, and those about data go
//    where the data goes, with a script that is stopped or with a turn that cannot be committed.
//    What nothing takes back, as an option, stays told.
// 4. Passwords are not told, and neither are their hashes.
// 5. `loglevel` does not hold lines back, short of `nothing`, which counts from the end of the turn
//    on: the lines of the turn say who has set it, and the last one that it is the last.
// 6. Commands about keys, which applications call too, have one line a second for each user and
//    command, and then one with the number of the others. So the log grows with the number of
//    users and not with that of requests. What is taken back is not counted either: counts wait
//    for the end of the turn with the lines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
  // A file, which is called by its option, has changed something in the data.
  void note_file(std::string_view option, std::vector<AuditChange> changes);

  // Where the next line will stand, and the end of those about data that came after it.
  size_t savepoint() { return counts_begin_ = lines_.size(); }
  void drop_after(size_t savepoint);

  // Writes the lines of the turn. `turns_failed` has grown if it could not be committed.
  void end_turn(uint64_t turns_failed) {
    if (!lines_.empty() || turns_failed != turns_failed_ || ends_) [[unlikely]]
      write(turns_failed);
  }
  // Writes how many more requests there were; to be called several times a second.
  void tick();
  // The same at once, because nothing is told any more. REQUIRES: the turn has ended.
  void close();
  // Whether the log ends with the turn, as `loglevel nothing` says.
  void set_ending(bool ends) { ends_ = ends; }

 private:
  // Of a user and a command, since the line that tells of the first request.
  struct Repeated {
    int64_t until_ns = 0;
    uint64_t more = 0;
  };
  using RepeatedRequests = std::map<std::pair<const Command*, std::string>, Repeated>;
  struct Line {
    std::string text = {};
    std::vector<LogField> fields = {};
    bool is_about_data = false;
    // What this line has begun; or it is no line, and has so many more of it.
    std::optional<RepeatedRequests::iterator> repeated = {};
    uint64_t more = 0;
  };

  static Line line_of(const Call& call, Within within);
  static void tell_more(const RepeatedRequests::value_type& repeated);
  bool is_repeated(const Call& call, Line* line);
  Line* counts_of(RepeatedRequests::iterator repeated);
  void add_changes(Line line, std::vector<AuditChange> changes);
  void write(uint64_t turns_failed);

  AuditNotes& notes_;
  Clock& clock_;
  std::vector<Line> lines_;
  size_t counts_begin_ = 0;  // what counts before this may stay when what comes is dropped
  RepeatedRequests repeated_;
  uint64_t turns_failed_ = 0;
  bool ends_ = false;
};

}  // namespace weir::server
