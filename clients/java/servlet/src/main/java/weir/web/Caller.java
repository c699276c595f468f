package weir.web;

import java.util.Optional;
import java.util.function.Function;

/**
 * A request as keys see it.
 *
 * @param peer the address at the other end of the connection, or null
 * @param header the value of a field, or null; of several lines all, divided by commas
 * @param method of the request
 * @param path of the request
 * @param user who has logged in, where it is known
 * @param request the framework's own
 */
public record Caller(String peer, Function<String, String> header, String method, String path, Optional<String> user,
    Object request) {}
