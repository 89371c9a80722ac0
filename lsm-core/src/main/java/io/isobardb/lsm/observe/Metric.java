package io.isobardb.lsm.observe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * Describes an attribute of {@link StoreMXBean} or {@link TreeMXBean}. JMX shows it as the
 * attribute's description and descriptor; bridges to metric systems make a metric of it. An
 * operation is described so, too, as a text.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Metric {
  /** What becomes of a value over time. */
  enum Kind {
    /** Only grows while the store is open. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** For people; no metric. */
    TEXT
  }

  /** What it tells. */
  @DescriptorKey("description")
  String value();

  /** What becomes of it over time. */
  @DescriptorKey("kind")
  Kind kind() default Kind.GAUGE;

  /** What it counts, such as {@code bytes}; empty if the name says it. */
  @DescriptorKey("units")
  String unit() default "";

  /** The metric's name, in lower case with dots; empty if it is a text. */
  @DescriptorKey("metric")
  String name() default "";

  /** What the keys of a map are, such as {@code reason}; empty if it is one value. */
  @DescriptorKey("tag")
  String tag() default "";
}
