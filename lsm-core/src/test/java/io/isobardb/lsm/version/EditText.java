package io.isobardb.lsm.version;

import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Edits as text for golden files.
 *
 * <pre>
 *   tree ID NAME   drop ID   store WHAT...   edit ID WHAT...
 *   WHAT  add PLACE FILE MIN MAX BYTES | remove FILE | move FILE PLACE | levels N | flushed LSN
 *         | file N | id N | checkpoint LSN | start LSN | set NAME VALUE
 *   PLACE g1, g2, .. for groups of L0; l0, l1, .. for levels by height
 * </pre>
 */
final class EditText {
  private static final Map<String, String> OPTIONS = Map.of("codec", "0");

  private EditText() {}

  static VersionEdit parse(String text) {
    Iterator<String> words = List.of(text.strip().split(" ")).iterator();
    return switch (words.next()) {
      case "tree" -> VersionEdit.create(new TreeDefinition(number(words), words.next(), OPTIONS));
      case "drop" -> VersionEdit.drop(number(words));
      case "store" -> what(VersionEdit.store(), 0, words);
      case "edit" -> {
        int tree = number(words);
        yield what(VersionEdit.of(tree), tree, words);
      }
      default -> throw new AssertionError(text);
    };
  }

  private static VersionEdit what(VersionEdit.Builder edit, int tree, Iterator<String> words) {
    while (words.hasNext()) {
      switch (words.next()) {
        case "add" -> edit.add(place(words.next()), table(tree, words));
        case "remove" -> edit.remove(number(words));
        case "move" -> edit.move(number(words), place(words.next()));
        case "levels" -> edit.levels(number(words));
        case "flushed" -> edit.flushedLsn(number(words));
        case "file" -> edit.nextFileNumber(number(words));
        case "id" -> edit.nextTreeId(number(words));
        case "checkpoint" -> edit.checkpointLsn(number(words));
        case "start" -> edit.logStartLsn(number(words));
        case "set" -> edit.property(words.next(), words.next());
        default -> throw new AssertionError("no such edit");
      }
    }
    return edit.build();
  }

  private static SSTableMeta table(int tree, Iterator<String> words) {
    int file = number(words);
    byte[] min = Tables.bytes(words.next());
    return Tables.table(tree, file, min, Tables.bytes(words.next()), number(words), 100, 1);
  }

  static Place place(String text) {
    int number = Integer.parseInt(text.substring(1));
    return text.startsWith("g") ? Place.group(number) : Place.level(number);
  }

  private static int number(Iterator<String> words) {
    return Integer.parseInt(words.next());
  }
}
