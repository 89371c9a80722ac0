package io.isobardb.lsm.model;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Plants bugs: a disk that does not do what it says. */
final class PlantedDisk {
  private interface Change {
    Object apply(String method, Object result);
  }

  private PlantedDisk() {}

  /**
   * A disk of whose files with this ending calls of {@code method}, which gives nothing, do
   * nothing.
   */
  static Storage without(Storage disk, String ending, String method) {
    return proxy(
        Storage.class,
        disk,
        "",
        (name, result) -> {
          boolean file = name.equals("create") || name.equals("open");
          if (!file || !((DataFile) result).name().endsWith(ending)) {
            return result;
          }
          return proxy(DataFile.class, (DataFile) result, method, (call, same) -> same);
        });
  }

  /** Passes calls on, but for those of {@code leftOut}, and changes their results. */
  private static <T> T proxy(Class<T> type, T to, String leftOut, Change change) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals(leftOut)) {
                return null;
              }
              try {
                return change.apply(method.getName(), method.invoke(to, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
