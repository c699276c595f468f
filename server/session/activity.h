// What a session has run, and when it was last heard of. All instants are of the steady clock.
#pragma once

#include <cstdint>
#include <utility>

namespace weir::server {

struct Command;

class Activity {
 public:
  // The session begins.
  void begin(int64_t now_ns) { connected_ns_ = last_interaction_ns_ = now_ns; }
  int64_t age_ns(int64_t now_ns) const { return now_ns - connected_ns_; }

  // A turn in which the session had a part has ended.
  void note_interaction(int64_t now_ns) { last_interaction_ns_ = now_ns; }
  int64_t idle_ns(int64_t now_ns) const { return now_ns - last_interaction_ns_; }

  // Takes note of a turn that serves the session; tells whether this is the first call for it.
  bool touch(uint64_t turn) { return std::exchange(touched_in_turn_, turn) != turn; }
  // Answers the last turn for which that was called.
  uint64_t touched_in_turn() const { return touched_in_turn_; }

  // A request has begun. One that is taken back to run again later is not counted.
  void count_command() { ++commands_; }
  void uncount_command() { --commands_; }
  uint64_t commands() const { return commands_; }
  // The command that ran last and was not refused; null: there was none.
  void note_command(const Command* command) { last_command_ = command; }
  const Command* last_command() const { return last_command_; }

  // A request was led to the primary of that epoch, where it is. Answers how long ago the first one
  // was that was led there.
  int64_t note_led(uint64_t epoch, int64_t now_ns) {
    if (std::exchange(led_to_epoch_, epoch) != epoch) led_since_ns_ = now_ns;
    return now_ns - led_since_ns_;
  }
  // The client has said by READONLY that it asks members of a cluster, and goes where it is led.
  void note_follows() { follows_ = true; }
  bool follows() const { return follows_; }

  // What the session did at one go was long, so others go first when it comes again.
  void note_long() { was_long_ = true; }
  bool was_long() const { return was_long_; }
  void forget_long() { was_long_ = false; }

  // Answers for how long no request has begun, as far as earlier calls have seen. `has_request`
  // tells that one waits to begin.
  int64_t silent_ns(int64_t now_ns, bool has_request) {
    const bool is_first_look = seen_ns_ == 0;
    if (is_first_look || commands_ != commands_seen_ || has_request) {
      commands_seen_ = commands_;
      seen_ns_ = now_ns;
    }
    return now_ns - seen_ns_;
  }

 private:
  int64_t connected_ns_ = 0;
  int64_t last_interaction_ns_ = 0;
  uint64_t touched_in_turn_ = 0;
  uint64_t commands_ = 0;
  const Command* last_command_ = nullptr;
  bool was_long_ = false;
  bool follows_ = false;
  uint64_t led_to_epoch_ = 0;
  int64_t led_since_ns_ = 0;
  uint64_t commands_seen_ = 0;  // commands_ at the last call of silent_ns()
  int64_t seen_ns_ = 0;         // when a call last saw another, or a request waiting; 0: no call
};

}  // namespace weir::server
