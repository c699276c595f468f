// What a server refuses of a connection's wishes, as it tells by itself and not as an answer.
#pragma once

#include <nats/nats.h>

#include <cstdint>
#include <memory>

#include "storage/shared_logs/nats/mailbox.h"

namespace weir::storage::nats {

// cnats tells of it on a thread that ends with the process, so that what it is given is a number,
// which means nothing any more when this is gone.
class Refusals {
 public:
  // They become kNotPermitted of that connection.
  Refusals(std::shared_ptr<Mailbox> mailbox, uint64_t connection);
  ~Refusals();
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;

  // Of the connection that will be made with these options. False: out of memory.
  bool listen(natsOptions* options) const;

 private:
  struct All;
  static All& all();
  static void hear(natsConnection* server, natsSubscription* answers, natsStatus error,
                   void* number);

  uintptr_t number_ = 0;
};

}  // namespace weir::storage::nats
