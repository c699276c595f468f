// The folder of checkpoints: what each is called, and which of them stay.
//
// A name says when and of what the checkpoint is: 2026-11-23T22-44-38.123Z-turn-4711 holds turn
// 4711, and was begun at that instant of UTC. Versions before this form named it by milliseconds
// since the Unix epoch alone; such names are still known, and are older than any of this form.
// Names in alphabetical order are checkpoints in the order of their making. What has another name
// (a person's copy, say) is never touched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server {

std::string checkpoint_name(int64_t wall_ms, uint64_t turn);

// Tells whether a server has given this name.
bool is_checkpoint_name(std::string_view name);

// Removes all checkpoints but the newest `kept`; 0: removes none.
void remove_old_checkpoints(const std::string& folder, int64_t kept);

// Removes what a process that died has left of one that it was making: NAME.tmp.
void remove_unfinished_checkpoints(const std::string& folder);

}  // namespace weir::server
