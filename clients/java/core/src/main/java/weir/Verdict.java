package weir;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import weir.core.Spec;

/**
 * An answer. {@code limit}, {@code remaining} and {@code resetAfter} are the deciding limit's.
 *
 * @param allowed whether it grants
 * @param limit what the deciding limit holds; -1 where no limit decides
 * @param remaining whole permits that are left, below 0 a debt; -1 where no limit decides
 * @param retryAfter until the same request succeeds: zero when allowed, nothing if it never does
 * @param resetAfter until the limit is full; nothing if that never comes
 * @param policy the name of the policy, if one decides
 * @param limits each limit of the key
 * @param granted permits taken
 * @param id of the lease or the hold
 * @param banned whether a ban denies
 * @param source who decided
 * @param specs the limits as they were asked, for the fields
 * @param fields the HTTP fields that weir has made, if it has
 */
public record Verdict(boolean allowed, long limit, long remaining, Optional<Duration> retryAfter,
    Optional<Duration> resetAfter, Optional<String> policy, List<LimitState> limits, long granted, OptionalLong id,
    boolean banned, Source source, List<Spec> specs, Map<String, String> fields) {

  /**
   * RateLimit, RateLimit-Policy and, when denied, Retry-After.
   *
   * @return fields of an HTTP response
   */
  public Map<String, String> headers() {
    return Fields.of(this, false);
  }

  /**
   * The same, and X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset.
   *
   * @return fields of an HTTP response
   */
  public Map<String, String> headersWithLegacy() {
    return Fields.of(this, true);
  }

  /**
   * The names of the limits in the HTTP fields, as weir gives them: what AS says, else the policy, or {@code default}.
   *
   * @return one for each limit
   */
  public List<String> itemNames() {
    return ItemNames.of(limits.stream().map(LimitState::name).toList(), policy);
  }
}
