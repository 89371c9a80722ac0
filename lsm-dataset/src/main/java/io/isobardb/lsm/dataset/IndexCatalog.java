package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What is stored of a dataset's definitions, in a tree of its own, which is logged if the primary
 * tree is: so after a crash it fits what is left of the entries.
 *
 * <pre>
 *   format           1
 *   next             the number of the next index tree
 *   index/NAME       unique|plain EAGER|VALIDATION version number BUILDING|READY|DROPPING
 *   progress/NAME    records looked at, a line feed, the last one's key; while it is built
 * </pre>
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class IndexCatalog {
  private static final String FORMAT = "1";
  private static final String INDEX = "index/";
  private static final String PROGRESS = "progress/";

  /**
   * What is stored of an index.
   *
   * @param number makes its tree's name differ from those of earlier ones of the same name
   */
  record Stored(
      String name,
      boolean unique,
      Maintenance maintenance,
      int version,
      int number,
      IndexState state) {
    static Stored of(Index index, int number, IndexState state) {
      return new Stored(
          index.name(), index.unique(), index.maintenance(), index.version(), number, state);
    }

    Stored with(IndexState now) {
      return new Stored(name, unique, maintenance, version, number, now);
    }

    boolean isOf(Index index) {
      return described().equals(index.described());
    }

    String described() {
      return (unique ? "unique, " : "not unique, ") + maintenance + ", version " + version;
    }

    byte[] text() {
      return String.join(
              " ",
              unique ? "unique" : "plain",
              maintenance.name(),
              Integer.toString(version),
              Integer.toString(number),
              state.name())
          .getBytes(UTF_8);
    }

    /**
     * What {@link #text} gave.
     *
     * @throws IsobarException if it is not that
     */
    static Stored parse(String name, byte[] text) {
      String[] words = new String(text, UTF_8).split(" ", -1);
      if (words.length == 5) {
        try {
          Stored stored =
              new Stored(
                  name,
                  words[0].equals("unique"),
                  Maintenance.valueOf(words[1]),
                  Integer.parseInt(words[2]),
                  Integer.parseInt(words[3]),
                  IndexState.valueOf(words[4]));
          if (Arrays.equals(stored.text(), text)) {
            return stored;
          }
        } catch (IllegalArgumentException e) {
          // Told below.
        }
      }
      throw foreign(INDEX + name, text);
    }
  }

  /** How far a build is. */
  record Progress(long records, byte[] lastKey) {
    byte[] text() {
      byte[] count = key(records + "\n");
      byte[] text = Arrays.copyOf(count, count.length + lastKey.length);
      System.arraycopy(lastKey, 0, text, count.length, lastKey.length);
      return text;
    }

    /**
     * What {@link #text} gave.
     *
     * @throws IsobarException if it is not that
     */
    static Progress parse(String name, byte[] text) {
      int end = 0;
      while (end < text.length && text[end] != '\n') {
        end++;
      }
      try {
        long records = Long.parseLong(new String(text, 0, end, UTF_8));
        return new Progress(records, Arrays.copyOfRange(text, end + 1, text.length));
      } catch (IllegalArgumentException e) {
        throw foreign(PROGRESS + name, text);
      }
    }
  }

  private final String dataset;
  private final Tree tree;

  IndexCatalog(String dataset, Tree tree) {
    this.dataset = dataset;
    this.tree = tree;
  }

  /** The name of an index's tree. */
  String treeName(Stored index) {
    return dataset + "/index/" + index.name() + "/" + index.number();
  }

  /**
   * Whether there is nothing yet.
   *
   * @throws FormatException if a newer version of the library has written it
   */
  boolean isNew() {
    byte[] format = tree.get(key("format"));
    if (format == null) {
      return true;
    }
    String text = new String(format, UTF_8);
    if (!text.equals(FORMAT)) {
      throw new FormatException(
          "dataset '"
              + dataset
              + "' has format "
              + text
              + ", and this version knows "
              + FORMAT
              + " alone: use the version that wrote it, or a later one");
    }
    return false;
  }

  void create(Transaction transaction) {
    transaction.put(tree, key("format"), key(FORMAT));
  }

  /** Takes a number for an index's tree. */
  int nextNumber(Transaction transaction) {
    byte[] next = transaction.getForUpdate(tree, key("next"));
    int number = next == null ? 1 : number(next);
    transaction.put(tree, key("next"), key(Integer.toString(number + 1)));
    return number;
  }

  private static int number(byte[] text) {
    try {
      return Integer.parseInt(new String(text, UTF_8));
    } catch (NumberFormatException e) {
      throw foreign("next", text);
    }
  }

  /** All indexes, by name. */
  Map<String, Stored> indexes() {
    Map<String, Stored> indexes = new TreeMap<>();
    try (Cursor cursor = tree.cursor(CursorOptions.prefix(key(INDEX)))) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        String name = new String(cursor.key(), UTF_8).substring(INDEX.length());
        indexes.put(name, Stored.parse(name, cursor.value()));
      }
    }
    return indexes;
  }

  /** Whether a reader sees an index in the state it is in now. */
  boolean shows(View view, Stored index) {
    byte[] text = view.get(tree, key(INDEX + index.name()));
    return text != null && Arrays.equals(text, index.text());
  }

  void put(Transaction transaction, Stored index) {
    transaction.put(tree, key(INDEX + index.name()), index.text());
  }

  void remove(Transaction transaction, String name) {
    transaction.delete(tree, key(INDEX + name));
    transaction.delete(tree, key(PROGRESS + name));
  }

  /** How far the build of an index is, or null if it has not begun. */
  @Nullable Progress progress(String name) {
    byte[] value = tree.get(key(PROGRESS + name));
    return value == null ? null : Progress.parse(name, value);
  }

  void putProgress(Transaction transaction, String name, Progress progress) {
    transaction.put(tree, key(PROGRESS + name), progress.text());
  }

  void removeProgress(Transaction transaction, String name) {
    transaction.delete(tree, key(PROGRESS + name));
  }

  private static IsobarException foreign(String key, byte[] value) {
    return new IsobarException(
        ShownKey.of(value)
            + " is nothing that a dataset's catalog has at '"
            + key
            + "': something else wrote to its tree");
  }

  private static byte[] key(String text) {
    return text.getBytes(UTF_8);
  }
}
