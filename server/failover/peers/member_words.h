// What people and clients are told of a member of a shard.
#pragma once

#include <string_view>

#include "storage/replication/member_actions.h"
#include "storage/replication/role.h"
#include "storage/replication/shared_log.h"

namespace weir::server {

// Why a member was demoted or stopped, as the end of a sentence.
std::string_view words_of(storage::replication::Reason reason);
std::string_view words_of(storage::replication::Role role);
// One word.
std::string_view words_of(storage::replication::LogFacts::Fsync fsync);

}  // namespace weir::server
