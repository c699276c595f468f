package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import weir.core.Away;

/** What four processes let pass over a short outage, beyond the limit; Bound has a table of long ones. */
class BoundTest {
  private static final int LATE = 1; // permits: clocks of processes are read while others run
  private static final double OUTAGE_S = 3;

  /** Of the measure itself: a bucket's worst case is none, seven more are seven. */
  @Test
  void excess() {
    List<Bound.Grant> grants = new ArrayList<>();
    for (int number = 0; number < Bound.BURST + 50; number++) {
      double at = Math.max(0.0, number - Bound.BURST + 1) / Bound.RATE;
      grants.add(new Bound.Grant(at, at));
    }
    assertEquals(0, Bound.excess(grants), 1e-6);
    grants.addAll(Collections.nCopies(7, new Bound.Grant(1, 1)));
    assertEquals(7, Bound.excess(grants), 1e-6);
  }

  @Test
  void local() throws Exception {
    Bound.Found found =
        Bound.measure(Away.LOCAL, new Bound.Fault(true, OUTAGE_S), Bound.EVEN_MS, Bound.PROCESSES);
    assertTrue(found.beyond() <= Bound.BURST + LATE, found.toString());
    assertTrue(found.rate() > 0, found.toString());
    System.out.printf("figure bound of local: %.1f beyond a capacity of %d%n", found.beyond(), Bound.BURST);
  }

  /** Who is back first may take what the others have not handed back yet: within a second they have. */
  @Test
  void strict() throws Exception {
    Bound.Found found =
        Bound.measure(Away.STRICT, new Bound.Fault(false, OUTAGE_S), Bound.EVEN_MS, Bound.PROCESSES);
    double others = Bound.BURST * (1 - 1.0 / Bound.PROCESSES);
    assertTrue(found.beyond() <= others + LATE, found.toString());
    System.out.printf("figure bound of strict: %.1f beyond a capacity of %d%n", found.beyond(), Bound.BURST);
  }
}
