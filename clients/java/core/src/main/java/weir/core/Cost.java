package weir.core;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Permits asked for: one number for all limits of a key, or one for each.
 *
 * @param each a single number, or as many as the key has limits
 */
public record Cost(long... each) {
  /** One permit. */
  public static final Cost ONE = new Cost(1);

  /**
   * Checks the numbers.
   *
   * @param each a single number, or as many as the key has limits
   * @throws IllegalArgumentException if there is none, or one below 0
   */
  public Cost {
    if (each.length == 0 || LongStream.of(each).anyMatch(cost -> cost < 0)) {
      throw new IllegalArgumentException("a cost is one number or more, none below 0");
    }
  }

  /**
   * The permits of one limit.
   *
   * @param index of the limit
   * @return its cost
   */
  public long of(int index) {
    return each.length == 1 ? each[0] : each[index];
  }

  /**
   * Whether all limits have the same number.
   *
   * @return true if there is one number for all limits
   */
  public boolean isOne() {
    return each.length == 1;
  }

  /**
   * The largest number.
   *
   * @return permits
   */
  public long most() {
    return LongStream.of(each).max().getAsLong();
  }

  /**
   * Whether nothing is asked for.
   *
   * @return true if all numbers are 0
   */
  public boolean isNothing() {
    return most() == 0;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Cost cost && Arrays.equals(each, cost.each);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(each);
  }

  /** As the option COST has it. */
  @Override
  public String toString() {
    return each.length == 1 ? Long.toString(each[0])
        : LongStream.of(each).mapToObj(Long::toString).collect(Collectors.joining(","));
  }
}
