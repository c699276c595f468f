// The folder of checkpoints: what each is called, and which of them stay.
//
// A name says when and of what the checkpoint is: 2026-11-23T22-44-38.123Z-turn-4711 holds turn
// 4711, and was begun at that instant of UTC. Versions before this form named it by milliseconds
// since the Unix epoch alone, 13 digits; such names are still known, and are older than any of this
// form. Which of two is newer its turn says, since the clock may have been wrong. What has another
// name (a person's copy, say), or is no data directory, is never touched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

std::string checkpoint_name(int64_t wall_ms, uint64_t turn);

// Tells whether a server has given this name.
bool is_checkpoint_name(std::string_view name);

// Answers when the newest checkpoint was begun, by its name, in seconds since the Unix epoch; 0:
// there is none.
int64_t newest_checkpoint_s(const std::string& folder);

// What is to be removed so that the newest `kept` checkpoints stay; 0: nothing. Each has lost its
// name, so that it is no checkpoint any more. `made`, the name of the one that was made last, stays
// whatever the others are called.
std::vector<std::string> give_up_old_checkpoints(const std::string& folder, int64_t kept,
                                                 const std::string& made);

// What is left of checkpoints that nobody makes or removes any more: NAME.tmp. REQUIRES: none is
// being made.
std::vector<std::string> unfinished_checkpoints(const std::string& folder);

}  // namespace weir::server
