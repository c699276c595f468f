/**
 * Spring Boot: {@code weir.uri} and {@code weir.limits} in the application's properties are enough for a filter, and
 * {@link weir.spring.RateLimited} limits single handlers.
 */
package weir.spring;
