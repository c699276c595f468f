package weir.core;

/**
 * How a call begins.
 *
 * @param asks whether weir is asked; else it is decided here
 * @param handBack what is charged first, or null
 */
public record Plan(boolean asks, HandBack handBack) {}
