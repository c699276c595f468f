package weir.web;

import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import weir.Verdict;

/**
 * Which requests are counted, for whom, and at what cost: {@code Gate.byAddress().withCost(caller -> 3)}.
 *
 * @param key whom a request is counted for; the caller's address where it is left out
 * @param skip requests that are not counted; none where it is left out
 * @param cost permits of a request; 1 where it is left out
 * @param prefix before each key in weir; {@code http:} where it is left out
 * @param legacy whether there are X-RateLimit fields too
 */
public record Gate(Key key, Predicate<Caller> skip, ToLongFunction<Caller> cost, String prefix, boolean legacy) {
  /**
   * Counts each request for the caller's address.
   *
   * @return a gate
   */
  public static Gate byAddress() {
    return new Gate(Keys.byAddress(), caller -> false, caller -> 1, "http:", false);
  }

  /**
   * The same for others.
   *
   * @param other whom a request is counted for
   * @return a gate
   */
  public Gate withKey(Key other) {
    return new Gate(other, skip, cost, prefix, legacy);
  }

  /**
   * The same without some requests.
   *
   * @param other true for what is not counted
   * @return a gate
   */
  public Gate withSkip(Predicate<Caller> other) {
    return new Gate(key, other, cost, prefix, legacy);
  }

  /**
   * The same at another cost.
   *
   * @param other permits of a request
   * @return a gate
   */
  public Gate withCost(ToLongFunction<Caller> other) {
    return new Gate(key, skip, other, prefix, legacy);
  }

  /**
   * The same under other keys.
   *
   * @param other what stands before each key
   * @return a gate
   */
  public Gate withPrefix(String other) {
    return new Gate(key, skip, cost, other, legacy);
  }

  /**
   * The same with or without X-RateLimit fields.
   *
   * @param other whether they are there
   * @return a gate
   */
  public Gate withLegacy(boolean other) {
    return new Gate(key, skip, cost, prefix, other);
  }

  /**
   * The fields of an answer.
   *
   * @param verdict of the request
   * @return fields
   */
  public Map<String, String> headers(Verdict verdict) {
    return legacy ? verdict.headersWithLegacy() : verdict.headers();
  }
}
