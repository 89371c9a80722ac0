package io.isobardb.lsm.damage;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** What can happen to the files of a store: all of it, or a fair sample. */
final class Damages {
  private static final int PAGE = 4096;

  private final Map<String, byte[]> files;
  private final SplittableRandom random;
  private final Map<String, Damage> all = new LinkedHashMap<>();

  private Damages(Map<String, byte[]> files, long seed) {
    this.files = files;
    this.random = new SplittableRandom(seed);
  }

  /**
   * Damages of every file.
   *
   * @param perFile about how many bytes of each file are changed, and at how many places each is
   *     cut off; from the size of a file on that is every byte, several ways each
   * @param other another store of the same form
   */
  static List<Damage> of(DamagedStore store, DamagedStore other, long seed, int perFile) {
    Damages damages = new Damages(store.files(), seed);
    damages.within(perFile);
    for (String name : store.files().keySet()) {
      damages.wholeFile(name, other);
    }
    return List.copyOf(damages.all.values());
  }

  /** Damages within files, as above. */
  static List<Damage> of(Map<String, byte[]> files, long seed, int perFile) {
    Damages damages = new Damages(files, seed);
    damages.within(perFile);
    return List.copyOf(damages.all.values());
  }

  private void within(int perFile) {
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      bytes(file.getKey(), file.getValue(), perFile);
      lengths(file.getKey(), file.getValue(), perFile / 4);
      ranges(file.getKey(), file.getValue(), perFile / 4);
    }
  }

  private void bytes(String name, byte[] content, int count) {
    int used = used(content);
    // What is not used of a file is all alike.
    int step = Math.max(1, used / Math.max(1, count));
    for (int at = step == 1 ? 0 : random.nextInt(step); at < content.length; ) {
      change(name, content, at, step > 1);
      int stride = at < used ? step : Math.max(step, 8 * PAGE);
      at += step == 1 && at < used ? 1 : 1 + random.nextInt(2 * stride);
    }
    // Headers, where one byte means much.
    for (int at = 0; at < Math.min(content.length, 64) && step > 1; at += 1 + random.nextInt(15)) {
      change(name, content, at, true);
    }
  }

  private void change(String name, byte[] content, int at, boolean one) {
    int old = content[at] & 0xFF;
    int[] values = {old ^ 1 << random.nextInt(8), old ^ 0xFF, 0, old + 1, 0x80};
    if (one) {
      set(name, at, old, values[random.nextInt(values.length)]);
    } else {
      for (int value : values) {
        set(name, at, old, value);
      }
    }
  }

  private void set(String name, int at, int old, int value) {
    if (old != (value & 0xFF)) {
      add(Damage.set(name, at, value & 0xFF));
    }
  }

  private void lengths(String name, byte[] content, int count) {
    int step = Math.max(1, content.length / Math.max(1, count));
    for (int length = 0; length < content.length; length += 1 + random.nextInt(2 * step - 1)) {
      add(Damage.truncate(name, length));
    }
    add(Damage.truncate(name, content.length - 1));
    int used = used(content);
    for (int length = used; length > 0 && length > used - 64; length -= 1 + random.nextInt(32)) {
      add(Damage.truncate(name, length));
    }
    for (int more : new int[] {1 + random.nextInt(100), PAGE}) {
      add(Damage.append(name, more, 0));
      add(Damage.append(name, more, random.nextLong() | 1));
    }
  }

  private void ranges(String name, byte[] content, int count) {
    int used = used(content);
    for (int i = 0; i < count; i++) {
      int unit = random.nextBoolean() ? PAGE : 512;
      int units = used / unit;
      int from = units == 0 ? 0 : random.nextInt(units) * unit;
      int to = Math.min(content.length, from + unit);
      add(Damage.fill(name, from, to, random.nextBoolean() ? 0 : random.nextLong() | 1));
      add(Damage.fill(name, from, used, 0));
      pages(name, content, unit);
    }
    add(Damage.fill(name, 0, content.length, 0));
  }

  private void pages(String name, byte[] content, int unit) {
    int units = used(content) / unit;
    if (units < 2) {
      return;
    }
    int a = random.nextInt(units) * unit;
    int b = random.nextInt(units) * unit;
    if (a != b) {
      add(Damage.swap(name, a, b, unit));
      add(Damage.copy(name, a, name, b, unit));
    }
    List<String> names = List.copyOf(files.keySet());
    String from = names.get(random.nextInt(names.size()));
    byte[] source = files.get(from);
    if (source.length > unit) {
      int piece = random.nextInt(used(source) / unit + 1) * unit;
      if (piece + unit <= source.length) {
        add(Damage.copy(from, piece, name, a, unit));
      }
    }
  }

  private void wholeFile(String name, DamagedStore other) {
    add(Damage.missing(name));
    byte[] replacement = other.files().get(name);
    if (replacement != null) {
      add(Damage.replaced(name, replacement));
    }
    List<String> names = List.copyOf(files.keySet());
    int at = names.indexOf(name);
    for (int partner : new int[] {at + 1, at + 2, random.nextInt(names.size())}) {
      if (partner != at && partner < names.size()) {
        add(Damage.swapFiles(name, names.get(partner)));
      }
    }
  }

  private void add(Damage damage) {
    all.putIfAbsent(damage.toString(), damage);
  }

  /** Where the last byte ends that is not 0. */
  private static int used(byte[] content) {
    int used = content.length;
    while (used > 0 && content[used - 1] == 0) {
      used--;
    }
    return used;
  }
}
