package weir.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Limits a handler of Spring MVC, or all handlers of a controller, for each caller. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface RateLimited {
  /**
   * The limits.
   *
   * @return as in RL.TAKE
   */
  String value();

  /**
   * Permits of a request.
   *
   * @return a number
   */
  long cost() default 1;

  /**
   * Handlers of one name and the same limits share them.
   *
   * @return a word; the handler's own name where it is left out
   */
  String name() default "";
}
