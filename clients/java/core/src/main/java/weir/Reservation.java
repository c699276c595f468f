package weir;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A booking.
 *
 * @param granted whether it was booked
 * @param waitFor it may be used after that; of a denial what the wait would have been, nothing for ever
 * @param id for {@link WeirLimiter#cancel}; nothing where weir does not know of it
 * @param source who decided
 */
public record Reservation(boolean granted, Optional<Duration> waitFor, OptionalLong id, Source source) {}
