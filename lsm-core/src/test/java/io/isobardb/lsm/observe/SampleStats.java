package io.isobardb.lsm.observe;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * Statistics in which each figure is another one. A figure follows from the names that lead to it,
 * so a new component changes no other.
 */
public final class SampleStats {
  private static final int FIGURES = 1_000_000;

  private SampleStats() {}

  /** Statistics of a store with two trees. */
  public static StoreStats ofStore() {
    return (StoreStats) any(StoreStats.class, "store");
  }

  private static long number(String path) {
    CRC32 crc = new CRC32();
    crc.update(path.getBytes(UTF_8));
    return crc.getValue() % FIGURES;
  }

  private static Object any(Type type, String path) {
    if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      return generic.getRawType() == List.class
          ? List.of(any(arguments[0], path + "/0"), any(arguments[0], path + "/1"))
          : map((Class<?>) arguments[0], arguments[1], path);
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord()) {
      return record(plain, path);
    }
    if (plain == LatencyStats.class) {
      long[] counts = new long[LatencyStats.buckets()];
      counts[LatencyStats.bucket(number(path))] = 1;
      return new LatencyStats(counts);
    }
    if (plain == int.class) {
      return (int) number(path);
    }
    if (plain == boolean.class) {
      return true;
    }
    return plain == String.class ? "\"" + path + "\\\"\n" : (Object) number(path);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Map<?, ?> map(Class<?> keys, Type values, String path) {
    Map map = new EnumMap(keys);
    for (Object key : keys.getEnumConstants()) {
      map.put(key, any(values, path + "/" + key));
    }
    return map;
  }

  private static Object record(Class<?> type, String path) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] = any(components[i].getGenericType(), path + "/" + components[i].getName());
    }
    try {
      Constructor<?> constructor = type.getConstructor(types);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(path, e);
    }
  }
}
