// The commands that may take longer than a session's slice.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace weir::server {

// One request may take more than a session's slice, whatever few bytes it has. docs/TESTING.md
// lists the same.
inline const std::set<std::string, std::less<>> kLongCommands = {
    "append",
    "blmpop",
    "bzmpop",
    "copy",
    "dump",
    "eval",
    "eval_ro",
    "evalsha",
    "evalsha_ro",
    "fcall",
    "fcall_ro",
    "hgetall",
    "hkeys",
    "hrandfield",
    "hvals",
    "keys",
    "linsert",
    "lmpop",
    "lpop",
    "lpos",
    "lrange",
    "lrem",
    "ltrim",
    "mget",
    "move",
    "publish",
    "restore",
    "rl.cancel",
    "rpop",
    "sdiff",
    "sdiffstore",
    "setrange",
    "sinter",
    "sintercard",
    "sinterstore",
    "smembers",
    "sort",
    "sort_ro",
    "spop",
    "srandmember",
    "sunion",
    "sunionstore",
    "zdiff",
    "zdiffstore",
    "zinter",
    "zintercard",
    "zinterstore",
    "zmpop",
    "zpopmax",
    "zpopmin",
    "zrandmember",
    "zrange",
    "zrangebylex",
    "zrangebyscore",
    "zrangestore",
    "zremrangebylex",
    "zremrangebyrank",
    "zremrangebyscore",
    "zrevrange",
    "zrevrangebylex",
    "zrevrangebyscore",
    "zunion",
    "zunionstore",
};

}  // namespace weir::server
