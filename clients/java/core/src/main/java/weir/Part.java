package weir;

/**
 * One key of a take from several.
 *
 * @param limiter of the key
 * @param key from which it is taken
 * @param cost permits
 */
public record Part(WeirLimiter limiter, String key, long cost) {}
