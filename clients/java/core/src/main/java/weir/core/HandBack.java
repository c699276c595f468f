package weir.core;

/**
 * What was granted here while weir was away, and is charged before the first take after its return.
 *
 * @param costs one for each limit
 * @param id under which it is sent, as often as it takes
 */
public record HandBack(Cost costs, String id) {}
