package weir;

import java.time.Duration;
import java.util.Optional;

/**
 * One limit of a key.
 *
 * @param name {@code AS name}, else its algorithm and index
 * @param limit what it holds
 * @param remaining whole permits that are left, below 0 a debt
 * @param resetAfter until it is full; nothing if that never comes
 * @param window its period; of CONCURRENCY the lease
 */
public record LimitState(String name, long limit, long remaining, Optional<Duration> resetAfter, Duration window) {}
