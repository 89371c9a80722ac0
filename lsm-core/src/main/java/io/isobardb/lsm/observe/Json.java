package io.isobardb.lsm.observe;

import io.isobardb.memory.stats.Metric;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes a record as a JSON object: its components in their order, with the keys that {@link
 * Metric#json} gives them.
 */
final class Json {
  private static final ClassValue<List<Member>> MEMBERS =
      new ClassValue<>() {
        @Override
        protected List<Member> computeValue(Class<?> type) {
          return Arrays.stream(type.getRecordComponents()).map(Member::of).toList();
        }
      };

  private final StringBuilder out = new StringBuilder(1024);

  private Json() {}

  /** A component of a record. */
  private record Member(String key, Method accessor) {
    static Member of(RecordComponent component) {
      Metric metric = component.getAccessor().getAnnotation(Metric.class);
      String key = metric == null ? "" : metric.json();
      return new Member(
          key.isEmpty() ? Figure.withoutBytes(component.getName()) : key, component.getAccessor());
    }
  }

  static String of(Record stats) {
    Json json = new Json();
    json.value(stats);
    return json.out.toString();
  }

  private void value(Object value) {
    if (value instanceof Record || value instanceof Map || value instanceof LatencyStats) {
      out.append('{');
      members(value, false);
      out.append('}');
    } else if (value instanceof List<?> list) {
      out.append('[');
      for (Object each : list) {
        separate('[');
        value(each);
      }
      out.append(']');
    } else if (value instanceof String text) {
      appendQuoted(text);
    } else {
      out.append(value);
    }
  }

  /**
   * The members of an object.
   *
   * @param inline whether they stand in the object around it, where keys begin in lower case
   */
  private void members(Object value, boolean inline) {
    if (value instanceof LatencyStats times) {
      member("timed", times.count());
      member("p50", times.quantileNanos(0.5));
      member("p99", times.quantileNanos(0.99));
      member("p999", times.quantileNanos(0.999));
    } else if (value instanceof Map<?, ?> map) {
      map.forEach(
          (key, each) ->
              member(inline ? key.toString().toLowerCase(Locale.ROOT) : key.toString(), each));
    } else {
      for (Member member : MEMBERS.get(value.getClass())) {
        Object each = Figure.read(member.accessor(), value);
        if (member.key().equals(Metric.INLINE)) {
          members(each, true);
        } else {
          member(member.key(), each);
        }
      }
    }
  }

  private void member(String key, Object value) {
    separate('{');
    out.append('"').append(key).append("\":");
    value(value);
  }

  /** Puts a comma, unless an object or list has just begun. */
  private void separate(char begin) {
    if (out.charAt(out.length() - 1) != begin) {
      out.append(',');
    }
  }

  private void appendQuoted(String text) {
    out.append('"');
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
