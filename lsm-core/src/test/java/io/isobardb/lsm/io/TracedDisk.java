package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Notes the calls that reach a disk, as text for golden files. It tells the CRC32C of what is
 * written, without zeros at the end.
 */
public final class TracedDisk {
  private final List<String> calls = new ArrayList<>();
  private final Storage storage;

  /** A disk that passes all on to another. */
  public TracedDisk(Storage to) {
    this.storage = (Storage) proxy(Storage.class, to, "");
  }

  /** The disk that calls are to be made to. */
  public Storage storage() {
    return storage;
  }

  /** The calls since this was asked for last, a line each. */
  public List<String> take() {
    List<String> taken = List.copyOf(calls);
    calls.clear();
    return taken;
  }

  /** Puts something else than a call among them. */
  public void note(String line) {
    calls.add(line);
  }

  private Object proxy(Class<?> type, Object to, String name) {
    return Proxy.newProxyInstance(
        type.getClassLoader(),
        new Class<?>[] {type},
        (proxy, method, arguments) -> {
          String call = text(method.getName(), name, arguments);
          if (!call.isEmpty()) {
            calls.add(call);
          }
          try {
            Object result = method.invoke(to, arguments);
            return result instanceof DataFile file
                ? proxy(DataFile.class, file, file.name())
                : result;
          } catch (InvocationTargetException e) {
            calls.add("  " + e.getCause().getClass().getSimpleName());
            throw e.getCause();
          }
        });
  }

  private static String text(String method, String file, Object[] a) {
    return switch (method) {
      case "open", "create" -> method + " " + a[0] + (a[1] == IoMode.DIRECT ? " direct" : "");
      case "rename" -> "rename " + a[0] + " to " + a[1];
      case "delete" -> "delete " + a[0];
      case "syncDirectory" -> "sync directory";
      case "sync", "close" -> file.isEmpty() ? "" : method + " " + file;
      case "map" -> "map " + file + " " + a[0] + " +" + a[1];
      case "truncate" -> "truncate " + file + " to " + a[0];
      case "read" -> "read " + file + " " + a[0] + " +" + a[3];
      case "write" ->
          written(file, a[0], new Memory[] {(Memory) a[1]}, new int[] {(int) a[2]}, 1, (int) a[3]);
      case "writeAll" -> written(file, a[0], (Memory[]) a[1], (int[]) a[2], (int) a[3], (int) a[4]);
      default -> "";
    };
  }

  private static String written(
      String file, Object at, Memory[] sources, int[] offsets, int count, int length) {
    byte[] bytes = new byte[count * length];
    for (int i = 0; i < count; i++) {
      sources[i].get(offsets[i], bytes, i * length, length);
    }
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, end);
    String content = end == 0 ? "zeros" : String.format("%08x", crc.getValue());
    return "write " + file + " " + at + " +" + bytes.length + " " + content;
  }
}
