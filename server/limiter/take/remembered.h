// Requests that carried an ID: what was granted, so that a retry gets the first answer and takes
// nothing, and who waits, so that a connection that was lost does not lose the place in the queue.
//
// Each is one record in a database that no client can select, so that DEL and FLUSHALL leave it and
// time removes it:
//
//     key     := database(varint) size(varint) key token
//     value   := digest of the arguments (u64 le) what
//     what    := reply                                    of a request that was granted
//              | 0(u8) rank(varint)                       of one that waits in the key's queue
//              | 1(u8) booking departs lease (varints) reply    of one that a funnel has let in
//     reply   := RESP2 bytes                              DO NOT CHANGE
//
// A hold, a lease or a booking that such a request made can be given back. Then the request is
// forgotten, so that nobody is told again that it is granted. For that the database has
//
//     key     := database(varint) size(varint) key   64 zero bytes "made " id, in decimal digits
//     value   := size(varint) first key of the request, its token                   DO NOT CHANGE
//
// A reply that holds a map is kept with RESP3's header for it, and is otherwise RESP2 as well. It
// must consist of integers, strings, arrays, maps and nulls only, so that it begins with neither 0
// nor 1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time_units.h"
#include "server/command/command.h"

namespace weir::server {

inline constexpr int64_t kRememberedMs = kMsPerMinute;
// How long who waits keeps the place through a restart, at most.
inline constexpr int64_t kTicketMs = 24 * 60 * kMsPerMinute;

// A request that waits under an ID, or did when its connection was lost.
struct Ticket {
  int64_t rank = 0;        // in the key's queue, those with a lower one come first
  int64_t booking = 0;     // 0: it stands in the queue; else a funnel has let it in, and it has
  int64_t departs_ns = 0;  // taken its permits, departs at this instant
  int64_t lease = 0;       // has this lease, if it is not 0
  std::string reply = {};  // and is answered this
};

// Tells whether the token, which may be empty for none, was used for this key before, and no longer
// waits. Then it has given the same reply again, or an error because the arguments differ.
[[nodiscard]] bool recalled(Call& call, std::string_view key, std::string_view token,
                            std::string_view differs = "ERR ID was used with other arguments");
// Gives a reply that was remembered, and counts that.
void reply_again(Call& call, std::string_view reply);
// Under which a request is remembered. REQUIRES: a token that is not empty.
struct RequestName {
  std::string_view key;  // the first of the request's
  std::string_view token;
};

// Keeps the reply, which begins at `reply_begin` of the writer's buffer.
void remember(Call& call, const RequestName& name, size_t reply_begin,
              int64_t for_ms = kRememberedMs);
// Replies what `write` writes, which may hold maps, and keeps it.
void reply_and_remember(Call& call, const RequestName& name, int64_t for_ms,
                        const std::function<void(resp::ReplyWriter&)>& write);

// A token that no request can carry, since it is longer than any: what is kept about an id.
std::string token_about(std::string_view what, int64_t id);
// Keeps until the instant that the request made the id for the key.
void remember_id(Call& call, std::string_view key, int64_t id, const RequestName& name,
                 int64_t until_ms);
// What the id stands for was given back: the request that made it is forgotten.
void forget_request_of(Call& call, std::string_view key, int64_t id);

// Nothing: nobody waits under the token. It does not ask whether the arguments are the same:
// recalled() does.
std::optional<Ticket> find_ticket(Call& call, std::string_view key, std::string_view token);
// Keeps a ticket until the instant. REQUIRES: a token that is not empty.
void keep_ticket(Call& call, std::string_view key, std::string_view token, const Ticket& ticket,
                 int64_t until_ms);
// What the token, which may be empty, was used for is forgotten.
void forget_token(Call& call, std::string_view key, std::string_view token);

}  // namespace weir::server
