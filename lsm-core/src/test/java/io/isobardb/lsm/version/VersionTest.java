package io.isobardb.lsm.version;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Versions of a tree, edit by edit.
 *
 * <pre>
 *   empty | of LEVELS PLACE FILE MIN MAX BYTES, ...     a version
 *   edit 1 WHAT...                                      the version after it, see {@link EditText}
 *   below HEIGHT MIN MAX     find FILE     place FILE MIN MAX, ...
 * </pre>
 */
class VersionTest {
  @Test
  void versionsAndEdits() throws IOException {
    GoldenFile.check(VersionTest.class, "versions.txt", lines -> new Story().tell(lines));
  }

  private static final class Story {
    private final StringBuilder out = new StringBuilder();
    private Version version = Version.empty(KeyOrder.BYTES);

    String tell(List<String> lines) {
      for (String line : lines) {
        try {
          out.append(step(line.split(" "), line));
        } catch (IllegalArgumentException e) {
          out.append("refused: ").append(e.getMessage());
        }
        out.append('\n');
      }
      return out.toString();
    }

    private String step(String[] words, String line) {
      return switch (words[0]) {
        case "empty" -> show(Version.empty(KeyOrder.BYTES));
        case "of" -> {
          String text = line.substring(line.indexOf(' ', 3) + 1);
          VersionEdit edit = EditText.parse("edit 1 add " + text.replace(",", " add"));
          yield show(Version.of(KeyOrder.BYTES, Integer.parseInt(words[1]), edit.added()));
        }
        case "edit" -> show(version.apply(EditText.parse(line)));
        case "below" ->
            "nothing below: "
                + version.nothingBelow(
                    Place.level(Integer.parseInt(words[1])),
                    Tables.bytes(words[2]),
                    Tables.bytes(words[3]));
        case "find" -> {
          SSTableMeta found = version.find(Long.parseLong(words[1]));
          yield found == null ? "none" : text(found);
        }
        case "place" -> {
          String tables = line.substring(6).replace(", ", " 1 add g1 ");
          List<SSTableMeta> flushed =
              EditText.parse("edit 1 add g1 " + tables + " 1").added().stream()
                  .map(VersionEdit.Added::meta)
                  .toList();
          StringBuilder places = new StringBuilder();
          for (L0Structure structure : L0Structure.values()) {
            places.append(structure).append(' ').append(version.place(structure, flushed));
            places.append('\n');
          }
          yield places.toString().strip();
        }
        default -> throw new AssertionError(line);
      };
    }

    private String show(Version next) {
      Version before = version;
      version = next;
      StringBuilder text = new StringBuilder();
      text.append(next.tableCount()).append(" tables, ").append(next.sizeBytes()).append(" bytes");
      for (PlacedRun group : next.groups()) {
        text.append("; ").append(group.place()).append(' ').append(text(group.run()));
        text.append(before.groups().contains(group) ? " as before" : "");
      }
      for (int i = 1; i <= next.levelCount(); i++) {
        Level<SSTableMeta> level = next.level(i);
        text.append("; L").append(i).append(' ').append(text(level));
        text.append(level == next.atHeight(next.levelCount() - i) ? "" : " not at its height");
        text.append(before.runs().contains(level) && !level.isEmpty() ? " as before" : "");
      }
      boolean orders = next.runs().stream().allMatch(run -> run.order() == next.order());
      return text.append(orders ? "" : "; another order").toString();
    }

    private static String text(Level<SSTableMeta> run) {
      return run.elements().stream().map(Story::text).collect(Collectors.joining(" ", "[", "]"))
          + run.sizeBytes();
    }

    private static String text(SSTableMeta table) {
      return table.fileNumber()
          + ":"
          + new String(table.minKey(), UTF_8)
          + "-"
          + new String(table.maxKey(), UTF_8);
    }
  }
}
