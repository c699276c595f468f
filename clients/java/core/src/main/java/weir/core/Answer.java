package weir.core;

import java.util.List;

/**
 * What weir has answered a take.
 *
 * @param granted permits
 * @param specs the limits in the answer, or null
 * @param resetsMs milliseconds until each limit is full; fewer where they are not told
 * @param blocked whether the policy lets nobody through; null where it is not told
 * @param callers of the policy in the last minute; null where it is not told
 */
public record Answer(Cost granted, List<Spec> specs, double[] resetsMs, Boolean blocked, Long callers) {
  /**
   * An answer that says no more; of a denial not even whether the policy blocks.
   *
   * @param granted permits
   * @param specs the limits that are known, or null
   * @return the answer
   */
  public static Answer of(long granted, List<Spec> specs) {
    return new Answer(new Cost(granted), specs, new double[0], granted > 0 ? false : null, null);
  }
}
