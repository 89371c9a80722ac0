package io.isobardb.memory.stats;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What monitoring knows a figure by. It stands on a component of a record of statistics, or on a
 * method of such a record that computes a figure from its components. JMX, JSON, bridges to metric
 * systems and docs/metrics.md are made from it. A component without it is in the record and in JSON
 * only.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Metric {
  /** For {@link #json}: the entries of this component stand beside the figures of its record. */
  String INLINE = "*";

  /** What becomes of a value over time. */
  enum Kind {
    /** Only grows while the store is open. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** For people; no metric. */
    TEXT
  }

  /** {@return what it tells} If empty, this is no figure, and only {@link #json} counts. */
  String value() default "";

  /** {@return what becomes of it over time} */
  Kind kind() default Kind.GAUGE;

  /** {@return what it counts, such as {@code bytes}; empty if the name says it} */
  String unit() default "";

  /** {@return the metric's name, in lower case with dots; empty if it is a text} */
  String name() default "";

  /**
   * {@return what the keys are if it has a value for each of several keys, such as {@code reason}}
   */
  String tag() default "";

  /**
   * {@return the attribute's name in JMX} If empty, it is the component's name, in upper camel case
   * and without {@code Bytes} at its end.
   */
  String attribute() default "";

  /**
   * {@return the key in JSON, which has components only} If empty, it is the component's name
   * without {@code Bytes} at its end.
   */
  String json() default "";
}
