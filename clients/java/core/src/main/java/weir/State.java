package weir;

import java.time.Duration;
import java.util.Optional;
import weir.core.Failure;

/**
 * What a limiter says of itself. Counts are since it was made.
 *
 * @param away whether weir is away
 * @param cause why
 * @param lasts since the last change
 * @param awayInAll how long weir has been away in all
 * @param absences how often
 * @param asked calls that weir has answered
 * @param decidedHere calls that it has not
 * @param probes how often it was asked whether it is back
 * @param share the part of the limit that this process hands out while weir is away
 * @param keys how many keys are kept
 */
public record State(boolean away, Optional<Failure> cause, Duration lasts, Duration awayInAll, int absences, long asked,
    long decidedHere, long probes, double share, int keys) {}
