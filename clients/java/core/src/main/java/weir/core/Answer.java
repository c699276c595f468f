package weir.core;

import java.util.List;

/**
 * What weir has answered a take.
 *
 * @param granted permits
 * @param specs the limits in the answer, or null
 * @param resetsMs milliseconds until each limit is full; fewer where they are not told
 * @param blocked whether the policy lets nobody through; null where it is not told
 * @param bannedMs for how long the key is banned, in milliseconds; null where it is not told
 * @param callers of the policy in the last minute; null where it is not told
 */
public record Answer(Cost granted, List<Spec> specs, double[] resetsMs, Boolean blocked, Double bannedMs,
    Long callers) {
  /**
   * An answer that says no more.
   *
   * @param granted permits
   * @return the answer
   */
  public static Answer of(long granted) {
    return new Answer(new Cost(granted), null, new double[0], null, null, null);
  }
}
