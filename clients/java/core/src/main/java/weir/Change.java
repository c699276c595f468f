package weir;

import java.time.Duration;
import java.util.Optional;
import weir.core.Failure;

/**
 * What a listener is told: weir counts as away from now on, or is back.
 *
 * @param away whether it is away
 * @param cause why
 * @param lasted how long the state lasted that ended
 */
public record Change(boolean away, Optional<Failure> cause, Duration lasted) {}
