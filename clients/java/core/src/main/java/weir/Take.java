package weir;

import java.util.Optional;
import weir.core.Cost;

/**
 * A take with all its options: {@code Take.from("user:42").cost(8).upTo()}.
 *
 * @param key of the limits
 * @param cost permits
 * @param takesWhatThereIs whether less than the cost is taken where there is less
 * @param id under which it is charged once; nothing: one is made
 */
public record Take(String key, Cost cost, boolean takesWhatThereIs, Optional<String> id) {
  /**
   * Of one permit.
   *
   * @param key of the limits
   * @return the take
   */
  public static Take from(String key) {
    return new Take(key, Cost.ONE, false, Optional.empty());
  }

  /**
   * So many permits.
   *
   * @param each one number, or one for each limit
   * @return the take
   */
  public Take cost(long... each) {
    return new Take(key, new Cost(each), takesWhatThereIs, id);
  }

  /**
   * As many as all limits have, at most the cost, at least one.
   *
   * @return the take
   */
  public Take upTo() {
    return new Take(key, cost, true, id);
  }

  /**
   * An ID of the caller's own, where it repeats calls by itself.
   *
   * @param token 1 to 64 bytes
   * @return the take
   */
  public Take id(String token) {
    return new Take(key, cost, takesWhatThereIs, Optional.of(token));
  }
}
