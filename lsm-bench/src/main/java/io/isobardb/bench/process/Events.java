package io.isobardb.bench.process;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.Progress.Watcher;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a child process tells its parent, and what it is asked to do: records and events as JSON. An
 * event is a line with an object whose {@code event} is its name. Thread-safe.
 */
public final class Events implements Watcher {
  static final String NAME = "event";
  static final String END = "end";

  private final PrintStream out;

  /** Events go to {@code out}, which nothing else should write to. */
  public Events(PrintStream out) {
    this.out = out;
  }

  /** Tells of an event, at once. */
  public synchronized void send(String name, Map<String, ?> fields) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put(NAME, name);
    event.putAll(fields);
    out.println(text(event));
    out.flush();
  }

  @Override
  public void at(String text, double done, double all) {
    send("progress", Map.of("text", text, "done", done, "all", all));
  }

  /** Hands an event that {@link #at} sent on to {@code watcher}. */
  public static void progress(Map<String, Object> event, Watcher watcher) {
    watcher.at((String) event.get("text"), number(event, "done"), number(event, "all"));
  }

  /** A number among an event's fields. */
  public static double number(Map<String, Object> event, String field) {
    return ((Number) event.get(field)).doubleValue();
  }

  /**
   * The numbers among a map's values; others are left out, those that JSON has no number for, too.
   */
  public static Map<String, Double> numbers(Map<?, ?> values) {
    Map<String, Double> numbers = new LinkedHashMap<>();
    values.forEach(
        (name, value) -> {
          if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
            numbers.put((String) name, number.doubleValue());
          }
        });
    return Collections.unmodifiableMap(numbers);
  }

  /** A record, map or list as JSON. */
  public static String text(Object value) {
    try {
      return JSON.std.asString(plain(value));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot be told: " + value, e);
    }
  }

  /** Records as maps: the library passes over a component whose name begins with "is" or "get". */
  private static Object plain(Object value) {
    if (value instanceof Collection<?> values) {
      return values.stream().map(Events::plain).toList();
    }
    if (!(value instanceof Record) && !(value instanceof Map)) {
      return value;
    }
    Map<Object, Object> fields = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> map) {
      map.forEach((name, of) -> fields.put(name, plain(of)));
      return fields;
    }
    for (RecordComponent component : value.getClass().getRecordComponents()) {
      try {
        component.getAccessor().setAccessible(true);
        fields.put(component.getName(), plain(component.getAccessor().invoke(value)));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot be told: " + value, e);
      }
    }
    return fields;
  }

  /** The record that {@link #text} wrote. */
  public static <T> T parse(Class<T> type, String text) {
    try {
      return JSON.std.beanFrom(type, text);
    } catch (IOException e) {
      throw new UncheckedIOException("no " + type.getSimpleName() + ": " + text, e);
    }
  }

  static Map<String, Object> parse(String line) {
    try {
      return JSON.std.mapFrom(line);
    } catch (IOException e) {
      throw new UncheckedIOException("not a line of a child process: " + line, e);
    }
  }
}
