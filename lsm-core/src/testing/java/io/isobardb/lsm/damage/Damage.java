package io.isobardb.lsm.damage;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/**
 * Something that happens to a store's files.
 *
 * @param file the file that is harmed, or the first of them
 * @param what what happens, for messages
 * @param change replaces contents in the map, and leaves the arrays as they are
 */
record Damage(String file, String what, Change change) {
  /** A change of files. */
  interface Change {
    void apply(Map<String, byte[]> files);
  }

  void apply(Map<String, byte[]> files) {
    change.apply(files);
  }

  @Override
  public String toString() {
    return file + ": " + what;
  }

  private static Damage content(String file, String what, UnaryOperator<byte[]> change) {
    return new Damage(file, what, files -> files.compute(file, (name, old) -> change.apply(old)));
  }

  static Damage set(String file, int at, int value) {
    return content(
        file,
        "byte " + at + " becomes " + value,
        old -> {
          byte[] content = old.clone();
          content[at] = (byte) value;
          return content;
        });
  }

  static Damage truncate(String file, int length) {
    return content(file, "cut off at " + length, old -> Arrays.copyOf(old, length));
  }

  static Damage append(String file, int count, long seed) {
    return content(
        file,
        count + (seed == 0 ? " zeros" : " bytes of garbage") + " appended",
        old -> {
          byte[] content = Arrays.copyOf(old, old.length + count);
          if (seed != 0) {
            byte[] garbage = new byte[count];
            new SplittableRandom(seed).nextBytes(garbage);
            System.arraycopy(garbage, 0, content, old.length, count);
          }
          return content;
        });
  }

  /** Fills a range with zeros, or with garbage if there is a seed. */
  static Damage fill(String file, int from, int to, long seed) {
    return content(
        file,
        (seed == 0 ? "zeros" : "garbage") + " from " + from + " to " + to,
        old -> {
          byte[] content = old.clone();
          byte[] filling = new byte[to - from];
          if (seed != 0) {
            new SplittableRandom(seed).nextBytes(filling);
          }
          System.arraycopy(filling, 0, content, from, to - from);
          return content;
        });
  }

  /** Puts a piece of a file into another one, or into the same. */
  static Damage copy(String from, int source, String to, int target, int length) {
    return new Damage(
        to,
        length + " bytes at " + target + " become those of " + from + " at " + source,
        files -> {
          byte[] content = files.get(to).clone();
          System.arraycopy(files.get(from), source, content, target, length);
          files.put(to, content);
        });
  }

  static Damage swap(String file, int a, int b, int length) {
    return content(
        file,
        length + " bytes swapped at " + a + " and " + b,
        old -> {
          byte[] content = old.clone();
          System.arraycopy(old, a, content, b, length);
          System.arraycopy(old, b, content, a, length);
          return content;
        });
  }

  static Damage swapFiles(String a, String b) {
    return new Damage(
        a,
        "swapped with " + b,
        files -> {
          byte[] content = files.get(a);
          files.put(a, files.get(b));
          files.put(b, content);
        });
  }

  static Damage missing(String file) {
    return new Damage(file, "missing", files -> files.remove(file));
  }

  static Damage replaced(String file, byte[] content) {
    return content(file, "replaced by another store's", old -> content);
  }
}
