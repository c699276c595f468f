package weir.core;

/**
 * What was booked here.
 *
 * @param isBooked whether it is booked
 * @param decision what a take would have been told
 */
public record Booking(boolean isBooked, Decision decision) {}
